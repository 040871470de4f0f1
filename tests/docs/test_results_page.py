"""The walk on the page on results: its commands and code run, and print what it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "results.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LOG = re.compile(r"logs/\S+\.eval")
ENTRY_POINT = "[inspect_ai]\nknown = tests.inspect.known_model\n"


def write_catalog(folder: Path) -> None:
    shutil.copytree(ROOT / "registry" / "data", folder / "registry" / "data")
    shutil.copy(ROOT / "registry" / "demo.yaml", folder / "registry")
    shutil.copy(ROOT / "datasets.yaml", folder)


def test_walk_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    write_catalog(tmp_path / "work")
    provider = tmp_path / "packages" / "known_model-1.0.dist-info"
    provider.mkdir(parents=True)
    (provider / "METADATA").write_text("Metadata-Version: 2.1\nName: known-model\nVersion: 1\n")
    (provider / "entry_points.txt").write_text(ENTRY_POINT)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{provider.parent}{os.pathsep}{ROOT}",
        "HF_HUB_OFFLINE": "1",
        "NO_COLOR": "1",
    }
    environment.pop("REGISTRY_ROOT", None)

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path / "work",
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "registry", "lock")
    printed, shown = "", 0
    for kind, text in BLOCK.findall(PAGE.partition("\n## What a log says")[0]):
        if kind == "text":
            expected = text.replace("openai/gpt-4o-mini", "known/wrong")
            assert LOG.sub("LOG", printed).strip() == LOG.sub("LOG", expected).strip()
            shown += 1
        elif kind == "python":
            run("-c", f"{text}\nassert 'demo-005' in globals().get('wrong', ['demo-005'])")
        else:
            program, *rest = text.replace("openai/gpt-4o-mini", "known/wrong").split()
            module = {"inspect": "inspect_ai", "registry": "registry"}[program]
            printed = run("-m", module, *rest)
    assert shown == 2

"""The walk on the page on results: its commands and code run, and print what it shows."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, Reader, blocks

PAGE = (DOCS / "reference" / "results.md").read_text(encoding="utf-8")
LOG = re.compile(r"logs/\S+\.eval")
MODEL = f"import sys; sys.path.append({str(REPOSITORY)!r}); import tests.inspect.known_model\n"


def test_walk_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for name in ("registry/data", "registry/demo.yaml", "datasets.yaml"):
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy
        copy(REPOSITORY / name, reader.folder / name)
    (reader.stubs / "known_model.py").write_text(MODEL, encoding="utf-8")
    provider = reader.stubs / "known_model-1.0.dist-info"
    provider.mkdir()
    (provider / "METADATA").write_text("Metadata-Version: 2.1\nName: known-model\nVersion: 1\n")
    (provider / "entry_points.txt").write_text("[inspect_ai]\nknown = known_model\n")
    reader.run("registry", "lock")
    walk = blocks(PAGE.partition("\n## What a log says")[0])
    for block in walk:
        text = LOG.sub("…", block.text.replace("openai/gpt-4o-mini", "known/wrong"))
        if block.language == "python":
            text += "\nassert 'demo-005' in globals().get('wrong', ['demo-005'])"
        reader.follow(replace(block, text=text))
    assert [one.language for one in walk].count("text") == 2

"""`registry lock` says which bytes moved under a pin, and how to pin them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MANIFEST = """\
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}
  other: {source: {type: csv, path: other.csv}, fields: {input: q, target: a}}
"""


def registry(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", "registry", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_an_edit_of_a_pinned_file_is_reported_until_it_is_pinned(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n")
    (tmp_path / "m.yaml").write_text(MANIFEST)
    for name in ("qa", "other"):
        (tmp_path / f"{name}.csv").write_text("q,a\nOne?,1\n")
    assert registry(tmp_path, "lock").returncode == 0
    before = (tmp_path / "datasets.lock").read_bytes()
    (tmp_path / "qa.csv").write_text("q,a\nOne?,2\n")
    done = registry(tmp_path, "lock")
    hint = "(`registry lock --upgrade qa` pins what is there now)"
    assert done.returncode == 1
    assert done.stderr == f"error: qa: qa.csv differs from its pin {hint}\n"
    assert done.stdout == ("datasets.lock: 2 of 2 datasets pinned, 1 pin kept that does not hold\n")
    assert (tmp_path / "datasets.lock").read_bytes() == before
    found = {
        one["name"]: one
        for one in json.loads(registry(tmp_path, "lock", "--json").stdout)["datasets"]
    }
    assert (found["qa"]["status"], found["other"]["status"]) == ("broken", "kept")
    (difference,) = found["qa"]["differences"]
    assert difference["message"] == "qa.csv differs from its pin"
    assert registry(tmp_path, "lock", "other").returncode == 0
    assert registry(tmp_path, "lock", "--upgrade", "qa").returncode == 0
    assert registry(tmp_path, "lock").returncode == 0
    assert registry(tmp_path, "lock", "--check").returncode == 0

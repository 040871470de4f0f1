"""`registry lock` says which bytes moved under a pin, and how to pin them."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import run
from tests.git_repository import write_files

INDEX = """\
version: 1
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}
  other: {source: {type: csv, path: other.csv}, fields: {input: q, target: a}}
"""


def test_an_edit_of_a_pinned_file_is_reported_until_it_is_pinned(tmp_path: Path) -> None:
    data = dict.fromkeys(["qa.csv", "other.csv"], "q,a\nOne?,1\n")
    write_files(tmp_path, {"datasets.yaml": INDEX, **data})
    assert run(tmp_path, "lock").code == 0
    before = (tmp_path / "datasets.lock").read_bytes()
    (tmp_path / "qa.csv").write_text("q,a\nOne?,2\n")
    done = run(tmp_path, "lock")
    hint = "(`registry lock --upgrade qa` pins what is there now)"
    assert done.code == 1
    assert done.err == f"error: qa: qa.csv differs from its pin {hint}\n"
    assert done.out == ("datasets.lock: 2 of 2 datasets pinned, 1 pin kept that does not hold\n")
    assert (tmp_path / "datasets.lock").read_bytes() == before
    again = run(tmp_path, "lock", "--json").json
    found = {one["name"]: one for one in again["datasets"]}
    assert (found["qa"]["status"], found["other"]["status"]) == ("broken", "kept")
    (difference,) = found["qa"]["differences"]
    assert difference["message"] == "qa.csv differs from its pin"
    for command in ("lock other", "lock --upgrade qa", "lock", "lock --check"):
        assert run(tmp_path, *command.split()).code == 0

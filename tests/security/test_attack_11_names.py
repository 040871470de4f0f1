"""Names become names of files: none is a device of Windows, and no two differ only by case."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.audit import run_audited


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["con"], "'con' is not a valid dataset name (Windows reserves it for a device)"),
        (["nul.csv"], "(Windows reserves it for a device)"),
        (["lpt1"], "(Windows reserves it for a device)"),
        (["mmlu", "MMLU"], "'MMLU' is not a valid dataset name (use lower-case letters"),
        (["mmlu", "mmlu."], "'mmlu.' is not a valid dataset name (it must not end with a dot)"),
        (["x" * 200], "(use at most 128 characters)"),
    ],
)
def test_unsafe_names_are_refused(tmp_path: Path, names: list[str], reason: str) -> None:
    keys = "source: {type: csv, path: x.csv}, fields: {input: q}"
    datasets = "".join(f"  {name}: {{{keys}}}\n" for name in names)
    index = f"version: 1\ndatasets:\n{datasets}"
    write_files(tmp_path, {"datasets.yaml": index, "x.csv": "q\nWhy?\n"})
    done = run_audited(["validate"], folder=tmp_path)
    assert done.code == 1
    assert reason in done.out
    assert "[bad-name]" in done.out
    opened = run_audited(["preview", names[-1]], folder=tmp_path)
    assert opened.code == 1
    assert "Why?" not in opened.out

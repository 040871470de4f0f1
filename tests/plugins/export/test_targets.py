"""Which file each dataset is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ExportError
from registry.plugins.export.formats import FORMATS, Format
from registry.plugins.export.targets import targets_of


@pytest.mark.parametrize(
    ("names", "to", "name", "expected"),
    [
        (["a"], "x.jsonl", None, ["x.jsonl"]),
        (["a"], "x.data", "jsonl", ["x.data"]),
        (["a"], "out/", "jsonl", ["out/a.jsonl"]),
        (["a", "b"], "out", "jsonl", ["out/a.jsonl", "out/b.jsonl"]),
        (["a", "b"], "{name}/x.jsonl", None, ["a/x.jsonl", "b/x.jsonl"]),
    ],
)
def test_place_of_each_dataset(
    names: list[str], to: str, name: str | None, expected: list[str]
) -> None:
    _, found = targets_of(names, to, name)
    assert found == dict(zip(names, map(Path, expected), strict=True))


def test_suffix_that_is_a_whole_name_gets_a_folder_per_dataset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = Format(name="named", suffix="named.yaml", writer="none:write", summary="")
    monkeypatch.setitem(FORMATS, "named", named)
    _, found = targets_of(["a", "b"], "out/", "named")
    assert found == {"a": Path("out/a/named.yaml"), "b": Path("out/b/named.yaml")}


def test_existing_folder_gets_a_file_per_dataset(tmp_path: Path) -> None:
    _, found = targets_of(["a"], str(tmp_path), "jsonl")
    assert found == {"a": tmp_path / "a.jsonl"}


def test_several_datasets_are_not_one_file() -> None:
    with pytest.raises(ExportError, match=r"2 datasets can't be one file x\.jsonl \(use {name}"):
        targets_of(["a", "b"], "x.jsonl", None)

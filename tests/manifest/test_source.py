"""Properties of a source whose type overrides nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.manifest.source import SourceModel, is_commit, revision_in


class Inline(SourceModel, frozen=True, kw_only=True, tag="inline"):
    type = "inline"


def test_source_type_without_overrides_is_local_and_has_no_paths() -> None:
    source = Inline()
    assert (list(source.paths()), source.rename_paths(str.upper)) == ([], {})
    assert (source.repository, source.is_remote, source.builds_anew) == (None, False, False)
    assert (source.location, source.base_location) == ("inline", None)
    assert (source.stated, source.has_commit) == ({}, True)
    assert (source.fs_options, source.columns, source.column_names) == ({}, {}, None)
    assert (source.loader_call({}), list(source.loader_notes())) == (None, [])
    assert Inline.absolute_paths({"path": "x"}, {}, Path("/c")) == {}
    assert Inline.normalized({"path": "x"}) == {"path": "x"}
    assert Inline.infer_keys(Location("x.tsv")) == {}


@pytest.mark.parametrize(
    ("revision", "expected"),
    [("a" * 40, True), ("0" * 40, True), ("A" * 40, False), ("a" * 39, False), ("main", False), (None, False), ("", False), ("a" * 40 + "\n", False)],
)  # fmt: skip
def test_commit_is_exactly_forty_hex_digits(revision: str | None, expected: bool) -> None:
    assert is_commit(revision) is expected


ONE = "a" * 40


@pytest.mark.parametrize(
    ("location", "revision"),
    [
        (f"https://raw.githubusercontent.com/o/r/{ONE}/d/x.csv", ONE),
        ("https://raw.githubusercontent.com/o/r/main/d/x.csv", "main"),
        ("https://raw.githubusercontent.com/o/r/refs/heads/main/x.csv", "refs/heads/main"),
        (f"https://github.com/o/r/raw/{ONE}/x.csv", ONE),
        (f"zip://r-{ONE}/x.csv::https://github.com/o/r/archive/{ONE}.zip", ONE),
        ("tar://x.csv::https://github.com/o/r/archive/refs/heads/main.tar.gz", "refs/heads/main"),
        (f"https://huggingface.co/datasets/o/r/resolve/{ONE}/x.csv", ONE),
        (f"https://huggingface.co/datasets/o/r/raw/{ONE}/x.csv", ONE),
        (f"hf://datasets/o/r@{ONE}/x.csv", ONE),
        ("hf://datasets/o/r/x.csv", ""),
        (f"https://example.org/{ONE}/x.csv", None),
        ("data/x.csv", None),
    ],
)
def test_the_revision_in_an_address(location: str, revision: str | None) -> None:
    assert revision_in(Location(location)) == revision

"""The table of formats: names, suffixes, and modules that exist."""

from __future__ import annotations

import pytest

from registry.errors import ExportError
from registry.export.formats import FORMATS, find_format, format_of_path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_writer_and_is_found_by_its_suffix(name: str) -> None:
    kind = find_format(name)
    assert callable(kind.write)
    if kind.is_default:
        assert format_of_path(f"folder/x{kind.suffix}") is kind


def test_unknown_format_and_suffix_suggest_known_ones() -> None:
    with pytest.raises(ExportError, match=r"no format 'jsnl' \(did you mean 'jsonl'\?\)"):
        find_format("jsnl")
    with pytest.raises(ExportError, match=r"no format has the suffix of 'x\.xls' .*formats: jsonl"):
        format_of_path("x.xls")

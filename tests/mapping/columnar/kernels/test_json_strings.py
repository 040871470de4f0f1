"""Escaped columns are what `json` writes between quotes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.mapping.columnar.kernels import json_strings
from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.json_strings import escape

EVERY = [*map(chr, range(0x100)), "\u2028", "\U0001f600", '\\"', '"\\n', ""]


def _escaped(texts: list[str]) -> list[str]:
    return [json.dumps(text, ensure_ascii=False)[1:-1] for text in texts]


def test_each_character_is_escaped_as_by_json() -> None:
    assert escape(pa.array(EVERY)).to_pylist() == _escaped(EVERY)
    for text in EVERY:
        assert escape(pa.array(["a", text])[1:]).to_pylist() == _escaped([text])


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from('\\"\n\t\0\x1fané/u0'), max_size=6), max_size=4))
def test_texts_are_escaped_as_by_json(texts: list[str]) -> None:
    assert escape(pa.array(texts, pa.large_string())).to_pylist() == _escaped(texts)


def test_nulls_and_large_columns_have_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_strings, "LARGEST_COLUMN", 200)
    assert escape(pa.array(["x"])).to_pylist() == ["x"]
    for column in (pa.array(["x", None]), pa.array([1]), pa.array(["x" * 100])):
        with pytest.raises(NoKernelError):
            escape(column)

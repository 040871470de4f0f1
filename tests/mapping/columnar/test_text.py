"""Text of columns equals Python's for each value: `str` of lists, and hex digests."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.mapping.columnar.text import PLAIN_LETTERS, hex_digests, str_of_lists

_items = st.one_of(
    st.none(),
    st.text('ab "é', max_size=3),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    st.sampled_from(["", "'", "\\", "\n", "\x7f", "\xa0", "\xad", "\u0240", "\u2028"]),
)
_lists = st.lists(st.lists(_items, max_size=3), max_size=6)


@settings(deadline=None)
@given(_lists, st.sampled_from([pa.list_(pa.string()), pa.large_list(pa.large_string())]))
def test_each_list_is_its_python_str(lists: list[list[str | None]], kind: pa.DataType) -> None:
    column = pa.array([["before", "'"], *lists, [None]], kind)[1:-1]
    found = str_of_lists(column)
    found.validate(full=True)
    assert (found.type, found.to_pylist()) == (pa.large_string(), list(map(str, lists)))


def test_repr_leaves_the_plain_letters_unescaped() -> None:
    assert all(repr(chr(letter)) == f"'{chr(letter)}'" for letter in PLAIN_LETTERS)


def test_lists_of_plain_strings_never_become_python_objects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.mapping.columnar.text.str", None, raising=False)
    assert str_of_lists(pa.array([["résumé", "x"]])).to_pylist() == ["['résumé', 'x']"]


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
@pytest.mark.parametrize("length", [None, 1, 8, 500])
def test_digest_is_computed_from_strings_joined_with_nul(
    algorithm: str, length: int | None
) -> None:
    rows = [("a", "b"), ("", ""), ("é\0", "\U0001f600"), ("a\0b", "")]
    columns = [pa.array(column, pa.large_string()) for column in zip(*rows, strict=True)]
    found = hex_digests(columns, algorithm=algorithm, length=length)
    found.validate(full=True)
    assert (found.type, found.to_pylist()) == (
        pa.large_string(),
        [hashlib.new(algorithm, "\0".join(row).encode()).hexdigest()[:length] for row in rows],
    )


def test_slice_has_the_digests_of_its_rows() -> None:
    column = pa.array(["before", "a", "b"], pa.large_string())[1:]
    found = hex_digests([column], algorithm="md5", length=4)
    assert found.to_pylist() == [hashlib.md5(text).hexdigest()[:4] for text in (b"a", b"b")]


def test_no_rows_have_no_digests() -> None:
    empty = pa.array([], pa.large_string())
    assert hex_digests([empty], algorithm="md5", length=None).to_pylist() == []

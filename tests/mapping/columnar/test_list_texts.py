"""Lists of texts are written as Python writes them, whatever the texts hold."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.mapping.columnar.list_texts import PLAIN_LETTERS, text_of_lists

_items = st.one_of(
    st.none(),
    st.text('ab "é', max_size=3),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    st.sampled_from(["", "'", "\\", "\n", "\x7f", "\xa0", "\xad", "\u0240", "\u2028"]),
)
_lists = st.lists(st.lists(_items, max_size=3), max_size=6)


@given(_lists, st.sampled_from([pa.list_(pa.string()), pa.large_list(pa.large_string())]))
def test_each_list_is_written_as_python_writes_it(
    lists: list[list[str | None]], kind: pa.DataType
) -> None:
    column = pa.array([["before", "'"], *lists, [None]], kind)[1:-1]
    found = text_of_lists(column)
    found.validate(full=True)
    assert (found.type, found.to_pylist()) == (pa.large_string(), list(map(str, lists)))


def test_python_writes_the_letters_as_they_are_that_are_taken_to_be_plain() -> None:
    assert all(repr(chr(letter)) == f"'{chr(letter)}'" for letter in PLAIN_LETTERS)


def test_plain_lists_are_written_without_a_look_at_their_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.mapping.columnar.list_texts.str", None, raising=False)
    assert text_of_lists(pa.array([["résumé", "x"]])).to_pylist() == ["['résumé', 'x']"]

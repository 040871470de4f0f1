"""Strings that are blank, that start with visible ASCII, and their hashes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.arrow.strings import blank_strings, starts_with_visible_ascii, string_hashes

TEXT = pa.large_string()


def test_strings_are_blank_that_python_strips_to_nothing() -> None:
    characters = [chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000]
    texts = ["", *characters, *(f" {one}\n" for one in characters), None, "x"]
    expected = [place for place, text in enumerate(texts) if text is not None and not text.strip()]
    assert blank_strings(pa.array(texts, TEXT)).tolist() == expected


@pytest.mark.parametrize("texts", [[], [None, None], ["x", "y"]])
def test_without_a_blank_string_there_are_no_rows(texts: list[str | None]) -> None:
    assert blank_strings(pa.array(texts, TEXT)).tolist() == []


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        *[("x", True), ("!", True), ("~", True), ("x ", True), ("\0", False), ("\x7f", False)],
        *[
            ("", False),
            (" x", False),
            ("\n", False),
            ("\x1f", False),
            ("é", False),
            ("\u3000", False),
        ],
    ],
)
def test_first_byte_decides_about_visible_ascii(text: str, visible: bool) -> None:
    whole = pa.array(["before", text, "behind", None], TEXT)
    assert starts_with_visible_ascii(whole).tolist() == [True, visible, True, False]
    assert starts_with_visible_ascii(whole[1:2]).tolist() == [visible]


def test_array_of_nulls_has_no_visible_ascii() -> None:
    assert starts_with_visible_ascii(pa.array([], TEXT)).tolist() == []
    assert starts_with_visible_ascii(pa.array(["", ""], TEXT)).tolist() == [False, False]


_strings = st.text("ab\0é", max_size=10) | st.builds(
    lambda text, times, end: text * times + end,
    st.text("ab", min_size=1, max_size=3),
    st.integers(1, 70),
    st.sampled_from(["", "\0", "c"]),
)


@settings(deadline=None)
@given(st.lists(_strings, max_size=20))
def test_hashes_differ_where_strings_do(strings: list[str]) -> None:
    column = pa.array(["before", *strings, "after"], pa.large_string())[1:-1]
    hashes = string_hashes(column).tolist()
    assert len(set(hashes)) == len(set(strings)) == len(set(zip(hashes, strings, strict=True)))


def test_string_has_the_same_hash_in_another_column() -> None:
    strings = ["", "a", "b" * 8, "c" * 200]
    first, second = (pa.array(one, pa.large_string()) for one in (strings, ["x", *strings[::-1]]))
    assert string_hashes(first).tolist() == string_hashes(second).tolist()[:0:-1]

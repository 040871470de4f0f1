"""Texts of all scripts and emoji in columns of a terminal."""

from __future__ import annotations

import pytest
import wcwidth
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.cells import cell_len, chop, fit, fold
from registry.base.escape import escape_control

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
KSSA = "क्\u200dष"
# Cursor positions in xterm and tmux; a sum over code points has 11 for the family.
WIDTHS = {
    "plain": 5,
    "日本語": 6,
    "e\u0301": 1,
    "한국": 4,
    "👍\N{EMOJI MODIFIER FITZPATRICK TYPE-4}": 2,
    FAMILY: 2,
    "🇮🇳🇺🇸": 4,
    "1\ufe0f\u20e3": 2,
    "❤\ufe0f": 2,
    "వందనం": 5,
    "தமிழ் மொழி": 9,
    "नमस्ते दुनिया": 10,
    "می\u200cخواهم": 7,
    "": 0,
}
LINES = st.lists(
    st.sampled_from(["a", " ", "都", FAMILY, KSSA, "e\u0301", "\u0c4d", "న"]) | st.characters()
).map(lambda parts: escape_control("".join(parts)))


@pytest.mark.parametrize(("text", "columns"), WIDTHS.items(), ids=ascii)
def test_width_is_that_of_terminals(text: str, columns: int) -> None:
    assert cell_len(text) == columns


def is_one_character(text: str) -> bool:
    return len(list(wcwidth.iter_graphemes(text))) <= 1


@settings(deadline=None)
@given(LINES, st.integers(-1, 20))
def test_pieces_fit_and_are_the_text(text: str, width: int) -> None:
    pieces = list(chop(text, width))
    assert "".join(pieces) == text
    assert all(cell_len(one) <= width or is_one_character(one) for one in pieces)
    assert cell_len(fit(text, width)) <= max(width, 0)
    assert (fit(text, width) == text) == (cell_len(text) <= max(width, 0))


@settings(deadline=None)
@given(LINES, st.integers(-1, 20), st.sampled_from(["", "  ", "+ "]))
def test_folded_lines_fit_and_lose_only_spaces(text: str, width: int, margin: str) -> None:
    lines = list(fold(text, width, margin))
    margin = margin[: max(width, 1) // 2]
    texts = [lines[0], *(one.removeprefix(margin) for one in lines[1:])]
    pairs = zip(lines, texts, strict=True)
    assert all(cell_len(line) <= width or is_one_character(one) for line, one in pairs)
    whole = "".join(texts)
    assert whole.replace(" ", "") == text.replace(" ", "")


def test_lines_end_between_words_and_never_within_a_character() -> None:
    assert list(fold("one two three", 9, "> ")) == ["one two", "> three"]
    assert list(fold("one two three", 7)) == ["one two", "three"]
    assert list(fold(FAMILY * 3, 5)) == [FAMILY * 2, FAMILY]
    assert list(fold(KSSA * 3, 5)) == [KSSA * 2, KSSA]
    assert list(fold("\u0c4daaa b", 4)) == ["\u0c4daaa", "b"]
    assert list(fold("\u0c4daaaa", 4)) == ["\u0c4daaa", "a"]
    assert list(fold("", 5)) == [""]
    assert fit("日本語", 4) == "日…"
    assert fit("日本語", 0) == ""

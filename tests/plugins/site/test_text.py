"""Untrusted text on a page: visible, in order, and of limited length."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from registry.plugins.site.text import content_html, cut, html_size, search_word, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain <b>", "plain <b>"),
        ("lines\n\tand tabs", "lines\n\tand tabs"),
        ("Windows\r\nline", "Windows\nline"),
        ("日本\u3000語\xa0!", "日本\u3000語\xa0!"),
        ("a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"),
        ("nul\x00 esc\x1b bell\x07", "nul\\u{0} esc\\u{1b} bell\\u{7}"),
        ("lone \ud800", "lone \\u{d800}"),
        ("zero\u200bwidth", "zero\\u{200b}width"),
        ("line\u2028end", "line\\u{2028}end"),
    ],
)
def test_invisible_characters_become_codes(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_tag_is_one_word_of_a_search() -> None:
    assert search_word(" two\nWords\xa0here") == "two_Words_here"
    assert search_word("a\u202eb") == "a\\u{202e}b"
    assert search_word("t" * 99) == search_word("t" * 60 + "…") == "t" * 60 + "…"


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_every_text_can_be_written_and_is_printable(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert all(one.isprintable() or one.isspace() for one in shown)


@settings(deadline=None)
@given(st.text() | st.text(st.sampled_from("<>&\"'é\u202e")))
def test_size_is_that_of_the_escaped_text(text: str) -> None:
    assert html_size(text) == len(escape(visible(text)).encode())


@settings(deadline=None)
@given(st.text() | st.text(st.sampled_from("<>&\"'é\u202e;")))
def test_content_of_an_element_is_read_as_the_text(text: str) -> None:
    html = content_html(text)
    assert unescape(html) == visible(text)
    assert not {"<", ">"} & set(html)
    assert len(html.encode()) <= html_size(text)


def test_cut_says_how_much_is_missing() -> None:
    assert cut("abc", 3) == ("abc", "")
    assert cut("x" * 1005, 5) == ("xxxxx", "1,000 more characters of 1,005 not shown")

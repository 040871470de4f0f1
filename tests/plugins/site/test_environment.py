"""Templates: every value is escaped, and a missing one is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import escape

from registry.display.html import content_html
from registry.plugins.site.environment import (
    LINKED_POLICY,
    SCRIPTS,
    STYLE,
    asset,
    encoded_size,
    environment,
    fitting,
    html_size,
    inline_policy,
    linked_page,
    search_word,
    standalone_page,
    visible,
)

HOSTILE = "</title><script>alert(1)</script>\u202e\x00\ud800\"'&"
SHOWN = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}\\u{0}\\u{d800}&#34;&#39;&amp;"


def test_values_are_escaped_and_made_visible() -> None:
    template = environment().from_string("<i title='{{ value }}'>{{ value }}</i>")
    assert template.render(value=HOSTILE) == f"<i title='{SHOWN}'>{SHOWN}</i>"


def test_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        environment().from_string("{{ nothing }}").render()


def test_linked_page_names_files_below_its_base() -> None:
    page = linked_page("base.html", base="../", scripts=["search.js"])
    assert re.findall(r'(?:src|href)="([^"#]+)"', page) == [
        "data:,",
        "../assets/registry.css",
        "../assets/theme.js",
        "../assets/search.js",
    ]
    assert LINKED_POLICY in page.replace("&#39;", "'")


def test_standalone_page_has_everything_in_it() -> None:
    page = standalone_page("base.html", scripts=["search.js"])
    style, theme, search = map(asset, (STYLE, "theme.js", "search.js"))
    assert re.findall(r"<style>(.*?)</style>", page, re.DOTALL) == [style]
    assert re.findall(r"<script>(.*?)</script>", page, re.DOTALL) == [theme, search]
    assert "src=" not in page
    assert inline_policy([style], [theme, search]) in page.replace("&#39;", "'")


@pytest.mark.parametrize("name", [STYLE, *SCRIPTS])
def test_assets_can_stand_in_a_page_and_reach_nothing_else(name: str) -> None:
    text = asset(name)
    assert text.isascii()
    assert not re.search(r"</|<!--|https?:|@import|url\(|innerHTML|eval\(|fetch\(", text)


def test_policies_allow_nothing_by_default() -> None:
    for policy in (LINKED_POLICY, inline_policy(["a{}"], ["1"])):
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "http" not in policy


def test_inline_policy_names_each_text_by_its_hash() -> None:
    # The example of the specification, Content Security Policy Level 3, section 8.3.
    text = "alert('Hello, world.');"
    known = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    assert inline_policy([], [text]).endswith(f"script-src {known}")


def test_lines_are_those_of_any_system_and_invisible_characters_are_codes() -> None:
    assert visible("a\r\n\tb\u3000\xa0\u2028\ud800") == "a\n\tb\u3000\xa0\\u{2028}\\u{d800}"


def test_tag_is_one_word_of_a_search() -> None:
    assert search_word(" two\nWords\xa0here") == "two_Words_here"
    assert search_word("a\u202eb") == "a\\u{202e}b"
    assert search_word("t" * 99) == search_word("t" * 60 + "…") == "t" * 60 + "…"


@settings(deadline=None)
@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from("<>&\"'é\u202e;")))
def test_any_text_is_shown_as_it_is_without_tags_and_its_size_is_known(text: str) -> None:
    shown, html = visible(text), content_html(text)
    assert all(one.isprintable() or one.isspace() for one in shown)
    assert html_size(text) == len(escape(shown).encode())
    assert unescape(html) == shown
    assert not {"<", ">"} & set(html)
    assert len(html.encode()) <= html_size(text)


def test_first_items_that_fit_are_yielded_as_they_are_made() -> None:
    made: list[str] = []

    def items() -> Iterator[str]:
        for one in ("a", "é", "long", "b"):
            made.append(one)
            yield one

    assert list(fitting(items(), 5, encoded_size)) == ["a", "é"]
    assert made == ["a", "é", "long"]

"""Templates: every value is escaped, and a missing one is an error."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError

from registry.plugins.site.assets import LINKED_POLICY, STYLE, asset, inline_policy
from registry.plugins.site.environment import environment, linked_page, standalone_page

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

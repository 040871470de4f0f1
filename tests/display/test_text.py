"""A text as it reads beside the text as it is; long ones folded; all of it within an allowance."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.display.html import Allowance, escape_visible, visible
from registry.display.text import _json_text, json_html, markdown_html, note_html, text_html
from tests.gallery import HOSTILE, SCRIPT


def html(text: str, *, is_code: bool = False, size: int = 10_000) -> str:
    return text_html(text, 6_000, Allowance(size, is_code=is_code))


def test_plain_text_has_its_own_direction() -> None:
    assert html("a < b\n**") == '<div class="text" dir="auto">a &lt; b\n**</div>'


def test_drawn_text_has_the_raw_one_beside_it() -> None:
    assert html("<**b**") == (
        '<div class="rich"><div class="text drawn" dir="auto"><p>&lt;<strong>b</strong></p></div>'
        '<details class="raw"><summary>Raw text</summary>'
        '<div class="text" dir="auto">&lt;**b**</div></details></div>'
    )


def test_text_that_has_no_room_to_be_drawn_is_raw() -> None:
    assert html("**b** $x$", size=30) == '<div class="text" dir="auto">**b** $x$</div>'


def test_code_is_left_to_right_and_has_no_raw_text() -> None:
    text = html("\u0643\u0645:\nimport os\nx = '<'\n", is_code=True)
    assert text.startswith(
        '<div class="text" dir="auto">\u0643\u0645:\n</div><pre class="code" dir="ltr">'
    )
    assert "<span class=\"s\">'&lt;'</span>" in text
    assert "details" not in text


@pytest.mark.parametrize(
    ("text", "note"), [("", "empty"), (" \n\t", "only white space: 3 characters")]
)
def test_empty_text_says_so(text: str, note: str) -> None:
    assert html(text) == f'<p class="quiet small">{note}</p>'


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a\n" * 35, 0), ("a\n" * 36, 36), ("a" * 3_400, 0), ("a" * 3_600, 37), ("**b**\n" * 99, 99)],
)
def test_long_text_is_folded(text: str, lines: int) -> None:
    shown = html(text)
    assert ('<div class="fold">' in shown) == bool(lines)
    if lines:
        assert f'<input type="checkbox"> all {lines} lines</label>' in shown


def test_label_and_note_are_escaped_and_short() -> None:
    text = text_html("x" * 30, 20, Allowance(99), label="<l>" * 999)
    assert text.startswith('<span class="label">&lt;l&gt;')
    assert text.count("&lt;") == 67
    assert text.endswith('<p class="quiet small">10 more characters of 30 not shown</p>')
    assert note_html("<") == '<p class="quiet small">&lt;</p>'


def test_json_is_code_with_a_label() -> None:
    assert json_html({"a": "<"}, Allowance(99), label="data") == (
        '<span class="label">data</span>\n'
        '<pre class="code" dir="ltr"><code>{"a": "&lt;"}</code></pre>'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "é<", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab\n"), inner),
    max_leaves=12,
)


@given(JSON)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_json_is_that_of_the_standard_library(value: Any) -> None:
    line = json.dumps(value, ensure_ascii=False)
    assert _json_text(value, 60) == (
        line if len(line) <= 60 else json.dumps(value, ensure_ascii=False, indent=2)
    )


def drawn(text: str) -> str:
    return markdown_html(visible(text), escape_visible)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**b** *i* `c`", "<p><strong>b</strong> <em>i</em> <code>c</code></p>"),
        ("# Title\n**x**", '<p class="heading">Title</p><p><strong>x</strong></p>'),
        ("3. a\n7. b", '<ol start="3"><li value="3">a</li><li value="7">b</li></ol>'),
        ("[a](javascript:b)", '<p><span class="link">a</span> <span class="url">javascript:b</span></p>'),
        ('![a](b.png "c")', '<p><span class="link">a</span> <span class="url">b.png c</span></p>'),
        ("```py x\n1\n```", ('<span class="label">py x</span><pre class="code" dir="ltr"><code>'
         '<span class="m">1</span>\n</code></pre>')),
        ("**b** <i> &amp;", "<p><strong>b</strong> &lt;i&gt; &amp;amp;</p>"),
        ("$x$\n    y\n\n    code $y$", ("<p><math><mi>x</mi></math>\ny</p>"
         '<pre class="code" dir="ltr"><code>code $y$\n</code></pre>')),
        ("a\n$$x$$\nb", '<p>a<math display="block"><mi>x</mi></math>b</p>'),
        ("**x** 2*3*4 __init__ a_b_c", "<p><strong>x</strong> 2*3*4 __init__ a_b_c</p>"),
    ],
)  # fmt: skip
def test_markdown_is_drawn(text: str, html: str) -> None:
    assert drawn(text) == html


def test_table_is_aligned_by_classes_and_scrolls_by_keys() -> None:
    html = drawn("|a|b|\n|:--|--:|\n|1|$x$|")
    assert html.startswith(
        '<div class="sheet" role="group" aria-label="Table" tabindex="0"><table>'
    )
    assert '<td class="m-end"><math><mi>x</mi></math></td>' in html


@pytest.mark.parametrize(
    "text",
    ["plain\ntext", "2*3*4, __init__, a * b", "#### 18", ">>> f(1)\n2", "* one star", "It costs $5.",
     # Markdown would not show all of these.
     "|a|\n|-|\n|1|hidden|", ">" * 60 + " **deep**", "[" * 501 + "**b**"],
)  # fmt: skip
def test_text_that_reads_best_as_it_is_stays(text: str) -> None:
    assert drawn(text) == ""


PIECES = [*HOSTILE.values(), SCRIPT, "**b**", "\n\n", "\n", "- ", "1. ", "> ", "`", "```\n", "$x$", "|", "|-|-|\n",
          "[a](b)", "<b>", "# ", "word", " ", "\\", "    "]  # fmt: skip
HARMLESS = re.compile(
    r"</?(?:p|strong|em|s|code|ul|ol|li|blockquote|pre|div|span|table|thead|tbody|tr|th|td|hr /|math|m\w+|b)"
    r'(?: (?:class|dir|start|value|role|aria-label|tabindex|display|[a-z]+)="[\w -.]*")*/?>'
)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_drawn_text_has_only_our_elements_and_every_letter(pieces: list[str]) -> None:
    text = "".join(pieces)
    if html := drawn(text):
        assert "<" not in HARMLESS.sub("", html)
        assert not re.search(r"<[^>]*(?:style|src|href|on\w+)=", html)
        if "<math" not in html:
            words = re.compile(r"[^\W_]+")
            plain = re.sub(
                "<[^>]*>|&(?:amp|lt|gt);", " ", re.sub(r'<li value="(\d+)">', r"\1 ", html)
            )
            assert words.findall(plain) == words.findall(visible(text))


@pytest.mark.parametrize(
    "part", ["[", "`", "` `", "**a", "$", "$a", "\\[a", "|", "- a\n", "![", "[a](", "> ", "*_"]
)
def test_hostile_text_takes_no_time(part: str) -> None:
    start = time.process_time()
    drawn(part * (6_000 // len(part)))
    assert time.process_time() - start < 5

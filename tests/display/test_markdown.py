"""Markdown is drawn where a text has it, and never runs, loads or hides anything."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.display.html import escape_visible, visible
from registry.display.markdown import markdown_html
from tests.gallery import HOSTILE, SCRIPT


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

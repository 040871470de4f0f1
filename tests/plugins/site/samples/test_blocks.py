"""Texts, code and JSON of samples as HTML."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.plugins.site.samples.blocks import _FENCE, Allowance, _json_text, json_html, text_html
from registry.plugins.site.text import content_html, visible


def html(text: str) -> str:
    return text_html(text, 1_000, Allowance(1_000))


def test_fenced_code_is_drawn_as_code() -> None:
    text = html("before\n```python\nprint('x')\n```\nafter")
    assert "<code>print('x')\n</code></pre>" in text
    assert '<div class="text">before\n</div>' in text
    assert '<div class="text">after</div>' in text


@pytest.mark.parametrize("fence", ["```", "~~~", "  ````"])
def test_code_and_what_follows_a_fence_are_escaped(fence: str) -> None:
    text = html(f"{fence}<html>\r\na < b && c\n{fence.strip()}\n<script>")
    assert text == (
        '<pre class="code"><code>a &lt; b &amp;&amp; c\n</code></pre>\n'
        '<div class="text">&lt;script&gt;</div>'
    )


def test_label_and_note_are_escaped_and_short() -> None:
    text = text_html("x" * 30, 20, Allowance(99), label="<l>" * 999)
    assert text.startswith('<span class="label">&lt;l&gt;')
    assert text.count("&lt;") == 67
    assert text.endswith('<p class="quiet small">10 more characters of 30 not shown</p>')


@given(st.text(st.sampled_from("a`~\n <&\r\u202e"), max_size=60))
@settings(deadline=None)
def test_code_is_found_as_in_the_text_before_it_is_escaped(text: str) -> None:
    parts, start = [], 0
    plain = visible(text)
    for fence in _FENCE.finditer(plain):
        parts += [("text", plain[start : fence.start()]), ("code", fence[2])]
        start = fence.end()
    drawn = {
        "text": '<div class="text">{}</div>',
        "code": '<pre class="code"><code>{}</code></pre>',
    }
    assert html(text) == "\n".join(
        drawn[kind].format(content_html(part))
        for kind, part in (*parts, ("text", plain[start:]))
        if part or kind == "code"
    )


def test_json_is_code_with_a_label() -> None:
    assert json_html({"a": "<"}, Allowance(99), label="data") == (
        '<span class="label">data</span>\n<pre class="code"><code>{"a": "&lt;"}</code></pre>'
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


@settings(deadline=None)
@given(st.lists(st.text(max_size=50), max_size=20), st.integers(0, 200))
def test_allowance_bounds_the_bytes_of_a_page(texts: list[str], size: int) -> None:
    allowance = Allowance(size)
    shown = [allowance.take(text, 40)[0] for text in texts]
    # The share that fits is an estimate for the one text that is cut for it.
    assert sum(len(one.encode()) for one in shown) <= size + 40 * 10
    starts = [{content_html(text[:end]) for end in range(41)} for text in texts]
    assert all(one in known for one, known in zip(shown, starts, strict=True))


def test_allowance_that_is_used_up_gives_nothing() -> None:
    allowance = Allowance(10)
    assert allowance.take("0123456789", 99) == ("0123456789", "")
    assert allowance.take("more", 99) == ("", "4 more characters of 4 not shown")

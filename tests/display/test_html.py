"""HTML of a notebook's output is escaped and stays within its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.display.html import (
    Allowance,
    Short,
    block,
    content_html,
    plots_html,
    plots_text,
    table,
)
from registry.plots import Plot, frequencies

HOSTILE = "<script>alert(1)</script> & \"'\u202e\x1b\x00\ud800 end"

PLOTS = [frequencies(f"Plot {n}", {"<a>": 3, "b": n}) for n in range(1, 4)]


def test_text_is_escaped_and_invisible_characters_are_codes() -> None:
    assert Allowance(1_000).line(f"{HOSTILE}\n\tx", 1_000) == (
        "&lt;script&gt;alert(1)&lt;/script&gt; &amp; \"'\\u{202e}\\u{1b}\\u{0}\\u{d800} end\n\tx"
    )


@pytest.mark.parametrize(("most", "size"), [(3, 1_000), (9, 10)])
def test_cut_ends_in_no_joiner_whose_other_side_is_cut_off(most: int, size: int) -> None:
    taken = Allowance(size).take("x👩\u200d👩\u200d👧", most)
    assert taken.html == taken.text == "x👩"
    assert taken.note


def test_cut_text_says_how_much_is_missing() -> None:
    room = Allowance(100)
    cut = "é" * 10 + " <i>… 2,990 more characters of 3,000 not shown</i>"
    assert room.line("é" * 3_000, 10) == cut
    assert room.left == 80


@given(st.lists(st.text(max_size=200)), st.integers(0, 300), st.integers(0, 100))
def test_texts_take_what_is_left_and_no_more(texts: list[str], size: int, most: int) -> None:
    room = Allowance(size)
    for text in texts:
        left = room.left
        taken = room.take(text, most)
        assert len(taken.text) <= most
        assert text.startswith(taken.text)
        assert taken.html == content_html(taken.text)
        assert room.left == left - len(taken.html.encode())
        assert (taken.text == text) == (not taken.note)
    # The share that fits is an estimate for the one text that is cut for it.
    assert room.left >= -most * 10


def test_allowance_that_is_used_up_gives_nothing() -> None:
    allowance = Allowance(10)
    assert allowance.take("0123456789", 99) == ("0123456789", "0123456789", "")
    assert allowance.take("more", 99) == ("", "", "4 more characters of 4 not shown")
    assert not allowance.add("x")
    assert allowance.add("x", instead_of="y")


def test_table_has_headers_above_or_before_its_rows() -> None:
    left = 'style="text-align:left"'
    assert table([("a", "1")]) == (
        f'<table><tbody><tr><th scope="row" {left}>a</th><td {left}>1</td></tr></tbody></table>'
    )
    assert table([("a", "1")], headers=("x", "y")) == (
        f'<table><thead><tr><th scope="col" {left}>x</th><th scope="col" {left}>y</th></tr></thead>'
        f"<tbody><tr><td {left}>a</td><td {left}>1</td></tr></tbody></table>"
    )


def test_mathjax_finds_no_formula_between_prices() -> None:
    """The classes that MathJax 3 (JupyterLab 4.6) and 2 (nbconvert 7) leave alone."""
    assert block("$5 and $10").startswith(
        '<div class="registry-repr mathjax_ignore tex2jax_ignore"><style>'
    )


def test_style_applies_to_its_own_block_alone() -> None:
    style = block("x").partition("<style>")[2].partition("</style>")[0]
    selectors, depth, start = [], 0, 0
    for place, character in enumerate(style):
        if character == "{":
            if not depth:
                selectors += style[start:place].split(",")
            depth += 1
        elif character == "}":
            depth -= 1
            start = place + 1
    # Those of samples are inside a rule of the block.
    assert selectors
    assert depth == 0
    assert [one for one in selectors if not one.strip().startswith(".registry-repr")] == []


ALL_PLOTS = len(plots_html(PLOTS, "", most=10_000))


@pytest.mark.parametrize(
    ("plots", "note", "most", "drawn", "end"),
    [
        (PLOTS, "a & b", 10_000, 3, "</div><i>a &amp; b</i>"),
        (PLOTS, "", ALL_PLOTS - 100, 2, "</div><i>1 more plot: too long to show here</i>"),
        (PLOTS, "\u202e<" * 1_000, 10_000, 3, " more characters of 2,000 not shown</i></i>"),
        ([], "", 100, 0, ""),
    ],
)
def test_plots_that_fit_are_drawn_above_a_note(
    plots: list[Plot], note: str, most: int, drawn: int, end: str
) -> None:
    html = plots_html(plots, note, most=most)
    assert (html.count("<img alt="), len(html.encode()) <= most) == (drawn, True)
    assert html.endswith(end)
    assert len(html.partition("</div>")[2]) < 600
    assert "<a>" not in html


def test_text_has_an_empty_line_before_each_plot() -> None:
    plots: list[Plot] = PLOTS[:2]
    lines = list(plots_text(plots, "a note\x1b", width=60, ascii_only=True))
    assert [n for n, line in enumerate(lines) if not line] == [0, 4, 8]
    assert lines[-1] == "a note\\u{1b}"
    assert max(map(len, lines)) <= 60
    assert list(plots_text([], "", width=80, ascii_only=False)) == []


def test_short_values_stay_as_they_are() -> None:
    value = {"a": "text", "b": [1, None, [["x"]]]}
    assert Short.of(value) == value
    assert Short.of(value) is not value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 700, f"'{'x' * 500}'+200"),
        (["\u202e" * 700], "['" + "\\u202e" * 500 + "'+200]"),
        ({"k" * 700: 1}, "{'" + "k" * 500 + "'+200: 1}"),
        (list(range(1_040)), f"[{', '.join(map(str, range(30)))}, … 1,010 more]"),
        (dict.fromkeys(range(31), 0), "29: 0, … 1 more: Ellipsis}"),
        ({"a": [["x" * 100] * 100] * 100}, "x+1039700}"),
    ],
)
def test_what_is_long_says_how_much_follows(value: object, shown: str) -> None:
    assert repr(Short.of(value)).endswith(shown)
    assert len(repr(Short.of(value))) < 3_100

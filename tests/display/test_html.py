"""HTML of a notebook's output is escaped and stays within its budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from registry.display.html import Budget, block, table

HOSTILE = "<script>alert(1)</script> & \"'\u202e\x1b\x00\ud800 end"


def test_text_is_escaped_and_invisible_characters_are_codes() -> None:
    shown = Budget(1_000).text(HOSTILE, 1_000)
    assert shown == (
        "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;&#x27;"
        "\\u{202e}\\u{1b}\\u{0}\\u{d800} end"
    )


def test_newlines_and_tabs_are_kept() -> None:
    assert Budget(100).text("a\n\tb", 100) == "a\n\tb"


def test_cut_text_says_how_much_is_missing() -> None:
    budget = Budget(100)
    assert budget.text("é" * 3_000, 20) == "é" * 10 + " <i>… 2,990 more characters</i>"
    assert budget.left == 80


@given(st.lists(st.text(max_size=200)), st.integers(0, 300), st.integers(0, 100))
def test_all_texts_together_fit_into_the_budget(texts: list[str], size: int, most: int) -> None:
    budget = Budget(size)
    shown = [budget.text(text, most).partition(" <i>… ")[0] for text in texts]
    used = [len(one.encode()) for one in shown]
    assert sum(used) == size - budget.left <= size
    assert max(used, default=0) <= most


def test_table_has_headers_above_or_before_its_rows() -> None:
    assert table([("a", "1")]) == (
        '<table><tbody><tr><th scope="row">a</th><td>1</td></tr></tbody></table>'
    )
    assert table([("a", "1")], headers=("x", "y")) == (
        '<table><thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead>'
        "<tbody><tr><td>a</td><td>1</td></tr></tbody></table>"
    )


def test_style_applies_to_its_own_block_alone() -> None:
    style = block("x").partition("<style>")[2].partition("</style>")[0]
    rules = [rule.partition("{")[0] for rule in style.split("}") if rule]
    assert rules
    assert all(one.startswith(".registry-repr") for rule in rules for one in rule.split(","))

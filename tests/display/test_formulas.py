"""Formulas are found in texts, and become MathML that hides nothing and does nothing."""

from __future__ import annotations

import re
import sys
import threading
from html import escape
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import Sample
from registry.display.formulas import formulas, has_undrawn, mathml
from tests.gallery import FORMULA, HOSTILE, SCRIPT


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in formulas(text, escape)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rf"a \[{FORMULA}\] b \(x\) c", [rf"\[{FORMULA}\]", r"\(x\)"]),
        ("$0 \\le \\lambda \\le 4,$ $$x$$ $k=$", ["$0 \\le \\lambda \\le 4,$", "$$x$$", "$k=$"]),
        ("\\begin{align*}\nx &= 1 \\\\\n- y\n\\end{align*}", ["\\begin{align*}\nx &= 1 \\\\\n- y\n\\end{align*}"]),
        ("[asy]\ndraw($A$);\n[/asy] $B$", ["[asy]\ndraw($A$);\n[/asy]", "$B$"]),
        # Real sentences of gsm8k, AQuA and MATH.
        ("He buys a house for $80,000 and then puts in $50,000 in repairs.", []),
        ("Eliza makes $10 x 1.2 = $<<10*1.2=12>>12. So 5*$2=$<<5*2=10>>10.", []),
        ("gives $2 to Jonathan, and Jonathan will give 3$ back", []),
        ("$10,000 invested at 4.5$ percent", []),
        ("costs $5-$10, or $7 (US$8); \\$x\\$", []),
        ("`$x$` and\n```\n$y$\n```\n``$z` $w$``", []),
        ("$x\n\ny$ and $ x $", []),
        ("[citation \\[needed for it\\]]", []),
    ],
)  # fmt: skip
def test_formula_is_told_from_a_price(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "source",
    [r"\frac{1}{", r"\unknown{x}", "x_{1", "", " ", r"a % b", r"x\phantom{y}", r"\color{white}{x}",
     r"\def\a{\a\a}\a", r"\newcommand{\b}{\b}\b", r"\href{javascript:alert(1)}{x}", r"\style{a}{x}",
     "{" * 51 + "x" + "}" * 51, r"\sqrt " * 501 + "x", "x" * 3_001],
)  # fmt: skip
def test_what_can_not_be_drawn_is_not(source: str) -> None:
    assert mathml(source, is_block=False) == ""


ATTRIBUTE = re.compile(
    r"(accent|accentunder|class|display|displaystyle|form|largeop|linethickness|lspace|mathvariant"
    r"|maxsize|minsize|movablelimits|notation|rspace|scriptlevel|stretchy|symmetric|width)"
)


def check(html: str) -> None:
    """Assert that HTML is MathML with harmless attributes."""
    for element in ET.fromstring(html).iter():
        assert element.tag.startswith("m") or element.tag in {"b", "em", "span"}
        assert all(ATTRIBUTE.fullmatch(name) for name in element.attrib)


@given(
    st.lists(
        st.sampled_from(
            [*HOSTILE.values(), SCRIPT, "x", "^", "{", "}", r"\frac", r"\text{<b>}", "<", "&", '"', " ",
             r"\begin{array}{c|c}1&2\end{array}", r"\tag{a}", r"\label{a}", r"\mathbf{x}", r"\hspace{99em}"]
        ),
        max_size=8,
    ),
    st.booleans(),
)  # fmt: skip
def test_mathml_is_harmless_whatever_the_formula(parts: list[str], is_block: bool) -> None:
    if html := mathml("".join(parts), is_block=is_block):
        check(html)


def test_styles_become_classes() -> None:
    html = mathml(r"\begin{array}{r|l}\hline 1&2\end{array}", is_block=True)
    assert " style=" not in html
    assert "m-right" in html
    assert "m-top" in html


def test_deepest_formula_fits_the_stack_of_a_small_thread() -> None:
    sources = ["{" * 50 + "x" + "}" * 50, r"\sqrt " * 499 + "x", "x^{" * 50 + "x" + "}" * 50]
    drawn: list[str] = []
    threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(
            target=lambda: drawn.extend(mathml(one, is_block=False) for one in sources)
        )
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert all(drawn)


def test_without_the_package_formulas_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from registry.display import formulas as module

    assert not has_undrawn("$x$")
    monkeypatch.setitem(sys.modules, "math_core", None)
    module._converter.cache_clear()
    mathml.cache_clear()
    try:
        assert has_undrawn("$x$")
        assert "pip install 'eval-registry[site]'" in Sample("$x$")._repr_html_()
        assert not has_undrawn("It costs $5.")
        assert found("$x$") == []
    finally:
        module._converter.cache_clear()
        mathml.cache_clear()

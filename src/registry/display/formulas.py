"""Formulas in texts: which parts are one, and each as MathML, which browsers draw by themselves.

`math-core` writes MathML, escapes what it takes over, and refuses what it does not know. Only some
of its elements and attributes are let through: a page allows no inline styles, and a formula may
not hide a part of itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["CODE", "Formula", "formulas", "has_undrawn", "mathml"]

CODE = r"""
    (?P<fence> ^ [ ]{0,3} (?P<tick>`{3,}|~{3,}) [^\n`]* \n .*?
      (?: ^ [ ]{0,3} (?P=tick) [ \t]* $ | \Z ) )
  | (?P<span> (?<!`) (?P<quote>`+) (?!`) (?:(?!\n[ \t]*\n).){1,500}? (?<!`) (?P=quote) (?!`) )
"""
"""Markdown's code, in which a dollar is a dollar; for re.VERBOSE, MULTILINE and DOTALL."""

_LONGEST = 3_000
"""Characters of a formula; the longest of MATH's 16,000 has 1,400."""
_PART = r"(?:(?!\n[ \t]*\n).)"
_FOUND = re.compile(
    rf"""
    {CODE}
  | (?P<drawing> \[asy\] .{{1,{_LONGEST}}}? \[/asy\] )
  | \\\\ | \\\$
  | \\\[ (?P<shown> (?:(?!\\\[|\n[ \t]*\n).){{1,{_LONGEST}}}? ) \\\]
  | \\\( (?P<round> (?:(?!\\\(|\n[ \t]*\n).){{1,{_LONGEST}}}? ) \\\)
  | \$\$ (?P<double> (?:(?!\n[ \t]*\n)(?:\\.|[^$\\])){{1,{_LONGEST}}} ) \$\$
  | (?P<environment>
      \\begin\{{(?P<name>(?:align|aligned|gather|equation|cases|array|[pbvBV]?matrix)\*?)\}}
      {_PART}{{1,{_LONGEST}}}? \\end\{{(?P=name)\}} )
  | \$ (?P<single> (?![\s$]) (?:(?!\n[ \t]*\n)(?:\\.|[^$\\])){{1,{_LONGEST}}} (?<!\s) ) \$ (?![\d$])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_WORDS = re.compile(r"\\(?:text\w*|mbox|operatorname|math\w+)\s*\{[^{}]*\}|\\[a-zA-Z]+")
# Two words, or a sum of money and what follows: `$5 and $`, `$<<9*2=18>>18; so 5*$`, `$12 x 5=$`.
_IS_PROSE = re.compile(
    r"[^\W\d_]{3,}[ \n]+[^\W\d_]{2,}|^<<|^[\d,.]+[;:,.]? [^\W\d_]{2}|^\d.*[-+*/=<>(]$", re.DOTALL
)
_HIDES = re.compile(r"(?<!\\)%|\\(?:def|let|(?:re)?newcommand|[hv]?phantom|color|textcolor)\b")
"""A comment, a definition, and what may be drawn in the colour of the page."""
_MOST_COMMANDS, _DEEPEST = 500, 50
"""The parser calls itself for each: a longer chain would overflow a thread's stack."""
_MACROS = {
    "allowbreak": "{}",
    "dotsb": r"\cdots",
    "dotsm": r"\cdots",
    "surd": r"\sqrt{}",
    "mbox": r"\text{#1}",
    "textnormal": r"\text{#1}",
}

_TAG = re.compile(r'<(/?)([a-z]+)((?: [a-z-]+="[^"]*")*) ?(/?)>')
_ATTRIBUTE = re.compile(r' ([a-z-]+)="([^"]*)"')
_ELEMENTS = frozenset(
    """
    math menclose mfrac mi mn mo mover mpadded mroot mrow mspace msqrt mstyle msub msubsup
    msup mtable mtd mtext mtr munder munderover mmultiscripts mprescripts none b em span
    """.split()  # noqa: SIM905 (words are read, not quotes)
)
_FLAG, _LENGTH = re.compile("true|false"), re.compile(r"[0-2]?(?:\.\d{1,7})?(?:em)?")
_ATTRIBUTES = {
    "accent": _FLAG,
    "accentunder": _FLAG,
    "display": re.compile("block"),
    "displaystyle": _FLAG,
    "form": re.compile("infix|prefix|postfix"),
    "largeop": _FLAG,
    "linethickness": _LENGTH,
    "lspace": _LENGTH,
    "mathvariant": re.compile("normal"),
    "maxsize": _LENGTH,
    "minsize": _LENGTH,
    "movablelimits": _FLAG,
    "notation": re.compile("[a-z ]{1,60}"),
    "rspace": _LENGTH,
    "scriptlevel": re.compile(r"[+-]?\d"),
    "stretchy": _FLAG,
    "symmetric": _FLAG,
    "width": _LENGTH,
}
_STYLES = {
    "text-align: right": "m-end",
    "text-align: left": "m-start",
    "border-left": "m-left",
    "border-right": "m-right",
    "border-top": "m-top",
    "border-bottom": "m-bottom",
}
"""How a declaration begins → the class that does the same, in `sample.css`."""


@dataclass(frozen=True)
class Formula:
    """A formula in a text, with its delimiters."""

    start: int
    end: int
    html: str
    is_block: bool
    """Whether it has lines of its own."""


def has_undrawn(text: str) -> bool:
    """Return whether a text may have formulas, and the package that draws them is not installed."""
    return _converter() is None and any(
        found["single"] or found["double"] or found["round"] or found["shown"]
        for found in _FOUND.finditer(text)
    )


def formulas(text: str, escape: Callable[[str], str]) -> Iterator[Formula]:
    """Yield the formulas of a text that can be drawn, and as code the drawings of Asymptote.

    What is in Markdown's code is none.
    """
    if "$" not in text and "\\" not in text and "[asy]" not in text:
        return
    for found in _FOUND.finditer(text):
        if found["drawing"]:
            html = f'<code class="drawing" dir="ltr">{escape(found[0])}</code>'
            yield Formula(found.start(), found.end(), html, is_block=True)
        inner = found["round"] or found["single"]
        block = found["shown"] or found["double"] or found["environment"]
        source = inner or block
        if source and (html := mathml(source, is_block=inner is None)):
            yield Formula(found.start(), found.end(), html, is_block=inner is None)


@functools.lru_cache(maxsize=1_000)
def mathml(source: str, *, is_block: bool) -> str:
    """Return LaTeX as MathML; "" for what is no formula, can't be converted or would be hidden."""
    convert = _converter()
    source = source.strip()
    if convert is None or not source or _is_refused(source):
        return ""
    try:
        return _TAG.sub(_checked, convert(source, displaystyle=is_block))
    except ValueError:
        return ""


def _is_refused(source: str) -> bool:
    if len(source) > _LONGEST or source.count("\\") > _MOST_COMMANDS or _HIDES.search(source):
        return True
    depth = deepest = 0
    for one in source:
        depth += (one == "{") - (one == "}")
        deepest = max(deepest, depth)
    return deepest > _DEEPEST or _IS_PROSE.search(_WORDS.sub(" x ", source)) is not None


def _checked(tag: re.Match[str]) -> str:
    """Return a tag with the attributes that are allowed, and classes in place of styles."""
    close, name, attributes, end = tag.groups()
    if name not in _ELEMENTS:
        raise ValueError(f"<{name}>")
    if close:
        return f"</{name}>"
    kept, classes = [], []
    for key, value in _ATTRIBUTE.findall(attributes):
        if key == "style":
            classes += [_STYLES[one] for one in _STYLES if one in value]
        elif key == "class":
            classes += [value] if re.fullmatch("menclose-[a-z]+", value) else []
        elif (allowed := _ATTRIBUTES.get(key)) and allowed.fullmatch(value) and name != "mpadded":
            kept.append(f' {key}="{value}"')
    if classes:
        kept.append(f' class="{" ".join(classes)}"')
    return f"<{name}{''.join(kept)}{'/' if end else ''}>"


@functools.cache
def _converter() -> Callable[..., str] | None:
    try:
        from math_core import LatexError, LatexToMathML
    except ImportError:
        return None
    converter: Any = LatexToMathML(fancy_error=False, macros=_MACROS)

    def convert(source: str, *, displaystyle: bool) -> str:
        try:
            return str(converter.convert_with_local_state(source, displaystyle=displaystyle))
        except LatexError as error:
            raise ValueError(str(error)) from error

    return convert

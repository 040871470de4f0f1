"""Markdown as HTML that does nothing: no HTML of the text, no link to follow, no picture to load.

It hides nothing either: a text is drawn only if all its letters and digits are seen, in order.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from registry.display.code import code_html
from registry.display.formulas import CODE, formulas

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["markdown_html"]

_ITEM = r"^[ ]{0,3}(?:[-*+]|\d{1,9}[.)])[ ]+\S"
_MARKUP = re.compile(
    rf"""
    ^ [ ]{{0,3}} (?: `{{3}} | ~{{3}} | \#{{1,3}} [ ]+ [^\W\d_] | > [ ] \S )
  | ^ [ ]{{0,3}} \|? [ ]* :?-+:? [ ]* \| [ :|-]* $
  | {_ITEM} .* \n (?: .* \n ){{0,8}}? {_ITEM}
  | \*\* (?=\S) [^*]+ (?<=\S) \*\*
  | (?<!`) `(?!`) [^`\n]+ `
  | \[ [^\]\n]+ \] \( [^)\n]+ \)
    """,
    re.VERBOSE | re.MULTILINE,
)
"""What shows that a text is Markdown; a single `*` or `_` does not."""
# Stars between numbers, and `__init__`, which Markdown would take for emphasis.
_LITERAL = re.compile(
    rf"{CODE} | (?<=\w)\*+(?=\w) | (?<!\w)__\w+__(?!\w)", re.VERBOSE | re.MULTILINE | re.DOTALL
)
_MARK, _AS_TEXT, _END = "\ue000", "\ue002", "\ue001"
"""Around the number of a formula, or of one in code: private characters, which no text has here."""
_SPACED = re.compile(f"(\\n?)([{_MARK}{_AS_TEXT}])([0-9]+){_END}(\\n?)")
_MOST_BRACKETS = 500
"""The time for brackets that are not closed grows with the square of their number."""
_NUMBER = re.compile(r'<li value="(\d+)">')
# Line ends that no text has: white space is kept as it is.
_LAYOUT = re.compile(r"\n(?=</?(?:ul|ol|li|p|blockquote|pre|div|table|tr|thead|tbody|hr)\b)")
_SEEN = re.compile(r"[^\W_]+")


def markdown_html(text: str, escape: Callable[[str], str]) -> str:
    """Return a text with Markdown or formulas as HTML; "" for one that is best shown as it is.

    Args:
        text: A text without invisible and without private characters.
        escape: Returns such a text as the content of an element.
    """
    if text.count("[") > _MOST_BRACKETS:
        return ""
    found = list(formulas(text, escape))
    if not found and not _MARKUP.search(text):
        return ""
    parts, start = [], 0
    for number, one in enumerate(found):
        parts += [text[start : one.start], f"{_MARK}{number}{_END}"]
        start = one.end
    marked = "".join([*parts, text[start:]])
    html: str = _parser().render(_LITERAL.sub(_as_literal, marked), {"escape": escape})
    html = _LAYOUT.sub("", html)
    if _SEEN.findall(_plain(html)) != _SEEN.findall(marked):
        return ""

    def drawn(match: re.Match[str]) -> str:
        before, kind, number, after = match.groups()
        one = found[int(number)]
        if kind == _MARK and one.is_block:
            return one.html
        return before + (one.html if kind == _MARK else escape(text[one.start : one.end])) + after

    return _SPACED.sub(drawn, html).removesuffix("\n")


def _as_literal(match: re.Match[str]) -> str:
    if match["fence"] or match["span"]:
        return match[0]
    return re.sub(r"([*_])", r"\\\1", match[0])


def _plain(html: str) -> str:
    """Return the text of HTML, with the numbers of lists."""
    return re.sub("<[^>]*>|&(?:amp|lt|gt|quot);", " ", _NUMBER.sub(r"\1 ", html))


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.disable(["entity", "autolink", "html_block", "html_inline", "reference"])
    # They are only shown: also what a browser would not be allowed to follow.
    for name in ("validateLink", "normalizeLink", "normalizeLinkText"):
        setattr(made, name, str)
    for name, rule in _RULES.items():
        made.add_render_rule(name, _adapted(rule))
    return made


_Rule = Any


def _adapted(rule: _Rule) -> Any:
    def render(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return str(rule(tokens, index, env))

    return render


def _fence(tokens: Sequence[Token], index: int, env: Any) -> str:
    token = tokens[index]
    info = token.info.strip()
    label = f'<span class="label">{env["escape"](info)}</span>' if info else ""
    code = code_html(_unmarked(token.content), info.partition(" ")[0], env["escape"])
    return f'{label}<pre class="code" dir="ltr"><code>{code}</code></pre>\n'


def _span(tokens: Sequence[Token], index: int, env: Any) -> str:
    return f"<code>{env['escape'](_unmarked(tokens[index].content))}</code>"


def _unmarked(code: str) -> str:
    """Return code in which a formula will be as it was written."""
    return code.replace(_MARK, _AS_TEXT)


def _text(tokens: Sequence[Token], index: int, env: Any) -> str:
    return str(env["escape"](tokens[index].content))


def _link_close(tokens: Sequence[Token], index: int, env: Any) -> str:
    depth = 0
    for token in reversed(tokens[:index]):
        depth += (token.type == "link_close") - (token.type == "link_open")
        if depth < 0:
            return f"</span> {_target(token.attrs.get('href'), token.attrs.get('title'), env)}"
    raise ValueError("a link that was not opened")


def _image(tokens: Sequence[Token], index: int, env: Any) -> str:
    token = tokens[index]
    target = _target(token.attrs.get("src"), token.attrs.get("title"), env)
    return f'<span class="link">{env["escape"](token.content)}</span> {target}'


def _target(url: Any, title: Any, env: Any) -> str:
    shown = " ".join(str(one) for one in (url, title) if one)
    return f'<span class="url">{env["escape"](shown)}</span>'


def _item(tokens: Sequence[Token], index: int, env: Any) -> str:
    number = tokens[index].info
    return f'<li value="{int(number)}">' if number else "<li>"


def _cell(tokens: Sequence[Token], index: int, env: Any) -> str:
    token = tokens[index]
    side = {"text-align:right": "m-end", "text-align:center": "m-center"}.get(
        str(token.attrs.get("style")), ""
    )
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


_RULES: dict[str, _Rule] = {
    "fence": _fence,
    "code_block": _fence,
    "code_inline": _span,
    "text": _text,
    "softbreak": lambda *_: "\n",
    "hardbreak": lambda *_: "\n",
    "heading_open": lambda *_: '<p class="heading">',
    "heading_close": lambda *_: "</p>\n",
    "link_open": lambda *_: '<span class="link">',
    "link_close": _link_close,
    "image": _image,
    "list_item_open": _item,
    "th_open": _cell,
    "td_open": _cell,
    # To be scrolled by keys, it must take the focus.
    "table_open": lambda *_: (
        '<div class="sheet" role="group" aria-label="Table" tabindex="0"><table>'
    ),
    "table_close": lambda *_: "</table></div>\n",
}
"""Token → a function of the tokens, its index and the environment; for others markdown-it's own."""

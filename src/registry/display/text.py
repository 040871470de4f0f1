"""A text of a sample as HTML: as it reads and as it is, in its direction; a long one folded.

Markdown becomes HTML that does nothing: no HTML of the text, no link to follow, no picture to load.
It hides nothing either: a text is drawn only if all its letters and digits are seen, in order.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from registry.display.code import code_html, passages
from registry.display.formulas import CODE, formulas
from registry.display.html import Allowance, content_html, cut, escape_visible, visible
from registry.errors import count_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = [
    "LABEL_TEXT",
    "VALUE_TEXT",
    "block",
    "json_html",
    "markdown_html",
    "note_html",
    "text_html",
]

VALUE_TEXT = 1_000
"""Characters of a value of the metadata, of an argument and the like."""
LABEL_TEXT = 200
_LINE_TEXT = 240
"""Characters of JSON that is not indented: metadata must not fill the screen."""
_FOLDED, _LEAST_REST, _LINE = 30, 6, 100
"""Lines that are seen of a longer text, the fewest that are worth hiding, characters of one."""

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


def text_html(text: str, most: int, allowance: Allowance, *, label: str = "") -> str:
    """Return a text as HTML: as it reads, if it has code, Markdown or formulas, and as it is."""
    if not text.strip():
        word = f"only white space: {count_text(len(text), 'character')}" if text else "empty"
        return block(label, "", word)
    taken = allowance.take(text, most)
    body = f'<div class="text" dir="auto">{taken.html}</div>' if taken.html else ""
    if taken.html:
        body = _folded(_drawn(taken.text, body, allowance), taken.text)
    return block(label, body, taken.note)


def _drawn(text: str, raw: str, allowance: Allowance) -> str:
    """Return a text as it reads if there is room for it, else the raw one."""
    parts = list(passages(text, is_code=allowance.is_code))
    if any(one.language is not None for one in parts):
        html = "".join(_passages(parts))  # each character as it is: there is nothing to look up
        return html if allowance.add(html, instead_of=raw) else raw
    html = markdown_html(visible(text), escape_visible)
    if not html or not allowance.add(html):
        return raw
    drawn = f'<div class="text drawn" dir="auto">{html}</div>'
    if allowance.is_saved and "<math" in html:
        first, second, name, word = raw, drawn, "read", "Rendered"
    else:
        first, second, name, word = drawn, raw, "raw", "Raw text"
    details = f'<details class="{name}"><summary>{word}</summary>{second}</details>'
    return f'<div class="rich">{first}{details}</div>'


def _passages(parts: list[Any]) -> Iterator[str]:
    for one in parts:
        if one.language is None:
            yield f'<div class="text" dir="auto">{content_html(one.text)}</div>'
        else:
            yield _code(code_html(visible(one.text), one.language, escape_visible))


def _folded(body: str, text: str) -> str:
    """Return what is seen of a long text at first, with a switch that shows it all."""
    lines = sum(len(line) // _LINE + 1 for line in text.splitlines())
    if lines < _FOLDED + _LEAST_REST:
        return body
    return (
        f'<div class="fold"><div class="folded">{body}</div>'
        f'<label class="unfold"><input type="checkbox"> all {lines:,} lines</label></div>'
    )


def json_html(
    value: Any,
    allowance: Allowance,
    *,
    most: int = VALUE_TEXT,
    line: int = _LINE_TEXT,
    label: str = "",
) -> str:
    """Return a value as JSON in HTML: on one line of at most `line` characters, or indented."""
    taken = allowance.take(_json_text(value, line), most)
    return block(label, _code(taken.html), taken.note)


def note_html(note: str) -> str:
    """Return a remark about a sample."""
    return block("", "", note)


def block(label: str, body: str, note: str) -> str:
    """Return a part of a sample: HTML below a label, and a remark below it."""
    parts = []
    if label:
        parts.append(f'<span class="label">{content_html(cut(label, LABEL_TEXT)[0])}</span>')
    if body:
        parts.append(body)
    if note:
        parts.append(f'<p class="quiet small">{content_html(note)}</p>')
    return "\n".join(parts)


def _code(html: str) -> str:
    return f'<pre class="code" dir="ltr"><code>{html}</code></pre>'


def _json_text(value: Any, line: int) -> str:
    """Return JSON as `json.dumps` indents it, on one line if it is short."""
    text = json.dumps(value, ensure_ascii=False, default=_unknown)
    if len(text) <= line:
        return text
    try:
        # json indents in Python, which takes ten times as long.
        return msgspec.json.format(text)
    except (UnicodeEncodeError, msgspec.DecodeError):  # a lone surrogate, or NaN
        return json.dumps(value, ensure_ascii=False, default=_unknown, indent=2)


def _unknown(value: Any) -> str:
    return count_text(len(value), "byte") if isinstance(value, bytes) else str(value)


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

    def as_literal(match: re.Match[str]) -> str:
        is_code = match["fence"] or match["span"]
        return match[0] if is_code else re.sub(r"([*_])", r"\\\1", match[0])

    html: str = _parser().render(_LITERAL.sub(as_literal, marked), {"escape": escape})
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
    return f"{label}{_code(code)}\n"


def _unmarked(code: str) -> str:
    """Return code in which a formula will be as it was written."""
    return code.replace(_MARK, _AS_TEXT)


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


def _cell(tokens: Sequence[Token], index: int, env: Any) -> str:
    token = tokens[index]
    side = {"text-align:right": "m-end", "text-align:center": "m-center"}.get(
        str(token.attrs.get("style")), ""
    )
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


_RULES: dict[str, _Rule] = {
    "fence": _fence,
    "code_block": _fence,
    "code_inline": lambda tokens, index, env: (
        f"<code>{env['escape'](_unmarked(tokens[index].content))}</code>"
    ),
    "text": lambda tokens, index, env: env["escape"](tokens[index].content),
    "softbreak": lambda *_: "\n",
    "hardbreak": lambda *_: "\n",
    "heading_open": lambda *_: '<p class="heading">',
    "heading_close": lambda *_: "</p>\n",
    "link_open": lambda *_: '<span class="link">',
    "link_close": _link_close,
    "image": _image,
    "list_item_open": lambda tokens, index, _: (
        f'<li value="{int(tokens[index].info)}">' if tokens[index].info else "<li>"
    ),
    "th_open": _cell,
    "td_open": _cell,
    # To be scrolled by keys, it must take the focus.
    "table_open": lambda *_: (
        '<div class="sheet" role="group" aria-label="Table" tabindex="0"><table>'
    ),
    "table_close": lambda *_: "</table></div>\n",
}
"""Token → a function of the tokens, its index and the environment; for others markdown-it's own."""

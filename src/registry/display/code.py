"""Code in texts: which passages are code, and code with the classes of Pygments' styles."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from registry.base.process_state import cached_property

__all__ = ["Passage", "code_html", "passages"]

_PYTHON = frozenset(keyword.kwlist)
_BRACES = frozenset(
    """
    async auto await bool break case catch char class const continue default delete do
    double else enum export extends extern false final finally float for fn func function
    go if impl implements import in include int interface let long match mod mut namespace
    new nil null package private protected pub public return self short static string
    struct super switch template this throw true try type typedef typename undefined union
    unsigned use using var void volatile where while yield
    """.split()  # noqa: SIM905 (words are read, not quotes)
)
_SQL = frozenset(
    """
    all alter and as asc between by case create cross delete desc distinct drop else end
    exists from full group having in index inner insert into is join key left like limit
    not null offset on or order outer primary right select set table then union unique
    update values when where with
    """.split()  # noqa: SIM905 (words are read, not quotes)
)
_SHELL = frozenset(
    """
    case do done elif else esac export fi for function if in local return then while
    """.split()  # noqa: SIM905 (words are read, not quotes)
)
_HASH = r"\#[^\n]*"
_SLASHES = r"//[^\n]*|/\*.*?(?:\*/|\Z)"


@dataclass(frozen=True)
class _Language:
    keywords: frozenset[str]
    comment: str
    """A regex."""
    strings: str = "\"'"
    ignores_case: bool = False

    @cached_property
    def token(self) -> re.Pattern[str]:
        # Each ends at the end of its line, or of the text, so that no part is read twice.
        strings = "|".join(rf"{q}(?:\\.|[^{q}\\\n])*(?:{q}|\\?$)" for q in self.strings)
        triple = "|".join(rf"{q}{{3}}.*?(?:{q}{{3}}|\Z)" for q in self.strings)
        return re.compile(
            rf"(?P<s>{triple}|{strings})|(?P<c>{self.comment})|(?P<m>\d[\w.]*)|(?P<word>[^\W\d]\w*)",
            re.DOTALL | re.MULTILINE,
        )


_PYTHON_LIKE = _Language(_PYTHON, _HASH)
_C_LIKE = _Language(_BRACES, _SLASHES)
_LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3", "pycon", "ruby", "r"), _PYTHON_LIKE),
    **dict.fromkeys(
        str.split(
            "c cpp c++ java javascript js typescript ts go golang rust rs kotlin swift php asy json"
        ),
        _C_LIKE,
    ),
    **dict.fromkeys(("bash", "sh", "shell", "yaml"), _Language(_SHELL, _HASH)),
    "sql": _Language(_SQL, "--[^\\n]*", "'", ignores_case=True),
}
"""Language → how it is coloured.

Three lexers of Pygments need minutes for 20 kB of quotes or of spaces, so this one pass has its
classes and not its rules.
"""

_STARTS = {
    "python": re.compile(
        r"@\w[\w.]*(?:\(.*)?$|(?:async )?def \w+ ?\(|class \w+ ?[(:]|from [\w.]+ import [\w(*]"
        r"|import \w[\w.]*(?: as \w+)?(?:, ?\w[\w.]*(?: as \w+)?)*$"
    ),
    "cpp": re.compile(r"#include ?[<\"]|using namespace \w+;|(?:int|void) main ?\("),
    "java": re.compile(
        r"(?:public|private) (?:static |final |abstract )*(?:class|interface|enum) "
    ),
    "go": re.compile(r"package \w+$|func (?:\(.*?\) ?)?\w+\("),
    "javascript": re.compile(r"(?:async )?function ?\w* ?\(|(?:const|let) \w+ = "),
    "rust": re.compile(r"(?:pub )?fn \w+ ?[(<]|use \w+(?:::\w+)+;"),
}
"""Language → a line that only begins code."""
_STARTS_OF_KIND = {
    **_STARTS,
    "python": re.compile(
        _STARTS["python"].pattern + r"|assert \S|(?:for|while|if|with) .*:$|\w+ = \S"
    ),
    "sql": re.compile(r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|WITH)\b(?=.*\S)"),
}
_GOES_ON = re.compile(
    r"[ \t]|[)\]}]|//|#|/\*|\*/|\"\"\"|'''|@"
    r"|(?:if|elif|else|for|while|try|except|finally|with|return|yield"
    r"|assert|raise|print|global|def|class|import|from|async|func|fn|pub|use|public|private|struct"
    r"|using|type|const|let|var|static|void|int)\b|\w[\w.\[\]\"', ]*(?:[-+*/|&]?=|\()|[{};]"
)
"""How a line of code begins."""
_BODY = re.compile(
    r"(?:return|for|while|if|elif|else|with|try|def|yield|raise|assert|import|from|print|int|auto)\b"
    r"|\w[\w.\[\]\"', ]*(?:[-+*/|&]?= ?|\().+|[}#]|//"
)
_FENCED = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A part of a text; code has the name of its language, which may be empty."""

    text: str
    language: str | None = None


def passages(text: str, *, is_code: bool = False) -> Iterator[Passage]:
    """Yield the parts of a text: code that no fence marks, and what is before and after it.

    With `is_code` it is of a dataset about code, where less is asked of a line.
    """
    if "\n" not in text.strip() or _FENCED.search(text):
        # A single line, such as `import random`, may be an answer in words.
        yield Passage(text, "python" if is_code and _is_body(text) else None)
        return
    if is_code and _is_body(text):
        yield Passage(text, "python")
        return
    starts = _STARTS_OF_KIND if is_code else _STARTS
    prose: list[str] = []
    code: list[str] = []
    language, is_quoted = "", False
    for line in text.splitlines(keepends=True):
        if code and (is_quoted or not line.strip() or _GOES_ON.match(line)):
            is_quoted ^= line.count('"""') % 2 == 1
            code.append(line)
            continue
        found = next((name for name, start in starts.items() if start.match(line.rstrip())), "")
        if code:
            yield from _joined(code, language)
            code = []
        if found:
            before = "".join(prose)
            if before.strip():
                yield Passage(before)
                before = ""
            prose, code, language = [], [before + line], found
            is_quoted = line.count('"""') % 2 == 1
        else:
            prose.append(line)
    yield from _joined(code, language)
    if prose:
        yield Passage("".join(prose))


def _joined(lines: list[str], language: str) -> Iterator[Passage]:
    if lines:
        yield Passage("".join(lines), language)


def _is_body(text: str) -> bool:
    """Return whether every line is indented, as those of a function that a prompt begins."""
    lines = [line for line in text.splitlines() if line.strip()]
    is_indented = bool(lines) and all(line[0] in " \t" for line in lines)
    return is_indented and _BODY.match(lines[0].strip()) is not None


def code_html(code: str, language: str, shown: Callable[[str], str]) -> str:
    """Return code as the content of an element, with Pygments' classes for its colours.

    The language is named as a fence has it; `shown` returns a text as HTML.
    """
    known = _LANGUAGES.get(language.strip().lower())
    if known is None:
        return shown(code)
    parts, start, definition = [], 0, ""
    for token in known.token.finditer(code):
        kind, text = token.lastgroup or "", token[0]
        if kind == "word":
            word = text.lower() if known.ignores_case else text
            kind, definition = definition, _DEFINES.get(word, "")
            kind = "k" if word in known.keywords else kind
        if kind and text:
            parts += [
                shown(code[start : token.start()]),
                f'<span class="{kind}">{shown(text)}</span>',
            ]
            start = token.end()
    return "".join([*parts, shown(code[start:])])


_DEFINES = {"def": "nf", "fn": "nf", "func": "nf", "function": "nf", "class": "nc", "struct": "nc"}
"""What defines a name → the class of the name after it."""

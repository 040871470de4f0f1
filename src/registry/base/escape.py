"""Escape untrusted text, so that it controls no terminal and no CI, and hides nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

__all__ = ["escape_control", "escape_double_quoted", "escape_json", "escape_lines"]

# Control, format (bidi, zero width), unassigned and private characters; line and paragraph ends.
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_SYMBOLS = {"\n": "⏎", "\t": "⇥"}
_LAYOUT = {"\n": "\n", "\t": "\t"}
_VISIBLE = re.compile(r"[\n\t\x20-\x7e]*")

# What a CI runs when a program prints it: on GitHub `::name …::` where a line begins and `##[name]`
# anywhere, on Azure `##vso[`, on TeamCity `##teamcity[`, on GitLab `section_start:TIME:NAME`. The
# runners trim a line first, and an escape of one character breaks each of them.
_COMMAND = re.compile(
    r"""(?P<before> ^[^\S\n]* ) : (?= : )
      | \# (?= \# \w* \[ )
      | s (?= ection_ (?: start | end ) : \d )""",
    re.MULTILINE | re.VERBOSE,
)


def escape_control(text: str) -> str:
    """Return a text as one line: a newline as `⏎`, a tab as `⇥`, invisible characters as codes."""
    # All that is invisible is not printable, and so are some spaces.
    return text if text.isprintable() else _escape(text, _SYMBOLS)


def escape_lines(text: str, *, starts_line: bool = True) -> str:
    """Return a text with its newlines and tabs, but without control characters and CI commands.

    Args:
        text: Any text.
        starts_line: Whether a line begins with it; only there does `::` begin a command.
    """
    if not _VISIBLE.fullmatch(text):
        text = _escape(text, _LAYOUT)

    def replace(match: re.Match[str]) -> str:
        before = match["before"]
        if before is not None and match.start() == 0 and not starts_line:
            return match[0]
        return f"{before or ''}{_code(match[0][-1])}"

    return _COMMAND.sub(replace, text)


def escape_json(text: str) -> str:
    """Return JSON as JSON of the same data, without invisible characters and CI commands."""
    # A match is always within a str: elsewhere JSON has no `#`, and no line that begins with `:`.
    return _escape_quoted(text, _json_code)


def escape_double_quoted(text: str) -> str:
    """Return YAML as YAML of the same data, if what needs an escape is in double quotes."""
    return _escape_quoted(text, lambda one: f"\\U{ord(one):08x}")


def _escape_quoted(text: str, code: Callable[[str], str]) -> str:
    if not _VISIBLE.fullmatch(text):
        text = "".join(code(one) if _is_invisible(one) else one for one in text)
    return _COMMAND.sub(lambda match: f"{match['before'] or ''}{code(match[0][-1])}", text)


def _escape(text: str, kept: dict[str, str]) -> str:
    return "".join(kept.get(one) or (_code(one) if _is_invisible(one) else one) for one in text)


def _is_invisible(character: str) -> bool:
    return character not in _LAYOUT and unicodedata.category(character) in _INVISIBLE


def _code(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def _json_code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))

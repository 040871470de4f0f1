"""Show texts of strangers: nothing in them steers a terminal, hides or turns what is read."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from registry.base.digest import to_json

__all__ = ["shown_value", "visible"]

_LONGEST = 160
_SHA256 = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{28,52}\b")
# Control, format (bidi, zero width), unassigned and private characters; line and paragraph ends.
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_SCALAR = re.compile(r"null|true|false|[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
_NAMED = {"\n": "⏎", "\t": "⇥"}


def visible(text: str) -> str:
    """Return one line: an end of a line is `⏎`, a tab `⇥`, what can't be seen its code."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_NAMED.get(one) or _shown(one) for one in text)


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    return f"\\u{{{ord(character):x}}}"


def shown_value(value: Any) -> str:
    """Return a value of a manifest as one short line; digests are cut to 12 digits."""
    text = value if isinstance(value, str) and _is_plain(value) else to_json(value)
    text = visible(_SHA256.sub(r"\1…", text))
    if len(text) <= _LONGEST:
        return text
    half = (_LONGEST - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def _is_plain(text: str) -> bool:
    """Return whether a text can't be taken for another value, or for nothing."""
    return bool(text.strip()) and text == text.strip() and not _SCALAR.fullmatch(text)

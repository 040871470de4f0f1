"""Escape untrusted text, so that it can't control a terminal, hide or reorder what is read."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from registry.base.digest import to_json

__all__ = ["display_value", "escape_control"]

_MAX_LENGTH = 160
_SHA256 = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{28,52}\b")
# Control, format (bidi, zero width), unassigned and private characters; line and paragraph ends.
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_SCALAR = re.compile(r"null|true|false|[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
_SYMBOLS = {"\n": "⏎", "\t": "⇥"}


def escape_control(text: str) -> str:
    """Return a text as one line: a newline as `⏎`, a tab as `⇥`, invisible characters as codes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _SYMBOLS.get(one)
        or (f"\\u{{{ord(one):x}}}" if unicodedata.category(one) in _INVISIBLE else one)
        for one in text
    )


def display_value(value: Any) -> str:
    """Return a value of a manifest as one short line; digests are cut to 12 digits."""
    # Quotes only where a str could be read as another type, or its whitespace be missed.
    is_plain = (
        isinstance(value, str) and value.strip() == value != "" and not _SCALAR.fullmatch(value)
    )
    text = escape_control(_SHA256.sub(r"\1…", value if is_plain else to_json(value)))
    if len(text) <= _MAX_LENGTH:
        return text
    half = (_MAX_LENGTH - 3) // 2
    return f"{text[:half]} … {text[-half:]}"

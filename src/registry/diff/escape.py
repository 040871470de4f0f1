"""Show values of a manifest, without anything that controls a terminal, hides or reorders text."""

from __future__ import annotations

import re
from typing import Any

from registry.base.digest import to_json
from registry.base.escape import escape_control

__all__ = ["display_value"]

_MAX_LENGTH = 160
_SHA256 = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{28,52}\b")
_SCALAR = re.compile(r"null|true|false|[-+]?[0-9.]+([eE][-+]?[0-9]+)?")


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

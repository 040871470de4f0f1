"""Parse the Python literals that datasets have, at the speed of JSON.

Most are lists and dicts of strings, written by `repr`: with other quotes and words they are JSON.
What is JSON after its tokens were replaced is parsed so; all else is refused.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from registry.mapping.generated.source import AsideError

__all__ = ["parse_literal"]

_decode = msgspec.json.Decoder().decode

# Strings, and words outside of strings; a quote that is neither makes the text invalid as JSON.
_TOKEN = re.compile(r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|([^\W\d]\w*)""")
_WORD = re.compile("True|False|None|true|false|null")
_WORDS = {"True": "true", "False": "false", "None": "null"}
# What JSON writes otherwise, or alike; its `\u` joins the halves of a surrogate pair, and its `\/`
# is a slash.
_ESCAPED = re.compile(r'\\x([0-9a-fA-F]{2})|(\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})|\\.|"')
_ESCAPES = {'"': '\\"', "\\'": "'", **{f"\\{sign}": f"\\{sign}" for sign in '\\"nrtbf'}}
_MOST_BRACKETS = 100
"""Python's parser refuses deep nesting earlier than that of JSON."""


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal.

    Raises:
        AsideError, LookupError, ValueError: it is invalid, or has more than JSON has.
    """
    text = text.strip()
    if text[:1] not in ("[", "{") or text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise AsideError
    if '"' in text or "\\" in text or _WORD.search(text):
        text = _TOKEN.sub(_to_json, text)
    else:  # all quotes are those of strings, so other quotes make it JSON
        text = text.replace("'", '"')
    return _decode(text)


def _to_json(token: re.Match[str]) -> str:
    single, double, word = token.groups()
    if word is not None:
        if word not in _WORDS:
            raise AsideError
        return _WORDS[word]
    body = single if double is None else double
    if "\\" in body or '"' in body:
        body = _ESCAPED.sub(_escape_as_json, body)
    return f'"{body}"'


def _escape_as_json(escape: re.Match[str]) -> str:
    if escape[1] is not None:
        return f"\\u00{escape[1]}"
    return escape[2] or _ESCAPES[escape[0]]

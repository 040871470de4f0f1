"""The text of a lockfile: written block by block, and cut into them again.

One dataset is one block whose first line alone is indented by two blanks. So a block can be found
without parsing the file, two people who add datasets merge without a conflict unless these are
neighbours, and the same pins are always the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["block_of", "conflict_line", "pieces", "pin_in", "sides", "written"]

HEAD = """\
# yaml-language-server: $schema=schemas/lock.schema.json
# Written by `python -m registry lock`. Review it like code; don't edit it.
version: 1
"""
# `re` compiles these when they are first used, and keeps them; to read a pin takes two.
_BLOCK = r"(?m)^  \S"
# A line of a dataset that is not just its name in one of the two spellings without escapes.
_OTHER_KEY = r'\n  (?! )(?!(?:[a-z0-9][a-z0-9._-]*|"[a-z0-9._-]+"):\n)'
_MARKER = r"(?m)^(<{7}|\|{7}|={7}|>{7})( .*)?\r?$"
# What YAML reads as the same text without quotes, whatever stands around it in a list.
_PLAIN = r"[A-Za-z_/][A-Za-z0-9_/.+*@-]*(://[A-Za-z0-9_/.+*@-]+|:[0-9a-f]{64})?"
# Words that some version of YAML takes for something else.
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# Digits and letters of which some, such as 12e4, are numbers: all have quotes, to look the same.
_HEX = r"[0-9a-f]{40}|[0-9a-f]{64}"
# What JSON leaves as it is, and YAML takes for a line break or refuses.
_UNPRINTABLE = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
_PIECE = 1 << 19


def written(datasets: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a lockfile; keys stand in the order that the mappings give them."""
    if not datasets:
        return f"{HEAD}datasets: {{}}\n"
    blocks = (_block(name, datasets[name]) for name in sorted(datasets))
    return "".join([HEAD, "datasets:\n", *blocks])


def _block(name: str, pin: Mapping[str, Any]) -> str:
    lines = [f"  {_text(name)}:"]
    for key, value in pin.items():
        if key == "sources":
            lines += ["    sources:", *(line for source in value for line in _source(source))]
        else:
            lines.append(f"    {key}: {_value(value)}")
    return "\n".join(lines) + "\n"


def _source(source: Mapping[str, Any]) -> Iterator[str]:
    marks = ["      - ", *["        "] * len(source)]
    for mark, (key, value) in zip(marks, source.items(), strict=False):
        yield f"{mark}{key}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)


def _text(value: str) -> str:
    if _is_plain(value):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return re.sub(_UNPRINTABLE, lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _is_plain(value: str) -> bool:
    return (
        re.fullmatch(_PLAIN, value) is not None
        and value.lower() not in _WORDS
        and not re.fullmatch(_HEX, value)
    )


def block_of(text: str, name: str) -> str | None:
    """Return the text with nothing left in it but the block of one dataset, on its lines.

    Empty where there is none; None where that can't be told without parsing the whole.
    """
    if text == written({}):
        return ""
    start = f"\n  {_text(name)}:\n"
    found = text.find(start)
    count = sum(text.count(f"\n  {key}:\n") for key in (name, f'"{name}"'))
    if count > 1 or count != (found >= 0) or not _keys_are_plain(text):
        return None
    if found < 0:
        return ""
    after = re.compile(_BLOCK).search(text, found + len(start))
    above = text.count("\n", 0, found + 1)
    body = text[found + 1 : after.start() if after else len(text)]
    return "\n" * (above - 1) + "datasets:\n" + body


def _keys_are_plain(text: str) -> bool:
    """Return whether each dataset stands on a line of its own, in letters that mean themselves."""
    top = f"{HEAD}datasets:\n  "
    return (
        text.startswith(top)
        and not text.startswith(" ", len(top))
        and text.count("\ndatasets:") == 1
        and re.search(_OTHER_KEY, text) is None
    )


def pin_in(block: str, name: str) -> dict[str, Any] | None:
    """Return what the block of a dataset says, as `block_of` gives it, without the parser of YAML.

    None where its text is not to the letter what `written` makes of that, so YAML has to tell.
    """
    body = block.partition("datasets:\n")[2]
    try:
        pin = _read(body.splitlines()[1:])
    except (ValueError, LookupError):
        return None
    return pin if _block(name, pin) == body else None


def _read(lines: Sequence[str]) -> dict[str, Any]:
    pin: dict[str, Any] = {}
    sources: list[dict[str, Any]] = []
    for line in lines:
        key, _, text = line.lstrip(" -").partition(": ")
        if line.startswith("    sources:"):
            pin["sources"] = sources
            continue
        if line.startswith("      - "):
            sources.append({})
        place = sources[-1] if line.startswith("      ") else pin
        place[key] = _read_value(text)
    return pin


def _read_value(text: str) -> Any:
    if text.startswith("["):
        return [_read_value(item) for item in text[1:-1].split(", ")] if text != "[]" else []
    if text.startswith('"'):
        return json.loads(text)
    return int(text) if text.isdecimal() else text


def pieces(text: str) -> Iterator[str]:
    """Cut a text into parts of bounded size, each a document on its lines; the first has the head.

    The reader of YAML bounds what one document may be; a lock of many thousands is larger.
    """
    start, line = 0, 0
    while start < len(text):
        after = re.compile(_BLOCK).search(text, start + _PIECE)
        end = after.start() if after else len(text)
        part = text[start:end]
        yield "\n" * (line - 1) + f"datasets:\n{part}" if start else part
        line += part.count("\n")
        start = end


def conflict_line(text: str) -> int | None:
    """Return the line of the first conflict marker of a merge, or None."""
    # Most have none, and a pattern takes long to find that.
    marker = re.search(_MARKER, text) if any(one * 7 in text for one in "<|=>") else None
    return None if marker is None else text.count("\n", 0, marker.start()) + 1


def sides(text: str) -> tuple[str, str]:
    """Return the two texts that a merge could not bring together: ours and theirs."""
    kept: tuple[list[str], list[str]] = ([], [])
    taking = {0, 1}
    for line in text.splitlines(keepends=True):
        marker = re.match(_MARKER, line)
        if marker:
            taking = {"<": {0}, "|": set(), "=": {1}, ">": {0, 1}}[line[0]]
            continue
        for side in taking:
            kept[side].append(line)
    return "".join(kept[0]), "".join(kept[1])

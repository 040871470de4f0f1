"""JSON Lines and JSON → records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from registry.decode.bytes import SourceBytes, open_text
from registry.errors import DecodeError, did_you_mean, shorten
from registry.locations import unpacked_suffix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.sample import DatasetRecord
    from registry.spec import JsonSource, Source

__all__ = ["LINE_SUFFIXES", "read_json"]

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
"""Suffixes of files that are read line by line."""


def read_json(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield one object a line, or the objects of an array; blank lines are passed over."""
    options = cast("JsonSource", source)
    with open_text(file, options.encoding) as text:
        if unpacked_suffix(file.location) in LINE_SUFFIXES:
            yield from _read_lines(text, file)
        else:
            yield from _read_whole(text.read(), file, options.records)


_DECODER: Any = json.JSONDecoder()
_scan = _DECODER.scan_once


def _read_lines(lines: Iterable[str], file: SourceBytes) -> Iterator[DatasetRecord]:
    for number, line in enumerate(lines, 1):
        try:
            data, end = _scan(line, 0)
        except (StopIteration, ValueError, RecursionError):
            data, end = None, 0
        # Two calls and a search less than `json.loads`, which words what is wrong.
        if type(data) is dict and line[end:] in ("\n", ""):
            yield data
        elif not line.isspace():
            yield _as_record(_parse(line.rstrip("\n"), file, first_line=number), file, number)


def _read_whole(text: str, file: SourceBytes, records: str | None) -> Iterator[DatasetRecord]:
    data = _parse(text, file, first_line=1)
    if records is not None:
        data = _under(data, records, file)
    if isinstance(data, dict):
        yield data
    elif isinstance(data, list):
        for number, item in enumerate(data, 1):
            yield _as_record(item, file, None, f"item {number} of the array")
    else:
        message = f"must be an array of objects, or one object, is {shorten(data)}"
        raise DecodeError(message, file=file.location, line=1)


def _under(data: Any, path: str, file: SourceBytes) -> Any:
    """Return what stands under a key, or a dotted path of keys, of an object."""
    for key in [path] if isinstance(data, dict) and path in data else path.split("."):
        if not isinstance(data, dict) or key not in data:
            known = list(data) if isinstance(data, dict) else []
            hint = did_you_mean(key, known) or f"keys: {', '.join(known)}"
            raise DecodeError(f"no key '{key}' ({hint})", file=file.location)
        data = data[key]
    return data


def _parse(text: str, file: SourceBytes, *, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        message = f"not JSON: {error.msg} at column {error.colno}"
        raise DecodeError(message, file=file.location, line=line) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply"
        raise DecodeError(message, file=file.location, line=first_line) from error
    except ValueError as error:  # a number of more than 4,300 digits
        raise DecodeError(f"not JSON: {error}", file=file.location, line=first_line) from error


def _as_record(
    data: Any, file: SourceBytes, line: int | None, what: str = "the line"
) -> DatasetRecord:
    if isinstance(data, dict):
        return data
    message = f"{what} must be an object, is {shorten(data)}"
    raise DecodeError(message, file=file.location, line=line)

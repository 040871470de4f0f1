"""JSON Lines and JSON → records."""

from __future__ import annotations

import codecs
import io
import json
from typing import TYPE_CHECKING, Any, cast

import msgspec

from registry.base.locations import unpacked_suffix
from registry.decode.stream import SourceBytes, is_utf8, open_text
from registry.errors import DecodeError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource
    from registry.samples.sample import DatasetRecord

    Lines = Sequence[str | bytes]

__all__ = ["LINE_SUFFIXES", "read_json"]

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
"""Suffixes of files that are read line by line."""

_BLOCK_BYTES = 1 << 16


def read_json(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield one object a line, or the objects of an array; blank lines are passed over."""
    options = cast("JsonSource", source)
    with open_text(file, options.encoding) as text:
        if unpacked_suffix(file.location) in LINE_SUFFIXES:
            yield from _read_lines(_lines_of(text), file)
        else:
            yield from _read_whole(text.read(), file, options.records)


def _lines_of(text: io.TextIOWrapper) -> Iterator[Lines]:
    """Yield the lines of a text, as bytes where that is the same and nothing has to be decoded."""
    data = cast("io.BufferedReader", text.buffer)
    # Where line ends are others, all of the file may be one line of bytes.
    if not is_utf8(text.encoding) or b"\r" in data.peek():
        return _one_by_one(text)
    return _blocks_of_lines(data)


def _blocks_of_lines(data: io.BufferedReader) -> Iterator[Lines]:
    mark = codecs.BOM_UTF8
    while lines := data.readlines(_BLOCK_BYTES):
        lines[0] = lines[0].removeprefix(mark)
        mark = b""
        whole = b"".join(lines)
        if b"\r" in whole:  # ends lines in text, and is a blank to msgspec
            yield from _one_by_one(io.TextIOWrapper(io.BytesIO(whole), "utf-8"))
        else:
            yield lines if lines[0] else lines[1:]  # a mark alone is no line


def _one_by_one(text: io.TextIOWrapper) -> Iterator[list[str]]:
    # What can't be decoded is told behind the lines before it.
    return ([line] for line in text)


_decode = msgspec.json.Decoder().decode
"""Gives what `json.loads` gives, or refuses; that is not always right, as of `NaN`."""


def _read_lines(blocks: Iterable[Lines], file: SourceBytes) -> Iterator[DatasetRecord]:
    first = 1
    for lines in blocks:
        records = _decoded(lines)
        yield from _read_each(lines, first, file) if records is None else records
        first += len(lines)


def _decoded(lines: Lines) -> list[DatasetRecord] | None:
    """Return the records of lines that are objects without exception."""
    try:
        records = list(map(_decode, lines))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return records if set(map(type, records)) == {dict} else None


def _read_each(lines: Lines, first: int, file: SourceBytes) -> Iterator[DatasetRecord]:
    """Yield the records of lines, the first of which has a number, or the error of one."""
    for number, line in enumerate(lines, first):
        data = _decoded([line])
        if data is not None:
            yield from data
        elif not (text := str(line, "utf-8") if isinstance(line, bytes) else line).isspace():
            yield _as_record(_parse(text.rstrip("\n"), file, first_line=number), file, number)


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

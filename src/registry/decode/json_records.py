"""Decode JSON Lines and JSON to records."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec

from registry.decode.exact_json import InexactError, has_unique_keys, parse_exact
from registry.decode.stream import SourceBytes, is_utf8, open_text
from registry.errors import DecodeError, count_text, near_or_known, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource
    from registry.samples.sample import DatasetRecord

    Lines = Sequence[str | bytes]

__all__ = ["read_json", "read_json_by"]

_BLOCK_BYTES = 1 << 16
_DOCUMENT_HINT = "one JSON document? then the name of the file must end in .json"


def read_json(file: SourceBytes, source: Source, *, strict: bool) -> Iterator[DatasetRecord]:
    """Yield an object per line, or the objects of a document; empty lines are skipped.

    If strict, refuse what has no exact meaning, such as `NaN`, which the loaders accept.
    """
    options = cast("JsonSource", source)
    loads = parse_exact if strict else json.loads
    as_document = not options.is_lines(file.location)
    with open_text(file, options.encoding, as_document=as_document) as text:
        if as_document:
            yield from _read_document(text.read(), file, options.records, options.item, loads=loads)
            return
        first = 1
        for lines in _lines_of(text):
            records: Iterable[DatasetRecord] | None = _decoded(lines, strict=strict)
            # One by one if any is refused, to skip empty lines and to name the invalid one.
            if records is None:
                records = _read_each(lines, first, file, options.item, loads)
            yield from records
            first += len(lines)


def read_json_by(
    file: SourceBytes, source: Source, options: Mapping[str, Any]
) -> Iterator[DatasetRecord]:
    """Yield the records that a caller's own parser returns.

    Args:
        file: The file.
        source: Its encoding.
        options: As Inspect passes them: for JSON Lines `loads`, a function of a line; for JSON the
            keyword arguments of `json.load`.

    Raises:
        TypeError: an unknown option.
        DecodeError: the parser raises a ValueError, or returns something other than objects.
    """
    given = cast("JsonSource", source)
    as_document = not given.is_lines(file.location)
    with open_text(file, given.encoding, as_document=as_document) as text:
        if as_document:
            yield from _read_document(text.read(), file, loads=partial(json.loads, **options))
            return
        if unknown := options.keys() - {"loads"}:
            raise TypeError(f"JSON Lines take the option `loads`, not {', '.join(sorted(unknown))}")
        for number, line in enumerate(text, 1):
            if not line.isspace():
                data = _parse(line, file, first_line=number, loads=options["loads"])
                yield _as_record(data, file, line=number)


def _lines_of(text: io.TextIOWrapper) -> Iterator[Lines]:
    """Yield the lines of a file in groups, as bytes if they are the same lines as in text mode."""
    data = cast("io.BufferedReader", text.buffer)
    # `readlines` splits bytes at "\n" only, so a file with other line ends would be a single line.
    if not is_utf8(text.encoding) or b"\r" in data.peek():
        # One by one, so that all lines before an undecodable one are yielded.
        yield from ([line] for line in text)
        return
    mark = codecs.BOM_UTF8
    while lines := data.readlines(_BLOCK_BYTES):
        lines[0] = lines[0].removeprefix(mark)
        mark = b""
        joined = b"".join(lines)
        if b"\r" in joined:  # a line end in text mode, but whitespace to msgspec
            yield from ([line] for line in io.TextIOWrapper(io.BytesIO(joined), "utf-8"))
        else:
            yield lines if lines[0] else lines[1:]  # a byte-order mark alone is not a line


# msgspec takes half the time of `json.loads` and returns the same, or refuses. It also refuses what
# the latter accepts, such as `NaN`; so `json.loads` decides, and its error is the one reported.
_decode = msgspec.json.Decoder().decode


def _decoded(lines: Lines, *, strict: bool) -> list[DatasetRecord] | None:
    """Return the records of lines; None unless every line is an object that msgspec accepts.

    If strict, None too if a key may be repeated: msgspec returns the last value.
    """
    try:
        records = list(map(_decode, lines))
        if strict and not has_unique_keys(_as_bytes(lines), records):
            return None
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return records if set(map(type, records)) == {dict} else None


def _as_bytes(lines: Lines) -> bytes:
    return b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)


def _read_each(
    lines: Lines,
    first: int,
    file: SourceBytes,
    item: str | None,
    loads: Callable[[str], Any],
) -> Iterator[DatasetRecord]:
    """Yield the records of lines one by one; `first` is the number of the first line."""
    for number, line in enumerate(lines, first):
        record = _decoded([line], strict=loads is parse_exact)
        if record is not None:
            yield from record
        elif not (text := str(line, "utf-8") if isinstance(line, bytes) else line).isspace():
            data = _parse(text.rstrip("\n"), file, first_line=number, loads=loads)
            yield _as_record(data, file, item, line=number)


def _read_document(
    text: str,
    file: SourceBytes,
    records: str | None = None,
    item: str | None = None,
    *,
    loads: Callable[[str], Any],
) -> Iterator[DatasetRecord]:
    """Yield the objects of a JSON document, or those at the dotted path `records` in it."""
    data = _parse(text, file, first_line=1, loads=loads)
    is_key = isinstance(data, dict) and records in data
    for key in () if records is None else (records,) if is_key else records.split("."):
        if key == "*" and isinstance(data, dict) and key not in data:
            data = list(data.values())
            continue
        if not isinstance(data, dict) or key not in data:
            raise DecodeError(_no_key(key, data), file=file.location)
        data = data[key]
    if isinstance(data, dict):
        yield data
    elif isinstance(data, list):
        for number, one in enumerate(data, 1):
            yield _as_record(one, file, item, what=f"item {number} of the array")
    else:
        message = f"must be an array of objects, or one object, is {shorten(data)}"
        raise DecodeError(message, file=file.location, line=1)


def _no_key(key: str, data: Any) -> str:
    if isinstance(data, list):
        hint = "`records` leads to one list, `explode` into one list more, a `mapper` anywhere"
        return f"no key '{key}': a list of {count_text(len(data), 'item')} is above it ({hint})"
    if not isinstance(data, dict):
        return f"no key '{key}' in {shorten(data)}"
    return f"no key '{key}' ({near_or_known(key, data, 'keys')})"


def _parse(
    text: str,
    file: SourceBytes,
    *,
    first_line: int,
    loads: Callable[[str], Any],
) -> Any:
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        fault = error.msg if isinstance(error, InexactError) else f"not JSON: {error.msg}"
        hint = _other_form(error) if loads is parse_exact else ""
        message = f"{fault} at column {error.colno}{hint}"
        raise DecodeError(message, file=file.location, line=line) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply"
        raise DecodeError(message, file=file.location, line=first_line) from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise DecodeError(f"not JSON: {error}", file=file.location, line=first_line) from error


def _other_form(error: json.JSONDecodeError) -> str:
    """Return what the text in all likelihood is instead, as a hint; "" if nothing shows it."""
    if error.doc.strip() in ("[", "{"):
        return f" ({_DOCUMENT_HINT})"
    if error.msg != "Extra data" or error.lineno == 1:
        return ""
    # The second value on another line: an object per line, if the first one is on a single line.
    if "\n" in error.doc[: error.pos].strip():
        return " (several values, each over several lines? put them into an array)"
    return " (an object per line? say `lines: true` in the source)"


def _as_record(
    data: Any,
    file: SourceBytes,
    item: str | None = None,
    *,
    line: int | None = None,
    what: str = "the line",
) -> DatasetRecord:
    if isinstance(data, dict):
        return data
    if item is not None:
        return {item: data}
    hint = f" ({_DOCUMENT_HINT})" if line == 1 and isinstance(data, list) else ""
    message = f"{what} must be an object, is {shorten(data)}{hint}"
    raise DecodeError(message, file=file.location, line=line)

"""Decode JSON Lines, and JSON documents of objects, to batches of values."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from registry.base.gc import gc_paused
from registry.decode.chunks import line_blocks
from registry.decode.frame import NotColumnarError, ValueFrame, Wanted
from registry.decode.json_values import decode_lines, frame_of_records, refuse_repeated_keys
from registry.decode.stream import HARMLESS_DOCUMENT, is_html, is_utf8, open_bytes

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource

__all__ = ["read_json_batches"]

# The values of a batch are all in memory, and those of a small one stay in the cache of the CPU.
_BATCH_BYTES = 1 << 19
_BATCH_RECORDS = 1 << 12
_READ_BYTES = 1 << 20

_decode = msgspec.json.Decoder().decode


def read_json_batches(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[ValueFrame]:
    """Yield the objects of lines, or of a document, as lists of values."""
    options = cast("JsonSource", source)
    if not is_utf8(options.encoding):
        raise NotColumnarError("not UTF-8")
    if not options.is_lines(file.location):
        yield from _read_document(file, options, wanted)
        return
    with open_bytes(file) as data:
        for block in _blocks(data, file.limits.line_bytes):
            with gc_paused():
                frame = decode_lines(block, wanted)
            yield frame


def _blocks(data: IO[bytes], most: int) -> Iterator[bytes | bytearray]:
    """Yield the lines of a file in blocks, with LF as their ends."""
    mark = codecs.BOM_UTF8
    for block in line_blocks(data, most=most, size=_BATCH_BYTES):
        if block.startswith(mark) and mark:
            del block[: len(mark)]
        mark = b""
        text: bytes | bytearray = block
        if b"\r" in block:
            text = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        # The record road skips blank lines; at the end of a file, they are often there.
        if text.endswith(b"\n\n") or text == b"\n":
            text = text.rstrip(b"\n")
        if text:
            yield text


def _read_document(file: SourceBytes, options: JsonSource, wanted: Wanted) -> Iterator[ValueFrame]:
    if options.item is not None:
        raise NotColumnarError("items that may be no objects")
    text = _document(file).removeprefix(codecs.BOM_UTF8)
    try:
        with gc_paused():
            document = _decode(text)
            refuse_repeated_keys(text, [document])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error
    records = _records_at(options.records, document)
    size = len(text) // max(len(records), 1)
    for start in range(0, len(records), _BATCH_RECORDS):
        part = records[start : start + _BATCH_RECORDS]
        yield frame_of_records(part, wanted, size=size * len(part))


def _document(file: SourceBytes) -> bytes:
    most = file.limits.document_bytes
    with open_bytes(file, harmless=HARMLESS_DOCUMENT) as data:
        parts, size = [], 0
        # In parts: to read as much as is allowed would take that memory first.
        while size <= most and (part := data.read(_READ_BYTES)):
            parts.append(part)
            size += len(part)
    if size > most:
        raise NotColumnarError("a document that is too large")
    text = b"".join(parts)
    if is_html(text[:256]):
        raise NotColumnarError("an HTML page")
    return text


def _records_at(path: str | None, document: Any) -> Sequence[dict[str, Any]]:
    """Return the objects of a document, or those at a dotted path in it."""
    found, keys = document, [] if path is None else path.split(".")
    if isinstance(document, dict) and path in document:
        keys = [cast("str", path)]
    for key in keys:
        if not isinstance(found, dict):
            raise NotColumnarError("no object at a key")
        if key == "*" and key not in found:
            found = list(found.values())
        elif key in found:
            found = found[key]
        else:
            raise NotColumnarError("no such key")
    records = [found] if isinstance(found, dict) else found
    if type(records) is not list or set(map(type, records)) - {dict}:
        raise NotColumnarError("a document of other values than objects")
    return records

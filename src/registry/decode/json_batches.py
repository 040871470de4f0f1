"""Decode JSON Lines, and JSON documents of objects, to batches of values."""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from registry.base.arrow import byte_positions
from registry.base.process_state import gc_paused
from registry.decode.exact_json import has_unique_keys, repeats_key
from registry.decode.frame import MISSING, NotColumnarError, ValueFrame, Wanted, heads_of
from registry.decode.stream import (
    HARMLESS_DOCUMENT,
    CountedValues,
    is_stand_in,
    is_utf8,
    line_blocks,
    open_bytes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource

__all__ = [
    "decode_lines",
    "frame_of_records",
    "line_ends",
    "read_json_batches",
    "refuse_repeated_keys",
]

# The values of a batch are all in memory, and those of a small one stay in the cache of the CPU.
_BATCH_BYTES = 1 << 19
_BATCH_RECORDS = 1 << 12
_READ_BYTES = 1 << 20
_decode = msgspec.json.Decoder().decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_objects = msgspec.json.Decoder(dict[str, Any]).decode_lines
_CONTAINERS = frozenset({dict, list})
_MOST_FIELDS = 64
"""Keys of lines for which a type is created."""
_UNNAMABLE = re.compile(r'[\\"\x00-\x1f]')
"""Characters of keys that msgspec gives to no field of a struct."""


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
    text = _document(file)
    try:
        records, above = _records_at(options.records, text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error
    # One by one the values of a batch: those of a document take ten times its bytes.
    for part in _batches(records):
        with gc_paused():
            frame = _frame_of_texts(part, above, wanted)
        yield frame


def _batches(texts: Sequence[msgspec.Raw]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append(bytes(text))
        size += len(batch[-1])
        if len(batch) == _BATCH_RECORDS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _frame_of_texts(texts: Sequence[bytes], above: int, wanted: Wanted) -> ValueFrame:
    """Return objects of a document, which are in `above` of its containers."""
    joined = b"\n".join(texts)
    try:
        records = list(map(_decode_object, texts))
        refuse_repeated_keys(joined, records, texts=texts, above=above)
    except msgspec.ValidationError as error:  # a DecodeError, too
        raise NotColumnarError("a document of other values than objects") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error
    return frame_of_records(records, wanted, size=len(joined))


def _document(file: SourceBytes) -> bytearray:
    most = file.limits.document_bytes
    with open_bytes(file, harmless=HARMLESS_DOCUMENT) as data:
        counted, text = CountedValues(data, file), bytearray()
        # In parts: to read as much as is allowed would take that memory first.
        while len(text) <= most and (part := counted.read(_READ_BYTES)):
            text += part
    if len(text) > most:
        raise NotColumnarError("a document that is too large")
    if is_stand_in(bytes(text[:256])):
        raise NotColumnarError("a page or pointer in place of data")
    if text.startswith(codecs.BOM_UTF8):
        del text[: len(codecs.BOM_UTF8)]
    return text


def _records_at(path: str | None, text: bytearray) -> tuple[Sequence[msgspec.Raw], int]:
    """Return the texts of the records of a document, and in how many containers they are.

    Raises:
        NotColumnarError: there are none at the dotted path, or a key beside them is repeated.
        msgspec.DecodeError: the document is not JSON.
    """
    found, keys = msgspec.Raw(text), [] if path is None else path.split(".")
    if path is not None and path in _members_of(found):
        keys = [path]
    for above, key in enumerate(keys, 1):
        members = _members_of(found)
        if key == "*" and key not in members and above == len(keys):
            records = list(members.values())
            _refuse_repeated_around(records, text)
            return records, above
        if key not in members:
            raise NotColumnarError("no such key")
        found = members[key]
    if keys:
        _refuse_repeated_around([found], text)
    try:
        return _decode_items(found), len(keys) + 1
    except msgspec.ValidationError:  # one object
        return [found], len(keys)


def _members_of(text: msgspec.Raw) -> dict[str, msgspec.Raw]:
    try:
        return _decode_members(text)
    except msgspec.ValidationError as error:
        raise NotColumnarError("no object at a key") from error


def _refuse_repeated_around(parts: Sequence[msgspec.Raw], text: bytearray) -> None:
    """Raise a NotColumnarError if an object around some values of a document repeats a key."""
    rest, end = [], 0
    for part in parts:
        start = text.find(bytes(part), end)
        if start < 0:  # the parser has the last of two values, under the first one's place
            raise NotColumnarError("a key that is repeated")
        rest.append(text[end:start])
        end = start + len(bytes(part))
    around = b"0".join([*rest, text[end:]])
    refuse_repeated_keys(around, [_decode(around)])


def decode_lines(block: bytes | bytearray, wanted: Wanted) -> ValueFrame:
    """Return the objects of lines, all of whose values are created and proved to be exact.

    Raises:
        NotColumnarError: a line is not exactly one object, or has no exact meaning.
    """
    try:
        ends = line_ends(block)
        keys = tuple(_decode_object(block[: ends[0]]))
        found = _decode_equal_keys(block, keys)
        if found is None:
            keys, found = (), _decode_objects(block)
        if len(found) != len(ends):
            raise NotColumnarError("not one object per line")
        if keys:
            return _frame_of_structs(block, keys, found, wanted)
        refuse_repeated_keys(block, found)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error
    return frame_of_records(found, wanted, size=len(block))


def line_ends(block: bytes | bytearray) -> NDArray[np.int64]:
    """Return the ends of the lines, if each of them starts and ends like an object.

    If a parser then finds as many objects, each line is exactly one: two objects on a line would
    add one, and an object on two lines would have `}` and `{` around the line end.
    """
    data = np.frombuffer(block, np.uint8)
    ends = byte_positions("\n", block)
    if len(ends) == 0 or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends == starts).any() or (data[starts] != ord("{")).any():
        raise NotColumnarError("a line that does not start like an object")
    if (data[ends - 1] != ord("}")).any():
        raise NotColumnarError("a line that does not end like an object")
    return ends


def _decode_equal_keys(block: bytes | bytearray, keys: tuple[str, ...]) -> list[Any] | None:
    """Return the objects as structs; None if some have other keys."""
    if not 0 < len(keys) <= _MOST_FIELDS or any(map(_UNNAMABLE.search, keys)):
        return None
    try:
        found: list[Any] = _decoder_of(keys).decode_lines(block)
    except msgspec.ValidationError:
        return None
    return found


@functools.lru_cache(maxsize=64)  # creating a type takes as long as decoding a small file
def _decoder_of(keys: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    """Return a decoder of objects that have exactly these keys, which may be no names."""
    names = {_field(number): key for number, key in enumerate(keys)}
    fields = [(name, Any) for name in names]
    line = msgspec.defstruct("Line", fields, rename=names, gc=False, forbid_unknown_fields=True)
    return msgspec.json.Decoder(line)


def _field(number: int) -> str:
    return f"f{number}"


def _frame_of_structs(
    block: bytes | bytearray, keys: tuple[str, ...], found: list[Any], wanted: Wanted
) -> ValueFrame:
    columns = [list(map(attrgetter(_field(number)), found)) for number in range(len(keys))]
    kinds = [set(map(type, column)) for column in columns]
    # Most files have no nested values, whose keys would have to be counted one by one.
    nested = [
        column
        for column, own in zip(columns, kinds, strict=True)
        if not own.isdisjoint(_CONTAINERS)
    ]
    values = nested[0] if len(nested) == 1 else list(chain.from_iterable(nested))
    refuse_repeated_keys(block, found, keys=len(keys) * len(found), nested=values)
    named = dict(zip(keys, columns, strict=True))
    records = None
    if wanted is None:
        records = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    else:
        heads = heads_of(wanted)
        named = {key: column for key, column in named.items() if key in heads}
    kinds_of = dict(zip(keys, kinds, strict=True))
    return ValueFrame(len(found), named, records, size=len(block), kinds=kinds_of)


def refuse_repeated_keys(
    text: bytes | bytearray,
    values: Sequence[Any],
    *,
    keys: int = 0,
    nested: Sequence[Any] | None = None,
    texts: Sequence[bytes] | None = None,
    above: int = 0,
) -> None:
    """Raise a NotColumnarError if an object in the lines of a text repeats a key.

    Args:
        text: The text, of a value per line or of one value.
        values: The parsed values of all of it.
        keys: Number of the keys of the values, if they are structs.
        nested: The values in these structs.
        texts: Those of the values, if they are not lines of the text.
        above: How many containers of a document the values are in.

    Raises:
        RecursionError: a value is nested too deeply.
    """
    if has_unique_keys(text, values, keys=keys, nested=nested, above=above):
        return
    lines = text.rstrip(b"\n").split(b"\n") if len(values) > 1 else [text]
    if any(repeats_key(one.decode()) for one in texts or lines):
        raise NotColumnarError("a key that is repeated")


def frame_of_records(found: Sequence[dict[str, Any]], wanted: Wanted, *, size: int) -> ValueFrame:
    """Return objects as a frame of the wanted columns that any of them has."""
    if wanted is None:
        return ValueFrame(len(found), {}, found, size=size)
    columns = {}
    for name in sorted(heads_of(wanted)):
        try:
            columns[name] = list(map(itemgetter(name), found))
        except KeyError:
            values = [one.get(name, MISSING) for one in found]
            if set(map(type, values)) != {type(MISSING)}:
                columns[name] = values
    return ValueFrame(len(found), columns, size=size)

"""Find out how a file is read: the keys of its source, each guess with a reason."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from registry.catalog.catalog import display_path
from registry.cli.adding.options import SourceOptions, file_keys, shown_progress
from registry.decode.stream import SourceBytes, is_html, open_bytes
from registry.errors import DecodeError
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import JsonSource, infer_source_keys
from registry.scaffold.sniff.csv_dialect import CsvReading, name_columns, sniff_csv, sniff_header
from registry.scaffold.sniff.encoding import sniff_encoding
from registry.scaffold.sniff.guess import Ask, Guess
from registry.scaffold.sniff.json_layout import sniff_records
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of

__all__ = ["shown_location", "sniff_file"]

_MOST_BYTES = 1 << 26
_CSV_BYTES = 1 << 16
"""Enough rows to tell a dialect; more take clevercsv seconds."""


@dataclass(frozen=True)
class _Head:
    """The beginning of a file."""

    name: str
    """The file's name, for messages."""
    data: bytes
    is_all: bool
    """Whether the file has no more bytes."""

    def text(self, encoding: str, size: int) -> str:
        """Return the text of the first bytes.

        What can't be decoded is an error of the reader of the whole file, which knows the line.
        """
        try:
            text = self.data[:size].decode(encoding, "replace")
        except LookupError as error:
            message = f"unknown text encoding '{encoding}'"
            raise DecodeError(message, file=self.name) from error
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def sniff_file(
    options: SourceOptions, folder: Path, context: SourceContext, ask: Ask
) -> tuple[dict[str, Any], list[Guess]]:
    """Return the keys of a source for the file that the user names, and what of them is guessed.

    Raises:
        SourceError: the file does not exist, or can't be read.
        DecodeError: it has no records in a form that a source can describe.
        click.UsageError: the options do not fit the file.
    """
    keys = file_keys(options, folder)
    if keys["type"] == "parquet":
        return keys, []
    with shown_progress(context) as reporting:
        file = _first_file(keys, folder, reporting)
    head = _read_head(file)
    guesses = []
    encoding = options.encoding
    if encoding is None:
        guess = sniff_encoding(head.data, file=head.name, is_all=head.is_all, ask=ask)
        guesses.append(guess)
        encoding = str(guess.value)
    sniff = _sniff_table if keys["type"] == "csv" else _sniff_document
    found = [*guesses, *sniff(head, encoding, options, ask)]
    shown = [one for one in found if not one.is_default]
    return {**keys, **{one.key: one.value for one in shown}, **_given_keys(options)}, shown


def shown_location(location: str) -> str:
    """Return the name of a file for messages: a local path relative to the working directory."""
    return display_path(Path(location)) if os.path.isabs(location) else location


def _first_file(keys: Mapping[str, Any], folder: Path, context: SourceContext) -> SourceBytes:
    reader = reader_of(spec_of_source(keys, folder))
    files = reader.fetch(reader.pin(context), context)
    if not files:
        raise DecodeError("no file matches", file=str(keys["path"]))
    return files[0]


def _read_head(file: SourceBytes) -> _Head:
    """Return the beginning of a file, which in most cases is all of it."""
    name = shown_location(file.location)
    with open_bytes(replace(file, location=name)) as stream:
        data = stream.read(_MOST_BYTES)
        is_all = not stream.read(1)
    if is_html(data[:256]):
        message = "this is an HTML page, not data (an error or login page? check the location)"
        raise DecodeError(message, file=name)
    if not data.strip():
        raise DecodeError("the file is empty", file=name)
    return _Head(name, data, is_all)


def _given_keys(options: SourceOptions) -> dict[str, Any]:
    """Return the keys of the source that the user says."""
    keys = {
        "encoding": options.encoding,
        "delimiter": _delimiter(options.delimiter),
        "skip_rows": options.skip_rows,
        "fieldnames": _names(options.columns),
        "records": options.records,
    }
    return {key: value for key, value in keys.items() if value is not None}


def _delimiter(given: str | None) -> str | None:
    return "\t" if given in ("tab", "\\t") else given


def _names(columns: str | None) -> list[str] | None:
    return None if columns is None else [name.strip() for name in columns.split(",")]


def _sniff_table(head: _Head, encoding: str, options: SourceOptions, ask: Ask) -> list[Guess]:
    text = head.text(encoding, _CSV_BYTES)
    reading, guesses = sniff_csv(
        text,
        file=head.name,
        is_all=head.is_all and len(head.data) <= _CSV_BYTES,
        delimiter=_delimiter(options.delimiter),
        skip_rows=options.skip_rows,
        usual=(infer_source_keys(head.name) or {}).get("delimiter", ","),
        ask=ask,
    )
    # The header is what follows the rows that the user skips.
    is_said = options.columns is not None or options.header or options.skip_rows is not None
    if reading is None or (is_said and options.header is not False):
        return guesses
    if options.header is False:
        reason = "--columns names them"
        return [*guesses, Guess("fieldnames", _numbered(reading), reason)]
    header = sniff_header(reading, file=head.name, ask=ask)
    if header.value is None and (named := name_columns(reading)):
        return [*(one for one in guesses if one.key != "skip_rows"), *named]
    return [*guesses, header]


def _numbered(reading: CsvReading) -> list[str]:
    return [f"column_{number}" for number in range(1, len(reading.rows[0]) + 1)]


def _sniff_document(head: _Head, encoding: str, options: SourceOptions, ask: Ask) -> list[Guess]:
    if JsonSource(path=(head.name,)).is_lines(head.name) or options.records is not None:
        return []
    text = head.text(encoding, len(head.data))
    if _is_lines(text):
        return [Guess("lines", True, "an object per line, not one JSON document")]
    if not head.is_all:
        return []
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []  # the reader of the whole file says what is wrong
    guess = sniff_records(document, file=head.name, ask=ask)
    return [] if guess is None else [guess]


def _is_lines(text: str) -> bool:
    first, _, rest = text.lstrip().partition("\n")
    try:
        return isinstance(json.loads(first), dict) and bool(rest.strip())
    except (ValueError, RecursionError):
        return False

"""The sources that `add` proposes: files, whose format is sniffed, and repositories of the Hub."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from registry.base.local_files import display_path
from registry.base.locations import Location
from registry.cli.adding.request import SourceOptions, file_keys, shown_progress
from registry.decode.stream import (
    STAND_IN_START,
    SourceBytes,
    open_bytes,
    stand_in_fault,
    text_codec,
    unknown_encoding,
)
from registry.errors import DecodeError, SourceError, list_names
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import JsonSource, infer_source_keys, is_folder
from registry.scaffold.columns import Ask, Guess, Question, option_text
from registry.scaffold.csv_dialect import check_unquoted, name_columns, sniff_csv, sniff_header
from registry.scaffold.encoding import sniff_encoding
from registry.scaffold.layout import sniff_records
from registry.scaffold.new_manifest import About
from registry.sources.hub.api import is_unknown_revision
from registry.sources.hub.card import Card, read_card
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of

__all__ = ["about_repository", "shown_location", "sniff_file", "sniff_repository"]


_MOST_BYTES = 1 << 26
_CSV_BYTES = 1 << 16
"""Enough rows to tell a dialect."""

_URL = re.compile(r"(?:https://(?:www\.)?huggingface\.co/datasets/|hf://datasets/)")
_MOST_NAMES = 8


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
        if text_codec(encoding) is None:
            raise unknown_encoding(encoding, self.name)
        text = self.data[:size].decode(encoding, "replace")
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
        reader = reader_of(spec_of_source(keys, folder))
        file = reader.fetch(reader.pin(reporting), reporting)[0]
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


def _read_head(file: SourceBytes) -> _Head:
    """Return the beginning of a file, which in most cases is all of it."""
    name = shown_location(file.location)
    with open_bytes(replace(file, location=Location(name))) as stream:
        data = stream.read(_MOST_BYTES)
        is_all = not stream.read(1)
    if message := stand_in_fault(data[:STAND_IN_START]):
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
        "fieldnames": (
            None
            if options.columns is None
            else [name.strip() for name in options.columns.split(",")]
        ),
        "records": options.records,
    }
    return {key: value for key, value in keys.items() if value is not None}


def _delimiter(given: str | None) -> str | None:
    return "\t" if given in ("tab", "\\t") else given


def _sniff_table(head: _Head, encoding: str, options: SourceOptions, ask: Ask) -> list[Guess]:
    text = head.text(encoding, _CSV_BYTES)
    if _is_lines(text):
        raise DecodeError("it looks like JSON Lines: --type json", file=head.name)
    delimiter = _delimiter(options.delimiter)
    if delimiter and delimiter not in text and (options.columns, options.header) == (None, None):
        other, _ = sniff_csv(text, file=head.name, is_all=False)
        if other is not None and len(other.rows[0]) > 1:
            found = f"{other.delimiter!r} gives {other.columns}"
            message = f"--delimiter {options.delimiter!r} gives one column, {found}"
            raise DecodeError(f"{message} (--header if one is meant)", file=head.name)
    reading, guesses = sniff_csv(
        text,
        file=head.name,
        is_all=head.is_all and len(head.data) <= _CSV_BYTES,
        delimiter=delimiter,
        skip_rows=options.skip_rows,
        usual=(infer_source_keys(head.name) or {}).get("delimiter", ","),
        ask=ask,
    )
    if reading is not None:
        check_unquoted(head.text(encoding, len(head.data)), reading, file=head.name)
    # The header is what follows the rows that the user skips.
    is_said = options.columns is not None or options.header or options.skip_rows is not None
    if reading is None or (is_said and options.header is not False):
        return guesses
    if options.header is False:
        reason = "--columns names them"
        return [
            *guesses,
            Guess(
                "fieldnames",
                [f"column_{number}" for number in range(1, len(reading.rows[0]) + 1)],
                reason,
            ),
        ]
    header = sniff_header(reading, file=head.name, ask=ask)
    if header.value is None and (named := name_columns(reading)):
        return [*(one for one in guesses if one.key != "skip_rows"), *named]
    return [*guesses, header]


def _sniff_document(head: _Head, encoding: str, options: SourceOptions, ask: Ask) -> list[Guess]:
    if JsonSource(path=(head.name,)).is_lines(Location(head.name)) or options.records is not None:
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


def sniff_repository(
    options: SourceOptions, context: SourceContext, ask: Ask
) -> tuple[dict[str, Any], list[Guess], Card]:
    """Return the keys of a source for a repository, what of them is guessed, and its card.

    Raises:
        SourceError: there is no such repository, or it can't be reached.
        click.UsageError: its card names no split, and neither does the user.
    """
    path = _URL.sub("", str(options.hf)).rstrip("/")
    card = Card()
    if not is_folder(path) and not context.offline:
        try:
            card = read_card(path, options.revision, context.deadline, report=context.report)
        except SourceError as error:
            # Whoever pins the source fails as well, and lists the revisions that there are.
            if not is_unknown_revision(error) or options.split is None:
                raise
    guesses = []
    config, split = options.name, options.split
    if split is None:
        config, guess = _choose(path, card, config, ask)
        split = str(guess.value)
        guesses.append(guess)
        if config is not None and config != options.name:
            guesses.insert(0, Guess("name", config, "the only one that the card names, or chosen"))
    keys = {"path": path, "name": config, "split": split, "revision": options.revision}
    given = {key: value for key, value in keys.items() if value is not None}
    return {"type": "hf", **given}, guesses, card


def _choose(path: str, card: Card, config: str | None, ask: Ask) -> tuple[str | None, Guess]:
    """Return the configuration, None for the default one, and a split."""
    pairs = [pair for pair in card.splits if config in (None, pair[0])]
    if not pairs:
        raise click.UsageError(f"--hf needs --split, such as test: the card of {path} names none")
    configs = list(dict.fromkeys(name for name, _ in pairs))
    splits = [split for name, split in pairs if name == configs[0]]
    if len(configs) > 1 or (len(splits) > 1 and "test" not in splits):
        if len(pairs) > _MOST_NAMES:
            names = list_names(configs if len(configs) > 1 else splits, _MOST_NAMES)
            what = "configurations: pass --name and" if len(configs) > 1 else "splits: pass"
            raise click.UsageError(f"{path} has several {what} --split ({names})")
        ways = {}
        for name, split in pairs:
            config = "" if name == "default" else f"{option_text('--name', name)} "
            ways[config + option_text("--split", split)] = name, split
        results = {way: f"the split {split} of {name}" for way, (name, split) in ways.items()}
        name, split = ways[ask(Question(path, "split", results))]
        return _config(name), Guess("split", split, "chosen")
    if "test" in splits and len(splits) > 1:
        reason = f"the test split of {list_names(splits, _MOST_NAMES)}"
        return _config(configs[0]), Guess("split", "test", reason)
    return _config(configs[0]), Guess("split", splits[0], "the only one")


def _config(name: str) -> str | None:
    return None if name == "default" else name


def about_repository(keys: Mapping[str, Any], card: Card) -> About:
    """Return what the card says about a dataset."""
    path, split = keys["path"], keys["split"]
    part = f"{keys['name']}, {split}" if "name" in keys else split
    return About(
        f"{card.title or path}, the split {part}.",
        None if is_folder(path) else f"https://huggingface.co/datasets/{path}",
        card.license,
        card.tags,
        card.languages,
    )

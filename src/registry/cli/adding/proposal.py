"""A manifest that is proposed for a source, and the samples that it gives."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from registry.base.escape import escape_control
from registry.base.local_files import display_path
from registry.base.locations import Location
from registry.cli.adding.request import Destination, shown_progress
from registry.cli.adding.sources import shown_location
from registry.cli.output import print_line, print_warnings
from registry.cli.samples import print_sample
from registry.errors import DecodeError, MappingError, RegistryError, count_text, shorten
from registry.load.load import load
from registry.manifest.checks import license_fault
from registry.manifest.resolve import spec_of_source
from registry.pipeline.expectations import QualityWarning, quality_warnings
from registry.pipeline.preview import inspect_source
from registry.scaffold.columns import Ask, Question, explode_of, option_text
from registry.scaffold.fields import InferredMapping, infer_fields
from registry.scaffold.layout import Layout, joined_records
from registry.scaffold.new_manifest import About, manifest_text
from registry.sources.pins import SourceContext
from registry.yamldoc.reader import parse_yaml
from registry.yamldoc.writer import flow_text

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult

__all__ = [
    "FIELDS",
    "Draft",
    "FirstRecords",
    "Proposal",
    "UnusableDraftError",
    "about_file",
    "ask",
    "ask_about",
    "ask_what_next",
    "checked_license",
    "doubts",
    "is_interactive",
    "read_records",
    "warn_outside",
]

_READING = {
    "csv": "--delimiter, --skip-rows, --columns and --encoding say how to read it",
    "json": "--records and --encoding say how to read it",
}
_HELP = """\
yes     write the manifest as it is shown
no      write nothing
input   another column for the question; in the same way target, choices and id
        Anything else can be changed in the file: the mapping is a starting point."""
_SHOWN = 2
_LOOKED_AT = 20_000
"""Records that fields are inferred from, if those fit all others."""
_DOUBTFUL = {"blank_inputs", "blank_targets", "targets_outside_choices"}
_COLUMNS = "--input, --target, --choices and --id say which columns to use"
_NO_TARGET = "--no-target"
_OFFERED = 8
"""Columns that are offered as the target."""
FIELDS = ("input", "target", "choices", "id")
"""Fields for which the user may choose a column."""


class UnusableDraftError(RegistryError):
    """The inferred manifest does not map all records."""

    def __init__(self, message: str, text: str) -> None:
        """Keep the manifest, which a person may correct."""
        super().__init__(message)
        self.text = text


@dataclass(frozen=True)
class Proposal:
    """A manifest that works, not yet written."""

    text: str
    mapping: InferredMapping
    spec: DatasetSpec
    result: LoadResult
    records: Sequence[Mapping[str, Any]]
    """What the mapping was inferred from."""

    def print_samples(self) -> None:
        """Print the first samples beside their records."""
        dataset = self.result.dataset
        for position in range(min(_SHOWN, len(dataset))):
            (at,) = dataset.records_at([position])
            print_sample(dataset[position], position + 1, (at, self.records[at - 1]))

    @property
    def is_doubtful(self) -> bool:
        """Whether samples are such that more records may show another mapping."""
        return any(warning.kind in _DOUBTFUL for warning in self._warnings)

    def print_warnings(self) -> None:
        """Print what looks wrong in the samples."""
        print_warnings([(self.spec.name, self._warnings)])

    @property
    def _warnings(self) -> list[QualityWarning]:
        return quality_warnings(self.spec, self.result.entry.meta)


@dataclass(frozen=True)
class FirstRecords:
    """The first records of a source."""

    source: Mapping[str, Any]
    """Keys of the source, with its commit."""
    records: Sequence[Mapping[str, Any]]
    is_all: bool
    """Whether there are no more records."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a manifest is proposed from."""

    name: str
    source: Mapping[str, Any]
    """Keys of the source."""
    records: Sequence[Mapping[str, Any]]
    """All records, or the first of them."""
    is_all: bool
    """Whether there are no more records."""
    labels: Mapping[str, Sequence[str]]
    """Names of the numbers in a column, by column."""
    about: About
    columns: Mapping[str, str]
    """The user's choice of a column, by field; of choices, also several with commas."""
    destination: Destination
    context: SourceContext
    layout: Layout | None = None
    """What the names of several files say."""
    join: Mapping[str, Any] | None = None
    table: Sequence[Mapping[str, Any]] = ()
    """The rows of the lookup table."""
    no_target: bool = False
    """Whether the user wants samples without a target."""
    base: int | None = None
    """The user's number of the first choice."""

    def settled(self, ask: Ask) -> Draft:
        """Return the same with what only a person can say of the fields.

        Raises:
            DecodeError: nobody can be asked.
        """
        mapping = self._infer()
        file = shown_location(str(self.source["path"]))
        target = mapping.fields.get("target")
        if self.base is not None and not (target is not None and target.is_index):
            given = "nothing" if target is None else flow_text(target.expression)
            hint = (
                "" if "choices" in mapping.fields else "; --choices names their column, or several"
            )
            raise RegistryError(
                f"--base {self.base} is of no use: no target counts choices (target: {given}{hint})"
            )
        for one in mapping.fields.values():
            if one.question is not None:
                answer = ask(replace(one.question, file=file))
                return replace(self, base=int(answer.rpartition(" ")[2])).settled(ask)
        if "target" in mapping.fields or self.no_target:
            return self
        notes = [one.note for one in mapping.fields.values() if one.note]
        notes += [
            f"`explode: {flow_text(found)}` makes a record of each item"
            for name in mapping.unused
            if (found := explode_of(name, self.records[0].get(name)))
        ]
        if self.join is None:
            notes.append("--join FILE names a second file that has it")
        hint = "; ".join(notes)
        metadata = mapping.fields.get("metadata")
        short = metadata.expression if metadata else []
        free = [*(short if isinstance(short, list) else []), *mapping.unused]
        targets = {option_text("--target", name): name for name in free[:_OFFERED]}
        first = self._records()[0]
        ways = {way: shorten(first.get(name), width=40) for way, name in targets.items()}
        ways[_NO_TARGET] = "samples without a target"
        answer = ask(Question(file, "target", ways, hint))
        if answer == _NO_TARGET:
            return replace(self, no_target=True)
        columns = {**self.columns, "target": targets[answer]}
        return replace(self, columns=columns).settled(ask)

    def propose(self) -> Proposal:
        """Return the manifest and its samples, so that `add` never writes one that doesn't work.

        Raises:
            RegistryError: a column does not exist, or a record can't be mapped.
        """
        if self.is_all:
            mapping = self._infer()
            try:
                return self._proposed_with_repeats(mapping)
            except MappingError as error:
                draft = self._text(mapping, None)
                raise UnusableDraftError(f"{error} ({_remedy(error, mapping)})", draft) from error
        return self._of_first_records() or self._of_all_records().propose()

    def _of_first_records(self) -> Proposal | None:
        """Return what the first records show, or None if it does not fit all others."""
        with suppress(RegistryError):  # whatever it is, it is raised again with all records
            mapping = self._infer()
            found = None if mapping.without_input else self._proposed_with_repeats(mapping)
            # Records without input have to be counted, as they are left out.
            if found is not None and not found.is_doubtful:
                return found
        return None

    def _proposed_with_repeats(self, mapping: InferredMapping) -> Proposal:
        try:
            return self._proposed(mapping)
        except MappingError as error:
            if error.field != "id" or not mapping.has_derived_ids:
                raise
            return self._proposed(replace(mapping, repeated=True))

    def _of_all_records(self) -> Draft:
        source = dict(self.source)
        if self.layout is not None and self.layout.splits:
            source["path"] = source["path"].replace("{split}", self.layout.splits[0])
        read = read_records(source, self.destination, self.context, None)
        return replace(self, records=read.records, is_all=True)

    def _records(self) -> Sequence[Mapping[str, Any]]:
        """Return the records with the columns that their files' names and the table give them."""
        records = self.records
        if self.join is not None:
            records = joined_records(records, self.table, self.join)
        if self.layout is not None and self.layout.captures:
            records = [{**record, **self.layout.captures} for record in records]
        return records

    def _infer(self) -> InferredMapping:
        return infer_fields(
            self.name,
            self._records(),
            given=self.columns,
            labels=self.labels,
            is_all=self.is_all,
            joined="" if self.join is None else f"{self.join['into']}.",
            base=self.base,
        )

    def _proposed(self, mapping: InferredMapping) -> Proposal:
        """Return the manifest of a mapping, which expects as many samples as it gives."""
        result = self._load(self._spec(self._text(mapping, None)))
        text = self._text(mapping, len(result.dataset))
        return Proposal(text, mapping, self._spec(text), result, self.records)

    def _text(self, mapping: InferredMapping, samples: int | None) -> str:
        return manifest_text(
            self.name,
            self.source,
            mapping,
            about=self.about,
            samples=samples,
            schema=self.destination.schema,
            looked_at=None if self.is_all else len(self.records),
            splits=() if self.layout is None else self.layout.splits,
            join=self.join,
        )

    def _spec(self, text: str) -> DatasetSpec:
        document = parse_yaml(text, file=display_path(self.destination.target))
        catalog = self.destination.catalog.with_manifest(document)
        return replace(catalog, boundary=self.context.boundary)[self.name]

    def _load(self, spec: DatasetSpec) -> LoadResult:
        total = len(self.records) if self.is_all else 0
        with shown_progress(self.context, total) as context:
            return load(
                spec,
                context.cache,
                boundary=context.boundary,
                offline=context.offline,
                report=context.report,
            )


def read_records(
    source: Mapping[str, Any],
    destination: Destination,
    context: SourceContext,
    most: int | None = _LOOKED_AT,
) -> FirstRecords:
    """Return the first records of a source, at most as many as fields are inferred from.

    `most` is another number of records; None for all.

    Raises:
        DecodeError: it can't be read as described, or has no records.
        SourceError: it can't be reached.
    """
    try:
        with shown_progress(context) as reporting:
            pinned, records = inspect_source(
                source, destination.catalog.index.parent, reporting, most and most + 1
            )
    except DecodeError as error:
        hint = _READING.get(source["type"])
        place = f"{error.file}:{error.line}" if error.line else error.file
        message = str(error).removeprefix(f"{place}: ") + (f" ({hint})" if hint else "")
        shown = shown_location(error.file)
        raise DecodeError(message, file=shown, line=error.line) from error
    if not records:
        raise DecodeError("the source has no records", file=str(source["path"]))
    keys = dict(source)
    if pinned.revision is not None:
        keys["revision"] = pinned.revision
    return FirstRecords(keys, records[:most], is_all=most is None or len(records) <= most)


def _remedy(error: MappingError, mapping: InferredMapping) -> str:
    """Return which options select other columns, or the texts in an object that is no value."""
    if error.field not in FIELDS:
        return _COLUMNS
    option, used = f"--{error.field}", mapping.fields.get(error.field)
    texts = [
        option_text(option, f"{used.expression}.{key}")
        for key, value in (error.value.items() if isinstance(error.value, dict) else ())
        if used is not None and isinstance(used.expression, str) and isinstance(value, str)
    ]
    parts = f", or a text in it: {', '.join(texts[:_OFFERED])}" if texts else ""
    return f"{option} says another column{parts}"


def doubts(mapping: InferredMapping, records: int) -> Iterator[str]:
    """Yield what a person must look at: fields that are a mere guess, and what is left out."""
    for field, one in mapping.fields.items():
        if one.note:
            yield f"{field}: {one.note}"
        if one.reason.endswith("please check"):
            yield f"{field} {flow_text(one.expression)} ({one.reason}; or --{field} COLUMN)"
    if mapping.without_input:
        count = f"{mapping.without_input:,} of {records:,}"
        yield f"where (leaves out the records without input: {count})"


def about_file(read: FirstRecords) -> About:
    """Return a plain description of the records of a file."""
    path = Location(str(read.source["path"]))
    inner = "" if path.member is None else path.member.path
    outer = path.file.public.partition("?")[0]
    parts = [*PurePosixPath(outer).parts, *PurePosixPath(inner).parts]
    # The last name that is that of a file or a folder, and not of several, if there is one.
    file = next((one for one in reversed(parts) if not set(one) & set("{*")), parts[-1])
    records = count_text(len(read.records), "record") if read.is_all else "Records"
    return About(f"{records} of {file}.")


def warn_outside(source: Mapping[str, Any], destination: Destination) -> None:
    """Say that a file can't be read by the new manifest yet, because only the call allowed it."""
    catalog = destination.catalog
    for path in spec_of_source(source, catalog.index.parent).paths():
        refused = (
            catalog.boundary.refusal(Location(path).local_path())
            if Location(path).is_local
            else None
        )
        if refused is not None:
            print_line(f"warning: {path} {refused[0]} without --file ({refused[1]})", err=True)


def is_interactive() -> bool:
    """Return whether a person can answer: neither end is a pipe or a file."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: Question) -> str:
    """Return the reading that the user chooses by its number."""
    options = list(question.choices)
    click.echo(f"{escape_control(question.file)}: the {question.what} is not clear:")
    for number, option in enumerate(options, 1):
        click.echo(escape_control(f"  {number}. {option}: {question.choices[option]}"))
    numbers = click.Choice([str(number) for number, _ in enumerate(options, 1)])
    return options[int(click.prompt("Which one", type=numbers, show_choices=False)) - 1]


def ask_what_next(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return a field and the column that it shall read, or None to write the manifest.

    Raises:
        click.Abort: the user wants no manifest.
    """
    text = f"Write it? [Y]es, [n]o, or a field to change ({', '.join(FIELDS)})"
    while True:
        given = str(click.prompt(text, default="yes", show_default=False)).strip()
        answer = given.casefold()
        if answer in ("", "y", "yes"):
            return None
        if answer in ("n", "no", "q", "quit"):
            raise click.Abort
        if answer in ("?", "h", "help"):
            click.echo(_HELP)
            continue
        if answer in FIELDS:
            shown = escape_control(", ".join(columns))
            column = click.prompt(
                f"Column for {answer} ({shown})",
                type=click.Choice(columns, case_sensitive=False),
                show_choices=False,
            )
            return answer, column
        click.echo(f"'{escape_control(given)}' is neither yes, no, nor one of these fields")


def ask_about(description: str, license_: str | None) -> tuple[str, str | None]:
    """Return the description and the license that the user gives."""
    description = click.prompt("Description", default=description).strip() or description
    if license_ is None:
        license_ = click.prompt(
            "License, such as mit (empty if unknown)",
            default="",
            show_default=False,
            value_proc=checked_license,
        )
    return description, license_ or None


def checked_license(text: str) -> str:
    """Return the license that the user gives, which may be empty.

    Raises:
        click.UsageError: `validate` would refuse it.
    """
    text = text.strip()
    if text and (fault := license_fault(text)) is not None:
        raise click.UsageError(f"license {fault}")
    return text

"""A manifest that is proposed for a source, and the samples that it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from registry.base.locations import is_local, local_path, public_location
from registry.boundary.paths import allow_location
from registry.build.expectations import quality_warnings
from registry.catalog.catalog import display_path
from registry.cli.adding.destination import Destination
from registry.cli.adding.file_source import shown_location
from registry.cli.adding.progress import shown_progress
from registry.cli.formats.samples import print_sample
from registry.cli.output import print_line, print_warnings
from registry.errors import DecodeError, MappingError, RegistryError, count_text
from registry.load.load import load
from registry.load.records import inspect_source
from registry.manifest.resolve import spec_of_source
from registry.scaffold.inference.fields import InferredMapping, infer_fields
from registry.scaffold.new_manifest import About, flow_text, manifest_text
from registry.sources.pins import SourceContext
from registry.yamldoc.reader import parse_yaml

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.build.execute import LoadResult
    from registry.manifest.models import DatasetSpec

__all__ = [
    "Draft",
    "Proposal",
    "about_file",
    "allow_source",
    "doubts",
    "read_records",
    "warn_outside",
]

_READING = {
    "csv": "--delimiter, --skip-rows, --columns and --encoding say how to read it",
    "json": "--records and --encoding say how to read it",
}
_SHOWN = 2
_COLUMNS = "--input, --target, --choices and --id say which columns to use"


@dataclass(frozen=True)
class Proposal:
    """A manifest that works, not yet written."""

    text: str
    mapping: InferredMapping
    spec: DatasetSpec
    result: LoadResult

    def print_samples(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Print the first samples beside their records."""
        dataset = self.result.dataset
        for position in range(min(_SHOWN, len(dataset))):
            (at,) = dataset.records_at([position])
            print_sample(dataset[position], position + 1, (at, records[at - 1]))

    def print_warnings(self) -> None:
        """Print what looks wrong in the samples."""
        print_warnings(self.spec.name, quality_warnings(self.spec, self.result.entry.meta))


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a manifest is proposed from."""

    name: str
    source: Mapping[str, Any]
    """Keys of the source."""
    records: Sequence[Mapping[str, Any]]
    labels: Mapping[str, Sequence[str]]
    """Names of the numbers in a column, by column."""
    about: About
    columns: Mapping[str, str]
    """The user's choice of a column, by field."""
    destination: Destination
    context: SourceContext

    def propose(self) -> Proposal:
        """Return the manifest and its samples, so that `add` never writes one that doesn't work.

        Raises:
            RegistryError: a column does not exist, or a record can't be mapped.
        """
        mapping = infer_fields(self.name, self.records, given=self.columns, labels=self.labels)
        text = manifest_text(
            self.name,
            self.source,
            mapping,
            about=self.about,
            samples=len(self.records) - mapping.without_input,
            schema=self.destination.schema,
        )
        document = parse_yaml(text, file=display_path(self.destination.target))
        catalog = self.destination.catalog.with_manifest(document)
        spec = replace(catalog, boundary=self.context.boundary)[self.name]
        try:
            with shown_progress(self.context, len(self.records)) as context:
                result = load(
                    spec,
                    context.cache,
                    boundary=context.boundary,
                    offline=context.offline,
                    report=context.report,
                )
        except MappingError as error:
            raise RegistryError(f"{error} ({_COLUMNS})") from error
        return Proposal(text, mapping, spec, result)


def allow_source(
    boundary: Boundary, source: Mapping[str, Any], destination: Destination
) -> Boundary:
    """Return the boundary with the source, which is the user's own word."""
    for location in spec_of_source(source, destination.catalog.index.parent).paths():
        boundary = allow_location(boundary, location)
    return boundary


def read_records(
    source: Mapping[str, Any], destination: Destination, context: SourceContext
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the keys of a source with its commit, and its records.

    Raises:
        DecodeError: it can't be read as described, or has no records.
        SourceError: it can't be reached.
    """
    try:
        with shown_progress(context) as reporting:
            pinned, records = inspect_source(source, destination.catalog.index.parent, reporting)
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
    return keys, records


def doubts(mapping: InferredMapping, records: int) -> Iterator[str]:
    """Yield what a person must look at: fields that are a mere guess, and what is left out."""
    for field, one in mapping.fields.items():
        if one.reason.endswith("please check"):
            yield f"{field} {flow_text(one.expression)} ({one.reason}; or --{field} COLUMN)"
    if "target" not in mapping.fields:
        yield "target null (no column looks like it; --target COLUMN names one)"
    if mapping.without_input:
        count = f"{mapping.without_input:,} of {records:,}"
        yield f"where (leaves out the records without input: {count})"


def about_file(source: Mapping[str, Any], records: Sequence[object]) -> About:
    """Return a plain description of the records of a file."""
    file = PurePosixPath(public_location(str(source["path"])).partition("?")[0]).name
    return About(f"{count_text(len(records), 'record')} of {file}.")


def warn_outside(source: Mapping[str, Any], destination: Destination) -> None:
    """Say that a file can't be read by the new manifest yet, because only the call allowed it."""
    catalog = destination.catalog
    for path in spec_of_source(source, catalog.index.parent).paths():
        refused = catalog.boundary.refusal(local_path(path)) if is_local(path) else None
        if refused is not None:
            print_line(f"warning: {path} {refused[0]} without --file ({refused[1]})", err=True)

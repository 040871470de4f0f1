"""Check the columns that a dataset names against those that are known without a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from registry.errors import DecodeError
from registry.lint.data_files import FileRecords, local_records
from registry.lint.lock_checks import PinnedDataset
from registry.lockfile.pinned import unpinned_sources
from registry.manifest.expressions import parse_condition
from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.mapping.evaluation.evaluate import compile_condition
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.missing_columns import UNKNOWN, missing_columns
from registry.rules import Finding

__all__ = ["compilable", "uncompilable_expression", "unknown_column", "unknown_pinned_column"]


def unknown_column(spec: DatasetSpec) -> Iterator[Finding]:
    """Report columns that are neither in the manifest's list of columns nor in a local file."""
    files = _known_records(spec)
    if files is not None:
        yield from _findings(spec, files)


def unknown_pinned_column(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report columns that the records, whose columns the lockfile lists, don't have."""
    spec, pin = pinned.spec, pinned.pin
    # A pin lists the columns of the first source.
    if spec is None or len(spec.sources) > 1 or _known_records(spec) is not None:
        return
    if unpinned_sources(spec, pin):
        return
    record = {**dict.fromkeys(pin.columns, UNKNOWN), **spec.source.columns}
    repin = f"`registry lock {pinned.name}` looks again"
    for found in _findings(spec, [(False, iter([record]))]):
        message = f"{found.message} in the records that datasets.lock pins"
        yield replace(found, message=message, hint=f"{found.hint}; {repin}")


def _findings(spec: DatasetSpec, files: Sequence[FileRecords]) -> Iterator[Finding]:
    try:
        found = missing_columns(compilable(spec), files, lambda: _lookup_records(spec))
    except (DecodeError, OSError):  # the build reports a file that can't be read
        return
    for one in found:
        yield Finding(one.path, one.message, one.hint)


def _known_records(spec: DatasetSpec) -> list[FileRecords] | None:
    """Return the records of a dataset, or one that stands for all; None if none are known."""
    known: list[FileRecords] = []
    for source in spec.sources:
        if source.column_names is not None:
            names = [*source.column_names, *source.columns]
            known.append((False, iter([dict.fromkeys(names, UNKNOWN)])))
        elif (files := local_records(source, spec.folder)) is not None:
            known += files
        else:
            return None
    return known


def _lookup_records(spec: DatasetSpec) -> Iterable[Mapping[str, Any]]:
    """Return the records of the lookup table of `join`; empty if they are not known."""
    files = None if spec.join is None else local_records(spec.join.source, spec.folder)
    return chain.from_iterable(records for _, records in files or ())


def uncompilable_expression(spec: DatasetSpec) -> Iterator[Finding]:
    """Report fields, and a condition, that don't compile."""
    # The mapper stops at its first error. Compiling each field alone finds all errors but takes
    # longer, so it is done only if there is an error.
    if _compile_error(spec.fields):
        for name in FieldsSpec.__struct_fields__:
            if error := _compile_error(_only(spec, name)):
                yield Finding(("fields", name), error.removeprefix(f"field {name}: "))
    if error := _condition_error(spec):
        yield Finding(("where",), error)


def compilable(spec: DatasetSpec) -> DatasetSpec:
    """Return a dataset without the fields, and without the condition, that don't compile."""
    if _compile_error(spec.fields):
        kept = {
            name: None if _compile_error(_only(spec, name)) else getattr(spec.fields, name)
            for name in FieldsSpec.__struct_fields__
        }
        spec = replace(spec, fields=FieldsSpec(**kept))
    return replace(spec, where=None) if _condition_error(spec) else spec


def _compile_error(fields: FieldsSpec) -> str:
    """Return the first error in fields, or ""."""
    try:
        FieldMapper(fields)
    except ValueError as error:
        return str(error)
    return ""


def _only(spec: DatasetSpec, name: str) -> FieldsSpec:
    """Return the fields of a dataset with all but one set to None."""
    others: dict[str, Any] = dict.fromkeys(FieldsSpec.__struct_fields__)
    return FieldsSpec(**{**others, name: getattr(spec.fields, name)})


def _condition_error(spec: DatasetSpec) -> str:
    """Return the first error in the condition, or ""."""
    try:
        if spec.where is not None:
            compile_condition(parse_condition(spec.where))
    except ValueError as error:
        return str(error)
    return ""

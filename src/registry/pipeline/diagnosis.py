"""Explain a build that can't be right, by reading the records again.

This runs only if something is wrong, so good builds don't pay for it. Both pipelines leave it to
this module to say which columns are missing, so that they raise the same error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.escape import start_of
from registry.errors import ManifestError, Problem, count_text, shorten
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.batch import Records
from registry.mapping.columns_used import named_columns, node_dependencies
from registry.mapping.evaluate import Evaluator, compile_condition
from registry.mapping.missing_columns import Mismatch, UnseenColumns, missing_columns
from registry.mapping.row import MISSING, Row, get_column
from registry.pipeline.pipeline import lookup_of, lookup_rows
from registry.pipeline.transforms import Lookup, Numbered, compile_transforms, with_columns
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.mapping.operations.base import BatchFunction, StarredTable
    from registry.samples.sample import DatasetRecord
    from registry.sources.pins import Pins, SourceContext

__all__ = ["check_columns", "check_lookup", "check_maps", "check_not_empty", "unseen_columns"]

DataPath = tuple[str | int, ...]

_SHOWN_CONDITION = 200
_SHOWN_VALUES = 5
_SHOWN_ROWS = 3
_STARRED = "correct the keys; if `*` is meant for all, write it as a constant"
_COUNTED_VALUES = 1000
"""Distinct values of a column that are counted, so that memory use is bounded."""
_MEANT = "`expect: {samples: 0}` says that it is meant"


def check_columns(
    spec: DatasetSpec, pins: Pins, context: SourceContext, *, rows: int | None = None
) -> None:
    """Raise an error if the manifest names columns that no record has.

    Args:
        spec: The dataset.
        pins: Versions of its sources.
        context: How they may be read.
        rows: Number of records to fetch of a repository, None for all. Files are read until every
            column is found, so that a part of the samples has the same errors as all of them.

    Raises:
        ManifestError: with a problem for each place that names such a column.
    """
    found = missing_columns(
        spec,
        _files(spec, pins, context, rows),
        lambda: (row.record for row in lookup_rows(spec, pins, context)),
    )
    if found:
        raise _error(spec, found, rule="unknown-column")


def unseen_columns(spec: DatasetSpec) -> UnseenColumns:
    """Return the columns that a dataset names in the records of its only source."""
    uses = named_columns(spec) if len(spec.sources) == 1 else []
    made = {spec.join.into} if spec.join is not None else set()
    made |= set(() if spec.explode is None else spec.explode.made)
    heads = [(use, {name.partition(".")[0] for name in use.names}) for use in uses]
    return UnseenColumns(use for use, names in heads if made.isdisjoint(names))


def check_not_empty(spec: DatasetSpec, pins: Pins, context: SourceContext) -> None:
    """Raise an error if `where` or `explode` is why a dataset has no samples.

    Raises:
        ManifestError: with the condition and the values that it saw, or the lists that are empty.
    """
    count, exploded = 0, 0
    condition = None if spec.where is None else parse_condition(spec.where)
    names = () if condition is None else sorted(node_dependencies(condition) or ())
    values: dict[str, Counter[str]] = {name: Counter() for name in names}
    holds = None if condition is None else compile_condition(condition)
    lookup = lookup_of(spec, pins, context)
    unfiltered = compile_transforms(replace(spec, where=None), lookup, context.boundary)

    def counted() -> Iterator[Numbered]:
        nonlocal count
        for _, records in _files(spec, pins, context, None):
            for record in records:
                count += 1
                yield count, record

    for number, record in unfiltered(counted()):
        exploded += 1
        if holds is None or holds(Row(record, number, context.boundary)):
            return
        for name, counts in values.items():
            found = get_column(record, name)
            value = "missing" if found is MISSING else shorten(found, width=40)
            if value in counts or len(counts) < _COUNTED_VALUES:
                counts[value] += 1
    if exploded:
        raise _error(spec, [_nothing_kept(spec.where, exploded, values)])
    if count and spec.explodes:
        lists = ", or ".join(f"the list '{one.column}'" for one in spec.explodes)
        message = f"{lists} is empty in all of {count_text(count, 'record')}"
        raise _error(spec, [Mismatch(("explode", "column"), message, _MEANT)])


def check_lookup(spec: DatasetSpec, lookup: Lookup) -> dict[str, dict[str, Any]]:
    """Return the rows of a lookup table that no record of a whole source has, for `meta.json`.

    Raises:
        ManifestError: no record has a row, with the types and the first keys of both sides.
    """
    if lookup.asked and not lookup.is_of_use:
        message = f"no record has a row in {lookup.name}: {lookup.mismatch}"
        hint = "keys are equal if type and value are: CSV has only strings, JSON has both"
        raise _error(spec, [Mismatch(("join", "on"), message, hint)])
    unused = list(lookup.unused()) if lookup.is_of_use else []
    if not unused:
        return {}
    keys = [f"{key!r} (record {row.number})" for key, row in unused[:_SHOWN_ROWS]]
    message = f"{lookup.name} that no record has: {len(unused):,} of {len(lookup.table):,}"
    message += f": {', '.join([*keys, *['…'][: len(unused) > _SHOWN_ROWS]])}"
    return {"unused_lookup_rows": {"count": len(unused), "first": [{"value": message}]}}


def check_maps(spec: DatasetSpec, pins: Pins, context: SourceContext) -> None:
    """Raise an error if a `map` gives each record its `*`, as none has a value that it names.

    Records are read until each table of that kind was of use: usually the first few.

    Raises:
        ManifestError: with the types and first ones of the values, and the first keys of the table.
    """
    tables: list[tuple[DataPath, StarredTable]] = []
    functions: list[BatchFunction] = []
    for path, raw in spec.fields.expressions() if spec.mapper is None else ():
        evaluator = Evaluator()
        function = evaluator.of(parse_expression(raw))
        if evaluator.tables:
            functions.append(function)
            tables += [(("fields", *path), table) for table in evaluator.tables]
    if not tables:
        return
    transform = compile_transforms(spec, lookup_of(spec, pins, context), context.boundary)
    records = (record for _, of_file in _files(spec, pins, context, None) for record in of_file)
    for number, record in transform(enumerate(records, 1)):
        if all(table.is_of_use for _, table in tables):
            return
        batch = Records.of(Row(record, number, context.boundary))
        for function in functions:
            function(batch)
    found = [
        Mismatch(path, f"no value is a key of `map`: {table.mismatch}", _STARRED)
        for path, table in tables
        if table.mismatch
    ]
    if found:
        raise _error(spec, found)


def _nothing_kept(where: Any, count: int, values: dict[str, Counter[str]]) -> Mismatch:
    condition = start_of(json.dumps(where, ensure_ascii=False), _SHOWN_CONDITION)
    message = f"`where` keeps none of {count_text(count, 'record')}: {condition}"
    seen = [f"'{name}' is {_most_common(counts)}" for name, counts in values.items()]
    return Mismatch(("where",), message, "; ".join([*seen, _MEANT]))


def _most_common(counts: Counter[str]) -> str:
    shown = [f"{value} ({number:,})" for value, number in counts.most_common(_SHOWN_VALUES)]
    more = len(counts) - len(shown)
    full = "at least " if len(counts) == _COUNTED_VALUES else ""
    return ", ".join(shown) + (f" and {full}{count_text(more, 'more value')}" if more else "")


def _files(
    spec: DatasetSpec, pins: Pins, context: SourceContext, rows: int | None
) -> Iterator[tuple[bool, Iterator[DatasetRecord]]]:
    """Yield the records of each file, and whether their columns may differ."""
    for source, pinned in zip(spec.sources, pins.sources, strict=True):
        reader = reader_of(source)
        for file in reader.fetch(pinned, context, rows=rows):
            own = source.of_file(file.location)
            records = map(partial(with_columns, columns=own.columns), reader.decode(file))
            yield source.columns_vary, records


def _error(spec: DatasetSpec, found: Sequence[Mismatch], *, rule: str = "") -> ManifestError:
    """Return the problems without positions in files, which only the catalog knows."""
    problems = [
        Problem(
            message=one.message, hint=one.hint, file=spec.name, path=_json_path(one.path), rule=rule
        )
        for one in found
    ]
    return ManifestError(problems, paths=[one.path for one in found])


def _json_path(path: tuple[Any, ...]) -> str:
    return "$" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)

"""Records → samples by whole columns: the same samples as record by record, or none.

Each field is made by a kernel where there is one; else its expression is evaluated on the few
columns that it reads. Whatever would be an error, or can't be told from columns, ends in
`NotColumnarError`, and the records are mapped one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from registry.base.arrow import int64_array, repeat_string, to_numpy_int64
from registry.decode.frame import NotColumnarError
from registry.errors import MappingError
from registry.manifest.expressions import Expression, parse_condition, parse_expression
from registry.mapping.columnar.expressions import NoKernelError, evaluate, places_where
from registry.mapping.columnar.fields import (
    FIELD_KERNELS,
    metadata_type_of_column,
    of_metadata_type,
)
from registry.mapping.columnar.memoize import evaluated
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columns_used import (
    Reads,
    columns_of_condition,
    columns_of_expression,
    columns_of_metadata,
    reads_number,
)
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import MISSING, Evaluator
from registry.store.schema import (
    METADATA_VALUES,
    MetadataType,
    MetadataTypeMismatchError,
    batch_from,
    common_keys,
    field_columns,
    metadata_column,
    metadata_type_of,
    struct_of,
)

if TYPE_CHECKING:
    from registry.manifest.models import FieldsSpec

__all__ = ["ColumnarMapper"]


class ColumnarMapper:
    """Maps the records of a view to rows of a samples file."""

    def __init__(
        self, fields: FieldsSpec, where: Any = None, as_json: frozenset[str] | None = frozenset()
    ) -> None:
        """Compile the fields and the condition; a ValueError says which can't be.

        Args:
            fields: Expressions of the fields.
            where: Condition of the records that are kept, as the manifest writes it.
            as_json: Keys of the metadata whose values differ in type; None where metadata is to
                be JSON as a whole.
        """
        self._as_json = as_json
        self._mapper = FieldMapper(fields)
        self._expressions: dict[str, Expression] = {
            name: parse_expression(getattr(fields, name)) for name in self._mapper.parts
        }
        self._metadata = {
            key: compile_expression(item) for key, item in self._mapper.metadata_keys.items()
        }
        self._where = None if where is None else parse_condition(where)
        if self._where is not None:
            self._holds = compile_condition(self._where, compile_expression)

    @property
    def wanted(self) -> Reads:
        """The columns that are read; None for all of them."""
        reads = [
            *map(columns_of_expression, self._expressions.values()),
            columns_of_metadata(self._mapper.fields.metadata),
            frozenset() if self._where is None else columns_of_condition(self._where),
        ]
        known = [names for names in reads if names is not None]
        return None if len(known) < len(reads) else frozenset().union(*known)

    def map(
        self, view: RecordBatchView, metadata_types: Mapping[str, MetadataType] | None
    ) -> tuple[pa.RecordBatch, Mapping[str, MetadataType] | None]:
        """Return the samples of records, and the kinds of the values of their metadata.

        Where there are no samples the kinds are those that were given.

        Args:
            view: The records.
            metadata_types: Types that the values must be of; None chooses them.

        Raises:
            NotColumnarError: the records must be mapped one by one.
            OtherKindError: a value is not of its kind.
        """
        try:
            kept = self._kept(view)
            if kept.count == 0:
                return batch_from({}, 0, metadata_types or {}), metadata_types
            columns = {
                "record": int64_array(kept.numbers),
                "target": repeat_string("", kept.count),
            }
            for name in self._expressions:
                columns |= self._field(name, kept)
            return self._with_metadata(columns, kept, metadata_types)
        except (MappingError, UnicodeEncodeError) as error:
            raise NotColumnarError("an error that records word") from error

    def _kept(self, view: RecordBatchView) -> RecordBatchView:
        """Return the view of the records that the condition holds of."""
        if self._where is None:
            return view
        try:
            places = to_numpy_int64(places_where(self._where, view))
        except NoKernelError:
            reads, numbered = columns_of_condition(self._where), reads_number(self._where)
            places = np.flatnonzero(evaluated(self._holds, reads, view, numbered=numbered))
        return view if len(places) == view.count else view.kept(places)

    def _field(self, name: str, view: RecordBatchView) -> dict[str, pa.Array]:
        expression = self._expressions[name]
        try:
            return FIELD_KERNELS[name](expression, view)
        except NoKernelError:
            values = _evaluated(self._mapper.parts[name], expression, view)
            return field_columns(name, values, view.numbers)

    def _with_metadata(
        self,
        columns: dict[str, pa.Array],
        view: RecordBatchView,
        metadata_types: Mapping[str, MetadataType] | None,
    ) -> tuple[pa.RecordBatch, Mapping[str, MetadataType]]:
        in_columns = self._as_json is not None and metadata_types != {}
        if in_columns and self._metadata:
            made = {key: self._value(key, view) for key in self._metadata}
        else:
            whole = self._whole_metadata(view)
            keys = common_keys(whole or ()) if in_columns else []
            if not keys and not metadata_types:
                if whole is not None:
                    columns |= field_columns("metadata", whole, view.numbers)
                return batch_from(columns, view.count, {}), {}
            made = {key: [item[key] for item in whole or () if item] for key in keys}
        chosen = metadata_types or self._kinds_of(made)
        if list(chosen) != list(made):
            raise MetadataTypeMismatchError(None)
        parts = [_of_metadata_type(key, chosen[key], value, view) for key, value in made.items()]
        columns[METADATA_VALUES] = struct_of(parts, chosen)
        return batch_from(columns, view.count, chosen), chosen

    def _kinds_of(self, made: Mapping[str, pa.Array | list[Any]]) -> dict[str, MetadataType]:
        as_json = self._as_json or frozenset()
        return {
            key: "json" if key in as_json else _natural_type(value) for key, value in made.items()
        }

    def _whole_metadata(self, view: RecordBatchView) -> list[dict[str, Any] | None] | None:
        """Return the metadata of each sample; None where none has any."""
        raw = self._mapper.fields.metadata
        if raw is None or (isinstance(raw, str) and raw != "*" and view.is_null(raw)):
            return None
        return [self._mapper.metadata(row) for row in view.rows(columns_of_metadata(raw))]

    def _value(self, key: str, view: RecordBatchView) -> pa.Array | list[Any]:
        """Return the values of one key of the metadata."""
        expression = self._mapper.metadata_keys[key]
        try:
            column = evaluate(expression, view)
        except NoKernelError:
            column = None
        if column is not None and (
            metadata_type_of_column(column) or column.null_count == view.count
        ):
            return column
        values = _evaluated(self._metadata[key], expression, view)
        return [None if value is MISSING else value for value in values]


def _evaluated(evaluator: Evaluator, expression: Expression, view: RecordBatchView) -> list[Any]:
    reads, numbered = columns_of_expression(expression), reads_number(expression)
    return evaluated(evaluator, reads, view, numbered=numbered)


def _natural_type(value: pa.Array | list[Any]) -> MetadataType:
    return (
        metadata_type_of(value)
        if isinstance(value, list)
        else metadata_type_of_column(value) or "json"
    )


def _of_metadata_type(
    key: str, kind: MetadataType, value: pa.Array | list[Any], view: RecordBatchView
) -> pa.Array:
    if isinstance(value, list):
        return metadata_column(key, kind, value, view.numbers)
    column = of_metadata_type(value, kind)
    return metadata_column(key, kind, value.to_pylist(), view.numbers) if column is None else column

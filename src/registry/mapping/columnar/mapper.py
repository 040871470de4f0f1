"""Map records to samples by whole columns, with exactly the same result as record by record.

Each field is computed by its kernel if there is one; otherwise its expression is evaluated for each
record, on the few columns that it reads. If anything would be an error, or can't be decided from
columns, a `NotColumnarError` is raised, and the records must be mapped one by one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from registry.base.arrow.arrays import int64_array, repeat_string, to_numpy_int64
from registry.decode.frame import NotColumnarError
from registry.errors import MappingError
from registry.manifest.expressions import Column, Expression, parse_condition
from registry.mapping.coerce import to_metadata
from registry.mapping.columnar.expressions import NoKernelError, evaluate, indices_where
from registry.mapping.columnar.fields import (
    FIELD_KERNELS,
    cast_to_metadata_type,
    metadata_type_of_column,
)
from registry.mapping.columnar.inputs import input_columns
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.plain import is_plain, is_plain_spread
from registry.mapping.columnar.programs import Programs
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columnar.unchanged import are_unchanged
from registry.mapping.columns_used import (
    ColumnDependencies,
    mapping_dependencies,
    metadata_dependencies,
)
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import MISSING
from registry.store.columns import (
    common_keys,
    field_columns,
    metadata_column,
)
from registry.store.schema import (
    METADATA_VALUES,
    MetadataType,
    MetadataTypeMismatchError,
    batch_from,
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
        """Compile the fields and the condition; a ValueError names the invalid one.

        Args:
            fields: Expressions of the fields.
            where: Condition that records must meet, as the manifest writes it.
            as_json: Keys of the metadata whose values differ in type and are stored as JSON; None
                to store the whole metadata as JSON.
        """
        self._as_json = as_json
        self._mapper = FieldMapper(fields)
        self._where = None if where is None else parse_condition(where)
        self.programs = Programs()
        """Functions for the expressions without a kernel, for the views that are mapped."""
        self.dependencies: ColumnDependencies = mapping_dependencies(fields, where)
        """The columns to read; None for all of them."""

    def map(
        self, view: RecordBatchView, metadata_types: Mapping[str, MetadataType] | None
    ) -> tuple[pa.RecordBatch, Mapping[str, MetadataType] | None]:
        """Return the samples of records, and the types of their metadata values.

        If no record meets the condition, the types are returned unchanged.

        Args:
            view: The records.
            metadata_types: Types that the values must have; None infers them from these records.

        Raises:
            NotColumnarError: the records must be mapped one by one.
            MetadataTypeMismatchError: a key has values of another type than before.
        """
        try:
            view = self._filter(view)
            if view.count == 0:
                return batch_from({}, 0, metadata_types or {}), metadata_types
            columns = {"record": int64_array(view.numbers)}
            for name, expression in self._mapper.expressions.items():
                columns |= self._field_columns(name, expression, view)
            if "target" not in columns:
                columns["target"] = repeat_string("", view.count)
            batch, types = self._with_metadata(columns, view, metadata_types)
        except (MappingError, UnicodeEncodeError) as error:
            # By columns, an error of a later record may be found first. The user must get the
            # first one in the order of the file.
            raise NotColumnarError("an error that mapping by record reports") from error
        finally:
            view.programs.texts.clear()
        # Only records have a size of their own, and an error that names one of them.
        if batch.nbytes > view.boundary.limits.sample_bytes:
            raise NotColumnarError("samples that may be too large")
        return batch, types

    def _filter(self, view: RecordBatchView) -> RecordBatchView:
        """Return the view of the records that meet the condition."""
        where = self._where
        if where is None:
            return view
        try:
            indices = to_numpy_int64(indices_where(where, view))
        except NoKernelError:
            indices = np.flatnonzero(evaluate_values(where, view))
        return view if len(indices) == view.count else view.take(indices)

    def _field_columns(
        self, name: str, expression: Expression, view: RecordBatchView
    ) -> dict[str, pa.Array]:
        """Return the columns of a field, by its kernel if that takes less time."""
        if not view.has_few:
            with contextlib.suppress(NoKernelError):
                return FIELD_KERNELS[name](expression, view)
        is_input = name == "input"
        if isinstance(expression, Column) and not (is_input or view.may_have(expression.name)):
            return {}
        values = evaluate_values(expression, view)
        if is_input:
            if type(MISSING) in set(map(type, values)):
                raise NotColumnarError("an input that a record may lack")
            return input_columns(values, view.numbers)
        if not are_unchanged(name, values):
            values = list(map(self._mapper.coerce[name], values))
        return field_columns(name, values, view.numbers)

    def _with_metadata(
        self,
        columns: dict[str, pa.Array],
        view: RecordBatchView,
        metadata_types: Mapping[str, MetadataType] | None,
    ) -> tuple[pa.RecordBatch, Mapping[str, MetadataType]]:
        in_columns = self._as_json is not None and metadata_types != {}
        values = self._values_of_keys(view) if in_columns else None
        if values is None:
            raw, whole = self._mapper.fields.metadata, None
            # A column of nulls, usually a missing `metadata`, gives no metadata and needs no rows.
            if raw is not None and not (isinstance(raw, str) and raw != "*" and view.is_null(raw)):
                whole = self._whole_metadata(raw, view)
            keys = common_keys(whole or ()) if in_columns else []
            if not keys and not metadata_types:
                if whole is not None:
                    plain = self._is_plain_spread(view)
                    columns |= field_columns("metadata", whole, view.numbers, plain=plain)
                return batch_from(columns, view.count, {}), {}
            values = {key: [item[key] for item in whole or () if item] for key in keys}
        as_json = self._as_json or frozenset()
        types = metadata_types or {
            key: "json" if key in as_json else _metadata_type(column)
            for key, column in values.items()
        }
        # A struct column has the same keys in the same order in every batch of the file.
        if list(types) != list(values):
            raise MetadataTypeMismatchError(None)
        parts = []
        for key, column in values.items():
            part = None if isinstance(column, list) else cast_to_metadata_type(column, types[key])
            if part is None:
                items = column if isinstance(column, list) else column.to_pylist()
                expression = self._mapper.metadata_keys.get(key)
                plain = (
                    self._is_plain_spread(view)
                    if expression is None
                    else is_plain(expression, view)
                )
                part = metadata_column(
                    key, types[key], items, view.numbers, plain=plain, typed=not metadata_types
                )
            parts.append(part)
        columns[METADATA_VALUES] = struct_of(parts, types)
        return batch_from(columns, view.count, types), types

    def _values_of_keys(self, view: RecordBatchView) -> dict[str, pa.Array | list[Any]] | None:
        """Return the values of each key of the metadata; None if only samples tell their keys."""
        values: dict[str, pa.Array | list[Any]] = {}
        if self._mapper.spread is not None:
            dicts = self._whole_metadata(self._mapper.spread, view)
            values = {key: [item[key] for item in dicts if item] for key in common_keys(dicts)}
            if not values:
                return None
        return (
            values | {key: self._metadata_values(key, view) for key in self._mapper.metadata_keys}
        ) or None

    def _is_plain_spread(self, view: RecordBatchView) -> bool:
        """Return whether the values of keys that have no expression surely are those of JSON."""
        raw = self._mapper.fields.metadata
        name = raw if isinstance(raw, str) else self._mapper.spread
        return name is not None and is_plain_spread(name, view)

    def _whole_metadata(self, raw: Any, view: RecordBatchView) -> list[dict[str, Any] | None]:
        """Return the metadata of each record, where its keys are not those of the manifest."""
        if isinstance(raw, str) and raw != "*":
            values = view.values(raw)
            return [None if value is MISSING else to_metadata(value) for value in values]
        return list(map(self._mapper.metadata, view.rows(metadata_dependencies(raw))))

    def _metadata_values(self, key: str, view: RecordBatchView) -> pa.Array | list[Any]:
        """Return the values of one key of the metadata."""
        expression = self._mapper.metadata_keys[key]
        column = None
        if not view.has_few:
            with contextlib.suppress(NoKernelError):
                column = evaluate(expression, view)
        # For other types, such as dates and structs, the values decide how they are stored.
        if column is not None and (
            metadata_type_of_column(column) or column.null_count == view.count
        ):
            return column
        values = evaluate_values(expression, view)
        return [None if value is MISSING else value for value in values]


def _metadata_type(values: pa.Array | list[Any]) -> MetadataType:
    if isinstance(values, list):
        return metadata_type_of(values)
    return metadata_type_of_column(values) or "json"

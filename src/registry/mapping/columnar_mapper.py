"""Map records to samples by whole columns, with exactly the same result as record by record.

A field that is a column of an Arrow file stays one, if its type tells that all values are valid.
All others are lists of values (see `evaluate`). If anything would be an error, or can't be
decided from columns, a `NotColumnarError` is raised, and the records must be mapped one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import (
    blank_strings,
    int64_array,
    is_text,
    list_offsets,
    repeat_string,
    string_scalar,
    to_array,
)
from registry.decode.frame import MISSING, NotColumnarError
from registry.errors import MappingError
from registry.manifest.expressions import Column, Expression, parse_condition
from registry.mapping.coerce import to_input
from registry.mapping.columns_used import ColumnDependencies, mapping_dependencies
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.record_batch import RecordBatchView
from registry.samples.fields import NAMES
from registry.samples.frames.layout import METADATA_TYPES, MetadataType
from registry.store.columns import common_keys, field_columns, metadata_column
from registry.store.conversations import conversation_to_json, plain_conversation_json
from registry.store.schema import (
    METADATA_VALUES,
    MetadataTypeMismatchError,
    batch_from,
    metadata_type_of,
    struct_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.manifest.models import Accepted, FieldsSpec
    from registry.store.columns import Numbers

__all__ = [
    "FIELD_COLUMNS",
    "ColumnarMapper",
    "cast_to_metadata_type",
    "input_columns",
    "metadata_type_of_column",
]

FieldColumns = dict[str, pa.Array]
_TEXT = pa.large_string()
_TEXT_LIST = pa.large_list(_TEXT)


class ColumnarMapper:
    """Maps the records of a view to rows of a samples file."""

    def __init__(
        self,
        fields: FieldsSpec,
        where: Any = None,
        as_json: frozenset[str] | None = frozenset(),
        *,
        accept: Collection[Accepted] = (),
    ) -> None:
        """Compile the fields and the condition; a ValueError names the invalid one.

        Args:
            fields: Expressions of the fields.
            where: Condition that records must meet, as the manifest writes it.
            as_json: Keys of the metadata whose values differ in type and are stored as JSON; None
                to store the whole metadata as JSON.
            accept: What is meant in the samples, as the manifest says.
        """
        self._as_json = as_json
        self._mapper = FieldMapper(fields, accept=accept)
        condition = None if where is None else parse_condition(where)
        self._holds = None if condition is None else self._mapper.evaluator.condition(condition)
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
        # Only records have a size of their own, and an error that names one of them.
        size = sum(column.nbytes for column in columns.values())
        if size > view.boundary.limits.sample_bytes:
            raise NotColumnarError("samples that may be too large")
        return batch, types

    def _filter(self, view: RecordBatchView) -> RecordBatchView:
        """Return the view of the records that meet the condition."""
        if self._holds is None:
            return view
        indices = np.flatnonzero(self._holds(view))
        return view if len(indices) == view.count else view.filtered(indices)

    def _field_columns(
        self, name: str, expression: Expression, view: RecordBatchView
    ) -> dict[str, pa.Array]:
        if isinstance(expression, Column):
            column = view.arrow_column(expression.name)
            found = None if column is None else FIELD_COLUMNS[name](column)
            if found is not None:
                return found
            if name != "input" and not view.may_have(expression.name):
                return {}
        if name == "input":
            values = self._mapper.functions[name](view)
            if isinstance(expression, Column) and type(MISSING) in view.kinds(expression.name):
                raise NotColumnarError("an input that a record may lack")
            return input_columns(values, view.numbers)
        values = self._mapper.field(name, view)
        if not isinstance(expression, Column):
            view.check_size(values)  # what repeats a text only takes its memory once written
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
            whole = self._whole_metadata(view)
            keys = common_keys(whole or ()) if in_columns else []
            if not keys and not metadata_types:
                if whole is not None:
                    columns |= field_columns("metadata", whole, view.numbers)
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
        parts = [
            _metadata_column(key, types[key], column, view, typed=not metadata_types)
            for key, column in values.items()
        ]
        columns[METADATA_VALUES] = struct_of(parts, types)
        return batch_from(columns, view.count, types), types

    def _values_of_keys(self, view: RecordBatchView) -> dict[str, pa.Array | list[Any]] | None:
        """Return the values of each key of the metadata; None if only samples tell their keys."""
        values: dict[str, pa.Array | list[Any]] = {}
        if self._mapper.spread is not None:
            dicts = self._mapper.spread_values(self._mapper.spread, view)
            values = {key: [item[key] for item in dicts if item] for key in common_keys(dicts)}
            if not values:
                return None
        return (
            values | {key: self._metadata_values(key, view) for key in self._mapper.metadata_keys}
        ) or None

    def _whole_metadata(self, view: RecordBatchView) -> list[dict[str, Any] | None] | None:
        """Return the metadata of each record; None if none has any."""
        raw = self._mapper.fields.metadata
        # A column of nulls, usually a missing `metadata`, gives no metadata.
        if raw is None or (isinstance(raw, str) and raw != "*" and view.is_null(raw)):
            return None
        values = self._mapper.metadata(view)
        view.check_size(values)
        return values

    def _metadata_values(self, key: str, view: RecordBatchView) -> pa.Array | list[Any]:
        """Return the values of one key of the metadata."""
        expression = self._mapper.metadata_keys[key]
        if isinstance(expression, Column):
            column = view.arrow_column(expression.name)
            # For other types, such as dates and structs, the values decide how they are stored.
            if column is not None and (
                metadata_type_of_column(column) or column.null_count == view.count
            ):
                return column
            return self._mapper.metadata_values(key, view)
        values = self._mapper.metadata_values(key, view)
        view.check_size(values)
        return values


def _metadata_column(
    key: str,
    metadata_type: MetadataType,
    values: pa.Array | list[Any],
    view: RecordBatchView,
    *,
    typed: bool,
) -> pa.Array:
    if not isinstance(values, list):
        column = cast_to_metadata_type(values, metadata_type)
        if column is not None:
            return column
        values = values.to_pylist()
    return metadata_column(key, metadata_type, values, view.numbers, typed=typed)


def _metadata_type(values: pa.Array | list[Any]) -> MetadataType:
    if isinstance(values, list):
        return metadata_type_of(values)
    return metadata_type_of_column(values) or "json"


def input_columns(values: Sequence[Any], records: Numbers) -> dict[str, pa.Array]:
    """Return the columns of inputs, of which any value may be that of an expression.

    Raises:
        MappingError: a value is not an input, or can't be stored.
    """
    prompts: list[str | None] = []
    messages: list[bytes | None] = []
    try:
        if set(map(type, values)) == {str} and "" not in values:
            return {"input": to_array(values, pa.large_string())}
        for value in values:
            text = plain_conversation_json(value) if type(value) is list else None
            own = to_input(value) if text is None else None
            prompts.append(own if isinstance(own, str) else None)
            if isinstance(own, list):
                text = conversation_to_json(own).encode()
            messages.append(text)
        texts = to_array(messages, pa.large_binary()).view(pa.large_string())
        return {"input": to_array(prompts, pa.large_string()), "messages": texts}
    except (UnicodeEncodeError, TypeError, RecursionError):
        # Again, to find the first value that can't be stored.
        return field_columns("input", list(map(to_input, values)), records)


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists, other than lists of a fixed length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_text_list(kind: pa.DataType) -> bool:
    """Return whether a type is that of lists of strings."""
    return is_list(kind) and is_text(kind.value_type)


def to_large_string(column: pa.Array) -> pa.Array:
    """Return strings as `large_string`."""
    return column if pa.types.is_large_string(column.type) else column.cast(_TEXT)


def as_text_lists(column: pa.Array) -> pa.LargeListArray:
    """Return lists of strings in which a null has no items.

    In Arrow, a null list may cover items. `flatten` drops these, so that the offsets of the lists
    would no longer be positions in its result.
    """
    lists = column.cast(_TEXT_LIST)
    return lists.take(int64_array(np.arange(len(lists)))) if lists.null_count else lists


def _input(column: pa.Array) -> FieldColumns | None:
    if not is_text(column.type) or column.null_count:
        return None
    text = to_large_string(column)
    return {"input": text} if len(text) and (np.diff(list_offsets(text)) > 0).all() else None


def _target(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {"target": repeat_string("", len(column))}
    if is_text(column.type):
        return {"target": pc.fill_null(to_large_string(column), string_scalar(""))}
    if is_text_list(column.type):
        lists = as_text_lists(column)
        if not lists.null_count and not lists.flatten().null_count:
            return {"target": pa.nulls(len(column), _TEXT), "targets": lists}
    return None


def _choices(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    if not is_text_list(column.type) or column.null_count:
        return None
    lists = as_text_lists(column)
    items = lists.flatten()
    return None if items.null_count or len(blank_strings(items)) else {"choices": lists}


def _id(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    if is_text(column.type):
        return {"id": to_large_string(column)}
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        return {"id_number": column.cast(pa.int64())}
    return None


def _setup(column: pa.Array) -> FieldColumns | None:
    if column.null_count == len(column):
        return {}
    return {"setup": to_large_string(column)} if is_text(column.type) else None


def _absent(column: pa.Array) -> FieldColumns | None:
    return {} if column.null_count == len(column) else None


FIELD_COLUMNS: dict[str, Callable[[pa.Array], FieldColumns | None]] = {
    **dict.fromkeys((name for name in NAMES if name != "metadata"), _absent),
    "input": _input,
    "target": _target,
    "choices": _choices,
    "id": _id,
    "setup": _setup,
}
"""Field → the function that returns its columns; None if the values decide."""


def metadata_type_of_column(column: pa.Array) -> MetadataType | None:
    """Return the metadata type of a column; None if it depends on the values."""
    types = pa.types
    if is_text(column.type):
        return "str"
    if is_text_list(column.type):
        return "str_list"
    if types.is_integer(column.type) and not types.is_uint64(column.type):
        return "int"
    if types.is_float32(column.type) or types.is_float64(column.type):
        return "float"
    return "bool" if types.is_boolean(column.type) else None


def cast_to_metadata_type(column: pa.Array, kind: MetadataType) -> pa.Array | None:
    """Return a column cast to a metadata type; None if it has a different one."""
    if column.null_count == len(column):
        return pa.nulls(len(column), METADATA_TYPES[kind])
    if kind == "json" or metadata_type_of_column(column) != kind:
        return None
    return as_text_lists(column) if kind == "str_list" else column.cast(METADATA_TYPES[kind])

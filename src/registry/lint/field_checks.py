"""Check the expressions of a resolved dataset by compiling them, and the columns they read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.errors import did_you_mean
from registry.manifest.expressions import (
    expression_columns,
    is_expression,
    parse_condition,
    parse_expression,
)
from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.field_mapper import FieldMapper
from registry.rules import Finding

__all__ = ["uncompilable_expression", "unknown_column"]


def uncompilable_expression(spec: DatasetSpec) -> Iterator[Finding]:
    """Report fields, and a condition, that don't compile."""
    # The mapper stops at its first error. Compiling each field alone finds all errors but takes
    # longer, so it is done only if there is an error.
    if _compile_error(spec.fields):
        for name in FieldsSpec.__struct_fields__:
            if error := _compile_error(_only(spec, name)):
                yield Finding(("fields", name), error.removeprefix(f"field {name}: "))
    if spec.where is not None:
        try:
            compile_condition(parse_condition(spec.where), compile_expression)
        except ValueError as error:
            yield Finding(("where",), str(error))


def unknown_column(spec: DatasetSpec) -> Iterator[Finding]:
    """Report columns that fields read, but that are not in the manifest's list of columns."""
    known = _known_columns(spec)
    if not known:
        return
    for name in FieldsSpec.__struct_fields__:
        expression = getattr(spec.fields, name)
        # As in Inspect's loaders, a field that is only the name of a column may be missing.
        if expression is None or isinstance(expression, str) or _compile_error(_only(spec, name)):
            continue
        if isinstance(expression, dict) and not is_expression(expression):
            parts = list(expression.values())
        else:
            parts = expression if isinstance(expression, list) else [expression]
        for part in (part for part in parts if part is not None):
            for column in expression_columns(parse_expression(part)):
                # `a.b` is the key `b` in the column `a`; `*` is the whole record.
                if not known & {column, column.partition(".")[0]} and column != "*":
                    hint = did_you_mean(column, known) or f"columns: {', '.join(sorted(known))}"
                    yield Finding(("fields", name), f"no column '{column}'", hint)


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


def _known_columns(spec: DatasetSpec) -> set[str]:
    """Return the columns of a dataset; an empty set unless its manifest lists all of them."""
    names: set[str] = set()
    for source in spec.sources:
        if source.column_names is None:
            return set()
        names.update(source.column_names, source.columns)
    if spec.join is not None:
        names.add(spec.join.into)
    if spec.explode is not None:
        names.update((spec.explode.item, spec.explode.index))
    return names

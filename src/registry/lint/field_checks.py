"""Check what only compiling shows of a resolved dataset: its expressions and their columns."""

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
from registry.yamldoc.reader import DataPath

__all__ = ["compile_faults", "unknown_columns"]

Fault = tuple[DataPath, str]
"""Where in the dataset, and what is wrong."""


def compile_faults(spec: DatasetSpec) -> Iterator[Fault]:
    """Yield the fields that do not compile, and the condition."""
    if _compile_fault(spec.fields):  # one by one only where that is needed: it takes its time
        for name, expression in _fields(spec).items():
            fault = _compile_fault(_only(name, expression))
            if fault:
                yield ("fields", name), fault.removeprefix(f"field {name}: ")
    if spec.where is not None:
        try:
            compile_condition(parse_condition(spec.where), compile_expression)
        except ValueError as error:
            yield ("where",), str(error)


def unknown_columns(spec: DatasetSpec) -> Iterator[Fault]:
    """Yield the columns that fields read and the manifest, which names them all, does not."""
    known = _known_columns(spec)
    if not known:
        return
    for name, expression in _fields(spec).items():
        if not _compile_fault(_only(name, expression)):
            yield from ((("fields", name), word) for word in _not_among(expression, known))


def _fields(spec: DatasetSpec) -> dict[str, Any]:
    return {name: getattr(spec.fields, name) for name in FieldsSpec.__struct_fields__}


def _only(name: str, expression: Any) -> FieldsSpec:
    """Return fields of which one alone is read."""
    return FieldsSpec(**{**dict.fromkeys(FieldsSpec.__struct_fields__), name: expression})


def _compile_fault(fields: FieldsSpec) -> str:
    """Return what is wrong with fields, the first of it, or an empty text."""
    try:
        FieldMapper(fields)
    except ValueError as error:
        return str(error)
    return ""


def _known_columns(spec: DatasetSpec) -> set[str]:
    """Return the columns of a dataset where its manifest names them all, else nothing."""
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


def _not_among(expression: Any, known: set[str]) -> Iterator[str]:
    """Yield what is wrong with the columns that an expression of the manifest reads."""
    if expression is None or isinstance(expression, str):
        return  # a column on its own may be missing, as with the loaders
    listed = expression if isinstance(expression, list) else [expression]
    is_map = isinstance(expression, dict) and not is_expression(expression)
    parts = list(expression.values()) if is_map else listed
    for part in (part for part in parts if part is not None):
        for name in expression_columns(parse_expression(part)):
            if name not in known and name.partition(".")[0] not in known and name != "*":
                hint = did_you_mean(name, known) or f"columns: {', '.join(sorted(known))}"
                yield f"no column '{name}' ({hint})"

"""Check the expressions of a resolved dataset by compiling them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from registry.manifest.expressions import parse_condition
from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.mapping.evaluation.evaluate import compile_condition
from registry.mapping.field_mapper import FieldMapper
from registry.rules import Finding

__all__ = ["compilable", "uncompilable_expression"]


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

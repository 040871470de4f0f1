"""Fill in templates for whole columns, as `mapping.evaluate` does for each record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import string_scalar
from registry.manifest.expressions import Column, Template
from registry.manifest.templates import Placeholder, Section, TemplatePart
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    bool_array,
    check_size,
    constant,
    empty_mask,
    str_of_values,
)

if TYPE_CHECKING:
    from registry.mapping.columnar.kernels.arrays import Evaluate
    from registry.mapping.columnar.record_batch import RecordBatchView

__all__ = ["fill_template"]

_EMPTY = ""


def fill_template(template: Template, view: RecordBatchView, evaluate: Evaluate) -> pa.Array:
    """Return the strings of a template."""
    filled = _render(template.parts, template, view, evaluate)
    if isinstance(filled, pa.Scalar):
        return constant(filled.as_py(), view.count)
    if filled.null_count:
        raise NoKernelError
    return filled


# No functions within a function: two that call each other are a cycle, which would keep the view
# until the garbage collector runs, and that is paused.
def _render(
    parts: Sequence[TemplatePart], template: Template, view: RecordBatchView, evaluate: Evaluate
) -> pa.Array | pa.Scalar:
    """Return the strings, null where a record would be an error."""
    pieces = [
        string_scalar(part) if isinstance(part, str) else _fill(part, template, view, evaluate)
        for part in parts
    ]
    check_size(pieces, view.count)
    if all(isinstance(piece, pa.Scalar) for piece in pieces):
        return string_scalar(_EMPTY.join(piece.as_py() for piece in pieces))
    return pc.binary_join_element_wise(*pieces, string_scalar(_EMPTY))


def _fill(
    part: Placeholder | Section, template: Template, view: RecordBatchView, evaluate: Evaluate
) -> pa.Array | pa.Scalar:
    column = evaluate(template.values.get(part.name, Column(part.name)), view)
    if isinstance(part, Placeholder) and part.default is None:
        return str_of_values(column)
    empty = empty_mask(column)
    instead = string_scalar(part.default or _EMPTY if isinstance(part, Placeholder) else _EMPTY)
    if empty.all():
        return instead
    if isinstance(part, Placeholder):
        text = str_of_values(column)
    else:
        text = _render(part.parts, template, view, evaluate)
    if not empty.any():
        return text
    check_size([instead], int(empty.sum()))
    return pc.if_else(bool_array(empty), instead, text)

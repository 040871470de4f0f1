"""Compare a kernel with the operation that it stands for, value by value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.columnar.expressions import NoKernelError, by_kernel
from registry.mapping.evaluate import compile_expression
from tests.mapping.columnar.views import records_of, view_of

__all__ = ["TEXTS", "check", "has_no_kernel"]

TEXTS = ["", "a", "a,b", ",a,,b,", " é, \x85", "\u2028x\n", "a\nb", "\0", "\U0001f600,a" * 40]


def check(step: Any, values: list[Any], **columns: list[Any]) -> None:
    """Assert that an operation returns the same by column as by record."""
    arrays = {name: pa.array(items) for name, items in {"v": values, **columns}.items()}
    view = view_of(
        **{name: pa.concat_arrays([array[:1], array])[1:] for name, array in arrays.items()}
    )
    expression = parse_expression({"from": "v", "do": step})
    column = by_kernel(expression, view)
    column.validate(full=True)
    one_by_one = compile_expression(expression)
    assert repr(column.to_pylist()) == repr([one_by_one(row) for row in records_of(view)])


def has_no_kernel(step: Any, values: list[Any], **columns: list[Any]) -> None:
    """Assert that an operation must be applied record by record."""
    with pytest.raises(NoKernelError):
        check(step, values, **columns)

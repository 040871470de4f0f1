"""Comparisons of whole columns hold where those of each value do."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from registry.manifest.expressions import parse_comparisons
from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.conditions import holds
from registry.mapping.conditions import compile_comparisons

COLUMNS = [
    pa.array(["x", "", "é", None, "10"]),
    pa.array([0, 1, -1, 2**63 - 1, 2**53 + 1, None]),
    pa.array([0.0, 1.0, 0.5, float("nan"), float("inf"), None]),
    pa.array([0.1, 1.0, None], pa.float32()),
    pa.array([True, False, None]),
    pa.array([["x"], [], ["x", "y"], ["x", None], None]),
    pa.nulls(2),
]
OPERANDS: list[Any] = [
    None,
    "x",
    "",
    "é",
    0,
    1,
    1.0,
    0.5,
    -0.0,
    2**53,
    2**63 - 1,
    2**64,
    True,
    False,
]
OPERANDS += [[], ["x"], ["x", "y"], ["x", None], {}, {"x": 1}]
COMPARISONS: list[Any] = [
    *[{name: operand} for name in ("equals", "not_equals") for operand in OPERANDS],
    *[{name: [operand, "10"]} for name in ("in", "not_in") for operand in OPERANDS],
    *[
        {"in": []},
        {"not_in": []},
        {"empty": True},
        {"empty": False},
        {"not_equals": "x", "regex": "."},
    ],
    *[{"regex": pattern} for pattern in ("x", "^$", "é", "0$")],
]
ORDERINGS: list[Any] = [
    {name: operand}
    for name in ("less", "at_most", "greater", "at_least")
    for operand in ("x", "", "é", 0, 1.0, 0.5, -1, 2**53)
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
@pytest.mark.parametrize("raw", [*COMPARISONS, *ORDERINGS], ids=str)
def test_comparisons_hold_where_they_do_for_each_value(raw: Any, column: pa.Array) -> None:
    comparisons = parse_comparisons(raw)
    by_value = compile_comparisons(comparisons)
    try:
        found = holds(column, comparisons.tests).tolist()
    except NoKernelError:
        return  # the next test says where that may be
    assert found == list(map(by_value, column.to_pylist()))


@pytest.mark.parametrize("raw", COMPARISONS, ids=str)
def test_comparisons_of_strings_and_integers_have_a_kernel(raw: Any) -> None:
    if raw != {"regex": "^$"} and "." not in str(raw) and "$" not in str(raw):
        for column in COLUMNS[:2]:
            assert len(holds(column, parse_comparisons(raw).tests)) == len(column)


@pytest.mark.parametrize(
    ("column", "raw"),
    [
        (COLUMNS[0], {"less": 1}),
        (COLUMNS[1], {"less": "x"}),
        (COLUMNS[1], {"less": 0.5}),
        (COLUMNS[2], {"equals": 2**64}),
        (COLUMNS[4], {"less": 1}),
        (pa.array(["x"]).dictionary_encode(), {"equals": "x"}),
        (pa.array([2**64 - 1], pa.uint64()), {"equals": 1}),
    ],
)
def test_other_comparisons_have_no_kernel(column: pa.Array, raw: Any) -> None:
    with pytest.raises(NoKernelError):
        holds(column, parse_comparisons(raw).tests)

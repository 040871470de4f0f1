"""Templates of whole columns are filled in as for each record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.columnar.expressions import NoKernelError, by_kernel
from registry.mapping.evaluate import compile_expression
from tests.mapping.columnar.views import records_of, view_of

COLUMNS = {
    "t": pa.array(["x", "é", ""]),
    "gaps": pa.array(["x", None, ""]),
    "all": pa.array(["x", "y", "z"]),
    "none": pa.nulls(3),
    "n": pa.array([1, None, -3]),
    "f": pa.array([0.1, None, float("nan")]),
    "b": pa.array([True, None, False]),
    "l": pa.array([["x"], [], None]),
    "e": pa.array([[], [], None], pa.list_(pa.string())),
}


@pytest.mark.parametrize(
    "raw",
    [
        *["", "x{{", "{t}{all}", "{gaps|}", "{gaps|é}{none|-}{missing|-}{e|-}", "{n|0}{f|}{b|?}"],
        *[
            "{?gaps}A {gaps}{/}.",
            "{?none}x{/}",
            "{?missing}{gaps}{/}",
            "{?all}[{t}]{/}",
            "{?l}x{/}",
        ],
        *["{?t}{?gaps}{gaps}{/}{gaps|-}{/}", "{?n}{n}{/}", "{?none}a{/}{none|b}"],
    ],
)
def test_template_is_filled_in_as_for_each_record(raw: str) -> None:
    view, expression = view_of(**COLUMNS), parse_expression({"template": raw})
    column = by_kernel(expression, view)
    column.validate(full=True)
    assert column.to_pylist() == list(map(compile_expression(expression), records_of(view)))


@pytest.mark.parametrize("raw", ["{gaps}", "{none}", "{missing}", "{?t}{gaps}{/}", "{l|}", "{l}"])
def test_template_with_an_error_is_left_to_records(raw: str) -> None:
    with pytest.raises(NoKernelError):
        by_kernel(parse_expression({"template": raw}), view_of(**COLUMNS))


def test_named_expression_hides_a_column() -> None:
    raw: Any = {"template": "{?t}{t}{/}{v|}", "with": {"t": {"const": 1}, "v": ["gaps"]}}
    with pytest.raises(NoKernelError):
        by_kernel(parse_expression(raw), view_of(**COLUMNS))
    raw["with"]["v"] = {"const": []}
    assert by_kernel(parse_expression(raw), view_of(**COLUMNS)).to_pylist() == ["1", "1", "1"]

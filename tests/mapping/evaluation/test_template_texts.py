"""Templates are filled for all records of a batch; see also `test_evaluate`."""

from __future__ import annotations

from typing import Any

from registry.boundary.boundary import Boundary
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluation.batch import Records
from registry.mapping.evaluation.evaluate import Evaluator


def test_a_section_is_only_filled_where_its_column_has_a_value() -> None:
    template = parse_expression({"template": "{q}{?a} {a}{b}{/}{n|-}"})
    records: list[dict[str, Any]] = [{"q": "x", "a": 1, "b": True}, {"q": "y", "a": None, "n": "z"}]
    batch = Records(records, [1, 2], Boundary())
    assert Evaluator().of(template)(batch) == ["x 1True-", "yz"]

"""Templates are filled for all records of a batch, and messages have parts; see `test_evaluate`."""

from __future__ import annotations

from typing import Any

import pytest

from registry.boundary.boundary import Boundary
from registry.errors import MappingError
from registry.manifest.expressions import parse_expression
from registry.mapping.batch import Records
from registry.mapping.compose import content_parts
from registry.mapping.evaluate import Evaluator


def test_a_section_is_only_filled_where_its_column_has_a_value() -> None:
    template = parse_expression({"template": "{q}{?a} {a}{b}{/}{n|-}"})
    records: list[dict[str, Any]] = [{"q": "x", "a": 1, "b": True}, {"q": "y", "a": None, "n": "z"}]
    batch = Records(records, [1, 2], Boundary())
    assert Evaluator().of(template)(batch) == ["x 1True-", "yz"]


def test_a_list_gives_a_part_for_each_item_that_is_not_empty() -> None:
    assert content_parts("image", ["a", None, ""]) == [{"type": "image", "image": "a"}]
    assert content_parts("", [{"text": "x", "image": None}]) == [{"type": "text", "text": "x"}]


def test_a_part_that_is_no_string_is_an_error() -> None:
    with pytest.raises(MappingError, match="a message's text must be a string"):
        content_parts("text", 5)

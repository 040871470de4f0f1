"""Files that `export` wrote are recognized by their columns."""

from __future__ import annotations

from typing import Any

import pytest

from registry.samples.frames.layout import COLUMNS
from registry.scaffold.inference.columns import Columns
from registry.scaffold.inference.fields import infer_fields
from registry.scaffold.inference.frame import FRAME_COLUMNS, FRAME_FIELDS, infer_frame

MESSAGE = {"role": "user", "content": "Hi", "id": "x", "rest": None}
SWITCHES = FRAME_FIELDS["input"], FRAME_FIELDS["target"]


def row(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "target": "t", **values}


def cells(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS, ""), "target": "t", **values}


def inferred(*records: dict[str, Any]) -> dict[str, Any]:
    found = infer_frame(Columns(records))
    assert found is not None
    return {key: one.expression for key, one in found.items()}


def test_the_columns_are_those_of_every_frame() -> None:
    assert set(COLUMNS) == FRAME_COLUMNS


@pytest.mark.parametrize(
    ("records", "fields"),
    [
        ([row(input="q")], {"input": "input", "target": "target", "id": None}),
        (
            [row(messages=[MESSAGE], id="1", metadata="{}", choices=["a"], description="d")],
            {**{key: key for key in FRAME_FIELDS}, "input": "messages"},
        ),
        (
            [row(input="q"), row(messages=[MESSAGE], target=None, targets=["a"])],
            {"input": SWITCHES[0], "target": SWITCHES[1], "id": None},
        ),
        (
            [cells(input="q", metadata="{}"), cells(input="p", choices="[]", metadata="{}")],
            {
                "input": "input",
                "choices": {
                    "if": {"value": "choices", "equals": ""},
                    "then": None,
                    "else": {"from": "choices", "do": ["parse"]},
                },
                "target": "target",
                "id": None,
                "metadata": "metadata",
            },
        ),
        ([cells(input="q")], {"input": "input", "target": "target", "id": None, "metadata": None}),
    ],
)
def test_fields(records: list[dict[str, Any]], fields: dict[str, Any]) -> None:
    assert inferred(*records) == fields


def test_what_is_not_read_is_said() -> None:
    parts = {**MESSAGE, "rest": '{"content":[]}'}
    found = infer_fields("x", [row(messages=[parts], sandbox='{"type":"docker","config":null}')])
    assert "without `rest`" in found.fields["input"].reason
    assert found.unused == ("sandbox",)
    text = '[{"role":"user","content":"","id":"x","rest":"{}"}]'
    assert "without `rest`" in infer_fields("x", [cells(messages=text)]).fields["input"].reason
    some = infer_fields("x", [cells(input="a", metadata="{}"), cells(input="b")])
    assert some.fields["metadata"].reason == "some cells are empty"
    assert some.unused == ("metadata",)


def test_other_columns_and_the_choice_of_a_user_are_left_to_the_rest() -> None:
    assert infer_frame(Columns([{"input": "q", "target": "t"}])) is None
    assert infer_frame(Columns([{**row(input="q"), "more": 1}])) is None
    assert infer_frame(Columns([row(input="q")], {"target": "input"})) is None

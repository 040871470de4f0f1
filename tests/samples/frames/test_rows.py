"""Samples become rows, value by value; what Arrow lacks is an error with the sample's position."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from registry import CheckpointSampleConfig, MappingError, Sample, SandboxEnvironmentSpec
from registry.samples.checkpoint import TurnInterval
from registry.samples.frames.layout import COLUMNS, frame_schema
from registry.samples.frames.rows import columns_of, frame_batch


class Compose(BaseModel):
    image: str


def row_of(**fields: Any) -> dict[str, Any]:
    (row,) = frame_batch([Sample(**{"input": "q", **fields})]).to_pylist()
    return dict(row)


def test_every_field_of_a_sample_has_its_columns() -> None:
    assert set(Sample.model_fields) <= set(COLUMNS)
    assert set(COLUMNS) - set(Sample.model_fields) == {"messages", "targets"}


def test_an_empty_frame_has_all_columns() -> None:
    assert frame_batch([]).schema == frame_schema()


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"target": "A"}, {"target": "A", "targets": None}),
        ({"target": ["A", "B"]}, {"target": None, "targets": ["A", "B"]}),
        ({"target": []}, {"target": None, "targets": []}),
        ({"id": 7}, {"id": "7"}),
        ({"id": "é7"}, {"id": "é7"}),
        ({"choices": []}, {"choices": []}),
        ({"setup": "ls", "description": "d"}, {"setup": "ls", "description": "d"}),
        ({"metadata": {}}, {"metadata": "{}"}),
        ({"metadata": {"b": [1, None]}}, {"metadata": '{"b":[1,null]}'}),
        ({"metadata": {"b": b"x"}}, {"metadata": '{"b":{"$bytes":"eA=="}}'}),
        ({"files": {"a": "b"}}, {"files": '{"a":"b"}'}),
        ({"sandbox": "docker"}, {"sandbox": '{"type":"docker","config":null}'}),
        (
            {"sandbox": SandboxEnvironmentSpec("docker", Compose(image="x"))},
            {"sandbox": '{"type":"docker","config":{"image":"x"}}'},
        ),
    ],
    ids=str,
)
def test_values_are_in_their_columns(fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    row = row_of(**fields)
    assert {name: row[name] for name in wanted} == wanted


def test_checkpoints_are_json() -> None:
    row = row_of(checkpoint=CheckpointSampleConfig(trigger=TurnInterval(every=5)))
    assert json.loads(row["checkpoint"])["trigger"] == {"every": 5, "type": "TurnInterval"}


def test_chosen_columns_only() -> None:
    assert list(columns_of([Sample(input="q")], ["id", "input"])) == ["id", "input"]


def test_a_value_that_arrow_lacks_is_an_error_with_its_position() -> None:
    samples = [Sample(input="q"), Sample(input="\ud800")]
    with pytest.raises(MappingError, match=r"sample 8: input can't be a value of Arrow: .*surrog"):
        frame_batch(samples, first=7)

"""A document knows the position of each value, and creates problems with that position."""

from __future__ import annotations

import json

import pytest

from registry.yamldoc.document import DataPath, Positions, json_path
from registry.yamldoc.reader import parse_yaml

NESTED = """\
datasets:
  mmlu:
    tags: [knowledge, mcq]
    fields:
      'a b': question
      do:
      - x
      -   y: 1
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("datasets",), (1, 1)),
        (("datasets", "mmlu"), (2, 3)),
        (("datasets", "mmlu", "tags"), (3, 5)),
        (("datasets", "mmlu", "tags", 0), (3, 12)),
        (("datasets", "mmlu", "tags", 1), (3, 23)),
        (("datasets", "mmlu", "fields", "a b"), (5, 7)),
        (("datasets", "mmlu", "fields", "do", 0), (7, 9)),
        (("datasets", "mmlu", "fields", "do", 1), (8, 11)),
        (("datasets", "mmlu", "fields", "do", 1, "y"), (8, 11)),
        (("datasets", "mmlu", "nothing", "here"), (2, 3)),
        (("datasets", "mmlu", "tags", 7, "b"), (3, 5)),
        (("nothing",), (1, 1)),
    ],
)
def test_values_have_the_position_of_their_key_and_items_their_own(
    path: DataPath, place: tuple[int, int]
) -> None:
    assert parse_yaml(NESTED, file="m.yaml").position(path) == place


def test_problem_has_position_path_and_hint() -> None:
    document = parse_yaml(NESTED, file="m.yaml")
    path = ("datasets", "mmlu", "fields", "a b")
    problem = document.problem(path, "is odd", "make it even", rule="wrong-value")
    assert str(problem) == "m.yaml:5:7 $.datasets.mmlu.fields['a b']: is odd (make it even)"
    place = {"file": "m.yaml", "line": 5, "column": 7, "path": "$.datasets.mmlu.fields['a b']"}
    words = {"message": "is odd", "hint": "make it even"}
    assert problem.to_dict() == {**place, **words, "rule": "wrong-value", "severity": "error"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "$"),
        (("a", "b-c", 0), "$.a.b-c[0]"),
        (("a b",), "$['a b']"),
        (("it's",), '$["it\'s"]'),
        (("1",), "$['1']"),
    ],
)
def test_json_paths_quote_unusual_keys(path: DataPath, text: str) -> None:
    assert json_path(path) == text


def test_positions_are_paired_with_values_only_when_one_is_requested() -> None:
    numbers = json.dumps([1, 1, 2, 3, 2, 5]).encode()
    positions = Positions({"a": [1]}, numbers)
    assert positions.numbers == [1, 1, 2, 3, 2, 5]
    assert dict(positions) == {(): (1, 1), ("a",): (2, 3), ("a", 0): (2, 5)}
    assert len(positions) == 3

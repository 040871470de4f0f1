"""Choices in all the forms that datasets have them, and what selects the correct one."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.choices import infer_choices
from registry.scaffold.columns import Columns

MARKED = [{"text": "a", "is_correct": False}, {"text": "b", "is_correct": True}]

FORMS: dict[str, tuple[dict[str, Any], Any]] = {
    "a list": ({"options": ["a", "b"], "answer": 0}, "options"),
    "a map": (
        {"options": {"A": "a", "B": "b"}, "answer": "A"},
        {"from": "options", "do": ["items"]},
    ),
    "any columns of which an index selects one": (
        {"c1": "w", "c2": "x", "c3": "y", "correct": "1,3"},
        ["c1", "c2", "c3"],
    ),
    "more than five columns": (
        {**{f"option_{one}": one for one in "abcdef"}, "answer": "F"},
        [f"option_{one}" for one in "abcdef"],
    ),
    "the correct text and a list": (
        {"correct_answer": "x", "incorrect_answers": ["y", "z"]},
        ["correct_answer", "incorrect_answers"],
    ),
    "a map from text to mark": (
        {"mc1_targets": {"x": 1, "y": 0}},
        {"from": "mc1_targets", "do": ["keys"]},
    ),
    "a map of a table": (
        {"options": {"A": "a", "B": "b", "C": None}, "answer": "A"},
        {"from": "options", "do": ["drop_null", "items"]},
    ),
    "JSON in a string": (
        {"options": '["a", "b"]', "answer": "0"},
        {"from": "options", "do": ["parse"]},
    ),
    "a literal in a string": (
        {"options": "['a', \"b\"]", "answer": "0"},
        {"from": "options", "do": [{"parse": "literal"}]},
    ),
    "a map in a string": (
        {"options": '{"A": "a", "B": "b"}', "answer": "B"},
        {"from": "options", "do": ["parse", "items"]},
    ),
    "objects": (
        {"choices": [{"label": "A", "text": "a"}, {"label": "B", "text": "b"}]},
        {"from": "choices", "do": [{"pluck": "text"}]},
    ),
    "texts and labels": ({"choices": {"text": ["a"], "label": ["1"]}}, "choices.text"),
    "texts and a mask": (
        {"mc1_targets": {"choices": ["a", "b"], "labels": [1, 0]}},
        "mc1_targets.choices",
    ),
    "texts with letters": (
        {"options": ["(A)2", "(B) 4"], "label": "A"},
        {
            "from": "options",
            "do": [{"each": [{"sub": {"pattern": r"^\(?[A-Z][).:]\s*", "to": ""}}]}],
        },
    ),
    "texts with other letters": ({"options": ["(B)2", "(A) 4"], "label": "A"}, "options"),
    "columns of letters": ({"A": "a", "B": "b", "answer": "A"}, ["A", "B"]),
    "numbered columns": ({"option_1": "a", "option_2": "b"}, ["option_1", "option_2"]),
    "answers beside a label": ({"answers": ["a", "b"], "label": 1}, "answers"),
    "columns of answers": ({"ans0": "a", "ans1": "b", "label": 1}, ["ans0", "ans1"]),
}


@pytest.mark.parametrize(("record", "expected"), FORMS.values(), ids=FORMS)
def test_choices_are_found(record: dict[str, Any], expected: Any) -> None:
    found = infer_choices(Columns([{"question": "?", **record}], used={"question"}))
    assert found is not None
    assert found.inference.expression == expected


@pytest.mark.parametrize(
    "record",
    [
        {"answers": ["x", "y"]},
        {"answer_1": "x", "answer_2": "y"},
        {"options": 3},
        {"options": "a, b"},
        {"options": "[broken"},
        {"options": [["a"]]},
        {"options": {"A": 1}},
        {"flags": {"easy": 1, "new": 0}, "answer": "x"},
        {"hint1": "w", "hint2": "x", "hint3": "y", "answer": "v"},
        {"choices": [{"x": "a"}]},
    ],
)
def test_other_values_are_no_choices(record: dict[str, Any]) -> None:
    assert infer_choices(Columns([{"question": "?", **record}], used={"question"})) is None


def test_choices_that_say_which_is_correct_give_the_target() -> None:
    found = infer_choices(Columns([{"choices": MARKED}]))
    assert found is not None
    assert found.target is not None
    letters = {"letters_where": {"equals": True}}
    assert found.target.expression == {"from": "choices", "do": [{"pluck": "is_correct"}, letters]}
    found = infer_choices(Columns([{"mc1_targets": {"choices": ["a"], "labels": [1]}}]))
    assert found is not None
    assert found.target is not None
    assert found.target.expression == {"from": "mc1_targets.labels", "do": ["letters_where"]}


def test_correct_answer_beside_wrong_ones_is_the_first_choice() -> None:
    record = {"Correct Answer": "a", "Incorrect Answer 1": "b", "Incorrect Answer 2": "c"}
    found = infer_choices(Columns([record]))
    assert found is not None
    assert found.inference.expression == list(record)
    assert found.seed is not None


def test_column_of_the_user_is_taken() -> None:
    found = infer_choices(Columns([{"x": ["a"], "choices": ["b"]}], {"choices": "x"}))
    assert found is not None
    assert found.inference.expression == "x"

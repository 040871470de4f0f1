"""Choices in all the forms that datasets have them, and what selects the correct one."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.choices import Choices, infer_choices
from registry.scaffold.columns import Columns
from tests.scaffold.pipes import pipe

MARKED = [{"text": "a", "is_correct": False}, {"text": "b", "is_correct": True}]

FORMS: dict[str, tuple[dict[str, Any], Any]] = {
    "a list": ({"options": ["a", "b"], "answer": 0}, "options"),
    "a map": ({"options": {"A": "a", "B": "b"}, "answer": "A"}, pipe("options", "items")),
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
    "a map from text to mark": ({"mc1_targets": {"x": 1, "y": 0}}, pipe("mc1_targets", "keys")),
    "a map of a table": (
        {"options": {"A": "a", "B": "b", "C": None}, "answer": "A"},
        pipe("options", "drop_null", "items"),
    ),
    "JSON in a string": ({"options": '["a", "b"]', "answer": "0"}, pipe("options", "parse")),
    "a literal in a string": (
        {"options": "['a', \"b\"]", "answer": "0"},
        pipe("options", {"parse": "literal"}),
    ),
    "a list of NumPy": (
        {"options": "['a'\n 'b']", "answer": "1"},
        pipe("options", {"parse": "literal"}),
    ),
    "lists of NumPy in a map": (
        {"options": "{'text': array(['a'], dtype=object), 'label': array(['A'], dtype=object)}"},
        pipe("options", {"parse": "literal"}, {"index": {"const": "text"}}),
    ),
    "lines of a cell": (
        {"options": "x, y\nz", "answer": "0"},
        pipe("options", {"split": "\n"}, {"each": ["strip"]}),
    ),
    "a map in a string": (
        {"options": '{"A": "a", "B": "b"}', "answer": "B"},
        pipe("options", "parse", "items"),
    ),
    "objects": (
        {"choices": [{"label": "A", "text": "a"}, {"label": "B", "text": "b"}]},
        pipe("choices", {"pluck": "text"}),
    ),
    "texts and labels": ({"choices": {"text": ["a"], "label": ["1"]}}, "choices.text"),
    "texts and a mask": (
        {"mc1_targets": {"choices": ["a", "b"], "labels": [1, 0]}},
        "mc1_targets.choices",
    ),
    "texts with letters": (
        {"options": ["A ) 2", "B)4"], "label": "A"},
        pipe("options", {"each": [{"sub": {"pattern": r"^\(?[A-Z] ?[).:]\s*", "to": ""}}]}),
    ),
    "texts with other letters": ({"options": ["(B)2", "(A) 4"], "label": "A"}, "options"),
    "columns of letters": ({"A": "a", "B": "b", "answer": "A"}, ["A", "B"]),
    "numbered columns": ({"option_1": "a", "option_2": "b"}, ["option_1", "option_2"]),
    "answers beside a label": ({"answers": ["a", "b"], "label": 1}, "answers"),
    "columns of answers": ({"ans0": "a", "ans1": "b", "label": 1}, ["ans0", "ans1"]),
}


def inferred(record: dict[str, Any], **columns: Any) -> Choices:
    found = infer_choices(Columns([record], **columns))
    assert found is not None
    return found


@pytest.mark.parametrize(("record", "expected"), FORMS.values(), ids=FORMS)
def test_choices_are_found(record: dict[str, Any], expected: Any) -> None:
    found = inferred({"question": "?", **record}, used={"question"})
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
    found = inferred({"choices": MARKED})
    assert found.target is not None
    letters = {"letters_where": {"equals": True}}
    assert found.target.expression == pipe("choices", {"pluck": "is_correct"}, letters)
    found = inferred({"mc1_targets": {"choices": ["a"], "labels": [1]}})
    assert found.target is not None
    assert found.target.expression == pipe("mc1_targets.labels", "letters_where")


def test_correct_answer_beside_wrong_ones_is_the_first_choice() -> None:
    record = {"Correct Answer": "a", "Incorrect Answer 1": "b", "Incorrect Answer 2": "c"}
    found = inferred(record)
    assert found.inference.expression == list(record)
    assert found.seed is not None


def test_column_of_the_user_is_taken() -> None:
    found = inferred({"x": ["a"], "choices": ["b"]}, given={"choices": "x"})
    assert found.inference.expression == "x"

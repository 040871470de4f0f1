"""Targets: letters of choices in every form, several answers, and names of labels."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.choices import infer_choices
from registry.scaffold.columns import Columns
from registry.scaffold.target import infer_target
from tests.scaffold.pipes import pipe


def target(
    *records: dict[str, Any],
    labels: dict[str, tuple[str, ...]] | None = None,
    given: dict[str, str] | None = None,
) -> Any:
    columns = Columns(
        [{"question": "?", **record} for record in records], given or {}, labels or {}, {"question"}
    )
    found = infer_target(columns, infer_choices(columns))
    return None if found is None else found.expression


KEYS = pipe("options", "keys")
FORMS: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "a text": ([{"answer": "x"}], "answer"),
    "one or several": ([{"ideal": "x"}, {"ideal": ["y", "z"]}], "ideal"),
    "after ####": (
        [{"answer": "so #### 4"}],
        pipe("answer", {"split": "####"}, {"index": -1}, "strip"),
    ),
    "the key of a map": (
        [{"options": {"A": "a", "B": "b"}, "answer": "B"}],
        pipe("answer", {"letter_in": KEYS}),
    ),
    "the value of a map": (
        [{"options": {"A": "x", "B": "y"}, "answer": "y"}],
        pipe("answer", {"letter_in": pipe("options", "items")}),
    ),
    "an index": (
        [{"options": ["x", "y"], "answer": number} for number in (0, 1)],
        pipe("answer", "letter"),
    ),
    "digits that are no index": (
        [{"options": ["x", "y"], "answer": one} for one in ("0", "1" * 5000)],
        "answer",
    ),
    "an index with a space before it": (
        [{"options": ["x", "y"], "answer": one} for one in (" 0", " 1")],
        pipe("answer", "letter"),
    ),
    "the first of all choices": (
        [{"correct": "x", "wrong1": "y", "wrong2": "z"}],
        {"const": "A"},
    ),
    "what several people say": (
        [{"rater1": "1", "rater2": "1", "rater3": one, "final": one} for one in "10"],
        None,
    ),
    "the first of all choices, named as options": (
        [{"CORRECT ANSWER": "x", "OPTION 1": "y", "OPTION 2": "z"}],
        {"const": "A"},
    ),
    "a letter with a space": (
        [{"options": ["x", "y"], "answer": one} for one in ("A", " B")],
        pipe("answer", {"regex": "[A-Z]"}),
    ),
    "letters of columns of any name": (
        [{"c1": "x", "c2": "y", "c3": "z", "pick": one} for one in ("AC", "B")],
        pipe("pick", {"regex": {"pattern": "[A-Z]", "all": True}}),
    ),
    "an index as pandas writes it beside a blank": (
        [{"options": ["x", "y"], "answer": one} for one in ("0.0", "1.0")],
        pipe("answer", "float", "int", "letter"),
    ),
    "the name of a column": (
        [{"option_a": "x", "option_b": "y", "answer": "option_b"}],
        pipe("answer", {"letter_in": [{"const": "option_a"}, {"const": "option_b"}]}),
    ),
    "the word option": (
        [{"options": ["x", "y"], "answer": "Option B"}],
        pipe("answer", {"regex": "[A-Z]$"}),
    ),
    "a small letter in brackets": (
        [{"options": ["x", "y"], "answer": "(b)"}],
        pipe("answer", {"regex": "[a-z]"}, "upper"),
    ),
    "a letter before its text": (
        [{"options": ["x", "It"], "answer": "B. It"}],
        pipe("answer", {"regex": "[A-Z]"}),
    ),
    "a text of a cell": (
        [{"options": "x| y", "answer": "y"}],
        pipe("answer", {"letter_in": pipe("options", {"split": "|"}, {"each": ["strip"]})}),
    ),
    "a small letter": ([{"options": ["x", "y"], "answer": "b"}], pipe("answer", "upper")),
    "a small letter that is a choice": (
        [{"options": ["x", "b"], "answer": "b"}],
        pipe("answer", {"letter_in": "options"}),
    ),
    "a letter in brackets": (
        [{"options": ["x", "y"], "answer": one} for one in ("(B)", "A.")],
        pipe("answer", {"regex": "[A-Z]"}),
    ),
    "a JSON list in a cell": ([{"answers": '["x", "y"]'}], pipe("answers", "parse")),
    "a list of numbers in a cell, such as the output of code": ([{"answer": "[1, 2]"}], "answer"),
    "several between semicolons, as the name says": (
        [{"answers": "x; y"}, {"answers": "z"}],
        pipe("answers", {"split": ";"}, {"each": ["strip"]}),
    ),
    "one with a semicolon": ([{"answer": "x; y"}], "answer"),
    "several between two bars": (
        [{"answer": "x || y"}],
        pipe("answer", {"split": "||"}, {"each": ["strip"]}),
    ),
    "a constant beside the question": ([{"unit": "cm"}, {"unit": "cm"}], None),
    "a column of any name that selects": (
        [{"options": ["x", "y"], "cop": n, "level": n, "note": "z"} for n in (0, 1)],
        pipe("cop", "letter"),
    ),
    "the text with its letter": (
        [{"options": ["A. x", "B. y"], "answer": "B. y"}],
        pipe("answer", {"regex": "[A-Z]"}),
    ),
    "no answer before the others": (
        [{"options": ["x", "y"], "answer": one} for one in ("", "A")],
        "answer",
    ),
    "a JSON list of letters": (
        [{"options": ["x", "y"], "answer": '["A", "B"]'}],
        pipe("answer", "parse"),
    ),
    "a map from text to mark": (
        [{"mc1_targets": {"x": 0, "y": 1}}],
        pipe("mc1_targets", "items", "letters_where"),
    ),
    "several letters in a text": (
        [{"options": ["x", "y"], "answer": one} for one in ("A, B", "B")],
        pipe("answer", {"regex": {"pattern": "[A-Z]", "all": True}}),
    ),
    "several indexes in a text": (
        [{"options": ["x", "y"], "answer": one} for one in ("0,1", "[1]")],
        pipe("answer", {"regex": {"pattern": "[0-9]+", "all": True}}, {"each": ["letter"]}),
    ),
    "several digits that are no indexes": (
        [{"options": ["x", "y"], "answer": one} for one in ("0,1", "1" * 5000)],
        "answer",
    ),
    "a list of indexes": (
        [{"options": ["x", "y", "z"], "answer": one} for one in ([1, 3], [2])],
        pipe("answer", {"each": [{"letter": {"base": 1}}]}),
    ),
    "a mask": (
        [{"options": ["x", "y", "z"], "answer": [True, False, True]}],
        pipe("answer", "letters_where"),
    ),
    "several choices": (
        [{"options": ["x", "y", "z"], "answer": ["z", "x"]}],
        pipe("answer", {"each": [{"letter_in": "options"}]}),
    ),
    "answers between bars": (
        [{"answer": "x | y"}, {"answer": "z"}],
        pipe("answer", {"split": "|"}, {"each": ["strip"]}),
    ),
    "a bar in one answer of many": ([{"answer": "a|b"}, *[{"answer": "x"}] * 4], "answer"),
    "an object with the answer": ([{"answer": {"answer": "4", "steps": []}}], "answer.answer"),
    "any object": ([{"answer": {"x": [4]}}], pipe("answer", "dump")),
    "a list of objects": ([{"answer": [{"x": 4}]}], pipe("answer", "dump")),
    "a list with a null": ([{"answer": ["x", None]}], pipe("answer", "drop_null")),
    "letters in a list": ([{"options": ["x", "y"], "answer": ["A", "B"]}], "answer"),
    "neither letter nor choice": ([{"options": ["x", "y"], "answer": "zz"}], "answer"),
    "a list": ([{"answers": ["x", "y"]}], "answers"),
    "as in SQuAD": ([{"answers": {"text": ["x"], "answer_start": [1]}}], "answers.text"),
    "as in TriviaQA": (
        [{"answer": {"value": "x", "aliases": ["y"]}}],
        ["answer.value", "answer.aliases"],
    ),
    "several columns": (
        [{"answer_2": "y", "answer_10": "z", "answer_1": "x"}],
        ["answer_1", "answer_2", "answer_10"],
    ),
    "several columns with a number of any size": (
        [{"answer_2": "y", f"answer_{'1' * 5000}": "z", "answer_1": "x"}],
        ["answer_1", "answer_2", f"answer_{'1' * 5000}"],
    ),
    "the only other column": ([{"id": "1", "subject": "s", "vastaus": "x"}], "vastaus"),
    "two other columns": ([{"kysymys": "x", "vastaus": "y"}], None),
    "a blank column": ([{"answer": "", "label": "x"}], "label"),
}


@pytest.mark.parametrize(("records", "expected"), FORMS.values(), ids=FORMS)
def test_target_fits_the_records(records: list[dict[str, Any]], expected: Any) -> None:
    assert target(*records) == expected


def test_names_of_labels_are_those_of_the_card() -> None:
    expected = pipe("label", {"map": {"0": "neg", "1": "pos"}})
    assert target({"label": 1}, labels={"label": ("neg", "pos")}) == expected


@pytest.mark.parametrize("label", [1, "1"])
def test_numbers_without_names_say_so(label: Any) -> None:
    columns = Columns([{"question": "?", "label": label}], used={"question"})
    found = infer_target(columns, None)
    assert found is not None
    assert "numbers without names" in found.reason


def test_column_of_the_user_is_taken() -> None:
    assert target({"answer": "x", "loesung": "y"}, given={"target": "loesung"}) == "loesung"

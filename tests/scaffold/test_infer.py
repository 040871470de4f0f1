"""What `registry add` infers from records."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.infer import infer_fields, manifest_text


def fields(*records: dict[str, Any]) -> dict[str, Any]:
    return {name: one.expression for name, one in infer_fields("d", records).fields.items()}


HASHED = {"prefix": "d", "length": 8}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (
            [{"id": 1, "question": "?", "A": "x", "B": "y", "answer": "B"}],
            {"input": "question", "choices": ["A", "B"], "target": "answer", "id": "id"},
        ),
        (
            [{"question": "?", "choices": ["x", "y"], "answer": 1, "subject": "s"}],
            {
                "input": "question",
                "choices": "choices",
                "target": {"from": "answer", "do": ["letter"]},
                "id": {"hash": ["question", "choices"], **HASHED},
                "metadata": ["subject"],
            },
        ),
        (
            [
                {"q": "", "prompt": "?", "options": ["x", "y"], "label": number}
                for number in ("1", "2")
            ],
            {
                "input": "prompt",
                "choices": "options",
                "target": {"from": "label", "do": [{"letter": {"base": 1}}]},
                "id": {"hash": ["prompt", "options"], **HASHED},
                "metadata": ["q"],
            },
        ),
        (
            [{"question": "?", "choices": {"text": ["x"], "label": ["1"]}, "answerKey": "1"}],
            {
                "input": "question",
                "choices": "choices.text",
                "target": {"from": "answerKey", "do": [{"letter_in": "choices.label"}]},
                "id": {"hash": ["question", "choices.text"], **HASHED},
            },
        ),
        (
            [{"question": "?", "answer": "steps #### 4"}],
            {
                "input": "question",
                "target": {"from": "answer", "do": [{"split": "####"}, {"index": -1}, "strip"]},
                "id": {"hash": ["question"], **HASHED},
            },
        ),
        (
            [{"sentence": "?", "option1": "x", "option2": "y", "answer": "y"}],
            {
                "input": "sentence",
                "choices": ["option1", "option2"],
                "target": {"from": "answer", "do": [{"letter_in": ["option1", "option2"]}]},
                "id": {"hash": ["sentence", "option1", "option2"], **HASHED},
            },
        ),
        (
            [{"id": 1, "strange": "a long text", "x": 1}, {"id": 1, "strange": "b", "x": 2}],
            {"input": "strange", "id": {"hash": ["strange"], **HASHED}, "metadata": ["id", "x"]},
        ),
    ],
)
def test_expressions_fit_the_records(
    records: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert fields(*records) == expected


def test_source_without_records_is_an_error() -> None:
    with pytest.raises(ValueError, match="no records"):
        infer_fields("d", [])


REASONS = [  # records, field, reason
    ([{"question": "?"}], "input", "known column name"),
    ([{"x": "?", "y": "long"}], "input", "the longest value of the first record: please check"),
    ([{"question": "?", "option_a": "x", "option_b": "y"}], "choices", "one column per choice"),
    (
        [{"question": "?", "choices": ["x", "y"], "answer": n} for n in (1, 2)],
        "target",
        "indexes from 1 to 2, so the first choice is 1",
    ),
    (
        [{"question": "?", "choices": ["x", "y"], "answer": n} for n in (0, 1)],
        "target",
        "indexes from 0 to 1, so the first choice is 0",
    ),
    ([{"question": "?", "choices": ["x", "y"], "answer": "B"}], "target", "letters of choices"),
    ([{"question": "?", "id": n} for n in range(3)], "id", "unique in all 3 records"),
    ([{"question": "?"}], "id", "no column has unique ids, so they are derived"),
]


@pytest.mark.parametrize(("records", "field", "reason"), REASONS)
def test_each_inference_has_its_reason(
    records: list[dict[str, Any]], field: str, reason: str
) -> None:
    assert infer_fields("d", records).fields[field].reason == reason


def test_column_is_used_for_one_field_only() -> None:
    found = fields({"question": "?", "answers": ["x", "y"], "label": 0})
    assert (found["choices"], found["target"]) == ("answers", {"from": "label", "do": ["letter"]})


def test_long_values_are_not_metadata() -> None:
    assert "metadata" not in fields({"question": "?", "text": "x" * 61, "none": None})


@pytest.mark.parametrize(("second", "repeated"), [("Who?", True), ("Where?", False)])
def test_equal_questions_make_repeated_ids(second: str, repeated: bool) -> None:
    records = [{"question": "Who?"}, {"question": second}]
    assert infer_fields("d", records).repeated == repeated


def test_manifest_has_expressions_and_reasons() -> None:
    mapping = infer_fields("1e3", [{"question": "?"}, {"question": "?"}])
    text = manifest_text("1e3", {"type": "csv"}, mapping, samples=2, schema="s.json")
    assert (
        text
        == """\
# yaml-language-server: $schema=s.json
datasets:
  "1e3":
    description: # one plain sentence: what is asked, of whom, how it is scored
    # license: from the dataset's page; omit it if the page names none
    source:
      type: csv
    fields:
      input: question  # known column name
      id: {"hash": ["question"], "prefix": "1e3", "length": 8}  # no column has unique ids, so they are derived
      choices: null  # nothing found
      target: null  # nothing found
    on_duplicate: suffix  # some records ask the same; `drop` keeps the first
    expect: {samples: 2}
"""
    )

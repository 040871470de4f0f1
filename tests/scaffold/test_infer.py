"""What `registry add` proposes for records of several kinds."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.infer import propose


def fields(*records: dict[str, Any]) -> dict[str, Any]:
    return {name: guess.expression for name, guess in propose("d", records).fields.items()}


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
def test_the_proposal_fits_the_records(
    records: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert fields(*records) == expected


def test_no_records_is_an_error() -> None:
    with pytest.raises(ValueError, match="no records"):
        propose("d", [])

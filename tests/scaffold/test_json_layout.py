"""Where the records of a JSON document are."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import DecodeError
from registry.scaffold.json_layout import sniff_records

ROWS = [{"question": "?"}, {"question": "!"}]


@pytest.mark.parametrize(
    ("document", "key", "value"),
    [
        ({"questions": ROWS, "version": 1}, "records", "questions"),
        ({"data": {"test": {"rows": ROWS}}}, "records", "data.test.rows"),
        ({"a.b": ROWS}, "records", "a.b"),
        ({"q1": ROWS[0], "q2": ROWS[1]}, "records", "*"),
        (["one?", "two?"], "item", "input"),
        ([1, 2], "item", "input"),
        ([[["A: hello"], ROWS, "7-1"]], "item", "item"),
        ({"data": ROWS[:1]}, "records", "data"),
    ],
)
def test_list_is_found(document: Any, key: str, value: str) -> None:
    guess = sniff_records(document, file="q.json")
    assert guess is not None
    assert (guess.key, guess.value) == (key, value)
    assert ("the keys are lost" in guess.reason) == (value == "*")


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        [],
        {"question": "?", "choices": [{"text": "a"}, {"text": "b"}]},
        {"messages": [{"role": "user", "content": "?"}]},
        {"a": 1},
        {"goal": {"site": "x"}, "eval": {"checks": ROWS[:1]}},
        {"a": {"x": 1}, "b": {"y": 1}},
        {"one": {"a.b": ROWS}},
        "text",
    ],
    ids=[
        "array",
        "empty",
        "a record",
        "a chat",
        "other",
        "a record with a part",
        "unlike objects",
        "no path",
        "a string",
    ],
)
def test_nothing_is_guessed(document: Any) -> None:
    assert sniff_records(document, file="q.json") is None


@pytest.mark.parametrize(
    "document",
    [
        {"question": {"0": "Who?", "1": "Why?"}, "answer": {"0": "me", "1": "so"}},
        {"question": ["Who?", "Why?"], "answer": ["me", None]},
    ],
    ids=["as pandas writes it", "lists"],
)
def test_table_by_columns_is_an_error_and_not_read_as_records(document: Any) -> None:
    with pytest.raises(DecodeError, match="this is a table by columns, not records"):
        sniff_records(document, file="q.json")


def test_several_lists_are_asked() -> None:
    document = {"train": ROWS, "test set": ROWS[:1]}
    found = sniff_records(document, file="q.json", ask=lambda question: list(question.choices)[1])
    assert found is not None
    assert found.value == "test set"
    with pytest.raises(DecodeError) as caught:
        sniff_records(document, file="q.json")
    ways = "--records train gives 2 records; --records 'test set' gives 1 record"
    assert ways in str(caught.value)
    with pytest.raises(
        DecodeError, match=r"list of records \(the first 10 of 5,000\) is not"
    ) as caught:
        sniff_records({f"k{number}": ROWS for number in range(5000)}, file="q.json")
    assert len(str(caught.value)) < 500

"""Where the records of several files, or of a JSON document, are."""

from __future__ import annotations

import math
from typing import Any

import pytest

from registry.errors import DecodeError
from registry.scaffold.layout import (
    infer_join,
    infer_layout,
    joined_records,
    nearest_join,
    sniff_records,
)


def rows(**columns: list[Any]) -> list[dict[str, Any]]:
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


@pytest.mark.parametrize(
    ("records", "table", "expected"),
    [
        (rows(qid=["a", "b"]), rows(id=["b", "a"], answer=["x", "y"]), ("qid", "id")),
        # Equal names say more than equal values, and names of ids more than others.
        (rows(n=[1, 2], k=[1, 2]), rows(m=[1, 2], k=[1, 2]), ("k", "k")),
        (rows(n=[1, 2], q_id=[1, 2]), rows(m=[1, 2], id=[1, 2]), ("q_id", "id")),
        (rows(topic=["a", "a"]), rows(topic=["a", "b"]), ("topic", "topic")),
        (rows(id=["a", "c"]), rows(id=["a", "b"]), None),
        (rows(id=["a"]), rows(id=["a", "a"]), None),
        (rows(id=[1]), rows(id=["1"]), None),
        (rows(id=[1]), rows(id=[1.0]), ("id", "id")),
        (rows(id=[1]), rows(id=[True]), None),
        (rows(id=[math.nan]), rows(id=[math.nan]), None),
        (rows(id=[None]), rows(id=[None]), None),
        (rows(id=[[1]]), rows(id=[[1]]), None),
    ],
)
def test_key_has_a_row_for_each_record(
    records: list[dict[str, Any]], table: list[dict[str, Any]], expected: Any
) -> None:
    assert infer_join(records, table) == expected


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (rows(n=["1", "2", "3"]), "have the same values, but of the types int and str"),
        (rows(n=[1, 2]), "share 2 of 3 values (3 has no row)"),
        (rows(n=[1, 2, 3, 3]), "match, but the rows repeat 1 key (3)"),
        (rows(n=["a"]), ""),
    ],
)
def test_keys_that_come_near_are_named(table: list[dict[str, Any]], words: str) -> None:
    found = nearest_join(rows(id=[1, 2, 3]), table)
    assert found == (words and f"'id' of the records and 'n' {words}")


def test_columns_of_the_row_are_paths() -> None:
    join = {"on": "q", "key": "id", "into": "row"}
    found = joined_records([{"q": "a"}], rows(id=["a"], answer=["x"]), join)
    assert found == [{"q": "a", "row.answer": "x"}]


@pytest.mark.parametrize(
    ("names", "path", "splits", "captures"),
    [
        ("a.csv", "a.csv", "", ""),
        ("test.csv train.csv", "{split}.csv", "test train", ""),
        ("q_dev.jsonl q_train.jsonl", "q_{split}.jsonl", "dev train", ""),
        # As github.com/google-deepmind/xquad names its files.
        ("xquad.de.json xquad.en.json", "xquad.{lang}.json", "", "lang"),
        ("de/Test.csv de/Train.csv fr/Test.csv", "{lang}/{split}.csv", "Test Train", "lang"),
        ("mgsm_de_test.tsv mgsm_en_test.tsv", "mgsm_{lang}_test.tsv", "", "lang"),
        ("zh-cn/val.csv pt-br/val.csv", "{lang}/val.csv", "", "lang"),
        ("algebra/test.json geometry/test.json", "{part}/test.json", "", "part"),
        ("test-00000-of-2.parquet test-00001-of-2.parquet", "test-*-of-2.parquet", "", ""),
        ("a/b.csv c.csv", None, "", ""),
        ("a_x.csv b-y.csv", "{part}.csv", "", "part"),
        ("a/b/c/d.csv e/f/g/h.csv", None, "", ""),
    ],
)
def test_names_have_one_path(names: str, path: str | None, splits: str, captures: str) -> None:
    found = infer_layout(names.split())
    if path is None:
        assert found is None
        return
    assert found is not None
    assert (found.path, found.splits) == (path, tuple(splits.split()))
    assert list(found.captures) == captures.split()


def test_path_of_the_default_split_has_its_name() -> None:
    found = infer_layout(["de/test.csv", "de/dev.csv", "en/test.csv"])
    assert found is not None
    assert found.default_path == "{lang}/test.csv"


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

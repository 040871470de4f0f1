"""The columns of two files that have the same keys."""

from __future__ import annotations

import math
from typing import Any

import pytest

from registry.scaffold.several_files import infer_join, infer_layout, joined_records, nearest_join


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

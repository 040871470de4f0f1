"""The columns of two files that have the same keys."""

from __future__ import annotations

from typing import Any

import pytest

from registry.scaffold.join import infer_join, joined_records, nearest_join


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
        (rows(n=[1, 2, 3, 3]), "match, but 1 keys have several rows (3)"),
        (rows(n=["a"]), ""),
    ],
)
def test_keys_that_come_near_are_named(table: list[dict[str, Any]], words: str) -> None:
    found = nearest_join(rows(id=[1, 2, 3]), table)
    assert found == (words and f"'id' of the records and 'n' {words}")


def test_columns_of_the_row_are_paths() -> None:
    found = joined_records([{"q": "a"}], rows(id=["a"], answer=["x"]), "q", "id", "row")
    assert found == [{"q": "a", "row.answer": "x"}]

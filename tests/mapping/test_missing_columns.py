"""Columns that a manifest names and no record has: decided over all records of all files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from registry.manifest.models import DatasetSpec, to_spec
from registry.mapping.columns_used import NamedColumns
from registry.mapping.missing_columns import UNKNOWN, UnseenColumns, missing_columns

JSON = {"type": "json", "path": ["/a.jsonl"]}
Records = list[dict[str, Any]]


def spec(metadata: Any = (), **keys: Any) -> DatasetSpec:
    fields = {"input": "q", "metadata": metadata}
    return to_spec({"name": "d", "folder": Path("/c"), "source": JSON, "fields": fields, **keys})


def missing(
    spec: DatasetSpec, *files: Records, vary: bool = True, lookup: Sequence[dict[str, Any]] = ()
) -> list[str]:
    found = missing_columns(spec, [(vary, one) for one in files], lambda: lookup)
    return [f"{'.'.join(map(str, one.path))}: {one.message} ({one.hint})" for one in found]


@pytest.mark.parametrize("vary", [True, False])
def test_every_column_that_no_record_has_is_reported_with_a_near_name(vary: bool) -> None:
    records = [{"question": "x", "level": 1}, {"question": "y", "level": 2}]
    assert missing(spec(["levle", "level", "zzz"]), records, vary=vary) == [
        "fields.input: no column 'q' (columns: question, level)",
        "fields.metadata.0: no column 'levle' (did you mean 'level'?)",
        "fields.metadata.2: no column 'zzz' (columns: question, level)",
    ]


@pytest.mark.parametrize(
    ("field", "expression", "hint"),
    [
        ("input", "text", "the items of 'turns' have it: `explode: turns`, then `item.text`; or, if the file is one object, `records: turns` under `source`"),
        ("input", "turns[0].text", "an item of a list is `{from: turns, do: [{index: 0}, {index: {const: text}}]}`"),
        ("input", "turns.0", "an item of a list is `{from: turns, do: [{index: 0}]}`"),
        ("choices", ["Yes", "q"], 'columns: q, turns; a fixed text is `{const: "Yes"}`'),
        ("input", {"from": "q", "do": [{"index": "text2"}]}, 'columns: q, turns; a fixed text is `{const: "text2"}`'),
    ],
)  # fmt: skip
def test_the_hint_says_how_to_reach_what_was_meant(field: str, expression: Any, hint: str) -> None:
    fields = {"input": "q", field: expression}
    one = to_spec({"name": "d", "folder": Path("/c"), "source": JSON, "fields": fields})
    (found,) = missing(one, [{"q": "x", "turns": [{"text": "x"}]}])
    assert found.endswith(f" ({hint})")


def test_one_record_with_the_column_is_enough() -> None:
    assert missing(spec(["a"]), [{"q": "x"}, {"q": "y", "a": None}]) == []
    assert missing(spec(["a"]), [{"q": "x"}], [{"q": "y", "a": 1}]) == []
    assert missing(spec(["a"]), [{"q": "x"}], [{"q": "y", "a": 1}], vary=False) == []


def test_without_records_nothing_is_missing() -> None:
    assert missing(spec(["a"])) == missing(spec(["a"]), []) == []


def test_no_more_records_are_read_than_needed() -> None:
    def records(read: list[int]) -> Iterator[dict[str, Any]]:
        for number in range(5):
            read.append(number)
            yield {"q": "x", "s": None if number < 2 else {"k": 1}}

    for names, vary, count in [
        (["s"], True, 1),
        (["none"], True, 5),
        (["none"], False, 1),
        (["s.k"], False, 3),
        (["s.none"], False, 3),
    ]:
        read: list[int] = []
        missing_columns(spec(names), [(vary, records(read))], list)
        assert len(read) == count, names


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([{"b": 1}], True),
        ([{"b": None}], True),
        ([None], True),  # an object elsewhere may have it
        ([None, {"c": 1}], False),
        ([{"c": 1}, {"b": 1}], True),
        (["text"], False),
        (['{"b": 1}'], False),  # JSON in a str has to be parsed
        ([[{"b": 1}]], False),
        ([UNKNOWN], True),
    ],
    ids=str,
)
def test_a_path_must_exist_in_an_object(values: list[Any], found: bool) -> None:
    records = [{"q": "x"}, *({"q": "x", "a": value} for value in values)]
    assert (missing(spec(["a.b"]), records) == []) is found


def test_near_names_of_a_path_are_keys_beside_it() -> None:
    records = [{"q": "x", "a": {"bell": {"cat": 1}}}]
    assert missing(spec(["a.ball.cat", "a.bell.cot", "a.bell.cat"]), records) == [
        "fields.metadata.0: no column 'a.ball.cat' (did you mean 'a.bell.cat'?)",
        "fields.metadata.1: no column 'a.bell.cot' (did you mean 'a.bell.cat'?)",
    ]


def test_one_alternative_of_coalesce_is_enough() -> None:
    either = spec({"k": {"from": "a", "do": [{"coalesce": ["b", "c"]}]}})
    assert missing(either, [{"q": "x", "c": 1}]) == []
    assert missing(either, [{"q": "x"}]) == [
        "fields.metadata.k.from: no column 'a', 'b' or 'c' (columns: q)"
    ]


def test_columns_made_by_explode_are_looked_for_in_the_items() -> None:
    made = spec(["item.a", "item.b", "index", "item"], explode={"column": "list"})
    assert missing(made, [{"q": "x", "list": []}, {"q": "x", "list": [{"a": 1}]}]) == [
        "fields.metadata.1: no column 'item.b' (did you mean 'item.a'?)"
    ]
    assert missing(made, [{"q": "x", "list": []}]) == []  # unknown without an item
    assert missing(made, [{"q": "x", "lists": []}]) == [
        "explode.column: no column 'list' (did you mean 'lists'?)"
    ]
    made = spec(explode={"column": "rows.1"})
    assert missing(made, [{"q": "x", "rows": [1, [2]]}]) == [
        "explode.column: no column 'rows.1' (did you mean 'rows'?)"
    ]


def test_columns_of_a_lookup_table_are_looked_for_in_the_table() -> None:
    join = {"source": JSON, "on": "k", "key": "name", "into": "row"}
    joined, records = spec(["row.a", "row.b"], join=join), [{"q": "x", "k": 1}]
    table = os.path.relpath("/a.jsonl", joined.folder)
    assert missing(joined, records, lookup=[{"name": 1, "a": 1}]) == [
        "fields.metadata.1: no column 'row.b' (did you mean 'row.a'?)"
    ]
    assert missing(joined, [{"q": "x", "kk": 1}], lookup=[{"nam": 1, "a": 1, "b": 1}]) == [
        f"join.key: no column 'name' in the lookup table {table} (did you mean 'nam'?)",
        "join.on: no column 'k' (did you mean 'kk'?)",
    ]
    same = spec(join={**join, "key": None})
    (found,) = missing(same, records, lookup=[{"name": 1}])
    hint = "columns: name; add `key` if the table has another name for it"
    assert found == f"join.on: no column 'k' in the lookup table {table} ({hint})"
    assert missing(joined, records) == []  # an empty table joins nothing


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        (["kin"], ["sample.stratify_by: no metadata key 'kind' (did you mean 'kin'?)"]),
        (["kind"], []),
        ({"kind": "q"}, []),
        (None, ["sample.stratify_by: no metadata key 'kind' (metadata has: none)"]),
        ("*", []),
        ("m", []),
        ({"*": "m"}, []),
    ],
    ids=str,
)
def test_the_key_of_stratify_by_is_one_of_the_metadata(metadata: Any, found: list[str]) -> None:
    stratified = spec(metadata, sample={"n": 1, "seed": 1, "stratify_by": "kind"})
    records = [{"q": "x", "kin": 1, "kind": 1, "m": {}}]
    assert missing(stratified, records) == found


def test_alternatives_are_seen_together() -> None:
    unseen = UnseenColumns([NamedColumns((), ("a", "b")), NamedColumns((), ("c",))])
    unseen.see({"b": 1})
    assert [use.names for use in unseen.uses] == [("c",)]

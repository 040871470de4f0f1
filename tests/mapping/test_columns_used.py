"""Which columns and numbers of records are read, which must exist, and which no field reads."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.frame import Frame, ValueFrame
from registry.load.load import load
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.models import DatasetSpec, FieldsSpec, to_spec
from registry.mapping.columns_used import (
    UnreadColumns,
    join_dependencies,
    mapping_dependencies,
    named_columns,
    node_dependencies,
    uses_row_number,
)
from registry.pipeline.pipeline import PipelineState


def of_a(*steps: Any) -> dict[str, Any]:
    """Return the expression that applies operations to the column `a`."""
    return {"from": "a", "do": list(steps)}


INNER = {"from": "x", "do": [{"each": {"to": ["x", "item", "b"]}}]}


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        ("a.b", "a.b"),
        ({"const": "a"}, ""),
        ({"row_number": 1}, ""),
        (["a", {"const": "x"}, ["b"]], "a b"),
        ({"object": {"x": "a", "y": "b"}}, "a b"),
        ({"template": "{a} {?b}{c|none}{/}"}, "a b c"),
        ({"template": "{a} {v}", "with": {"v": "w", "unused": "u"}}, "a w u"),
        ({"hash": ["a", "b"]}, "a b"),
        ({"hash": ["a"], "prefix": "text"}, "a"),
        ({"hash": ["a"], "prefix": {"template": "{p}"}}, "a p"),
        ({"if": {"value": "a", "empty": True}, "then": "b", "else": "c"}, "a b c"),
        ({"messages": [{"role": "user", "content": [{"text": "a"}, {"image": "b"}]}]}, "a b"),
        (of_a("strip", {"split": "b"}), "a"),
        (of_a({"coalesce": ["b", {"template": "{c}"}]}), "a b c"),
        (of_a({"each": [{"letter_in": "b"}]}), "a b"),
        (of_a({"index": "b"}, {"index": 1}, {"shuffle": "c"}), "a b c"),
        (of_a({"slice": ["b", None]}, {"slice": [0, {"from": "c"}]}), "a b c"),
        (of_a({"each": {"to": {"template": "{item.x} {index} {b}"}}}), "a b"),
        (of_a({"each": {"where": {"value": "b", "equals": 1}}}), "a b"),
        (of_a({"each": {"to": ["item", "index", "x.y"], "item": "x"}}), "a item"),
        ({"from": "item", "do": [{"dict": {"key": "b", "value": ["item", "s"]}}]}, "item b s"),
        (of_a({"each": {"to": INNER, "item": "x"}}), "a b"),
        (of_a({"each": [{"each": {"to": "b"}}]}), "a b"),
    ],
)
def test_an_expression_depends_on_every_column_in_it(raw: Any, columns: str) -> None:
    assert node_dependencies(parse_expression(raw)) == frozenset(columns.split())


@pytest.mark.parametrize(
    "raw",
    [
        {"hash": "*"},
        ["a", {"hash": "*"}],
        {"from": "a", "do": [{"coalesce": {"hash": "*"}}]},
        {"from": "a", "do": [{"each": {"to": {"hash": "*"}}}]},
        {"if": {"value": {"hash": "*"}, "equals": "x"}, "then": "a"},
    ],
)
def test_hash_without_fields_depends_on_the_whole_record(raw: Any) -> None:
    assert node_dependencies(parse_expression(raw)) is None


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        ({"value": "a", "equals": "b"}, "a"),
        ([{"value": "a", "equals": 1}, {"value": "b.c", "less": 2}], "a b.c"),
        ({"any": [{"value": "a", "equals": 1}, {"not": {"value": "b", "empty": True}}]}, "a b"),
    ],
)
def test_condition_depends_on_the_columns_it_compares(raw: Any, columns: str) -> None:
    assert node_dependencies(parse_condition(raw)) == frozenset(columns.split())


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        (None, frozenset()),
        ("m", frozenset("m")),
        (["a", "b"], frozenset("ab")),
        ({"x": "a", "y": {"template": "{b}"}}, frozenset("ab")),
        ({"*": "m", "x": "a"}, frozenset("ma")),
        ({"x": "*"}, frozenset("*")),
        ("*", None),
        ({"*": "*", "x": "a"}, None),
        ({"x": {"hash": "*"}}, None),
    ],
)
def test_metadata_depends_on_its_columns_or_the_record(
    raw: Any, columns: frozenset[str] | None
) -> None:
    fields = FieldsSpec(input=None, target=None, choices=None, id=None, metadata=raw)
    assert mapping_dependencies(fields, None) == columns


def test_the_whole_record_joined_with_columns_is_the_whole_record() -> None:
    assert join_dependencies([frozenset("a"), frozenset("b")]) == frozenset("ab")
    assert join_dependencies([frozenset("a"), None]) is None
    assert join_dependencies([]) == frozenset()


NUMBER = {"row_number": 1}


@pytest.mark.parametrize(
    "raw",
    [
        *[NUMBER, [NUMBER], {"template": "{v}", "with": {"v": NUMBER}}, {"object": {"x": NUMBER}}],
        *[{"hash": ["q"], "prefix": NUMBER}, {"hash": ["q", NUMBER]}],
        *[{"from": NUMBER, "do": "str"}],
        {"from": "q", "do": [{"each": [{"letter_in": [NUMBER]}]}]},
        {"from": "q", "do": [{"each": {"where": {"value": NUMBER, "equals": 1}}}]},
        {"if": {"not": {"any": [{"value": NUMBER, "less": 3}]}}, "then": "q"},
        {"messages": [{"role": "user", "content": {"template": "{n}", "with": {"n": NUMBER}}}]},
    ],
)
def test_nested_use_of_the_row_number_is_detected(raw: Any) -> None:
    assert uses_row_number(parse_expression(raw))
    assert uses_row_number(parse_condition({"all": [{"value": raw, "empty": True}]}))


@pytest.mark.parametrize("raw", ["q", {"const": 1}, {"hash": "*"}, {"from": "q", "do": "str"}])
def test_expressions_without_the_row_number_are_detected(raw: Any) -> None:
    assert not uses_row_number(parse_expression(raw))
    assert not uses_row_number(parse_condition({"value": raw, "equals": "x"}))


A = of_a({"default": None})
INPUT = ("fields.input", "input")


def spec(path: str = "/x.csv", kind: str = "csv", **keys: Any) -> DatasetSpec:
    source = {"type": kind, "path": [path]}
    return to_spec({"name": "d", "folder": Path("/c"), "source": source, **keys})


def named(**keys: Any) -> list[tuple[str, ...]]:
    found = named_columns(spec(**keys))
    return [(".".join(map(str, one.path)), *one.names) for one in found]


def test_of_fields_that_are_left_out_only_the_input_names_its_column() -> None:
    assert named() == [INPUT]
    assert named(fields={"input": "q", "target": None}) == [("fields.input", "q")]
    assert named(fields={"target": "target"}) == [INPUT, ("fields.target", "target")]


A_IS_B = {"value": "a", "equals": "b"}
ANY = {"any": [{"value": "a", "in": []}, {"not": {"value": "b", "empty": True}}]}
TURN = {"role": "user", "content": [{"text": "a"}, {"image": "b"}]}
OWN_NAMES = {"key": "x.y", "value": ["i", "index"], "item": "x", "index": "i"}
EACH = {"where": {"value": "item.b", "equals": 1}, "to": {"template": "{index} {item} {c}"}}


@pytest.mark.parametrize(
    ("target", "columns"),
    [
        ("a", [("", "a")]),
        ("a.b", [("", "a.b")]),
        (["a", "b"], [("0", "a"), ("1", "b")]),
        ({"const": "a"}, []),
        ({"row_number": 1}, []),
        ({"object": {"k": "a"}}, [("object.k", "a")]),
        ({"hash": ["a", "b"], "prefix": "c"}, [("hash.0", "a"), ("hash.1", "b")]),
        ({"hash": "*"}, []),
        ({"if": A_IS_B, "then": "b", "else": {"const": "a"}}, [("if.value", "a"), ("then", "b")]),
        ({"if": ANY, "then": "a"}, [("if.any.0.value", "a"), ("if.any.1.not.value", "b")]),
        ({"messages": [TURN]}, [("messages.0.content.0.text", "a"), ("messages.0.content.1.image", "b")]),
        (of_a("strip", {"letter_in": "b"}), [("from", "a"), ("do.1.letter_in", "b")]),
        (of_a({"each": [{"letter_in": "b"}]}), [("from", "a"), ("do.0.each.0.letter_in", "b")]),
        (of_a({"slice": ["b", None]}, {"index": "c"}), [("from", "a"), ("do.0.slice.0", "b"), ("do.1.index", "c")]),
        (of_a({"split": "b"}, {"index": "b"}), [("from", "a"), ("do.1.index", "b")]),
        (of_a({"each": EACH}), [("from", "a"), ("do.0.each.to.template", "c")]),
        (of_a({"dict": OWN_NAMES}), [("from", "a"), ("do.0.dict.value.1", "index")]),
    ],
    ids=str,
)  # fmt: skip
def test_every_form_of_expression_names_its_columns(
    target: Any, columns: list[tuple[str, ...]]
) -> None:
    places = [(".".join(filter(None, ("fields.target", path))), *names) for path, *names in columns]
    assert named(fields={"target": target}) == [INPUT, *places]


@pytest.mark.parametrize(
    ("target", "columns"),
    [
        (of_a({"default": None}), []),
        ({"from": ["a", "b"], "do": [{"default": ""}]}, ["a", "b"]),
        (of_a("strip", {"default": ""}), ["a"]),
        (of_a("nonempty"), ["a"]),
        (of_a({"test": {"empty": True}}), ["a"]),
        (of_a({"coalesce": ["b", "c"]}), ["a|b|c"]),
        (of_a({"coalesce": "b"}, "strip"), ["a|b"]),
        (of_a({"coalesce": ["b", {"const": 1}]}), []),
        (of_a({"coalesce": ["b", {"template": "{c}"}]}), ["c"]),
        (of_a({"coalesce": ["b"]}, {"default": 1}), []),
        (of_a("strip", {"coalesce": ["b"]}), ["a"]),
        ({"if": {"value": A, "empty": False}, "then": {"from": "a", "do": ["len"]}}, []),
        ({"if": {"not": {"value": A, "equals": 1}}, "then": "b", "else": "a"}, ["b"]),
        (of_a({"each": {"to": ["b", "item.c", "index"]}}), ["a", "b"]),
        (of_a({"each": {"item": "x", "where": {"value": "x.y", "equals": "item"}}}), ["a"]),
        ({"template": "{a} {b|} {c|none} {?d}D{/} {{e}}"}, ["a"]),
        ({"template": "{?a}A: {a}{b}{/}"}, ["b"]),
        ({"template": "{?a}A: {a}{/} {a}"}, ["a"]),
        ({"template": "{v} {w|}", "with": {"v": "a", "w": "b"}}, ["a"]),
        ({"template": "{w|}", "with": {"w": ["b"]}}, ["b"]),
    ],
    ids=str,
)
def test_a_column_with_something_to_use_instead_may_be_absent(
    target: Any, columns: list[str]
) -> None:
    found = named_columns(spec(fields={"target": target}))[1:]
    assert ["|".join(one.names) for one in found] == columns


@pytest.mark.parametrize(
    ("metadata", "columns"),
    [
        ("m", [("fields.metadata", "m")]),
        ("*", []),
        (["a", "b.c"], [("fields.metadata.0", "a"), ("fields.metadata.1", "b.c")]),
        ({"*": "*", "k": "a"}, [("fields.metadata.k", "a")]),
        ({"*": "m", "k": ["a"]}, [("fields.metadata.*", "m"), ("fields.metadata.k.0", "a")]),
    ],
    ids=str,
)
def test_every_form_of_metadata_names_its_columns(
    metadata: Any, columns: list[tuple[str, ...]]
) -> None:
    assert named(fields={"metadata": metadata}) == [INPUT, *columns]


def test_conditions_lists_and_keys_are_named_and_fields_beside_a_mapper_are_not() -> None:
    keys = {
        "where": [
            {"value": "a", "equals": "a"},
            {"not": {"value": {"from": "b", "do": ["len"]}, "equals": 1}},
        ],
        "explode": {"column": "list"},
        "join": {
            "source": {"type": "csv", "path": ["/a.csv"]},
            "on": "k",
            "key": "other",
            "into": "row",
        },
        "mapper": "package.module:function",
    }
    assert named(**keys) == [
        ("where.0.value", "a"),
        ("where.1.not.value.from", "b"),
        ("explode.column", "list"),
        ("join.on", "k"),
    ]


def test_a_place_is_not_a_constant_equal_to_the_column() -> None:
    where = {"equals": "a", "value": "a"}
    template = {"with": {"v": "a"}, "template": "a {a} {v}"}
    assert named(where=where, fields={"target": template}) == [
        ("where.value", "a"),
        INPUT,
        ("fields.target.with.v", "a"),
    ]


ALL = {"sandbox", "files", "setup"}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ALL),
        ({"fields": {"setup": "setup"}}, {"sandbox", "files"}),
        ({"fields": {"setup": "script"}}, ALL),
        ({"fields": {"metadata": ["files"]}}, {"sandbox", "setup"}),
        ({"fields": {"metadata": {"x": "files.name"}}}, {"sandbox", "setup"}),
        ({"fields": {"target": {"template": "{setup}"}}}, {"sandbox", "files"}),
        ({"where": {"value": "sandbox", "equals": "docker"}}, {"files", "setup"}),
        ({"fields": {"metadata": "*"}}, set()),
        ({"mapper": "p:f"}, set()),
        ({"explode": {"column": "x"}}, ALL),
        ({"explode": {"column": "files"}}, {"sandbox", "setup"}),
    ],
)
def test_columns_are_unread_if_no_expression_names_them(
    keys: dict[str, Any], expected: set[str]
) -> None:
    assert UnreadColumns.of(spec(**keys)).missing == expected


@pytest.mark.parametrize("value", ["docker", {"a": "b"}, 0, False, ["x"]])
def test_any_value_counts(value: Any) -> None:
    by_record, by_batch, by_values = (UnreadColumns(ALL) for _ in range(3))
    by_record.add_record({"q": "x", "files": value})
    by_batch.add_frame(Frame(pa.RecordBatch.from_pylist([{"files": value}])))
    by_values.add_frame(ValueFrame(1, {"files": [value]}))
    assert by_record.found == by_batch.found == by_values.found == {"files"}
    assert by_record.missing == by_batch.missing == by_values.missing == {"sandbox", "setup"}


EMPTY: list[Any] = [None, "", {}, [], math.nan]


@pytest.mark.parametrize("record", [{"q": "x"}, *({"files": value} for value in EMPTY)])
def test_an_empty_column_does_not(record: dict[str, Any]) -> None:
    by_record, by_batch, by_values = (UnreadColumns(ALL) for _ in range(3))
    by_record.add_record(record)
    by_batch.add_frame(Frame(pa.RecordBatch.from_pylist([record, record])))
    by_values.add_frame(ValueFrame(2, {}, [record, record]))
    assert by_record.found == by_batch.found == by_values.found == set()


def test_without_names_nothing_is_looked_at() -> None:
    assert PipelineState().unread.missing == set()


RECORD = {"q": "One?", "setup": "rm -rf /", "files": "{}", "sandbox": "docker"}


def write(folder: Path, kind: str) -> str:
    path = folder / f"d.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([RECORD]), path)
    elif kind == "csv":
        path.write_text("q,setup,files,sandbox\nOne?,rm -rf /,{},docker\n", encoding="utf-8")
    else:
        data = RECORD if kind == "jsonl" else [RECORD]
        path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("limit", [None, 1], ids=["by columns", "by rows"])
def test_columns_of_every_format_are_noticed_and_not_used(
    tmp_path: Path, cache_dir: Path, kind: str, limit: int | None
) -> None:
    path = write(tmp_path, kind)
    opened = load(
        spec(
            path, "json" if kind == "jsonl" else kind, fields={"input": "q"}, view={"limit": limit}
        ),
        Cache(cache_dir),
        boundary=UNBOUNDED,
    )
    (sample,) = opened.dataset
    assert (sample.sandbox, sample.files, sample.setup) == (None, None, None)
    assert opened.entry.meta["quality"]["unused_columns"]["first"] == [
        {"value": name} for name in sorted(ALL)
    ]

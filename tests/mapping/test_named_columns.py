"""The columns that a manifest names, with their places; those that may be absent are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.manifest.models import DatasetSpec, to_spec
from registry.mapping.named_columns import named_columns

SOURCE = {"type": "csv", "path": ["/a.csv"]}
A = {"from": "a", "do": [{"default": None}]}
INPUT = ("fields.input", "input")


def spec(**keys: Any) -> DatasetSpec:
    return to_spec({"name": "d", "folder": Path("/c"), "source": SOURCE, **keys})


def named(**keys: Any) -> list[tuple[str, ...]]:
    found = named_columns(spec(**keys))
    return [(".".join(map(str, one.path)), *one.names) for one in found]


def test_of_fields_that_are_left_out_only_the_input_names_its_column() -> None:
    assert named() == [INPUT]
    assert named(fields={"input": "q", "target": None}) == [("fields.input", "q")]
    assert named(fields={"target": "target"}) == [INPUT, ("fields.target", "target")]


def of_a(*steps: Any) -> dict[str, Any]:
    """Return the expression that applies operations to the column `a`."""
    return {"from": "a", "do": list(steps)}


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
        "join": {"source": SOURCE, "on": "k", "key": "other", "into": "row"},
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

"""The text of a generated function: names, kinds and blocks."""

from __future__ import annotations

import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.generated.batch import compile_batch
from registry.mapping.generated.expressions import emit_expression
from registry.mapping.generated.operations import emit_steps
from registry.mapping.generated.runtime import ParsedTexts
from registry.mapping.generated.source import NotGeneratedError, Source, Value
from tests.mapping.generated.both import assert_same


def empty() -> Source:
    return Source(emit_expression, emit_steps, ParsedTexts().of)


def test_type_is_tested_once() -> None:
    function = compile_batch(parse_expression({"template": "{a}{a}{a}"}))
    assert function is not None
    assert function.source.count("type(c0) is not str") == 1


def test_type_found_in_a_block_is_not_known_after_it() -> None:
    source, value = empty(), Value("c0", "any")
    with source.block("if x:"):
        assert source.expect(value, "list").kind == "list"
        assert source.kind(value) == "list"
    assert source.kind(value) == "any"
    assert source.lines == ["if x:", " if type(c0) is not list: raise Aside"]


def test_loop_counts_only_if_the_index_is_used() -> None:
    source = empty()
    with source.loop(Value("c0", "list")) as (item, index):
        source.line(f"f({item.name})")
    with source.loop(Value("c0", "list")) as (item, index):
        source.line(f"f({index.name})")
    heads = [line for line in source.lines if line.startswith("for")]
    assert heads == ["for v1 in c0:", "for v4, v3 in enumerate(c0):"]


def test_equal_parts_of_an_expression_are_evaluated_once() -> None:
    parse = {"from": "a", "do": ["parse", {"index": "x"}]}
    raw = {"if": {"value": parse, "empty": False}, "then": parse, "else": [parse, "a"]}
    function = compile_batch(parse_expression(raw))
    assert function is not None
    assert function.source.count("raise Aside") == 2  # to index, and to list what is not MISSING
    apart = {"from": "a", "do": [{"equals": True}]}, {"from": "a", "do": [{"equals": 1}]}
    assert_same(list(apart), [{"a": True}, {"a": 1}], fast=True)
    branches = {"if": {"value": "b", "equals": 1}, "then": parse, "else": parse}
    assert_same(branches, [{"a": '{"y": 1}', "x": "y", "b": b} for b in (0, 1)], fast=True)


def test_equal_parts_of_different_items_differ() -> None:
    inner = {"from": "item", "do": ["str"]}
    raw = [{"from": name, "do": [{"each": {"to": [inner, inner]}}]} for name in "ab"]
    assert_same(raw, [{"a": [1, 2], "b": [3]}], fast=True)


def test_nesting_has_an_end() -> None:
    source = empty()

    def nest(levels: int) -> None:
        with source.block("if x:"):
            nest(levels - 1) if levels else None

    nest(30)
    with pytest.raises(NotGeneratedError):
        nest(30 + 30)


def test_item_hides_columns_of_the_record() -> None:
    record = {
        "list": [{"a": 1, "b.c": 2, "b": {"c": 3}}, {"b": {"c": 3}}, 5, {"b": {"c": {"d": 4}}}],
        "item": "hidden", "item.a": "hidden", "index": "hidden", "a": "seen", "index.a": "hidden",
        "items": "seen too",
    }  # fmt: skip
    names = ["item", "item.a", "item.b.c", "item.b.c.d", "index", "index.a", "a", "items", "item."]
    raw = {"from": "list", "do": [{"each": {"to": {"object": {n: n for n in names}}}}]}
    (found,) = assert_same(raw, [record], fast=True)
    assert list(found[0].values())[1:5] == [1, 2, None, 0]


def test_inner_item_hides_the_outer_one() -> None:
    inner = {"from": "item", "do": [{"each": {"to": ["item", "index", "n.a"], "index": "n"}}]}
    raw = {"from": "list", "do": [{"each": {"to": inner, "index": "n"}}]}
    assert_same(raw, [{"list": [[1, 2], [3]], "index": 7, "n": {"a": 1}}])
    named = {"from": "item", "do": [{"each": {"to": ["x", "item", "i", "index"], "item": "x",
                                              "index": "i"}}]}  # fmt: skip
    (found,) = assert_same({"from": "list", "do": [{"each": {"to": named}}]}, [{"list": [[5, 6]]}])
    assert found == [[[5, 5, 6, 0, 0], [6, 5, 6, 1, 0]]]

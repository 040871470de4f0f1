"""A generated function gives what the evaluator gives, for all that manifests of the catalog say."""

from __future__ import annotations

import ast
import functools
import linecache
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.catalog.catalog import Catalog
from registry.errors import MappingError
from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Comparisons,
    Condition,
    Const,
    Expression,
    Not,
    OperationCall,
    Pipe,
    parse_condition,
    parse_expression,
)
from registry.mapping.columns_used import operations_in
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.generated import batch
from registry.mapping.generated.batch import (
    BatchFunction,
    compile_batch,
    compile_batch_condition,
)
from registry.mapping.operations import OPERATIONS
from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same, exactly
from tests.mapping.generated.odd_values import ODD, odd_records

ROOT = Path(__file__).parents[3]
RECORDS = ROOT / "tests" / "parity" / "records.yaml"
LETTERS = "abcdefgh"


@functools.cache
def nodes() -> list[tuple[str, Expression | Condition]]:
    """Return the dataset, and an expression or condition of it, of the whole catalog."""
    catalog = Catalog.open(ROOT / "datasets.yaml")
    found: list[tuple[str, Expression | Condition]] = []
    for name in catalog:
        spec = catalog.resolve(name)
        mapper = FieldMapper(spec.fields)
        raw = [getattr(spec.fields, part) for part in mapper.parts]
        found += [(name, node) for node in map(parse_expression, raw)]
        found += [(name, node) for node in mapper.metadata_keys.values()]
        if spec.where is not None:
            found.append((name, parse_condition(spec.where)))
    return found


def function_of(node: Expression | Condition) -> BatchFunction | None:
    if isinstance(node, AllOf | AnyOf | Comparisons | Not):
        return compile_batch_condition(node)
    return compile_batch(node)


def test_catalog_has_a_function_for_all_that_reads_neither_files_nor_the_whole_record() -> None:
    without = [
        (name, node)
        for name, node in nodes()
        if function_of(node) is None
        and "data_uri" not in {call.name for call in operations_in(node)}
    ]
    assert {name for name, _ in without} == {"cyse2-prompt-injection", "cyse4-mitre-frr"}


@pytest.mark.parametrize("part", range(4))
def test_catalog_gives_the_same_values_for_records_in_the_shape_of_the_sources(part: int) -> None:
    records: dict[str, Any] = yaml.load(RECORDS.read_bytes(), yaml.CSafeLoader)
    decided = 0
    for name, node in nodes()[part::4]:
        if name in records and function_of(node) is not None:
            found = assert_same(node, records[name])
            decided += sum(type(value).__name__ != "Slow" for value in found)
    assert decided > 500


@pytest.mark.parametrize("part", range(8))
def test_catalog_gives_the_same_values_for_odd_records(part: int) -> None:
    decided = 0
    for seed, (_, node) in enumerate(nodes()[part::8]):
        function = function_of(node)
        if function is not None:
            found = assert_same(node, odd_records(list(function.columns), 40, seed))
            decided += sum(type(value).__name__ != "Slow" for value in found)
    assert decided > 1000


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - {"data_uri"}))
def test_operation_gives_the_same_for_its_example_and_odd_values(name: str) -> None:
    example = OPERATIONS[name].example
    arguments = example.step[name] if isinstance(example.step, dict) else None
    pipe = Pipe(parse_expression("value"), (OperationCall(name, arguments),))
    record = example.record or {}
    (found,) = assert_same(pipe, [{**record, "value": example.value}])
    assert exactly(found) == exactly(example.result)
    rows = [{**record, "value": value} for value in ODD if value is not MISSING]
    assert_same(pipe, [*rows, record])
    columns = [*record, "value"]
    assert_same(pipe, odd_records(columns, 200, 0))


HOSTILE = ['"]; import os #', "'''", "\\", "{x!r}", "k1", "slow", "\n  raise", "\u2028", "values"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_manifest_is_in_the_text(text: str) -> None:
    name = text.replace(".", "")
    value: Any = {"const": text}
    raw: Any = {
        "messages": [
            {"role": "system", "content": [{"text": name}, {"image": value}, {"audio": name}]},
            {"role": "user", "content": {"from": name, "do": [{"default": {text: [text, 1]}}]}},
            {
                "role": "user",
                "content": {
                    "from": {"object": {text: name, "x": [name, value]}},
                    "do": [{"index": value}, {"default": text}, {"sub": {"pattern": "a", "to": text}},
                           {"split": text}, {"join": text}, {"map": {text: text, "*": text}},
                           {"replace": {text: text + text}}, {"strip": text}, {"equals": text},
                           "str", {"letter_in": [name, value]}],
                },
            },
            {
                "role": "user",
                "content": {
                    "if": {"any": [{"value": name, "equals": text, "in": [text], "less": text},
                                   {"value": name, "regex": "x", "not_in": [text, 1]}]},
                    "then": {"hash": [name, value], "prefix": text, "length": 8},
                    "else": {
                        "from": name,
                        "do": [{"each": {"item": name, "index": "i", "to": f"{name}.{text}"}},
                               {"dict": {"key": name + "j", "value": value, "item": name + "j"}},
                               {"items": text}, {"pluck": text}, {"keep": {"equals": text}}],
                    },
                },
            },
        ]
    }  # fmt: skip
    node = parse_expression(raw)
    function = compile_batch(node)
    assert function is not None
    (batch,) = ast.parse(function.source).body
    assert isinstance(batch, ast.FunctionDef)
    names = {item.id for item in ast.walk(batch) if isinstance(item, ast.Name)}
    assert {item for item in names if not (item[0] in "vck" and item[1:].isdigit())} <= PYTHON
    assert_same(node, odd_records(list(function.columns), 100, 1))


PYTHON = {
    "Aside", "Exception", "MISSING", "bool", "columns", "dict", "enumerate", "float", "index",
    "int", "k", "len", "list", "numbers", "number", "range", "slow", "str", "type", "value",
    "values", "x", "zip",
}  # fmt: skip


def test_template_names_are_not_in_the_text() -> None:
    raw = {"template": '\'{"}{?__import__(\'os\')}{x y|"""}{/}', "with": {'"': {"const": "'"}}}
    assert_same(raw, [{}, {"__import__('os')": "a", "x y": None}], fast=True)


def test_error_of_a_record_is_raised_by_the_slow_way_alone() -> None:
    function = compile_batch(parse_expression({"from": "a", "do": ["lower"]}))
    assert function is not None

    def slow(index: int) -> Any:
        raise MappingError(f"at {index}")

    with pytest.raises(MappingError, match="at 1"):
        function([["A", None, "B"]], [1, 2, 3], slow)


def test_traceback_shows_the_generated_line() -> None:
    function = compile_batch(parse_expression({"from": "a", "do": ["lower"]}))
    assert function is not None

    def slow(index: int) -> Any:
        raise ValueError(index)

    with pytest.raises(ValueError, match="0") as caught:
        function([[None]], [1], slow)
    assert "value = slow(index)" in "".join(traceback.format_exception(caught.value))


def test_deep_expressions_and_files_have_no_function() -> None:
    node: Expression = Const(["a"])
    for _ in range(30):
        node = Pipe(node, (OperationCall("each", {"to": {"from": "item", "do": ["str"]}}),))
    assert compile_batch(node) is not None  # one after the other
    raw: Any = "item"
    for _ in range(12):
        raw = {"from": "a", "do": [{"each": {"to": raw}}]}
    assert compile_batch(parse_expression(raw)) is None
    inner = [{"each": {"to": {"from": "item", "do": ["data_uri"]}}}]
    assert compile_batch(parse_expression({"from": "a", "do": inner})) is None
    assert compile_batch(parse_expression({"hash": "*"})) is None
    condition: Any = {"value": "a", "equals": 1}
    for _ in range(150):
        condition = {"not": condition}
    assert assert_same(parse_condition(condition), [{"a": 1}, {"a": 2}], fast=True) == [True, False]


def test_constants_are_not_shared_between_records() -> None:
    for value in ([], {"a": [1]}, [list(range(100))]):
        first, second = assert_same({"const": value}, [{}, {}], fast=True)
        assert first == value
        assert first is not second
        assert first is not value


def test_numbers_are_those_of_the_records() -> None:
    assert assert_same({"row_number": 5}, [{}, {}], fast=True) == [7, 8]
    assert assert_same({"row_number": 1, "width": 4}, [{}], fast=True) == ["0003"]


def test_no_warning_is_left_by_compiling(recwarn: pytest.WarningsRecorder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _, node in nodes()[:50]:
            function_of(node)
    assert not recwarn


def test_lines_of_a_forgotten_function_are_forgotten() -> None:
    function = compile_batch(parse_expression("q"))
    assert function is not None
    name = function.function.__code__.co_filename
    assert "".join(linecache.getlines(name)) == function.source
    batch._code.cache_clear()
    assert name not in linecache.cache
    assert function([["a"]], [1], lambda index: "slow") == ["a"]

"""Operations without an emitter are called with what their arguments read."""

from __future__ import annotations

from registry.manifest.expressions import parse_expression
from registry.mapping.generated.batch import compile_batch
from registry.mapping.generated.operations import EMITTERS
from registry.mapping.operations import OPERATIONS
from tests.mapping.generated.both import assert_same


def test_emitters_are_of_known_operations() -> None:
    assert set(EMITTERS) <= OPERATIONS.keys()


def test_called_operation_reads_columns_items_and_numbers() -> None:
    assert "shuffle" not in EMITTERS
    rows = [{"a": [[1, 2, 3], [4, 5, 6]], "seed": seed, "x": {"y": seed}} for seed in "abc"]
    for seed in ("seed", "x.y", "index", {"row_number": 0}, ["item"]):
        inner = {"from": "item", "do": [{"shuffle": seed}]}
        raw = {"from": "a", "do": [{"each": {"to": inner}}]}
        assert_same(raw, rows, fast=seed != ["item"])
    assert_same({"from": "a", "do": [{"shuffle": "none"}]}, rows, fast=False)


def test_operation_of_the_whole_record_has_no_function() -> None:
    raw = {"from": "a", "do": [{"shuffle": {"hash": "*"}}]}
    assert compile_batch(parse_expression(raw)) is None

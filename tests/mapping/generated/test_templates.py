"""Generated templates and digests."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping import sizes
from registry.mapping.generated import templates
from registry.mapping.generated.batch import compile_batch
from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import ODD, odd_records

TEMPLATES = [
    "",
    "only text",
    "{a}",
    "{{{a}}} {b|} {a|x{}}".replace("{}", ""),
    "{?a}A: {a}{?b} B: {b|none}{/}{/}!",
    "{a.text}{?a.b}{c|d}{/}",
    "{a}{b}{a}{b}{a}{b}{a}{b}{a}{b}{a}{b}{a}{b}",
]


@pytest.mark.parametrize("text", TEMPLATES)
def test_template_of_odd_values(text: str) -> None:
    assert_same({"template": text}, odd_records(["a", "b", "a.text", "a.b", "c"], 300, 1))
    values = [{"a": value, "b": value} for value in ODD if value is not MISSING]
    assert_same({"template": text, "with": {"b": {"from": "b", "do": ["nonempty"]}}}, values)


@pytest.mark.parametrize("value", ["x", "", 1, 2**70, True, 1.5, float("nan"), float("inf")])
def test_scalars_are_written_by_the_function(value: Any) -> None:
    rows: list[Any] = [{"a": value, "b": value, "c": value}]
    for text in TEMPLATES[:5]:
        assert_same({"template": text}, rows, fast=True)
    assert assert_same({"template": "{a}"}, rows) == [str(value)]


def test_too_long_text_is_left_to_the_evaluator(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sizes, templates):
        monkeypatch.setattr(module, "MAX_TEXT", 1000)
    half = "x" * 500
    assert_same({"template": "{a}{a}"}, [{"a": half}], fast=True)
    assert_same({"template": "{a}{a}{b}"}, [{"a": half, "b": "."}], fast=False)
    assert_same({"template": "{a}" * 20}, [{"a": half}], fast=False)


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_digest(algorithm: str) -> None:
    rows: list[dict[str, Any]] = [{"a": "x", "b": [1, "y"], "p": 3}, {"a": None, "b": "", "p": ""}]
    found = assert_same({"hash": ["a", "b"], "algorithm": algorithm}, rows, fast=True)
    made = hashlib.new(algorithm, b"x\0[1, 'y']", usedforsecurity=False)
    assert found[0] == made.hexdigest()
    assert_same({"hash": "a", "length": 6, "prefix": {"from": "p", "do": []}}, rows, fast=True)
    assert_same({"hash": ["a"], "length": 0, "prefix": "id"}, rows, fast=True)
    assert_same({"hash": ["a", "b", {"const": 5}]}, odd_records(["a", "b"], 300, 2))
    assert_same({"hash": ["a"]}, [{"a": "\ud800"}, {}], fast=False)


def test_whole_record_has_no_function() -> None:
    assert compile_batch(parse_expression({"hash": "*"})) is None

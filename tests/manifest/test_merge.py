"""Layers are merged key by key, and each value knows the layer that defines it."""

from __future__ import annotations

from typing import Any

import pytest

from registry.manifest.merge import Entry, Layer, index_defaults, merge
from registry.yamldoc.reader import parse_yaml

NO_DEFAULTS = Layer("default", {})


def merged_value(*values: dict[str, Any], defaults: Layer = NO_DEFAULTS) -> dict[str, Any]:
    return merge([Layer("own", value) for value in values], defaults).value


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ({"limit": 1, "tags": ["a"]}, {"tags": ["b"]}, {"limit": 1, "tags": ["b"]}),
        ({"limit": 1}, {"limit": None}, {}),
        ({"source": {"path": "a", "columns": {"x": 1}}}, {"source": {"columns": {"y": 2}}}, {"source": {"path": "a", "columns": {"x": 1, "y": 2}}}),
        ({"source": {"fs_options": {"a": 1}}}, {"source": {"fs_options": {"a": None}}}, {"source": {"fs_options": {}}}),
        ({"source": {"fs_options": {"a": {"b": 1}, "c": 1}}}, {"source": {"fs_options": {"a": {"d": 2}}}}, {"source": {"fs_options": {"a": {"d": 2}, "c": 1}}}),
        ({"source": {"path": ["a", "b"]}}, {"source": {"path": ["c"]}}, {"source": {"path": ["c"]}}),
        ({"source": {"path": "a", "sha256": "1"}}, {"source": {"path": "b"}}, {"source": {"path": "b"}}),
        ({"source": {"path": "a", "sha256": "1"}}, {"source": {"columns": {}}}, {"source": {"path": "a", "sha256": "1", "columns": {}}}),
        ({"fields": {"input": "q", "target": {"from": "a"}}}, {"fields": {"target": {"const": 1}}}, {"fields": {"input": "q", "target": {"const": 1}}}),
        ({"fields": {"target": "a"}}, {"fields": {"target": None}}, {"fields": {"target": None}}),
        ({"fields": {"metadata": {"a": "x"}}}, {"fields": {"metadata": {"a": None, "b": "y"}}}, {"fields": {"metadata": {"b": "y"}}}),
        ({"fields": {"metadata": ["a"]}}, {"fields": {"metadata": {"b": "y"}}}, {"fields": {"metadata": {"b": "y"}}}),
        ({"fields": {"metadata": {"a": "x"}}}, {"fields": {"metadata": ["c"]}}, {"fields": {"metadata": ["c"]}}),
        ({"fields": {"metadata": {"a": "x"}}}, {"fields": {"metadata": "c"}}, {"fields": {"metadata": "c"}}),
        ({"expect": {"samples": 3}}, {"expect": {"unique_ids": True}}, {"expect": {"samples": 3, "unique_ids": True}}),
        ({"sample": {"n": 1, "seed": 2}}, {"sample": {"n": 3}}, {"sample": {"n": 3}}),
        ({"shuffle": True, "seed": 1}, {"shuffle": False}, {"shuffle": False}),
        ({"shuffle": True, "seed": 1}, {"shuffle": False, "seed": 2}, {"shuffle": False, "seed": 2}),
        ({"shuffle": True, "seed": 1}, {"shuffle": None}, {}),
        ({"shuffle": True, "seed": 1}, {"seed": 2}, {"shuffle": True, "seed": 2}),
        ({"shuffle": True, "seed": 1}, {"limit": 2}, {"shuffle": True, "seed": 1, "limit": 2}),
    ],
)  # fmt: skip
def test_later_layer_adds_replaces_and_removes_keys(
    lower: dict[str, Any], upper: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = repr((lower, upper))
    assert merged_value(lower, upper) == expected
    assert repr((lower, upper)) == before, "layers are not changed"


def test_source_of_a_different_type_starts_from_the_defaults_of_its_type() -> None:
    defaults = Layer(
        "default", {"source": {"json": {"encoding": "utf-16"}, "csv": {"delimiter": ";"}}}
    )
    csv = {"source": {"type": "csv", "path": "a", "skip_rows": 1}}
    json = {"source": {"type": "json", "path": "b"}}
    merged = merge([Layer("parent", csv), Layer("own", json)], defaults)
    assert merged.value["source"] == {"type": "json", "path": "b", "encoding": "utf-16"}
    assert merged.layer(("source", "encoding")).kind == "default"
    assert ("source", "skip_rows") not in merged.layers


def test_repeating_the_same_type_preserves_inherited_keys() -> None:
    csv = {"source": {"type": "csv", "path": "a", "skip_rows": 1}}
    again = {"source": {"type": "csv", "path": "b"}}
    assert merged_value(csv, again)["source"] == {"type": "csv", "path": "b", "skip_rows": 1}


INDEX = parse_yaml("version: 1\ndefaults:\n  license: mit\n", file="datasets.yaml")
DOCUMENT = parse_yaml(
    "datasets:\n  d:\n    limit: 3\n    fields: {target: {from: a}}\n", file="m.yaml"
)


def test_problem_is_reported_where_its_value_is_written(tmp_path: Any) -> None:
    defaults = index_defaults(INDEX)
    entry = Entry("d", DOCUMENT, tmp_path, defaults)
    own = Layer("own", entry.value, DOCUMENT, ("datasets", "d"))
    merged = merge([defaults, own, Layer("override", {"seed": 1})], defaults)
    places = {
        ("license",): "datasets.yaml:3:3 $.defaults.license",
        ("limit",): "m.yaml:3:5 $.datasets.d.limit",
        ("fields", "target", "from"): "m.yaml:4:23 $.datasets.d.fields.target.from",
        ("seed",): "argument `seed`",
    }
    for path, place in places.items():
        problem = merged.problem(path, "is odd", "even it", rule="wrong-value")
        assert str(problem) == f"{place}: is odd (even it)"
    assert str(entry.problem(("limit",), "is odd", rule="wrong-value")).startswith("m.yaml:3:5 ")


@pytest.mark.parametrize(("kind", "has_parent"), [("parent", True), ("own", False)])
def test_dataset_with_extends_has_a_parent(kind: str, has_parent: bool) -> None:
    assert merge([Layer(kind, {}), Layer("own", {})], NO_DEFAULTS).has_parent is has_parent

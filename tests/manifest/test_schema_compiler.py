"""The fast check of a schema says what jsonschema says."""

from __future__ import annotations

import copy
import random
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from registry.manifest.schema import SCHEMAS, _fits, _validator, read_schema, validate
from registry.manifest.schema_compiler import compile_schema
from registry.yamldoc.reader import read_yaml

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "registry").glob("*.yaml"))
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, "", "x", "https://x", "a:b", [], {}),
    *([1, 1], [True, 1], ["x", "x"], [{}, {}], {"type": "hf"}, {"const": 1}, {"from": "x"}),
]


def fits(value: Any) -> bool:
    return _fits("manifest")(value)


def is_valid(value: Any) -> bool:
    return bool(_validator("manifest").is_valid(value))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_manifests_never_need_jsonschema(path: Path) -> None:
    assert fits(read_yaml(path).value)


def test_the_examples_of_the_schemas_get_the_same_answer() -> None:
    for name in SCHEMAS:
        for example in read_schema(name)["examples"]:
            assert _fits(name)(example) == _validator(name).is_valid(example)


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Return every mapping or list with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    below = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return [*((value, key) for key in keys), *(place for one in below for place in places_in(one))]


def mutated(value: Any, chance: random.Random) -> Any:
    """Return a copy with one to three changes: a value replaced, a key added or removed."""
    whole = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        around, key = chance.choice(places_in(whole))
        kind = chance.choice(["replace", "replace", "remove", "add"])
        if kind == "remove":
            del around[key]
        elif kind == "add" and isinstance(around, dict):
            around[chance.choice(["source", "fields", "seed", "extends", "bogus", "do"])] = (
                copy.deepcopy(chance.choice(ODD))
            )
        else:
            around[key] = copy.deepcopy(chance.choice(ODD))
        if not places_in(whole):
            break
    return whole


@pytest.mark.parametrize("path", SHIPPED[:12], ids=lambda path: path.stem)
def test_changed_manifests_get_the_same_answer(path: Path) -> None:
    datasets = read_yaml(path).value["datasets"]
    chance = random.Random(path.stem)
    answers = set()
    for _ in range(150):
        name = chance.choice(list(datasets))
        value = mutated({"datasets": {name: datasets[name]}}, chance)
        expected = is_valid(value)
        answers.add(expected)
        # A list that is no list of texts may be left to jsonschema.
        assert fits(value) == expected or (expected and not fits(value)), value
        assert (validate_value(value) == []) == expected
    assert answers == {True, False}


def validate_value(value: Any) -> list[Any]:
    from registry.yamldoc.reader import Document, Positions

    return validate(Document(value, "m.yaml", Positions(None, (1, 1))), "manifest")


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"const": 1}, True, False),
        ({"const": True}, 1, False),
        ({"enum": [0, None]}, False, False),
        ({"type": "integer"}, True, False),
        ({"type": "number"}, True, False),
        ({"minimum": 1}, False, True),
        ({"minLength": 1}, [], True),
        ({"uniqueItems": True}, ["a", "a"], False),
        ({"not": {"const": True}}, 1, True),
        ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": False}, "a", False),
        ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": False}, 1, False),
        ({"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, {"ab": None}, True),
        ({"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}, {"b": None}, False),
        ({"properties": {"a": {"minimum": 2}}, "patternProperties": {"a": {"maximum": 3}}}, {"a": 3}, True),
        ({"properties": {"a": {"minimum": 2}}, "patternProperties": {"a": {"maximum": 3}}}, {"a": 4}, False),
        ({"properties": {"a": {"minimum": 2}}, "patternProperties": {"a": {"maximum": 3}}}, {"a": 1}, False),
        ({"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 3}}}, {"ab": 4}, False),
        ({"properties": {"a": True}, "additionalProperties": {"type": "null"}}, {"a": 1, "b": None}, True),
        ({"properties": {"a": True}, "additionalProperties": {"type": "null"}}, {"a": 1, "b": 1}, False),
        ({"additionalProperties": False}, {"a": 1}, False),
        ({"properties": {"a": False}}, {"a": 1}, False),
        ({"properties": {"a": False}}, [1], True),
        ({"enum": [1, "a", None, [1]]}, 1.0, True),
        ({"enum": [1, "a", None, [1]]}, True, False),
        ({"enum": [1, "a", None, [1]]}, [1], True),
        ({"enum": [1, "a", None, [1]]}, None, True),
        ({"enum": [1, "a", None, [1]]}, {}, False),
        ({"not": {"type": "null"}}, None, False),
        ({"not": {"minLength": 2}}, 1, False),
        ({"if": {"minLength": 2}, "then": False}, "a", True),
        ({"if": {"minLength": 2}, "then": False}, "ab", False),
        ({"if": {"minLength": 2}, "then": False, "else": {"const": "a"}}, "b", False),
        ({"allOf": [{"type": ["string", "null"]}, {"minLength": 2}]}, None, True),
        ({"allOf": [{"type": ["string", "null"]}, {"minLength": 2}]}, "a", False),
        ({"items": {"$ref": "#"}, "type": "array"}, [[[]]], True),
        ({"items": {"$ref": "#"}, "type": "array"}, [[[1]]], False),
    ],
)  # fmt: skip
def test_keywords_mean_what_they_mean_to_json_schema(
    schema: Any, value: Any, expected: bool
) -> None:
    assert compile_schema("one", {"one": schema})(value) is expected
    validator = type(_validator("manifest"))(schema)
    assert validator.is_valid(value) is expected


@pytest.mark.parametrize("value", [(), OrderedDict(type="hf"), b"", {1}])
def test_what_is_no_plain_data_is_left_to_jsonschema(value: Any) -> None:
    assert not compile_schema("one", {"one": {}})(value)
    assert not compile_schema("one", {"one": {"items": {"minimum": 0}}})([value])


@pytest.mark.parametrize(
    "schema",
    [
        {"contains": {}},
        {"$defs": {"x": {"contains": {}}}},
        {"properties": {"x": {"items": {"contains": {}}}}},
        {"allOf": [True, {"if": {"not": {"contains": {}}}}]},
    ],
)
def test_an_unknown_keyword_is_an_error(schema: Any) -> None:
    with pytest.raises(ValueError, match="the keyword 'contains' of one has no check in"):
        compile_schema("one", {"one": schema})

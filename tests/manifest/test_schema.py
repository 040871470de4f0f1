"""The schemas agree with the models, describe every key, and are read as another implementation reads them."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators
from msgspec import NODEFAULT, Struct
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from registry.base.materials import Material, Original
from registry.catalog.catalog import Catalog
from registry.lint.runner import check
from registry.lockfile.models import CommitPin, Lock, Pin
from registry.manifest.expressions import COMPARISONS
from registry.manifest.merge import RETIRED
from registry.manifest.models import (
    DatasetSpec,
    Evaluation,
    Expect,
    Explode,
    Fewshot,
    FieldsSpec,
    Join,
    Notice,
    Scorer,
    Solver,
    Subsample,
    View,
)
from registry.manifest.schema import (
    SCHEMAS,
    SchemaName,
    as_json,
    is_surely_valid,
    read_schema,
    schema_uri,
)
from registry.manifest.serialize import data_of, model_defaults
from registry.manifest.source_models import CsvSource, HfSource, JsonSource, ParquetSource
from registry.manifest.validation import schema_errors
from registry.mapping.field_mapper import map_fields
from registry.mapping.operations import OPERATIONS
from registry.yamldoc.reader import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SOURCES: dict[str, type[Struct]] = {
    "csvSource": CsvSource,
    "jsonSource": JsonSource,
    "parquetSource": ParquetSource,
    "hfSource": HfSource,
}
PARTS: dict[str, type[Struct]] = {
    "join": Join,
    "explode": Explode,
    "sample": Subsample,
    "fewshot": Fewshot,
    "expect": Expect,
    "eval": Evaluation,
    "solver": Solver,
    "scorer": Scorer,
    "notice": Notice,
}
MODELS: dict[str, type[Struct]] = {
    **SOURCES,
    **PARTS,
    "dataset": DatasetSpec,
    "dataset view": View,  # a dataset's keys are those of two models
}
SCHEMA_OF = {read_schema(name)["$id"].rpartition("/")[2]: read_schema(name) for name in SCHEMAS}
MANIFEST = read_schema("manifest")
DEFS: dict[str, Any] = MANIFEST["$defs"]
LOCK = read_schema("lock")
LOCK_MODELS: dict[str, type[Struct]] = {"pin": Pin, "source": Material, "original": Original}


def keys_of(model: type[Struct]) -> list[str]:
    """Return the keys of a model, with the discriminating key first."""
    tag = model.__struct_config__.tag_field
    return [*([tag] if tag else []), *model.__struct_fields__]


def required_of(model: type[Struct]) -> list[str]:
    return [key for key, default in model_defaults(model).items() if default is NODEFAULT]


def stated_by(model: type[Struct]) -> dict[str, Any]:
    """Return the JSON Schemas of a model's own keys."""
    whole = msgspec.json.schema(model, schema_hook=lambda _: {"type": "string"})
    inside = {"$defs": whole["$defs"]}
    keys = whole["$defs"][model.__name__]["properties"].items()
    return {key: target_of(schema, inside=inside) for key, schema in keys}


def target_of(schema: dict[str, Any], *, inside: dict[str, Any]) -> dict[str, Any]:
    """Follow `$ref`s; keys beside a reference win over those behind it."""
    while "$ref" in schema:
        file, _, pointer = schema["$ref"].partition("#/")
        inside = SCHEMA_OF[file] if file else inside
        found: Any = inside
        for step in pointer.split("/"):
            found = found[step]
        schema = {**found, **{key: item for key, item in schema.items() if key != "$ref"}}
    return schema


def properties_of(definition: str) -> dict[str, dict[str, Any]]:
    properties: dict[str, Any] = DEFS[definition]["properties"]
    return {name: target_of(item, inside=MANIFEST) for name, item in properties.items()}


def nodes(schema: dict[str, Any], pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each subschema except conditions, with its JSON pointer."""
    yield pointer, schema
    for key, item in schema.items():
        inner: Any = {}
        if key in ("properties", "patternProperties", "$defs"):
            inner = item
        elif key in ("items", "additionalProperties", "then", "else"):
            yield from nodes(item, f"{pointer}/{key}") if isinstance(item, dict) else ()
        elif key == "allOf":
            inner = {str(index): part for index, part in enumerate(item)}
        for name, part in inner.items():
            yield from nodes(part, f"{pointer}/{key}/{name}")


# --- the schemas themselves ---


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_valid_and_have_an_id(name: SchemaName) -> None:
    schema = read_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == schema_uri(name)
    assert schema["$id"].endswith(f"/{name}.schema.json")
    assert schema["title"]
    assert schema["description"]


def described_properties(name: SchemaName) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the properties that a schema declares, not those that a `then` narrows."""
    whole = read_schema(name)
    for pointer, schema in nodes(whole):
        if "/then" in pointer and "additionalProperties" not in schema:
            continue
        for key, item in schema.get("properties", {}).items():
            yield f"{name}#{pointer}/properties/{key}", target_of(item, inside=whole)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_property_has_a_description(name: SchemaName) -> None:
    properties = list(described_properties(name))
    bare = [pointer for pointer, schema in properties if not schema.get("description")]
    assert len(properties) > 3
    assert bare == []


def example_cases() -> list[Any]:
    return [
        pytest.param(f"{schema['$id']}#{pointer}", example, id=f"{name}{pointer}-{number}")
        for name in SCHEMAS
        for schema in [read_schema(name)]
        for pointer, node in nodes(schema)
        for number, example in enumerate(node.get("examples", []))
    ]


# --- shipped files ---


def test_all_included_files_are_valid() -> None:
    assert check(Catalog.open(ROOT)) == []


@pytest.mark.parametrize("path", sorted((ROOT / "registry").glob("*.yaml")), ids=lambda p: p.name)
def test_shipped_manifests_name_their_schema_for_editors(path: Path) -> None:
    first, _, _ = path.read_text(encoding="utf-8").partition("\n")
    prefix, _, named = first.partition("$schema=")
    assert prefix == "# yaml-language-server: "
    assert (path.parent / named).resolve() == ROOT / "schemas" / "manifest.schema.json"


# --- schemas and models are the same ---


def test_inherited_source_schema_allows_the_keys_of_every_type() -> None:
    keys = {key for model in SOURCES.values() for key in keys_of(model)}
    assert set(properties_of("inheritedSource")) == keys - {"type"}


def test_source_schema_lists_the_types_that_have_a_model() -> None:
    types = [model.__struct_config__.tag for model in SOURCES.values()]
    assert DEFS["source"]["properties"]["type"]["enum"] == types
    assert (
        list(read_schema("index")["$defs"]["defaults"]["properties"]["source"]["properties"])
        == types
    )


# What only a resolved dataset has: its split, the dataset of its examples, whether it is corrected.
RESOLVED = ("split", "companion", "is_original")


def test_dataset_schema_has_the_keys_of_its_models() -> None:
    own = set(keys_of(DatasetSpec)) - {"name", "folder", "view", *RESOLVED}
    resolved = {"extends", "override", "splits", "default_split", *RETIRED}
    assert set(properties_of("dataset")) == own | set(keys_of(View)) | resolved


def test_split_has_the_keys_of_an_inherited_source_and_three_of_its_own() -> None:
    own = {"description", "corrections", "expect"}
    assert properties_of("splitKeys").keys() == properties_of("inheritedSource").keys() | own


def test_fields_match_the_model_and_most_default_to_the_column_of_the_same_name() -> None:
    assert list(properties_of("fields")) == keys_of(FieldsSpec)
    unread = ("sandbox", "files", "setup", "checkpoint", "description")
    not_read = dict.fromkeys(unread)
    assert data_of(FieldsSpec()) == {name: name for name in keys_of(FieldsSpec)} | not_read


@pytest.mark.parametrize(("definition", "model"), {**SOURCES, **PARTS}.items())
def test_nested_dataset_schema_has_the_keys_of_its_model(
    definition: str, model: type[Struct]
) -> None:
    assert set(properties_of(definition)) == set(keys_of(model))
    assert DEFS[definition]["additionalProperties"] is False
    if definition in PARTS:
        assert set(DEFS[definition].get("required", [])) == set(required_of(model))


def test_condition_schema_has_all_comparisons() -> None:
    assert list(properties_of("comparisons")) == list(COMPARISONS)
    assert list(properties_of("condition")) == ["all", "any", "not", "value", *COMPARISONS]


def test_index_defaults_are_keys_of_datasets() -> None:
    keys = set(read_schema("index")["$defs"]["defaults"]["properties"])
    assert keys < set(properties_of("dataset"))


@pytest.mark.parametrize(("definition", "model"), LOCK_MODELS.items())
def test_nested_lock_schema_has_the_keys_of_its_model(definition: str, model: type[Struct]) -> None:
    schema = LOCK["$defs"][definition]
    older = {"asked"}  # is read as `requested`, and not written any more
    assert sorted(schema["properties"].keys() - older) == sorted(keys_of(model))
    assert schema["additionalProperties"] is False
    # A pin without samples is a CommitPin.
    samples = schema["then"]["required"] if model is Pin else []
    assert sorted(schema["required"] + samples) == sorted(required_of(model))
    if model is Pin:
        assert sorted(schema["required"]) == sorted(required_of(CommitPin))
        given = [one for part in schema["if"]["anyOf"] for one in part["required"]]
        assert sorted(given) == sorted(schema["properties"].keys() - set(schema["required"]))


@pytest.mark.parametrize("definition", LOCK_MODELS)
def test_nested_lock_schema_has_the_bounds_of_its_model(definition: str) -> None:
    schema = LOCK["$defs"][definition]["properties"]
    for key, stated in stated_by(LOCK_MODELS[definition]).items():
        own = target_of(schema[key], inside=LOCK)
        parts = ({"type": "object", **part} for part in stated.get("anyOf", []))  # or a reference
        inner = next((part for part in parts if part["type"] != "null"), stated)
        bounds = ("minimum", "minLength", "minItems", "type")
        assert [own.get(bound) for bound in bounds] == [inner.get(bound) for bound in bounds], key
        assert own.get("pattern") == inner.get("pattern"), key


def test_lock_schema_has_the_keys_of_its_model() -> None:
    assert set(LOCK["properties"]) == {"version", "datasets"}
    assert LOCK["properties"]["version"]["const"] == Lock().version
    (names,) = LOCK["properties"]["datasets"]["patternProperties"]
    (own,) = DEFS["datasets"]["patternProperties"]
    derived = "(?:[:/][A-Za-z0-9][A-Za-z0-9._-]{0,63})?"
    assert names == own.replace("$(?!", f"{derived}$(?!"), "also those of splits and members"


def default_cases() -> list[Any]:
    return [
        pytest.param(name.split()[0], key, default, id=f"{name}-{key}")
        for name, model in MODELS.items()
        for key, default in model_defaults(model).items()
        if default is not NODEFAULT
        and not isinstance(default, Struct)
        and (model, key) not in [(DatasetSpec, one) for one in RESOLVED]
    ]


@pytest.mark.parametrize(("definition", "key", "default"), default_cases())
def test_schema_defaults_match_the_model(definition: str, key: str, default: Any) -> None:
    stated = properties_of(definition)[key].get("default")
    assert stated == (None if default in ((), {}) else default)


# These take several forms, are compared on their own, or have a pattern that no empty text fits.
_NOT_COMPARED = frozenset(
    {"type", "path", "fieldnames", "data_files", "source", "concat", "where", "fields"}
    | {*PARTS, "homepage", "mapper", "corrections", "companion", "license", "access"}
    | {"question", "answer", "choice", "intro", "ask", "then"}
)
BOUNDS = ("minimum", "maximum", "minLength", "maxLength")


def bounds_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return bounds and choices of one value; those of a list's items do not count."""
    found: dict[str, Any] = {}
    for part in (schema, *schema.get("anyOf", [])):
        found |= {key: part[key] for key in BOUNDS if key in part}
        if "enum" in part:
            found["enum"] = {item for item in part["enum"] if item is not None}
    return found


def bounded_keys() -> list[Any]:
    return [
        pytest.param(name.split()[0], key, schema, id=f"{name}-{key}")
        for name, model in MODELS.items()
        for key, schema in stated_by(model).items()
        if key in properties_of(name.split()[0])
        if key not in _NOT_COMPARED
    ]


@pytest.mark.parametrize(("definition", "key", "model_schema"), bounded_keys())
def test_schema_bounds_match_the_model(
    definition: str, key: str, model_schema: dict[str, Any]
) -> None:
    assert bounds_of(properties_of(definition)[key]) == bounds_of(model_schema)


# --- operations ---


def _takes_no_argument(name: str) -> bool:
    try:
        map_fields({"target": {"from": "column", "do": [name]}})
    except ValueError:
        return False
    return True


def test_schema_lists_all_operations() -> None:
    assert set(DEFS["operation"]["properties"]) == set(OPERATIONS)


def test_schema_requires_arguments_of_the_same_operations() -> None:
    (rule,) = DEFS["operation"]["allOf"]
    arguments = DEFS["operation"]["properties"]
    # Operations that accept any value accept null too, which also means an omitted argument.
    any_value = {name for name in OPERATIONS if set(arguments[name]) == {"description"}}
    without = {name for name in OPERATIONS if _takes_no_argument(name)}
    assert set(rule["then"]["enum"]) == without - any_value


# --- another implementation of JSON Schema agrees ---

SHIPPED = {
    **{f"{path.stem}.yaml": ("manifest", path) for path in sorted((ROOT / "registry").glob("*.yaml"))},
    "index": ("index", ROOT / "datasets.yaml"),
    "lock": ("lock", ROOT / "datasets.lock"),
}  # fmt: skip


def by_uri() -> Registry[Any]:
    """Return all schemas, each without the dialect, for which jsonschema would choose its own class."""
    schemas = {schema_uri(known): read_schema(known) for known in SCHEMAS}
    for schema in schemas.values():
        del schema["$schema"]
    return Registry[Any]().with_contents(schemas.items(), default_specification=DRAFT202012)


KNOWN = by_uri()


def reference(uri: str) -> Any:
    """Return a validator by another implementation, which asks Python what an integer is."""
    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    extend: Any = validators.extend  # it has no types
    return extend(Draft202012Validator, type_checker=checker)({"$ref": uri}, registry=KNOWN)


REFERENCES = {name: reference(schema_uri(name)) for name in SCHEMAS}


@pytest.mark.parametrize(("uri", "example"), example_cases())
def test_examples_are_valid(uri: str, example: Any) -> None:
    reference(uri).validate(example)


def reference_answer(value: Any, name: SchemaName) -> bool:
    return bool(REFERENCES[name].is_valid(value))


@pytest.mark.parametrize(("name", "path"), SHIPPED.values(), ids=SHIPPED)
def test_shipped_files_are_valid(name: SchemaName, path: Path) -> None:
    value = read_yaml(path).value
    assert is_surely_valid(value, name, "")
    assert reference_answer(value, name)


def replaced(value: Any, number: int, new: Any) -> tuple[Any, int]:
    """Return a copy with the part of this number, counted from the top, replaced."""
    if number == 0:
        return new, -1
    number -= 1
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value)) if isinstance(value, dict | list) else []  # fmt: skip
    for index, (key, item) in enumerate(pairs):
        if number < 0:
            break
        changed, number = replaced(item, number, new)
        pairs[index] = (key, changed)
    if isinstance(value, dict):
        return dict(pairs), number
    return ([item for _, item in pairs] if isinstance(value, list) else value), number


ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 64, 65, 2**63, -(2**70), 1.5, -0.5, 1e-300, "", "x", "x\n", "é😀"),
    *("https://x", "a:b", "m.n:f\n", "csv", "hf", "0" * 40, "0" * 40 + "\n", f"sha256:{'0' * 64}"),
    *([], {}, [1, 1], ["x", "x"], [{}, {}], [None], {"x\n": {}}, {"type": "hf"}, {"type": "cvs"}),
    *({"const": 1}, {"from": "x"}, {"from": "x", "do": [{"letter": {"base": 1}}]}, {"const": 1, "do": 2}),
    *({"if": {"value": "a", "equals": None}, "then": "b"}, {"env": "A"}, {"env": "A", "or": 1}),
]  # fmt: skip
BASES: list[tuple[SchemaName, Any]] = [
    ("index", read_yaml(ROOT / "datasets.yaml").value),
    ("index", {"version": 1, "defaults": {"tags": ["a"], "source": {"csv": {"skip_rows": 1}}}, "trust": ["m:f"], "validate": {"select": ["all"], "severity": {"a": "error"}}}),
    ("lock", {"version": 1, "datasets": dict(list(read_yaml(ROOT / "datasets.lock").value["datasets"].items())[:1])}),
    *(("corrections", read_yaml(path).value) for path in sorted((ROOT / "registry/errata").glob("gpqa*.yaml"))),
    *(
        ("manifest", {"datasets": {name: dataset}})
        for path in sorted((ROOT / "registry").glob("*.yaml"))
        for name, dataset in list(read_yaml(path).value.get("datasets", {}).items())[:3]
    ),
]  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(
    st.sampled_from(BASES),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ODD)), min_size=1, max_size=3),
    st.none() | st.tuples(st.sampled_from(["source", "fields", "bogus", "n\n"]), st.sampled_from(ODD)),
)  # fmt: skip
def test_another_implementation_agrees_on_mutated_files(
    base: tuple[SchemaName, Any], changes: list[tuple[int, Any]], added: tuple[str, Any] | None
) -> None:
    name, value = base
    for number, new in changes:
        value, _ = replaced(value, number, new)
    if added is not None and isinstance(value, dict):
        value = {**value, added[0]: added[1]}
    assert (schema_errors(value, name) == []) == reference_answer(value, name)


PATTERNS = sorted(
    {pattern
     for name in SCHEMAS
     for _, node in nodes(read_schema(name))
     for pattern in [*node.get("patternProperties", {}), *([node["pattern"]] if "pattern" in node else [])]}
)  # fmt: skip
STARTS = ("", "a", "a.b-c_1", "m.n:f", "https://x", "0" * 40, "0" * 64, f"sha256:{'f' * 64}")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("end", ["", "\n", "\r", " ", "\u2028", "é", "١", "😀"])
def test_patterns_match_the_same_in_both_regex_dialects(pattern: str, end: str) -> None:
    for start in STARTS:
        schema = {"pattern": pattern}
        fast = jsonschema_rs.Draft202012Validator(schema).is_valid(start + end)
        assert fast == Draft202012Validator(schema).is_valid(start + end)


@pytest.mark.parametrize(
    "value", [None, True, 1, 2**70, 1.5, "x", "é", [], {}, {"a": [1, {"b": None}]}]
)
def test_plain_data_is_checked_as_it_is(value: Any) -> None:
    assert as_json(value) == value


@pytest.mark.parametrize(
    "value", [10.0, 0.0, -0.0, 2.0**51, 1e300, -1e300, math.inf, -math.inf, math.nan]
)
def test_a_float_is_checked_as_a_number_that_is_no_integer(value: float) -> None:
    checked = as_json([value])[0]
    assert not checked.is_integer()
    assert math.isnan(value) or math.copysign(1, checked) == math.copysign(1, value) or value == 0


@pytest.mark.parametrize("value", [(1,), b"x", {1}, date(2020, 1, 1), [[(1,)]]], ids=repr)
def test_values_that_yaml_does_not_have_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is not a value that YAML has"):
        as_json({"a": [value]})


def required_keys() -> list[Any]:
    return [
        pytest.param(node, key, id=f"{name}{pointer}-{key}")
        for name in SCHEMAS
        for pointer, node in nodes(read_schema(name))
        if not pointer.endswith("/if")
        for key in node.get("required", [])
    ]


@pytest.mark.parametrize(("node", "key"), required_keys())
def test_required_key_is_described_in_the_node_that_requires_it(
    node: dict[str, Any], key: str
) -> None:
    # The message about the missing key has no other place to look for a hint.
    assert node["properties"][key]["description"]

"""The schemas: true to the models, described in full, and clear about what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from msgspec import NODEFAULT, Struct
from referencing import Registry, Resource

from registry.catalog.catalog import Catalog
from registry.lint.runner import check
from registry.lockfile.models import Lock, LockedSource, Pin
from registry.manifest.expressions import COMPARISONS
from registry.manifest.models import (
    CsvSource,
    DatasetSpec,
    Expect,
    Explode,
    FieldsSpec,
    HfSource,
    Join,
    JsonSource,
    ParquetSource,
    Subsample,
    View,
)
from registry.manifest.schema import SCHEMAS, SchemaName, read_schema, validate
from registry.manifest.serialize import data_of, defaults_of
from registry.mapping import map_fields
from registry.mapping.operations import OPERATIONS
from registry.yamldoc.reader import parse_yaml, read_yaml

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
    "expect": Expect,
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
LOCK_MODELS: dict[str, type[Struct]] = {"pin": Pin, "source": LockedSource}


def keys_of(model: type[Struct]) -> list[str]:
    """Return the keys of a model, that which tells its kind from others first."""
    tag = model.__struct_config__.tag_field
    return [*([tag] if tag else []), *model.__struct_fields__]


def required_of(model: type[Struct]) -> list[str]:
    return [key for key, default in defaults_of(model).items() if default is NODEFAULT]


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
    """Yield each subschema that states something, with its JSON pointer; conditions do not."""
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
    assert schema["$id"].endswith(f"/{name}.schema.json")
    assert schema["title"]
    assert schema["description"]


def test_ids_are_different() -> None:
    assert len({read_schema(name)["$id"] for name in SCHEMAS}) == len(SCHEMAS)


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


@pytest.mark.parametrize(("uri", "example"), example_cases())
def test_examples_are_valid(uri: str, example: Any) -> None:
    schemas = [read_schema(name) for name in SCHEMAS]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas
    )
    Draft202012Validator({"$ref": uri}, registry=registry).validate(example)


# --- what is shipped ---


@pytest.mark.parametrize(
    "path", sorted((ROOT / "registry").rglob("*.yaml")), ids=lambda path: path.name
)
def test_shipped_manifests_are_valid(path: Path) -> None:
    assert validate(read_yaml(path), "manifest") == []


def test_the_shipped_lock_is_valid() -> None:
    assert validate(read_yaml(ROOT / "datasets.lock"), "lock") == []


def test_the_shipped_index_and_all_it_reaches_are_valid() -> None:
    assert validate(read_yaml(ROOT / "datasets.yaml"), "index") == []
    assert check(Catalog.open(ROOT)) == []


@pytest.mark.parametrize("path", sorted((ROOT / "registry").rglob("*.yaml")), ids=lambda p: p.name)
def test_shipped_manifests_name_their_schema_for_editors(path: Path) -> None:
    first, _, _ = path.read_text(encoding="utf-8").partition("\n")
    prefix, _, named = first.partition("$schema=")
    assert prefix == "# yaml-language-server: "
    assert (path.parent / named).resolve() == ROOT / "schemas" / "manifest.schema.json"


# --- schemas and models are the same ---


@pytest.mark.parametrize(("definition", "model"), SOURCES.items())
def test_a_source_has_the_keys_of_its_model(definition: str, model: type[Struct]) -> None:
    assert set(properties_of(definition)) == set(keys_of(model))
    assert DEFS[definition]["additionalProperties"] is False


def test_an_inherited_source_may_have_the_keys_of_every_type() -> None:
    keys = {key for model in SOURCES.values() for key in keys_of(model)}
    assert set(properties_of("inheritedSource")) == keys - {"type"}


def test_a_source_is_of_the_types_that_have_a_model() -> None:
    types = [model.__struct_config__.tag for model in SOURCES.values()]
    assert DEFS["source"]["properties"]["type"]["enum"] == types
    assert (
        list(read_schema("index")["$defs"]["defaults"]["properties"]["source"]["properties"])
        == types
    )


def test_a_dataset_has_the_keys_of_its_models() -> None:
    own = set(keys_of(DatasetSpec)) - {"name", "folder", "view"}
    assert set(properties_of("dataset")) == own | set(keys_of(View)) | {"extends"}


def test_fields_are_those_of_the_model_and_read_the_column_of_their_name() -> None:
    assert list(properties_of("fields")) == keys_of(FieldsSpec)
    assert data_of(FieldsSpec()) == {name: name for name in keys_of(FieldsSpec)}


@pytest.mark.parametrize(("definition", "model"), PARTS.items())
def test_a_part_of_a_dataset_has_the_keys_of_its_model(
    definition: str, model: type[Struct]
) -> None:
    assert set(properties_of(definition)) == set(keys_of(model))
    assert set(DEFS[definition].get("required", [])) == set(required_of(model))
    assert DEFS[definition]["additionalProperties"] is False


def test_a_condition_has_the_comparisons_of_the_language() -> None:
    assert list(properties_of("comparisons")) == list(COMPARISONS)
    assert list(properties_of("condition")) == ["all", "any", "not", "value", *COMPARISONS]


def test_the_index_gives_defaults_to_keys_that_datasets_have() -> None:
    keys = set(read_schema("index")["$defs"]["defaults"]["properties"])
    assert keys < set(properties_of("dataset"))


@pytest.mark.parametrize(("definition", "model"), LOCK_MODELS.items())
def test_a_part_of_a_lock_has_the_keys_of_its_model(definition: str, model: type[Struct]) -> None:
    schema = LOCK["$defs"][definition]
    older = {"asked"}  # is read as `requested`, and not written any more
    assert [key for key in schema["properties"] if key not in older] == keys_of(model)
    assert schema["additionalProperties"] is False
    assert schema["required"] == required_of(model)


@pytest.mark.parametrize("definition", LOCK_MODELS)
def test_a_part_of_a_lock_has_the_bounds_of_its_model(definition: str) -> None:
    schema = LOCK["$defs"][definition]["properties"]
    for key, stated in stated_by(LOCK_MODELS[definition]).items():
        own = target_of(schema[key], inside=LOCK)
        inner = next((part for part in stated.get("anyOf", []) if part["type"] != "null"), stated)
        bounds = ("minimum", "minLength", "minItems", "type")
        assert [own.get(bound) for bound in bounds] == [inner.get(bound) for bound in bounds], key
        assert own.get("pattern") == inner.get("pattern"), key


def test_a_lock_has_the_keys_of_its_model() -> None:
    assert set(LOCK["properties"]) == {"version", "datasets"}
    assert LOCK["properties"]["version"]["const"] == Lock().version
    (names,) = LOCK["properties"]["datasets"]["patternProperties"]
    (own,) = DEFS["datasets"]["patternProperties"]
    assert names == own, "what is a name in a manifest is one in a lock"


def model_defaults() -> list[Any]:
    return [
        pytest.param(name.split()[0], key, default, id=f"{name}-{key}")
        for name, model in MODELS.items()
        for key, default in defaults_of(model).items()
        if default is not NODEFAULT and not isinstance(default, Struct)
    ]


@pytest.mark.parametrize(("definition", "key", "default"), model_defaults())
def test_defaults_are_those_of_the_model(definition: str, key: str, default: Any) -> None:
    stated = properties_of(definition)[key].get("default")
    assert stated == (None if default in ((), {}) else default)


# These take several forms, are compared on their own, or have a pattern that no empty text fits.
_NOT_COMPARED = frozenset(
    {"type", "path", "fieldnames", "data_files", "source", "concat", "where", "fields"}
    | {*PARTS, "homepage", "mapper"}
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
def test_bounds_are_those_of_the_model(
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


def test_the_schema_knows_the_operations() -> None:
    assert set(DEFS["operation"]["properties"]) == set(OPERATIONS)


def test_the_schema_knows_which_operations_need_an_argument() -> None:
    (rule,) = DEFS["operation"]["allOf"]
    arguments = DEFS["operation"]["properties"]
    # What takes any value takes null too, and null is how an argument that is left out comes.
    any_value = {name for name in OPERATIONS if set(arguments[name]) == {"description"}}
    without = {name for name in OPERATIONS if _takes_no_argument(name)}
    assert set(rule["then"]["enum"]) == without - any_value


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_examples_of_operations_are_valid(name: str) -> None:
    expression = {"from": "column", "do": [OPERATIONS[name].example.step]}
    assert problems_of({"a": {"fields": {"target": expression}}}) == []


def problems_of(datasets: dict[str, Any]) -> list[str]:
    source = {"type": "csv", "path": "x.csv"}
    whole = {name: {"source": source, **dataset} for name, dataset in datasets.items()}
    text = json.dumps({"datasets": whole})  # JSON is YAML
    return [str(problem) for problem in validate(parse_yaml(text, file="m.yaml"), "manifest")]


# --- what is wrong, in words ---

FIVE = """\
datasets:
  Sales:
    source: {type: csv, path: a.csv}
  sales-qa:
    descripton: Questions on our price list.
    source:
      type: csv
      path: 5
    fields:
      target: {from: answer, do: [{split: "#", index: 1}]}
    limit: -1
"""


def test_five_mistakes_are_five_problems_in_order() -> None:
    problems = validate(parse_yaml(FIVE, file="registry/sales.yaml"), "manifest")
    assert [str(problem) for problem in problems] == [
        (
            "registry/sales.yaml:2:3 $.datasets.Sales: 'Sales' is no name for a dataset"
            " (use lower-case letters, digits, '.', '-' and '_')"
        ),
        (
            "registry/sales.yaml:5:5 $.datasets.sales-qa.descripton: unknown key 'descripton'"
            " (did you mean 'description'?)"
        ),
        "registry/sales.yaml:8:7 $.datasets.sales-qa.source.path: must be text or a list, is 5",
        (
            "registry/sales.yaml:10:35 $.datasets.sales-qa.fields.target.do[0]:"
            " must have 1 at most, is {'split': '#', 'index': 1} (write one operation an item)"
        ),
        "registry/sales.yaml:11:5 $.datasets.sales-qa.limit: must be 0 or more, is -1",
    ]


WORDS_WITHOUT_ARGUMENT = ", ".join(DEFS["operation"]["allOf"][0]["then"]["enum"])

# What stands in a dataset `a` beside `source: {type: csv, path: x.csv}` → its problem.
BAD_KEYS = [
    ("limit: ten", "limit: must be a whole number, is 'ten'"),
    ("limit: true", "limit: must be a whole number, is True"),
    ("limit: 1.5", "limit: must be a whole number, is 1.5"),
    ("limit: 10.0", "limit: must be a whole number, is 10.0"),
    ("limit: -1", "limit: must be 0 or more, is -1"),
    ("expect: {samples: 5.0}", "expect.samples: must be a whole number, is 5.0"),
    ("expect: {sampels: 5}", "expect.sampels: unknown key 'sampels' (did you mean 'samples'?)"),
    ("seed: -1", "seed: must be 0 or more, is -1"),
    ("auto_id: no", "auto_id: must be true or false, is 'no'"),
    ("auto_id: 1", "auto_id: must be true or false, is 1"),
    ("tags: demo", "tags: must be a list, is 'demo'"),
    ("tags: [a, 1]", "tags[1]: must be text, is 1"),
    ("tags: [a, '']", "tags[1]: must not be empty"),
    ("description: 1", "description: must be text, is 1"),
    ("description: ''", "description: must not be empty"),
    ("license: ''", "license: must not be empty"),
    ("homepage: example.org", "homepage: 'example.org' does not match ^https?://"),
    ("shufle: true", "shufle: unknown key 'shufle' (did you mean 'shuffle'?)"),
    (
        "shuffle_choices: true",
        "shuffle_choices: True is not allowed here (give a seed, such as 42)",
    ),
    ("shuffle_choices: -3", "shuffle_choices: must be 0 or more, is -3"),
    (
        "on_duplicate: dorp",
        "on_duplicate: 'dorp' is not one of error, drop, suffix (did you mean 'drop'?)",
    ),
    ("on_duplicate: 7", "on_duplicate: 7 is not one of error, drop, suffix"),
    ("extends: [b]", "extends: must be text, is ['b']"),
    ("fields: [q]", "fields: must be a mapping, is ['q']"),
    ("fields: {inptu: q}", "fields.inptu: unknown key 'inptu' (did you mean 'input'?)"),
    ("fields: {input: null}", "fields.input: must be text or a list or a mapping, is None"),
    ("fields: {target: 5}", "fields.target: must be text or a list or a mapping, is 5"),
    ("fields: {choices: []}", "fields.choices: must not be empty"),
    ("fields: {metadata: [a, 1]}", "fields.metadata[1]: must be text, is 1"),
    ("fields: {target: {const: 1, cost: 2}}", "fields.target.cost: unknown key 'cost' (did you mean 'const'?)"),
    ("fields: {id: {hash: []}}", "fields.id.hash: must not be empty"),
    ("fields: {id: {hash: [q], length: 0}}", "fields.id.length: must be 1 or more, is 0"),
    ("fields: {id: {hash: [q], length: 8.0}}", "fields.id.length: must be a whole number, is 8.0"),
    (
        "fields: {id: {hash: [q], algorithm: md4}}",
        "fields.id.algorithm: 'md4' is not one of md5, sha256 (did you mean 'md5'?)",
    ),
    (
        "fields: {target: {do: [strip]}}",
        "fields.target: the key 'from' is missing",
    ),
    ("fields: {target: {from: q, do: strip}}", "fields.target.do: must be a list, is 'strip'"),
    ("fields: {target: {from: q, do: [5]}}", "fields.target.do[0]: must be text or a mapping, is 5"),
    ("fields: {target: {from: q, do: [{}]}}", "fields.target.do[0]: must not be empty"),
    (
        "fields: {target: {from: q, do: [strip, {strip: x, index: 1}]}}",
        ("fields.target.do[1]: must have 1 at most, is {'strip': 'x', 'index': 1}"
        " (write one operation an item)"),
    ),
    (
        "fields: {target: {from: q, do: [{splt: x}]}}",
        "fields.target.do[0].splt: unknown key 'splt' (did you mean 'split'?)",
    ),
    (
        "fields: {target: {from: q, do: [stripp]}}",
        (f"fields.target.do[0]: 'stripp' is not one of {WORDS_WITHOUT_ARGUMENT}"
        " (did you mean 'strip'?)"),
    ),
    ("fields: {target: {from: q, do: [{split: ''}]}}", "fields.target.do[0].split: must not be empty"),
    ("fields: {target: {from: q, do: [{index: x}]}}", "fields.target.do[0].index: must be a whole number, is 'x'"),
    ("fields: {target: {from: q, do: [{index: 1.0}]}}", "fields.target.do[0].index: must be a whole number, is 1.0"),
    ("fields: {target: {from: q, do: [{slice: [1]}]}}", "fields.target.do[0].slice: must have 2 at least"),
    (
        "fields: {target: {from: q, do: [{slice: [1, 2, 3]}]}}",
        "fields.target.do[0].slice: must have 2 at most, is [1, 2, 3]",
    ),
    ("where: {value: q, equal: 1}", "where.equal: unknown key 'equal' (did you mean 'equals'?)"),
    ("where: {value: q, empty: 1}", "where.empty: must be true or false, is 1"),
    ("where: []", "where: must not be empty"),
    ("join: {source: {path: y.csv}, on: a, into: b}", "join.source: the key 'type' is missing"),
    ("explode: {item: a}", "explode: the key 'column' is missing"),
    ("sample: {n: 3}", "sample: the key 'seed' is missing"),
    ("sample: {n: -1, seed: 1}", "sample.n: must be 0 or more, is -1"),
    ("concat: []", "concat: must not be empty"),
    ("concat: [{splt: a}]", "concat[0].splt: unknown key 'splt' (did you mean 'split'?)"),
    ("fields: {target: {template: 5}}", "fields.target.template: must be text, is 5"),
    ("fields: {target: {row_number: a}}", "fields.target.row_number: must be a whole number, is 'a'"),
    ("fields: {target: {if: {value: q, equals: 1}}}", "fields.target: the key 'then' is missing"),
    ("fields: {target: {from: q, do: [{letter: {base: 2}}]}}", "fields.target.do[0].letter.base: 2 is not one of 0, 1"),
]  # fmt: skip

# A source → the problem of a dataset `a` that has it.
BAD_SOURCES = [
    ("[x.csv]", "source: must be a mapping, is ['x.csv']"),
    ("{type: csv}", "source: the key 'path' is missing"),
    ("{type: hf, path: a/b}", "source: the key 'split' is missing"),
    (
        "{type: cvs, path: x}",
        "source.type: 'cvs' is not one of csv, json, parquet, hf (did you mean 'csv'?)",
    ),
    (
        "{type: csv, path: x, delimeter: ;}",
        "source.delimeter: unknown key 'delimeter' (did you mean 'delimiter'?)",
    ),
    ("{type: csv, path: x, delimiter: '::'}", "source.delimiter: must have 1 at most, is '::'"),
    (
        "{type: csv, path: x, dialect: exel}",
        "source.dialect: 'exel' is not one of unix, excel, excel-tab (did you mean 'excel'?)",
    ),
    ("{type: csv, path: x, skip_rows: -1}", "source.skip_rows: must be 0 or more, is -1"),
    ("{type: csv, path: x, fieldnames: a}", "source.fieldnames: must be a list, is 'a'"),
    ("{type: csv, path: []}", "source.path: must not be empty"),
    ("{type: csv, path: ''}", "source.path: must not be empty"),
    ("{type: csv, path: [x, '']}", "source.path[1]: must not be empty"),
    (
        "{type: json, path: x, delimiter: ;}",
        f"source.delimiter: unknown key 'delimiter' (known keys: {', '.join(properties_of('jsonSource'))})",
    ),
    (
        "{type: parquet, path: x, split: test}",
        f"source.split: unknown key 'split' (known keys: {', '.join(properties_of('parquetSource'))})",
    ),
    ("{type: hf, path: [a/b], split: test}", "source.path: must be text, is ['a/b']"),
    (
        "{type: hf, path: a/b, splt: test, split: x}",
        "source.splt: unknown key 'splt' (did you mean 'split'?)",
    ),
    ("{type: csv, path: x, fs_options: [a]}", "source.fs_options: must be a mapping, is ['a']"),
    (
        "{type: csv, path: x, fs_options: {key: {env: 5}}}",
        "source.fs_options.key.env: must be text, is 5",
    ),
    (
        "{type: csv, path: x, fs_options: {key: {env: A, or: b}}}",
        "source.fs_options.key.or: unknown key 'or' (known keys: env)",
    ),
    (
        "{type: csv, path: x, fs_options: {key: AKIA}}",
        (
            "source.fs_options.key: a literal secret in 'key'"
            " (name an environment variable: `{env: NAME}`)"
        ),
    ),
    (
        "{type: csv, path: x, fs_options: {client_kwargs: {aws_session_token: t}}}",
        (
            "source.fs_options.client_kwargs.aws_session_token: a literal secret in"
            " 'aws_session_token' (name an environment variable: `{env: NAME}`)"
        ),
    ),
]


def _checked(folder: Path, monkeypatch: pytest.MonkeyPatch, manifest: str) -> list[str]:
    """Return what `validate` says of a manifest m.yaml, without file, line and column."""
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    (folder / "m.yaml").write_text(manifest, encoding="utf-8")
    monkeypatch.chdir(folder)
    problems = check(Catalog.open("."), ignore=["description"])
    assert all(problem.file == "m.yaml" and problem.line > 1 for problem in problems)
    return [str(problem).partition(" $.datasets.")[2] for problem in problems]


def _without_hint_of_missing(problem: str) -> str:
    """Leave out the description of a missing key; a test of its own shows it."""
    head, is_missing, _ = problem.partition(" is missing")
    return head + is_missing


@pytest.mark.parametrize(("key", "problem"), BAD_KEYS)
def test_a_bad_key_of_a_dataset_is_said_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, problem: str
) -> None:
    manifest = f"datasets:\n  a:\n    source: {{type: csv, path: x.csv}}\n    {key}\n"
    (found,) = _checked(tmp_path, monkeypatch, manifest)
    assert _without_hint_of_missing(found) == f"a.{_without_hint_of_missing(problem)}"


@pytest.mark.parametrize(("source", "problem"), BAD_SOURCES)
def test_a_bad_source_is_said_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, problem: str
) -> None:
    (found,) = _checked(tmp_path, monkeypatch, f"datasets:\n  a:\n    source: {source}\n")
    assert _without_hint_of_missing(found) == f"a.{problem}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "m.yaml:1:1 $: must be a mapping, is None"),
        ("- a\n", "m.yaml:1:1 $: must be a mapping, is ['a']"),
        ("datasets: [a]\n", "m.yaml:1:1 $.datasets: must be a mapping, is ['a']"),
        ("datasets: {a: ~}\n", "m.yaml:1:12 $.datasets.a: must be a mapping, is None"),
        ("datasets: {}\ndataset: {}\n", "m.yaml:2:1 $.dataset: unknown key 'dataset' (did you mean 'datasets'?)"),
        ("datasets:\n  a b: {extends: c}\n", "m.yaml:2:3 $.datasets['a b']: 'a b' is no name for a dataset (use lower-case letters, digits, '.', '-' and '_')"),
        ("datasets:\n  ../up: {extends: c}\n", "m.yaml:2:3 $.datasets['../up']: '../up' is no name for a dataset (use lower-case letters, digits, '.', '-' and '_')"),
    ],
)  # fmt: skip
def test_a_bad_manifest_is_said_plainly(text: str, problem: str) -> None:
    assert [str(one) for one in validate(parse_yaml(text, file="m.yaml"), "manifest")] == [problem]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{}", "datasets"),
        ("datasets: {a: {tags: [b]}}", "source"),
        ("datasets: {a: {source: {type: hf, path: a/b}}}", "split"),
        ("datasets: {a: {extends: b, fields: {target: {do: [strip]}}}}", "from"),
    ],
)
def test_a_missing_key_is_explained_by_its_description(text: str, key: str) -> None:
    (problem,) = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert problem.message == f"the key '{key}' is missing"
    assert problem.hint in {
        target_of(node["properties"][key], inside=MANIFEST).get("description")
        for _, node in nodes(MANIFEST)
        if key in node.get("properties", {})
    }


def test_a_name_ends_with_its_last_character() -> None:
    text = '{"datasets": {"a\\n": {"source": {"type": "csv", "path": "x.csv"}}}}'
    (problem,) = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert "is no name for a dataset" in problem.message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "datasets.yaml:1:1 $: must be a mapping, is None"),
        ("version: 2\n", "datasets.yaml:1:1 $.version: must be 1, is 2"),
        ("version: 1\ninclude: a.yaml\n", "datasets.yaml:2:1 $.include: must be a list, is 'a.yaml'"),
        ("version: 1\ninclued: []\n", "datasets.yaml:2:1 $.inclued: unknown key 'inclued' (did you mean 'include'?)"),
        ("version: 1\ndefaults: {source: {csv: {path: [1]}}}\n", "datasets.yaml:2:34 $.defaults.source.csv.path[0]: must be text, is 1"),
        ("version: 1\ndefaults: {lisence: mit}\n", "datasets.yaml:2:12 $.defaults.lisence: unknown key 'lisence' (did you mean 'license'?)"),
    ],
)  # fmt: skip
def test_a_bad_index_is_said_plainly(text: str, problem: str) -> None:
    document = parse_yaml(text, file="datasets.yaml")
    assert [str(one) for one in validate(document, "index")] == [problem]


def test_long_values_are_cut_in_messages() -> None:
    (problem,) = problems_of({"a": {"limit": "x" * 5000}})
    assert len(problem) < 200


@pytest.mark.parametrize(
    "manifest",
    [
        "datasets: {}",
        "datasets: {a: {extends: b}}",
        "datasets: {a: {extends: b, source: {path: x}}}",
        "datasets: {a: {extends: b, fields: {target: null, metadata: null}, limit: null, tags: null}}",
        "datasets: {a: {extends: b, source: {fs_options: {key: null, a: [1, {b: c}]}}}}",
        "datasets: {a: {extends: b, fields: {metadata: {topic: null}}}}",
        "datasets: {a: {extends: b, expect: null}}",
        "datasets: {a: {extends: b, join: {source: {type: csv, path: c}, on: d, into: e, missing: null}}}",
    ],
)
def test_what_a_child_may_say_is_valid(manifest: str) -> None:
    assert validate(parse_yaml(manifest, file="m.yaml"), "manifest") == []

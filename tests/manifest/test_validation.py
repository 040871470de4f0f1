"""Every violation of a schema is reported with a message, position and hint."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry import map_fields
from registry.catalog.catalog import Catalog
from registry.lint.runner import check
from registry.loaders import csv_dataset, hf_dataset, json_dataset
from registry.manifest.schema import read_schema
from registry.manifest.source_models import CsvSource, HfSource
from registry.manifest.validation import (
    check_fields,
    schema_errors,
    source_from_arguments,
    validate,
)
from registry.yamldoc.reader import parse_yaml

DEFS: dict[str, Any] = read_schema("manifest")["$defs"]

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


def test_all_mistakes_are_reported_in_file_order() -> None:
    problems = validate(parse_yaml(FIVE, file="registry/sales.yaml"), "manifest")
    assert [str(problem) for problem in problems] == [
        (
            "registry/sales.yaml:2:3 $.datasets.Sales: 'Sales' is not a valid dataset name"
            " (use lower-case letters, digits, '.', '-' and '_')"
        ),
        (
            "registry/sales.yaml:5:5 $.datasets.sales-qa.descripton: unknown key 'descripton'"
            " (did you mean 'description'?)"
        ),
        "registry/sales.yaml:8:7 $.datasets.sales-qa.source.path: must be a string or a list, is 5",
        (
            "registry/sales.yaml:10:35 $.datasets.sales-qa.fields.target.do[0]:"
            " must have at most 1 key, is {'split': '#', 'index': 1} (write one operation per item)"
        ),
        "registry/sales.yaml:11:5 $.datasets.sales-qa.limit: must be 0 or more, is -1",
    ]


WORDS_WITHOUT_ARGUMENT = ", ".join(DEFS["operation"]["allOf"][0]["then"]["enum"])

# Keys of a dataset `a` besides `source: {type: csv, path: x.csv}` → the problem.
BAD_KEYS = [
    ("limit: ten", "limit: must be an integer, is 'ten'"),
    ("limit: true", "limit: must be an integer, is True"),
    ("limit: -1", "limit: must be 0 or more, is -1"),
    ("auto_id: no", "auto_id: must be true or false, is 'no'"),
    ("expect: {samples: 5.0}", "expect.samples: must be an integer, is 5.0"),
    ("tags: [a, 1]", "tags[1]: must be a string, is 1"),
    ("description: 1", "description: must be a string, is 1"),
    ("license: ''", "license: must not be empty"),
    ("access: ['https://me:hush@h/x']", "access: must be a string or a mapping, is ['https://h/x']"),
    ("fields: {id: {hash: []}}", "fields.id.hash: must not be empty"),
    ("where: []", "where: must not be empty"),
    ("concat: [1]", "concat[0]: must be a mapping, is 1"),
    ("tags: demo", "tags: must be a list, is 'demo'"),
    ("tags: [a, '']", "tags[1]: must not be empty"),
    ("homepage: example.org", "homepage: 'example.org' has the wrong form (Where to read more: a paper or a project page, such as `https://arxiv.org/abs/2009.03300`)"),
    ("shufle: true", "shufle: unknown key 'shufle' (did you mean 'shuffle'?)"),
    ("shuffle_choices: true", "shuffle_choices: True is not allowed here (write a seed, such as 42)"),
    ("on_duplicate: dorp", "on_duplicate: 'dorp' is not one of error, drop, suffix (did you mean 'drop'?)"),
    ("extends: [b]", "extends: must be a string, is ['b']"),
    ("fields: [q]", "fields: must be a mapping, is ['q']"),
    ("fields: {input: null}", "fields.input: must be a string or a list or a mapping, is None"),
    ("fields: {target: 5}", "fields.target: must be a string or a list or a mapping, is 5"),
    ("fields: {choices: []}", "fields.choices: must not be empty"),
    ("fields: {metadata: [a, 1]}", "fields.metadata[1]: must be a string, is 1"),
    ("fields: {target: {const: 1, cost: 2}}", "fields.target.cost: unknown key 'cost' (did you mean 'const'?)"),
    ("fields: {id: {hash: [q], algorithm: md4}}", "fields.id.algorithm: 'md4' is not one of md5, sha256 (did you mean 'md5'?)"),
    ("fields: {target: {from: q, do: strip}}", "fields.target.do: must be a list, is 'strip' (such as `do: [strip]`)"),
    ("fields: {target: {from: q, do: [{letter: 1}]}}", "fields.target.do[0].letter: must be a mapping, is 1 (such as `{letter: {base: 1}}`)"),
    ("fields: {target: {from: q, do: [{keep: 1}]}}", 'fields.target.do[0].keep: must be a mapping, is 1 (such as `{keep: {not_equals: "x"}}`)'),
    ("fields: {target: {from: q, do: [{each: [{lower: 1}]}]}}", "fields.target.do[0].each[0].lower: takes no value, is 1 (write `lower`, without a value)"),
    ("fields: {target: {from: q, do: [5]}}", "fields.target.do[0]: must be a string or a mapping, is 5"),
    ("fields: {target: {from: q, do: [{}]}}", "fields.target.do[0]: must not be empty"),
    (
        "fields: {target: {from: q, do: [strip, {strip: x, index: 1}]}}",
        ("fields.target.do[1]: must have at most 1 key, is {'strip': 'x', 'index': 1}"
        " (write one operation per item)"),
    ),
    ("fields: {target: {from: q, do: [{splt: x}]}}", "fields.target.do[0].splt: unknown key 'splt' (did you mean 'split'?)"),
    (
        "fields: {target: {from: q, do: [stripp]}}",
        (f"fields.target.do[0]: 'stripp' is not one of {WORDS_WITHOUT_ARGUMENT}"
        " (did you mean 'strip'?)"),
    ),
    ("fields: {target: {from: q, do: [{index: [x]}]}}", "fields.target.do[0].index: must be an integer or a string or a mapping, is ['x'] (such as `{index: 0}`)"),
    ("fields: {target: {from: q, do: [{slice: [1]}]}}", "fields.target.do[0].slice: must have at least 2 items"),
    ("fields: {target: {from: q, do: [{slice: [1, 2, 3]}]}}", "fields.target.do[0].slice: must have at most 2 items, is [1, 2, 3]"),
    ("where: {value: q, equal: 1}", "where.equal: unknown key 'equal' (did you mean 'equals'?)"),
    ("concat: []", "concat: must not be empty"),
    ("fields: {target: {row_number: a}}", "fields.target.row_number: must be an integer, is 'a'"),
    ("fields: {target: {from: q, do: [{letter: {base: 2}}]}}", "fields.target.do[0].letter.base: 2 is not one of 0, 1"),
]  # fmt: skip

# A source → the problem of it.
BAD_SOURCES = [
    ("[x.csv]", ": must be a mapping, is ['x.csv']"),
    ("{type: cvs, path: x}", ".type: 'cvs' is not one of csv, json, parquet, hf (did you mean 'csv'?)"),
    ("{type: csv, path: x, delimeter: ;}", ".delimeter: unknown key 'delimeter' (did you mean 'delimiter'?)"),
    ("{type: csv, path: x, delimiter: '::'}", ".delimiter: must have at most 1 character, is '::'"),
    ("{type: csv, path: x, dialect: exel}", ".dialect: 'exel' is not one of unix, excel, excel-tab (did you mean 'excel'?)"),
    ("{type: csv, path: ''}", ".path: must not be empty"),
    ("{type: csv, path: x, fieldnames: a}", ".fieldnames: must be a list, is 'a'"),
    ("{type: csv, path: x, fs_options: {key: {env: 5}}}", ".fs_options.key.env: must be a string, is 5"),
    ("{type: csv, path: []}", ".path: must not be empty"),
    ("{type: csv, path: [x, '']}", ".path[1]: must not be empty"),
    ("{type: json, path: x, delimiter: ;}", f".delimiter: unknown key 'delimiter' (known keys: {', '.join(DEFS['jsonSource']['properties'])})"),
    ("{type: hf, path: [a/b], split: test}", ".path: must be a string, is ['a/b']"),
    ("{type: hf, path: a/b, splt: test, split: x}", ".splt: unknown key 'splt' (did you mean 'split'?)"),
    ("{type: csv, path: x, fs_options: {key: {env: A, or: b}}}", ".fs_options.key.or: unknown key 'or' (known keys: env)"),
    ("{type: csv, path: 's3://b/x', fs_options: {key: k}}", ".fs_options.key: a literal secret in 'key' (name an environment variable: `{env: NAME}`)"),
]  # fmt: skip


def _checked(folder: Path, monkeypatch: pytest.MonkeyPatch, manifest: str) -> list[str]:
    """Return the messages of `validate` for m.yaml, without file, line and column."""
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    (folder / "m.yaml").write_text(manifest, encoding="utf-8")
    monkeypatch.chdir(folder)
    problems = check(Catalog.open("."), ignore=["description"])
    assert all(problem.file == "m.yaml" and problem.line > 1 for problem in problems)
    return [str(problem).partition(" $.datasets.")[2] for problem in problems]


@pytest.mark.parametrize(("key", "problem"), BAD_KEYS)
def test_invalid_dataset_key_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, problem: str
) -> None:
    manifest = f"datasets:\n  a:\n    source: {{type: csv, path: x.csv}}\n    {key}\n"
    (found,) = _checked(tmp_path, monkeypatch, manifest)
    assert found == f"a.{problem}"


@pytest.mark.parametrize(("source", "problem"), BAD_SOURCES)
def test_invalid_source_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, problem: str
) -> None:
    (found,) = _checked(tmp_path, monkeypatch, f"datasets:\n  a:\n    source: {source}\n")
    assert found == f"a.source{problem}"


NO_NAME = "is not a valid dataset name (use lower-case letters, digits, '.', '-' and '_')"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "m.yaml:1:1 $: must be a mapping, is None (the file is empty)"),
        ("- a\n", "m.yaml:1:1 $: must be a mapping, is ['a']"),
        ("datasets: [a]\n", "m.yaml:1:1 $.datasets: must be a mapping, is ['a'] (each below its name: `NAME: {source: …}`)"),
        ("datasets: {a: ~}\n", "m.yaml:1:12 $.datasets.a: must be a mapping, is None"),
        ("datasets: {'01': {extends: a}, '1': ~}\n", "m.yaml:1:32 $.datasets['1']: must be a mapping, is None"),
        ("datasets: {}\ndataset: {}\n", "m.yaml:2:1 $.dataset: unknown key 'dataset' (did you mean 'datasets'?)"),
        ("datasets:\n  a b: {extends: c}\n", f"m.yaml:2:3 $.datasets['a b']: 'a b' {NO_NAME}"),
        ("datasets:\n  ../up: {extends: c}\n", f"m.yaml:2:3 $.datasets['../up']: '../up' {NO_NAME}"),
        ('datasets: {"a\\n": {extends: c}}', f"m.yaml:1:12 $.datasets['a\\n']: 'a\\n' {NO_NAME}"),
        ("", "datasets.yaml:1:1 $: must be a mapping, is None (the file is empty)"),
        ("version: 2\n", "datasets.yaml:1:1 $.version: must be 1, is 2"),
        ("version: 1\ninclude: a.yaml\n", "datasets.yaml:2:1 $.include: must be a list, is 'a.yaml'"),
        ("version: 1\ninclued: []\n", "datasets.yaml:2:1 $.inclued: unknown key 'inclued' (did you mean 'include'?)"),
        ("version: 1\ndefaults: {source: {csv: {path: [1]}}}\n", "datasets.yaml:2:34 $.defaults.source.csv.path[0]: must be a string, is 1"),
        ("version: 1\ndefaults: {lisence: mit}\n", "datasets.yaml:2:12 $.defaults.lisence: unknown key 'lisence' (did you mean 'license'?)"),
    ],
)  # fmt: skip
def test_what_is_invalid_in_a_manifest_or_an_index_is_reported_once(
    text: str, problem: str
) -> None:
    file = problem.partition(":")[0]
    found = validate(parse_yaml(text, file=file), "manifest" if file == "m.yaml" else "index")
    assert [str(one) for one in found] == [problem]


DATASET = "datasets: {a: {source: {type: csv, path: x}, %s}}"


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("{}", "datasets", "Datasets by name."),
        ("datasets: {a: {tags: [b]}}", "source", "Where the records come from."),
        ("datasets: {a: {source: {path: x}}}", "type", "csv, json, parquet or hf."),
        ("datasets: {a: {source: {type: csv}}}", "path", "One path, a list, or a glob; local or a URL."),
        ("datasets: {a: {source: {type: hf, split: t}}}", "path", "Repository `owner/name`, a local folder, or a builder such as `json`."),
        ("datasets: {a: {source: {type: hf, path: a/b}}}", "split", "Split of the dataset, such as `test`."),
        (DATASET % "sample: {n: 3}", "seed", "Seed of the selection."),
        (DATASET % "sample: {seed: 3}", "n", "How many samples; all if there are fewer."),
        (DATASET % "explode: {item: b}", "column", "Column, or dotted path, of the list."),
        (DATASET % "join: {on: a, into: b}", "source", "The lookup table."),
        (DATASET % "join: {source: {type: csv, path: y}, into: b}", "on", "Column of the records that holds the key; only `row_number` can do without."),
        (DATASET % "fields: {target: {do: [strip]}}", "from", "The value to start with."),
        (DATASET % "fields: {target: {if: {value: a, equals: 1}}}", "then", "The value if the condition holds; may be null."),
        (DATASET % "fields: {input: {messages: [{role: user}]}}", "content", DEFS["messagesExpression"]["properties"]["messages"]["items"]["properties"]["content"]["description"]),
        (DATASET % "fields: {target: {from: a, do: [{sub: {to: x}}]}}", "pattern", "The regular expression."),
    ],
)  # fmt: skip
def test_missing_key_hint_is_the_description_of_the_key(text: str, key: str, hint: str) -> None:
    (problem,) = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert (problem.message, problem.hint) == (f"the key '{key}' is missing", hint)


def test_column_in_braces_gets_a_hint() -> None:
    text = DATASET % "fields: {input: {question}}"
    missing, _ = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert missing.message == "the key 'from' is missing"
    assert missing.hint == "a column is written without braces: `question`"


def test_several_missing_keys_are_reported_once_each() -> None:
    text = DATASET % "join: {}"
    problems = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert [problem.message for problem in problems] == [
        f"the key '{key}' is missing" for key in ("source", "into", "on")
    ]


def test_long_values_are_shortened_in_messages() -> None:
    text = f"datasets: {{a: {{extends: b, limit: {'x' * 5000}}}}}"
    (problem,) = validate(parse_yaml(text, file="m.yaml"), "manifest")
    assert len(str(problem)) < 200


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
def test_child_may_remove_inherited_keys(manifest: str) -> None:
    assert validate(parse_yaml(manifest, file="m.yaml"), "manifest") == []


@pytest.mark.parametrize("manifest", ["tags: [a, a]", "tags: [b, a, a]"])
def test_repeated_item_is_reported_at_its_place(manifest: str) -> None:
    (problem,) = validate(parse_yaml(DATASET % manifest, file="m.yaml"), "manifest")
    assert problem.message == "'a' is listed twice"
    assert problem.path == f"$.datasets.a.tags[{manifest.count(',')}]"


def test_repeated_items_are_found_whatever_their_number() -> None:
    manifest = f"tags: [{', '.join(['a'] * 5_000)}]"
    problems = validate(parse_yaml(DATASET % manifest, file="m.yaml"), "manifest")
    assert len(problems) == 5


@pytest.mark.parametrize("value", [10.0, 1e300, math.inf, math.nan, True, "1"])
def test_non_integers_are_rejected_for_an_integer_key(value: Any) -> None:
    dataset = {"extends": "b", "limit": value}
    (error,) = schema_errors({"datasets": {"a": dataset}}, "manifest")
    assert (error.path[-1], error.rule) == ("limit", "wrong-type")
    (error,) = schema_errors(dataset, "manifest", "dataset")
    assert (error.path, error.rule) == (("limit",), "wrong-type")


def test_float_is_valid_where_any_type_is_allowed() -> None:
    fields = {"target": {"const": 10.0}, "metadata": {"n": {"const": math.nan}}}
    assert schema_errors(fields, "manifest", "fields") == []


@pytest.mark.parametrize(
    ("levels", "inner", "rules"),
    [(40, 5, ["wrong-type"]), (40, "column", []), (64, "column", []), (100_000, 5, ["yaml-limit"])],
)
def test_a_deep_value_neither_crashes_nor_passes_unseen(
    levels: int, inner: Any, rules: list[str]
) -> None:
    value: Any = inner
    for _ in range(levels):
        value = [value]
    errors = schema_errors({"target": value}, "manifest", "fields")
    assert [error.rule for error in errors] == rules


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"delimiter": ";;"}, "delimiter: must have at most 1 character, is ';;'"),
        ({"dialect": "tab"}, "dialect: 'tab' is not one of unix, excel, excel-tab (did you mean 'excel-tab'?)"),
        ({"fieldnames": [], "encoding": 5}, "fieldnames: must not be empty; encoding: must be a string, is 5"),
        ({"path": [""]}, "path.0: must not be empty"),
        ({"path": []}, "path: must not be empty"),
        ({"path": None}, "the key 'path' is missing (One path, a list, or a glob; local or a URL.)"),
        ({"skip_rows": -1}, "skip_rows: must be 0 or more, is -1"),
        ({"fs_options": ["anon"]}, "fs_options: must be a mapping, is ['anon']"),
        ({"fs_options": {"client": object()}, "delimiter": ""}, "delimiter: must not be empty"),
    ],
)  # fmt: skip
def test_every_invalid_key_of_a_source_is_reported(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        source_from_arguments(CsvSource, {"path": ["x.csv"], **keys})
    assert str(caught.value) == message


def test_none_selects_the_default() -> None:
    keys = {"path": "a/b", "split": "test", "name": None, "trust": None}
    assert source_from_arguments(HfSource, keys) == HfSource(path="a/b", split="test")


def test_file_system_options_may_be_arbitrary_objects() -> None:
    client = object()
    source = source_from_arguments(CsvSource, {"path": ["x"], "fs_options": {"client": client}})
    assert source.fs_options["client"] is client


def test_loader_raises_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^delimiter: must have at most 1 character"):
        csv_dataset("x.csv", delimiter="ab")
    with pytest.raises(ValueError, match=r"^path\.0: must be a string, is 5$"):
        json_dataset(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^the key 'split' is missing \(Split of"):
        hf_dataset("a/b", None)  # type: ignore[arg-type]


def test_value_rejected_by_the_model_but_not_the_schema_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.manifest.validation.schema_errors", lambda *_: [])
    with pytest.raises(msgspec.ValidationError):
        source_from_arguments(CsvSource, {"path": 5})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": 5}, "field target: must be a string or a list or a mapping, is 5"),
        ({"target": {"from": "a", "do": [{"index": 1.0}]}}, "field target.do.0.index: must be an integer or a string or a mapping, is 1.0 (such as `{index: 0}`)"),
        ({"choices": ("a", "b")}, "field choices: ('a', 'b') is not a value that YAML has (write a list, or another value of YAML)"),
        ({"id": {"hash": "q", "length": 65}}, "field id.length: must be 64 or less, is 65"),
        ({"target": {"const": {1: 2}}}, None),
        ({"target": {"const": float("nan")}}, None),
        ({"target": {"const": "\ud800"}}, None),
        ({"target": "a"}, None),
    ],
)  # fmt: skip
def test_fields_are_checked_as_in_a_manifest(fields: dict[str, Any], message: str | None) -> None:
    if message is None:
        check_fields(fields)
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        check_fields(fields)
    assert str(caught.value) == message


def test_map_fields_checks_its_argument() -> None:
    with pytest.raises(ValueError, match=r"^field metadata\.n\.length: must be 1 or more, is 0$"):
        map_fields({"metadata": {"n": {"hash": ["q"], "length": 0}}})


def test_deep_nesting_is_rejected_instead_of_overflowing_the_stack() -> None:
    deep: Any = "a"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match=r"^fields: nested too deeply to be checked$"):
        check_fields({"target": deep})

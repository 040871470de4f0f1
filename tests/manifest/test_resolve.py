"""Resolving: extends, defaults, overrides and a replaced source, with the position of each problem."""

from __future__ import annotations

import contextlib
import json
import os
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import ManifestError
from registry.manifest.merge import Entry, Layer
from registry.manifest.models import (
    Access,
    DatasetSpec,
    Evaluation,
    Explode,
    License,
    Scorer,
    Solver,
    View,
    without_corrections,
)
from registry.manifest.resolve import resolve
from registry.manifest.serialize import data_of, is_not_default, model_defaults
from registry.manifest.source_models import CsvSource, HfSource, JsonSource
from registry.manifest.validation import schema_errors
from registry.yamldoc.reader import parse_yaml, read_yaml

FOLDER = Path("/catalog")


def entries_of(
    manifest: str, *, defaults: str = "{}", folder: Path = FOLDER, file: str = "m.yaml"
) -> dict[str, Entry]:
    """Return the datasets of a manifest, written as `name: {…}` lines."""
    indented = "\n".join(f"  {line}" for line in manifest.splitlines())
    document = parse_yaml(f"datasets:\n{indented}\n", file=file)
    index = parse_yaml(f"defaults: {defaults}\n", file="datasets.yaml")
    layer = Layer("default", index.value["defaults"], index, ("defaults",))
    return {name: Entry(name, document, folder, layer) for name in document.value["datasets"]}


def resolved(manifest: str, name: str = "kid", **options: Any) -> DatasetSpec:
    entries = entries_of(manifest, defaults=options.pop("defaults", "{}"))
    return resolve(name, entries, **options)


def problems_of(manifest: str, name: str = "kid", **options: Any) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        resolved(manifest, name, **options)
    return [str(problem) for problem in caught.value.problems]


CSV = "source: {type: csv, path: x.csv}"


def test_minimal_dataset_has_the_defaults() -> None:
    spec = resolved(f"kid: {{{CSV}}}")
    assert spec == DatasetSpec(
        name="kid", source=CsvSource(path=(str(FOLDER / "x.csv"),)), folder=FOLDER
    )


# --- extends ---


def merged(parent: str, child: str) -> DatasetSpec:
    return resolved(f"base: {{{parent}}}\nkid: {{extends: base, {child}}}")


EVAL = "eval: {solver: [chain_of_thought, {name: generate, args: null}], scorer: match, epochs: 2}"


def test_eval_takes_names_and_mappings_alone_or_in_a_list() -> None:
    assert resolved(f"kid: {{{CSV}, {EVAL}}}").eval == Evaluation(
        solver=(Solver(name="chain_of_thought"), Solver(name="generate")),
        scorer=(Scorer(name="match"),),
        epochs=2,
    )
    one = "eval: {scorer: {name: match, args: {numeric: true}}}"
    scorer = Scorer(name="match", args={"numeric": True})
    assert resolved(f"kid: {{{CSV}, {one}}}").eval == Evaluation(scorer=(scorer,))
    assert resolved(f"kid: {{{CSV}}}").eval is None


def test_eval_is_merged_and_removed_by_null() -> None:
    parent = f"{CSV}, {EVAL}"
    found = merged(parent, "eval: {scorer: [f1, exact], epochs: null}").eval
    assert found == Evaluation(
        solver=(Solver(name="chain_of_thought"), Solver(name="generate")),
        scorer=(Scorer(name="f1"), Scorer(name="exact")),
    )
    assert merged(parent, "eval: null").eval is None


@pytest.mark.parametrize(
    ("parent", "child", "key", "value"),
    [
        ("limit: 5", "limit: null", "view.limit", None),
        ("tags: [a]", "tags: null", "tags", ()),
        ("license: mit", "license: null", "license", None),
        ("on_duplicate: drop", "on_duplicate: null", "on_duplicate", "error"),
        ("auto_id: true", "auto_id: null", "view.auto_id", False),
        ("shuffle_choices: 3", "shuffle_choices: null", "view.shuffle_choices", None),
        ("shuffle_choices: 3", "shuffle_choices: false", "view.shuffle_choices", None),
        ("limit: 5", "limit: 0", "view.limit", 0),
        ("expect: {samples: 3}", "limit: 1", "expect.samples", 3),
        ("expect: {samples: 3}", "expect: {}", "expect.samples", 3),
        ("expect: {samples: 3}", "expect: {samples: 4}", "expect.samples", 4),
        ("expect: {samples: 3}", "expect: {samples: null}", "expect.samples", None),
        ("expect: {samples: 3}", "expect: null", "expect.samples", None),
        ("license: mit", "tags: [a]", "license", License(spdx="mit")),
        ("license: mit", "license: {spdx: MIT, read-at: 'https://x.org'}", "license", License(spdx="MIT", read_at="https://x.org")),
        ("license: {spdx: MIT, read-at: 'https://x.org'}", "license: {none-stated: 2026-11-23, looked-at: 'https://x.org'}", "license", License(none_stated="2026-11-23", looked_at="https://x.org")),
        ("access: {gated: 'https://x.org'}", "access: open", "access", Access()),
        ("access: open", "access: {agreement: 'https://x.org'}", "access", Access(agreement="https://x.org")),
    ],
)  # fmt: skip
def test_null_removes_an_inherited_value(parent: str, child: str, key: str, value: object) -> None:
    assert attrgetter(key)(merged(f"{CSV}, {parent}", child)) == value


def test_null_field_is_preserved() -> None:
    grandchild = resolved(
        f"base: {{{CSV}, fields: {{target: null}}}}\nmid: {{extends: base}}\nkid: {{extends: mid}}"
    )
    assert grandchild.fields.target is None


def test_chain_of_three_is_applied_from_the_root() -> None:
    spec = resolved(
        "kid: {extends: mid, limit: 3, fields: {id: c}}\n"
        "mid: {extends: base, limit: 2, auto_id: true, fields: {target: b}}\n"
        f"base: {{{CSV}, limit: 1, license: mit, fields: {{input: a, target: a}}}}\n"
    )
    assert (spec.name, str(spec.license)) == ("kid", "mit")
    assert (spec.view.limit, spec.view.auto_id) == (3, True)
    given = data_of(spec.fields, keep=is_not_default)
    assert given == {"input": "a", "target": "b", "id": "c"}


@pytest.mark.parametrize(
    ("manifest", "cycle"),
    [
        ("kid: {extends: kid}", "kid → kid"),
        ("kid: {extends: b}\nb: {extends: kid}", "kid → b → kid"),
        ("kid: {extends: b}\nb: {extends: c}\nc: {extends: b}", "kid → b → c → b"),
    ],
)
def test_cycle_is_reported_with_its_members(manifest: str, cycle: str) -> None:
    (problem,) = problems_of(manifest)
    place, _, message = problem.partition(": ")
    assert place.endswith(".extends")
    assert message == f"`extends` forms a cycle: {cycle}"


def test_unknown_parent_is_reported_with_similar_names() -> None:
    names = "".join(f"{name}: {{{CSV}}}\n" for name in ("mmlu", "mmlu-pro", "arc"))
    retired = "mmlu-old: {renamed_to: mmlu}\nmmulu: {removed: {reason: Its server is gone}}\n"
    assert problems_of(f"{names}kid: {{extends: mmul}}\n{retired}") == [
        "m.yaml:5:9 $.datasets.kid.extends: no dataset 'mmul' (similar names: mmlu, mmlu-pro)"
    ]
    assert problems_of("kid: {extends: zzz}") == [
        "m.yaml:2:9 $.datasets.kid.extends: no dataset 'zzz'"
    ]


def test_dataset_needs_a_source() -> None:
    assert problems_of("base: {limit: 1}\nkid: {extends: base, limit: 2}") == [
        "m.yaml:3:3 $.datasets.kid: the dataset has no source (add `source: {type: …, path: …}`)"
    ]


# --- defaults ---


def test_index_defaults_have_the_lowest_precedence() -> None:
    defaults = "{license: mit, tags: [a], on_duplicate: drop, auto_id: true}"
    spec = resolved(f"kid: {{{CSV}, tags: [b], auto_id: null}}", defaults=defaults)
    assert (str(spec.license), spec.tags) == ("mit", ("b",))
    assert (spec.on_duplicate, spec.view.auto_id) == ("drop", False)


TYPED = "{source: {csv: {encoding: latin-1, delimiter: ;}, json: {encoding: utf-16}, hf: {revision: main}}}"


@pytest.mark.parametrize(
    ("manifest", "source"),
    [
        (f"kid: {{{CSV}}}", CsvSource(path=("/catalog/x.csv",), encoding="latin-1", delimiter=";")),
        ("kid: {source: {type: csv, path: x.csv, encoding: ascii, delimiter: null}}", CsvSource(path=("/catalog/x.csv",), encoding="ascii")),
        ("kid: {source: {type: hf, path: a/b, split: t}}", HfSource(path="a/b", split="t", revision="main")),
        (f"base: {{{CSV}}}\nkid: {{extends: base, source: {{path: y.csv}}}}", CsvSource(path=("/catalog/y.csv",), encoding="latin-1", delimiter=";")),
        (f"base: {{{CSV}}}\nkid: {{extends: base, source: {{type: json, path: y.json}}}}", JsonSource(path=("/catalog/y.json",), encoding="utf-16")),
    ],
)  # fmt: skip
def test_source_defaults_depend_on_the_type(manifest: str, source: Any) -> None:
    assert resolved(manifest, defaults=TYPED).source == source


def test_invalid_default_is_reported_in_the_index() -> None:
    assert problems_of(f"kid: {{{CSV}}}", defaults="{auto_id: 1}") == [
        "datasets.yaml:1:12 $.defaults.auto_id: must be true or false, is 1"
    ]


# --- view ---


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("shuffle: true", "shuffle: `shuffle` without `seed` gives a different order on every run (add `seed: 42`)"),
        ("shuffle_choices: true", "shuffle_choices: `shuffle_choices: true` gives a different order on every run (write the seed: `shuffle_choices: 42`)"),
    ],
)  # fmt: skip
def test_order_must_be_reproducible(keys: str, problem: str) -> None:
    (found,) = problems_of(f"kid: {{{CSV}, {keys}}}")
    assert found.partition(" $.datasets.kid.")[2] == problem


def test_all_problems_are_reported() -> None:
    source = "source: {type: csv, path: x.csv, fs_options: {secret: s}}"
    found = problems_of(f"kid: {{{source}, shuffle: true, fields: {{input: {{frm: q}}}}}}")
    assert len(found) == 3


# --- steps ---


def test_concat_part_overrides_keys_of_the_source() -> None:
    spec = resolved(
        "kid:\n"
        "  source: {type: csv, path: x.csv, encoding: latin-1, columns: {a: 1, b: 2}}\n"
        "  concat: [{path: y.csv}, {skip_rows: 1, columns: {b: 3}}]\n"
    )
    assert spec.sources == (
        CsvSource(path=("/catalog/y.csv",), encoding="latin-1", columns={"a": 1, "b": 2}),
        CsvSource(
            path=("/catalog/x.csv",), encoding="latin-1", skip_rows=1, columns={"a": 1, "b": 3}
        ),
    )


def test_inherited_concat_follows_the_overridden_source() -> None:
    spec = merged(
        "source: {type: hf, path: a/b, split: t}, concat: [{name: c}, {name: d}]",
        "source: {split: u}",
    )
    assert spec.sources == (
        HfSource(path="a/b", split="u", name="c"),
        HfSource(path="a/b", split="u", name="d"),
    )


@pytest.mark.parametrize("part", ["{encoding: null}", "{columns: null}", "{fs_options: null}"])
def test_null_removes_a_key_from_a_concat_part(part: str) -> None:
    source = (
        "source: {type: csv, path: x.csv, encoding: latin-1, columns: {a: 1}, fs_options: {b: 2}}"
    )
    (found,) = resolved(f"kid: {{{source}, concat: [{part}]}}").sources
    (key,) = (name for name in ("encoding", "columns", "fs_options") if name in part)
    assert getattr(found, key) == model_defaults(CsvSource)[key]


def test_short_form_of_explode_is_the_column_name() -> None:
    assert resolved(f"kid: {{{CSV}, explode: a.b}}").explode == Explode(column="a.b")
    assert resolved(f"kid: {{{CSV}, explode: {{column: c, item: d}}}}").explode == Explode(
        column="c", item="d"
    )


@pytest.mark.parametrize(
    "key",
    [
        "where: {value: q, equals: 1}",
        "explode: q",
        "join: {source: {type: csv, path: y.csv}, on: a, into: b}",
        "sample: {n: 3, seed: 1}",
        "concat: [{path: y.csv}]",
        "mapper: pkg:function",
    ],
)
def test_null_removes_an_inherited_step(key: str) -> None:
    name = key.partition(":")[0]
    assert getattr(merged(f"{CSV}, {key}", "limit: 1"), name)
    assert not getattr(merged(f"{CSV}, {key}", f"{name}: null"), name)


# --- overrides ---


def overridden(manifest: str, **overrides: Any) -> DatasetSpec:
    return resolved(manifest, overrides=overrides)


def test_overrides_have_the_highest_precedence() -> None:
    manifest = f"kid: {{{CSV}, shuffle: true, seed: 1, limit: 5, shuffle_choices: 2}}"
    spec = overridden(manifest, seed=7, limit=None, auto_id=True, shuffle_choices=False)
    assert data_of(spec.view) == {
        "only": None,
        "auto_id": True,
        "shuffle": True,
        "seed": 7,
        "shuffle_choices": None,
        "limit": None,
    }
    assert overridden(manifest, shuffle=False).view.seed is None
    assert overridden(manifest, limit=0).view.limit == 0


def test_split_and_revision_override_the_source() -> None:
    manifest = "kid: {source: {type: hf, path: a/b, split: test, revision: main, name: c}}"
    spec = overridden(manifest, split="train", revision="v2")
    assert spec.source == HfSource(path="a/b", split="train", revision="v2", name="c")


def test_unknown_override_is_a_type_error() -> None:
    known = (*View.__struct_fields__, "split", "revision", "fewshot", "corrections")
    for name, hint in (("lmit", "did you mean 'limit'?"), ("qqq", f"known: {', '.join(known)}")):
        with pytest.raises(TypeError) as caught:
            overridden(f"kid: {{{CSV}}}", **{name: 1})
        assert str(caught.value) == f"get_dataset() has no argument '{name}' ({hint})"
    with pytest.raises(TypeError, match=r"metadata keys, which are strings, not {5: 'a'}"):
        overridden(f"kid: {{{CSV}}}", only={5: "a"})


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        ({"seed": 3}, "argument `seed`: `seed` without `shuffle` does nothing (add `shuffle=True`)"),
        ({"shuffle": True}, "argument `shuffle`: `shuffle` without `seed` gives a different order on every run (add `seed=42`)"),
        ({"shuffle_choices": True}, "argument `shuffle_choices`: `shuffle_choices=True` gives a different order on every run (write the seed: `shuffle_choices=42`)"),
        ({"auto_id": "x"}, "argument `auto_id`: must be True or False, is 'x'"),
        ({"only": 3}, "argument `only`: must be a dict, is 3"),
        ({"split": "dev"}, "argument `split`: the dataset has no splits (declare them in its manifest, under `splits`)"),
        ({"revision": "v2"}, "argument `revision`: files have no revisions, as a repository of the Hub has (name them by `source`)"),
        ({"limit": -1}, "argument `limit`: must be 0 or more, is -1"),
        ({"shuffle_choices": -1}, "argument `shuffle_choices`: must be 0 or more, is -1"),
        ({"limit": "3"}, "argument `limit`: must be an integer, is '3'"),
        ({"limit": 3j}, "argument `limit`: 3j is not a value that YAML has (write a list, or another value of YAML)"),
    ],
)  # fmt: skip
def test_invalid_override_is_reported_at_the_override(
    overrides: dict[str, Any], problem: str
) -> None:
    assert problems_of(f"kid: {{{CSV}}}", overrides=overrides) == [problem]


# --- source= ---


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("y.jsonl.gz", "json"),
        ("s3://b/*.parquet", "parquet"),
        ("https://h/y.tsv?sig=a.json", "csv"),
    ],
)
def test_suffix_of_an_overriding_source_determines_its_type(location: str, kind: str) -> None:
    spec = resolved(f"kid: {{{CSV}, expect: {{samples: 3}}}}", source=location)
    assert spec.source.type == kind
    assert spec.source.path == (location if "://" in location else os.path.abspath(location),)
    assert spec.expect.samples is None
    assert getattr(spec.source, "delimiter", "\t") == "\t"


def test_overriding_source_of_the_same_type_keeps_reader_options() -> None:
    manifest = "kid: {source: {type: csv, path: x.csv, encoding: latin-1, fieldnames: [q, a]}}"
    spec = resolved(manifest, source="/data/y.csv")
    assert spec.source == CsvSource(
        path=("/data/y.csv",), encoding="latin-1", fieldnames=("q", "a")
    )


def test_overriding_source_of_a_different_type_inherits_nothing() -> None:
    manifest = "kid: {source: {type: hf, path: a/b, split: t, revision: main}, limit: 3}"
    spec = resolved(manifest, source="/data/y.jsonl")
    assert spec.source == JsonSource(path=("/data/y.jsonl",))
    assert spec.view.limit == 3


def test_folder_can_override_a_hub_source(tmp_path: Path) -> None:
    manifest = "kid: {source: {type: hf, path: a/b, name: c, split: t, revision: main}}"
    spec = resolved(manifest, source=str(tmp_path))
    assert spec.source == HfSource(path=str(tmp_path), name="c", split="t")


def test_overriding_source_of_unknown_type_is_rejected() -> None:
    known = ".csv, .tsv, .tab, .json, .jsonl, .ndjson, .parquet"
    assert problems_of(f"kid: {{{CSV}}}", source="https://h/y.txt?sig=hush") == [
        f"argument `source`: can't infer the type of https://h/y.txt?… (known suffixes: {known})"
    ]


def test_overriding_source_may_start_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert resolved(f"kid: {{{CSV}}}", source="~/y.csv").source.path == ("/home/me/y.csv",)


# --- paths ---


def test_inherited_path_is_relative_to_the_index_that_defines_it() -> None:
    entries = {
        **entries_of(f"base: {{{CSV}}}", folder=Path("/package"), file="/package/m.yaml"),
        **entries_of("kid: {extends: base, limit: 3}\nown: {extends: base, source: {path: y.csv}}"),
    }
    assert resolve("kid", entries).source.path == ("/package/x.csv",)
    assert resolve("own", entries).source.path == ("/catalog/y.csv",)
    base = resolve("base", entries)
    assert (base.source.path, base.view.limit) == (("/package/x.csv",), None), "is not changed"


# --- values that are valid in each file, but not after merging ---

UNKNOWN_KEY = "unknown key 'delimiter' (known keys: type, columns, path, sha256, mirrors, fs_options, encoding, lines, records, item)"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("base: {source: {type: json, path: x.json}}\nkid: {extends: base, source: {delimiter: ;}}", f"m.yaml:3:33 $.datasets.kid.source.delimiter: {UNKNOWN_KEY}"),
        (f"base: {{{CSV}}}\nkid: {{extends: base, source: {{type: hf, path: a/b}}}}", "m.yaml:3:24 $.datasets.kid.source: the key 'split' is missing (Split of the dataset, such as `test`.)"),
        ("base: {source: {type: hf, path: a/b, split: t}}\nkid: {extends: base, source: {path: [x]}}", "m.yaml:3:33 $.datasets.kid.source.path: must be a string, is ['x']"),
        ("kid: {source: {type: json, path: x.json}, concat: [{path: y.json}, {delimiter: ;}]}", f"m.yaml:2:71 $.datasets.kid.concat[1].delimiter: {UNKNOWN_KEY}"),
    ],
)  # fmt: skip
def test_invalid_merged_keys_are_rejected_with_the_schema_message(
    manifest: str, problem: str
) -> None:
    assert problems_of(manifest) == [problem]


SHIPPED = [
    dataset
    for path in sorted((Path(__file__).parents[2] / "registry").glob("*.yaml"))
    for dataset in read_yaml(path).value.get("datasets", {}).values()
    if "extends" not in dataset
]
SOURCES: list[dict[str, Any]] = [
    *({"path": ["x"]}, {"path": "y"}, {"split": "t"}, {"delimiter": ";"}, {"encoding": None}, {"skip_rows": None}),
    *({"type": "csv"}, {"type": "hf", "path": "a/b"}, {"data_files": {"t": ["x"]}}, {"records": "a.b"}, {"columns": {"a": None}}),
    *({"fs_options": {"a": None}}, {"fieldnames": ["a"]}, {"trust": None, "cached": False}, {"name": None, "revision": "main"}),
]  # fmt: skip
STEPS: dict[str, list[Any]] = {
    "concat": [[{"path": "y"}, {"split": "t"}], [{"delimiter": ";"}], None],
    "join": [{"source": {"type": "csv", "path": "y"}, "on": "a", "into": "b", "key": None, "missing": None}],
    "explode": ["a", {"column": "a"}, {"column": "a", "item": "b"}],
    "sample": [{"n": 1, "seed": 2}, {"n": 1, "seed": 2, "stratify_by": None}],
    "expect": [{"samples": None, "unique_ids": None}, {"target_in_choices": True}],
    "shuffle_choices": [False, 3, None],
    "tags": [[], ["a"], None],
    "limit": [2**62, 0, None],
}  # fmt: skip


def test_corrections_are_not_of_the_split_that_has_the_examples() -> None:
    hub = "source: {type: hf, path: org/name, split: test}, corrections: e.yaml"
    spec = resolved(f"kid: {{{hub}, fewshot: {{split: train, n: 1, apply: true}}}}")
    assert spec.corrections is not None
    assert spec.companion is not None
    assert spec.companion.corrections is None


def test_without_corrections_the_examples_have_none_either() -> None:
    manifest = (
        f"kid: {{{CSV}, fewshot: {{dataset: dev, n: 1, apply: true}}, expect: {{samples: 3}}}}\n"
        "dev: {source: {type: csv, path: y.csv}, corrections: e.yaml, expect: {samples: 2}}"
    )
    corrected, original = (
        resolved(manifest, overrides=one) for one in ({}, {"corrections": False})
    )
    assert (corrected.is_corrected, corrected.is_original) == (True, False)
    assert (original.is_corrected, original.is_original) == (False, True)
    assert original.expect == corrected.expect, "its own samples are the same"
    assert original == without_corrections(corrected) == without_corrections(original)
    plain = resolved(f"kid: {{{CSV}}}", overrides={"corrections": False})
    assert not plain.is_original, "there are none"


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_models_accept_all_values_that_the_schema_accepts(data: st.DataObject) -> None:
    datasets = {"base": dict(data.draw(st.sampled_from(SHIPPED))), "kid": {"extends": "base"}}
    for dataset in datasets.values():
        for key in data.draw(st.lists(st.sampled_from(list(STEPS)), max_size=2)):
            dataset[key] = data.draw(st.sampled_from(STEPS[key]))
        for keys in data.draw(st.lists(st.sampled_from(SOURCES), max_size=2)):
            dataset["source"] = {**dataset.get("source", {}), **keys}
    if schema_errors({"datasets": datasets}, "manifest"):
        return
    document = parse_yaml(json.dumps({"datasets": datasets}), file="m.yaml")
    entries = {name: Entry(name, document, FOLDER, Layer("default", {})) for name in datasets}
    for name in datasets:
        with contextlib.suppress(ManifestError):  # any other error is a bug
            resolve(name, entries)

"""A resolved dataset: its sources, and the rule that its view leaves for duplicate ids."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.diff.severity import SAME_SAMPLES, change_class
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec, FieldsSpec, OwnColumn, to_spec

CSV = {"type": "csv", "path": ["/a.csv"]}
HUB = {"type": "hf", "path": "owner/name", "split": "test"}


def spec(**keys: Any) -> DatasetSpec:
    return to_spec({"name": "d", "folder": Path("/c"), "source": CSV, **keys})


def test_each_key_that_changes_samples_has_a_class_and_a_place() -> None:
    """Whoever writes a dataset in another language has to name, or refuse, each of these."""
    steps = {"concat", "join", "explode", "where", "mapper", "corrections", "sample"}
    others = {"source", "fields", "view", "on_duplicate", "fewshot"}
    resolved = {"name", "folder", "split", "companion", "is_original"}
    keys = {*DatasetSpec.__struct_fields__} - resolved
    documentation = {key for key in keys - {"view"} if change_class(key) in SAME_SAMPLES}
    assert keys - documentation == steps | others
    given = {"concat": [CSV], "explode": {"column": "a"}, "where": {"value": "a"}, "mapper": "a:b"}
    given |= {"join": {"source": CSV, "on": "a", "into": "b"}, "sample": {"n": 1, "seed": 0}}
    given["corrections"] = {"type": "corrections", "path": ["/e.yaml"]}
    assert set(spec(**given).steps) == steps


def test_concat_replaces_the_source_and_a_lookup_table_comes_last() -> None:
    join = {"source": HUB, "on": "a", "into": "b"}
    types = [source.type for source in spec(concat=[CSV, HUB, CSV], join=join).sources]
    assert types == ["csv", "hf", "csv"]
    assert [source.type for source in spec(join=join).all_sources] == ["csv", "hf"]
    assert spec().all_sources == spec().sources == (spec().source,)


@pytest.mark.parametrize(
    ("keys", "remote"),
    [
        ({}, False),
        ({"source": HUB}, True),
        ({"concat": [CSV, {**CSV, "path": ["s3://b/a.csv"]}]}, True),
        ({"join": {"source": HUB, "on": "a", "into": "b"}}, True),
    ],
)
def test_dataset_is_remote_if_any_source_is(keys: dict[str, Any], remote: bool) -> None:
    assert spec(**keys).is_remote is remote


def test_location_is_the_source_location_without_secrets() -> None:
    assert spec(source={**CSV, "path": ["https://u:p@h/a.csv?s=1"]}).location == "https://h/a.csv?…"
    assert spec(source=HUB).location == "owner/name"


def test_fields_of_a_manifest_are_named_and_defaults_and_nulls_are_not() -> None:
    fields = spec(fields={"input": "q", "target": "target", "id": None}).fields
    assert fields.named == {"input", "target"}
    assert FieldsSpec().named == set()
    assert pickle.loads(pickle.dumps(fields)).named == copy.deepcopy(fields).named == fields.named


def test_naming_the_column_of_a_default_does_not_make_a_pin_stale() -> None:
    written = spec(fields={name.value: name.value for name in OwnColumn})
    assert written.fields.named == set(OwnColumn)
    assert spec_digest(written) == spec_digest(spec())


def test_sandbox_files_and_setup_are_read_only_where_they_are_named() -> None:
    plain, named = spec(fields={"input": "q"}), spec(fields={"input": "q", "setup": "setup"})
    assert (plain.fields.sandbox, plain.fields.files, plain.fields.setup) == (None, None, None)
    assert named.fields.setup == "setup"
    assert spec_digest(named) != spec_digest(plain)


@pytest.mark.parametrize("rule", ["error", "drop", "suffix"])
def test_numbered_samples_keep_duplicates(rule: str) -> None:
    assert spec(on_duplicate=rule).duplicate_rule == rule
    assert spec(on_duplicate=rule, view={"auto_id": True}).duplicate_rule == "keep"


@pytest.mark.parametrize(
    "keys",
    [
        *[{"name": ""}, {"folder": "/c"}, {"limit": 3}, {"view": {"limit": -1}}],
        *[{"view": {"limit": True}}, {"source": {"type": "csv", "path": []}}],
        *[{"source": {**CSV, "splt": "x"}}, {"concat": [{"type": "cvs", "path": ["x"]}]}],
        *[{"join": {"source": CSV, "on": "a"}}, {"on_duplicate": "keep"}],
    ],
    ids=str,
)
def test_incompatible_keys_are_rejected(keys: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        spec(**keys)

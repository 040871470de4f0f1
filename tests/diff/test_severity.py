"""The class of each key, and the order of classes."""

from __future__ import annotations

import pytest

from registry.diff.severity import (
    ChangeClass,
    by_severity,
    change_class,
    is_digest,
    is_reported,
    is_result,
)
from registry.manifest.models import DatasetSpec, View

CLASS_OF = {
    "source.path": "source bytes",
    "source.type": "source bytes",
    "source.revision": "source bytes",
    "source.fs_options.key": "source bytes",
    "source.split": "subset",
    "source.columns['a b']": "inputs",
    "concat[0].path": "source bytes",
    "concat": "source bytes",
    "join": "inputs",
    "join.on": "inputs",
    "join.source.path": "source bytes",
    "bytes.a/b.c.csv": "source bytes",
    "bytes.a [1].csv": "source bytes",
    "pin": "source bytes",
    "pin.sources[0].sha256": "source bytes",
    "pin.sources[10].location": "source bytes",
    "fields.input": "inputs",
    "fields.choices": "inputs",
    "fields.files": "inputs",
    "fields.target": "targets",
    "fields.id": "ids",
    "fields.metadata.a": "metadata",
    "fields.metadata['a.b']": "metadata",
    "mapper": "inputs",
    "auto_id": "ids",
    "limit": "subset",
    "where": "subset",
    "sample.seed": "subset",
    "explode.column": "subset",
    "on_duplicate": "subset",
    "pin.corrections.sha256": "corrections",
    "shuffle": "order only",
    "seed": "order only",
    "shuffle_choices": "order only",
    "eval": "scoring only",
    "eval.scorer": "scoring only",
    "description": "documentation only",
    "tags": "documentation only",
    "license": "documentation only",
    "homepage": "documentation only",
    "expect.samples": "documentation only",
}


@pytest.mark.parametrize("key", CLASS_OF)
def test_longest_prefix_in_the_table_gives_the_class(key: str) -> None:
    assert change_class(key) == CLASS_OF[key]


def test_every_key_of_a_dataset_has_a_class() -> None:
    others = {"name", "folder", "view", "split", "companion", "is_original"}
    keys = {*DatasetSpec.__struct_fields__, *View.__struct_fields__} - others
    assert {change_class(key) for key in keys} <= set(ChangeClass)


def test_unknown_key_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        change_class("nonsense.at.all")


def test_classes_are_distinct_and_most_severe_first() -> None:
    found = [ChangeClass.ORDER, ChangeClass.INPUTS, ChangeClass.INPUTS, ChangeClass.SOURCE]
    assert by_severity([*found, ""]) == ("source bytes", "inputs", "order only")


PIN_KEYS = {  # key: (is_result, is_digest, is_reported)
    "pin.samples": (True, False, True),
    "pin.columns": (True, False, True),
    "pin.ordered": (True, True, True),
    "pin.unordered": (True, True, True),
    "pin.sources[0].sha256": (False, False, True),
    "pin.sources[12].etag": (False, False, False),
    "pin.sources[0].size": (False, False, False),
    "pin.spec": (False, False, False),
    "pin.format": (False, False, False),
    "source.size": (False, False, True),
}


@pytest.mark.parametrize("key", PIN_KEYS)
def test_keys_of_pins_are_results_digests_or_redundant(key: str) -> None:
    assert (is_result(key), is_digest(key), is_reported(key)) == PIN_KEYS[key]

"""Records of sources, and samples of the first ones, without a samples file."""

from __future__ import annotations

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.errors import ManifestError, SourceError
from registry.pipeline.preview import (
    inspect_source,
    map_first_records,
    preview_records,
    preview_samples,
    read_records,
    records_numbered,
    samples_in_order,
)
from tests.pipeline.conftest import Prepare

RECORDS = [
    {"input": "a", "target": "x", "setup": "echo"},
    {"input": "b", "target": " "},
    {"input": "c", "target": "y"},
]
FIELDS = {"target": "target"}


def test_samples_are_read_file_by_file(prepare: Prepare) -> None:
    one = prepare([{"input": "a"}], [{"input": "b"}])
    samples = samples_in_order(one.spec, one.pins, one.context)
    assert [(number, sample.input) for number, sample in samples] == [(1, "a"), (2, "b")]


def test_preview_describes_the_samples_it_returns(prepare: Prepare) -> None:
    one = prepare(RECORDS, RECORDS, fields=FIELDS)
    samples, meta = preview_samples(one.spec, one.pins, one.context, 2)
    assert [(number, sample.input) for number, sample in samples] == [(1, "a"), (2, "b")]
    assert (meta["samples"], meta["limit"]) == (2, 2)
    assert {"input", "target"} <= set(meta["columns"])
    assert meta["quality"]["blank_targets"]["first"] == [
        {"record": 2, "id": None, "value": " ", "file": "0.jsonl"}
    ]
    assert meta["quality"]["unused_columns"]["first"] == [{"value": "setup"}]


def test_first_records_are_those_of_each_file(prepare: Prepare) -> None:
    where = {"value": "input", "not_equals": "a"}
    one = prepare(RECORDS, RECORDS, fields=FIELDS, where=where)
    samples, meta = map_first_records(one.spec, one.pins, one.context, 2)
    assert [sample.input for sample in samples] == ["b", "b"]
    assert meta["quality"]["blank_targets"]["count"] == 2
    # A preview goes on to the next record that `where` keeps.
    assert len(preview_samples(one.spec, one.pins, one.context, 2)[0]) == 2


def test_a_misspelt_column_is_an_error_before_the_first_sample(prepare: Prepare) -> None:
    one = prepare(RECORDS, fields={"target": "answr"})
    with pytest.raises(ManifestError, match="no column 'answr'"):
        samples_in_order(one.spec, one.pins, one.context)
    with pytest.raises(ManifestError, match="no column 'answr'"):
        preview_samples(one.spec, one.pins, one.context, 1)


def test_a_preview_of_nothing_says_which_condition_keeps_nothing(prepare: Prepare) -> None:
    one = prepare(RECORDS, where={"value": "input", "equals": "z"})
    with pytest.raises(ManifestError, match="`where` keeps none of 3 records"):
        preview_samples(one.spec, one.pins, one.context, 1)


def test_records_are_found_by_their_number_in_all_files(prepare: Prepare) -> None:
    one = prepare(RECORDS, [{"input": "d"}, {"input": "e"}], fields=FIELDS)
    found = records_numbered(one.spec, one.pins, one.context, [2, 4])
    assert found == {2: RECORDS[1], 4: {"input": "d"}}
    assert records_numbered(one.spec, one.pins, one.context, []) == {}
    with pytest.raises(SourceError, match=r"5 records now, and no record 6 \(registry sync"):
        records_numbered(one.spec, one.pins, one.context, [1, 6])


def test_preview_caches_no_samples(prepare: Prepare) -> None:
    one = prepare(RECORDS[1:], view={"limit": 1, "shuffle": True, "seed": 1})
    cache = one.context.cache
    previewed, meta = preview_records(one.spec, cache, 5, boundary=UNBOUNDED)
    assert [(number, sample.input) for number, sample in previewed] == [(1, "b"), (2, "c")]
    assert meta == preview_samples(one.spec, one.pins, one.context, 5)[1]
    assert list(cache.entries("samples")) == []


def test_records_are_read_again(prepare: Prepare) -> None:
    one = prepare(RECORDS)
    assert read_records(one.spec, one.context.cache, [2], boundary=UNBOUNDED) == {2: RECORDS[1]}


def test_source_is_inspected_without_a_manifest(prepare: Prepare) -> None:
    one = prepare(RECORDS)
    source = {"type": "json", "path": "0.jsonl"}
    pinned, records = inspect_source(source, one.spec.folder, one.context)
    assert (pinned, records) == (one.pins.sources[0], RECORDS)
    assert inspect_source(source, one.spec.folder, one.context, 1)[1] == RECORDS[:1]

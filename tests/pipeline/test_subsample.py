"""A subsample is deterministic, and keeps the order and the shares of strata."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.manifest.models import Subsample
from registry.pipeline.subsample import _shares, select
from registry.samples.frames.layout import MetadataType
from registry.store import writer as sample_writer
from registry.store.columns import batch_of
from registry.store.reader import SampleFile
from registry.store.schema import schema_of
from registry.store.writer import SampleWriter

METADATA_TYPES: dict[str, MetadataType] = {"kind": "str", "deep": "json"}


def file_of(path: Path, metadata_types: list[Any], *, as_json: bool = False) -> SampleFile:
    """Write a sample a kind, two in each batch."""
    chosen = {} if as_json else METADATA_TYPES
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_writer, "_BATCH_ROWS", 0)
        with SampleWriter(path, schema_of(chosen), lambda one: None) as writer:
            for start in range(0, len(metadata_types), 2):
                part = metadata_types[start : start + 2]
                metadata = [{"kind": kind, "deep": {"kind": kind}} for kind in part]
                fields: dict[str, list[Any]] = {"input": ["q"] * len(part), "metadata": metadata}
                writer.write(batch_of(fields, range(start + 1, start + 1 + len(part)), chosen))
    return SampleFile(path, writer.batches)


def selected(file: SampleFile, **wanted: Any) -> list[int]:
    batches = list(select(file, Subsample(**wanted)))
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    return [one for batch in batches for one in batch.column("record").to_pylist()]


def test_a_seed_selects_the_same_samples_in_their_order(tmp_path: Path) -> None:
    file = file_of(tmp_path / "f.arrow", [None] * 9)
    assert selected(file, n=4, seed=1) == selected(file, n=4, seed=1) == [5, 6, 7, 8]
    assert selected(file, n=4, seed=2) != [5, 6, 7, 8]


@pytest.mark.parametrize(("n", "count"), [(0, 0), (1, 1), (9, 9), (10, 9)])
def test_the_requested_number_is_selected(tmp_path: Path, n: int, count: int) -> None:
    file = file_of(tmp_path / "f.arrow", [None] * 9)
    found = selected(file, n=n, seed=0)
    assert (len(found), found) == (count, sorted(set(found)))


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("key", ["kind", "deep.kind"])
def test_each_stratum_keeps_its_share(tmp_path: Path, key: str, as_json: bool) -> None:
    metadata_types = ["x", "y", "x", "z", "x", "x", "y", "x", None]
    file = file_of(tmp_path / "f.arrow", metadata_types, as_json=as_json)
    found = selected(file, n=5, seed=3, stratify_by=key)
    assert Counter(metadata_types[record - 1] for record in found) == {"x": 3, "y": 1, None: 1}
    assert found == sorted(found)


def test_a_missing_stratum_key_is_named(tmp_path: Path) -> None:
    file = file_of(tmp_path / "f.arrow", ["x"])
    with pytest.raises(MappingError) as caught:
        selected(file, n=1, seed=0, stratify_by="kin")
    assert str(caught.value) == "field sample.stratify_by: no column 'kin' (did you mean 'kind'?)"


def test_nothing_is_selected_from_an_empty_file(tmp_path: Path) -> None:
    file = file_of(tmp_path / "f.arrow", [])
    assert selected(file, n=3, seed=0) == selected(file, n=3, seed=0, stratify_by="kind") == []


@pytest.mark.parametrize(
    ("counts", "n", "shares"),
    [
        ({"a": 2, "b": 2}, 3, {"a": 2, "b": 1}),
        ({"b": 2, "a": 2}, 1, {"b": 0, "a": 1}),
        ({"a": 5, "b": 3, "c": 1}, 4, {"a": 2, "b": 1, "c": 1}),
    ],
)
def test_the_largest_remainders_round_up_and_equal_ones_by_name(
    counts: dict[str, int], n: int, shares: dict[str, int]
) -> None:
    assert _shares(Counter(counts), n) == shares


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 50), max_size=6), st.integers(0, 200))
def test_shares_add_up_and_are_never_more_than_there_are(counts: dict[str, int], n: int) -> None:
    shares = _shares(Counter(counts), n)
    total = sum(counts.values())
    assert sum(shares.values()) == min(n, total)
    for name, count in counts.items():
        assert 0 <= shares[name] <= count
        assert n >= total or abs(shares[name] - count * n / total) < 1

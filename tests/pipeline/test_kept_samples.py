"""Repeated ids of a samples file are found and resolved, and subsamples are selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.manifest.models import Subsample
from registry.pipeline import kept_samples
from registry.pipeline.kept_samples import (
    DuplicateIdDetector,
    DuplicateRule,
    _shares,
    resolve_duplicates,
    select,
)
from registry.samples.frames.layout import MetadataType
from registry.store import writer as sample_writer
from registry.store.columns import batch_of
from registry.store.reader import SampleFile
from registry.store.rows import ids_of
from registry.store.schema import schema_of
from registry.store.writer import SampleWriter

Ids = Sequence[str | int | None]
METADATA_TYPES: dict[str, MetadataType] = {"kind": "str", "deep": "json"}


def batch(ids: Ids, first: int = 1) -> pa.RecordBatch:
    """Return samples with ids, of every second record from `first` on."""
    numbers = [first + 2 * place for place in range(len(ids))]
    return batch_of({"input": ["q"] * len(ids), "id": ids}, numbers, {})


def written(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    metadata_types: dict[str, MetadataType],
    watch: Callable[[pa.RecordBatch], None] = lambda one: None,
) -> SampleFile:
    """Write batches to a file as they are, also small ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_writer, "_BATCH_ROWS", 0)
        with SampleWriter(path, schema_of(metadata_types), watch) as writer:
            for one in batches:
                writer.write(one)
    return SampleFile(path, writer.batches)


def file_of(folder: Path, *parts: Ids) -> tuple[SampleFile, frozenset[str | int]]:
    """Write batches of ids; return the file and the ids that stand twice."""
    watch = DuplicateIdDetector()
    path = folder / f"{len(list(folder.iterdir()))}.arrow"
    firsts = accumulate((2 * len(part) for part in parts), initial=1)
    file = written(path, map(batch, parts, firsts), {}, watch.add)
    return file, watch.repeated(lambda: file)


def ids_in(batches: Any) -> list[Any]:
    return [one for part in batches for one in ids_of(part)]


_edges = st.sampled_from([-(2**63), 2**61 - 1, 2**63 - 1])
_texts = st.sampled_from(["", "a", "b", "1", "-1", "é"])
_ids = st.one_of(st.none(), st.integers(-3, 3), _edges, _texts)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(_ids, max_size=4), max_size=4), st.sampled_from([-1, 2]))
def test_the_detector_agrees_with_a_counter(parts: list[Ids], few: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_samples, "_FEW_ROWS", few)
        _, repeated = file_of(Path(folder), *parts)
    counts = Counter((type(one), one) for part in parts for one in part if one is not None)
    assert repeated == {one for (_, one), count in counts.items() if count > 1}


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[pa.RecordBatch]:
    """Collect the batches that a function of the module is called with."""
    found: list[pa.RecordBatch] = []
    function = getattr(kept_samples, name)

    def noted(one: pa.RecordBatch) -> Any:
        found.append(one)
        return function(one)

    monkeypatch.setattr(kept_samples, name, noted)
    return found


@pytest.mark.parametrize(
    ("parts", "hashed"),
    [
        ([[1, 2], [3, 4]], 0),
        ([["a", "b"], ["c"]], 0),
        ([["\uffff"], ["\U00010000"]], 0),
        ([[1, 2], [4, 3], [5]], 3),
        ([[2, 1]], 1),
        ([[1], [1]], 2),
        ([["a"], [1]], 2),
        ([[None]], 1),
    ],
)
def test_ids_are_hashed_only_if_they_do_not_ascend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: list[Ids], hashed: int
) -> None:
    monkeypatch.setattr(kept_samples, "_FEW_ROWS", -1)
    calls = counted(monkeypatch, "_hashes")
    file_of(tmp_path, *parts)
    assert len(calls) == hashed


def test_different_ids_of_one_small_batch_are_not_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, "_hashes")
    assert file_of(tmp_path, ["b", "a", None, 1, "1", None])[1] == set()
    assert calls == []
    assert file_of(tmp_path, ["b", "a", None, 1, "1", None, 1])[1] == {1}


def test_ids_with_equal_hashes_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_samples, "string_hashes", lambda ids: np.zeros(len(ids), np.uint64))
    assert file_of(tmp_path, ["b", "a"], ["c", 0])[1] == set()
    assert file_of(tmp_path, ["b", "a"], ["c", 0, "a"], [0])[1] == {"a", 0}


def test_ids_are_not_read_again_if_their_hashes_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(kept_samples, "_repeated")
    assert file_of(tmp_path, [3, 1], [2], ["b", None], ["a"])[1] == set()


RULES: dict[DuplicateRule, list[Any]] = {
    "drop": ["a", 1, None, "1", None, "b"],
    "suffix": ["a", 1, "a-2", None, "1", "1-2", None, "b", "a-3"],
}


@pytest.mark.parametrize(("rule", "ids"), RULES.items(), ids=RULES)
def test_each_rule_makes_ids_unique(tmp_path: Path, rule: DuplicateRule, ids: list[Any]) -> None:
    file, repeated = file_of(tmp_path, ["a", 1, "a"], [None, "1", 1], [None, "b", "a"])
    assert repeated == {"a", 1}
    assert ids_in(resolve_duplicates(file, repeated, rule, dataset="d")) == ids


_numbered = st.sampled_from([None, 1, 2, "1", "1-2", "a", "a-2", "a-3", "a-2-2", "a-2-2-2", "b-2"])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(_numbered, max_size=8), max_size=4))
def test_each_id_gets_the_lowest_free_number(parts: list[Ids]) -> None:
    with TemporaryDirectory() as folder:
        file, repeated = file_of(Path(folder), *parts)
        found = ids_in(resolve_duplicates(file, repeated, "suffix", dataset="d"))
    seen: list[str | int | None] = []
    for one in (one for part in parts for one in part):
        names = [one, *(f"{one}-{number}" for number in range(2, len(found) + 3))]
        seen.append(one if one is None else next(name for name in names if name not in seen))
    assert found == seen


class _Text(str):
    """A text that counts how often it is formatted: once for each name that is tried."""

    __slots__ = ()
    formatted: ClassVar[list[int]] = [0]

    def __format__(self, spec: str) -> str:
        self.formatted[0] += 1
        return str(self)


def test_numbering_many_repeats_of_one_id_takes_linear_time() -> None:
    numbers = kept_samples._Numbers(frozenset({"a"}))
    one = _Text("a")
    assert [numbers.own(one) for _ in range(1000)][-1] == "a-1000"
    assert one.formatted[0] < 3000


def test_ids_that_are_never_repeated_are_not_stored() -> None:
    numbers = kept_samples._Numbers(frozenset({"a", 1}))
    for one in ("a", 1, "b", 2, "b-2", "a-x", "-2", "1-2", "a-2-3"):
        numbers.own(one)
    assert numbers._seen == {"a", 1, "1-2", "a-2-3"}


def test_an_int_id_with_a_suffix_is_a_str(tmp_path: Path) -> None:
    file, repeated = file_of(tmp_path, [1], [1], [1, 2])
    numbered = list(resolve_duplicates(file, repeated, "suffix", dataset="d"))
    assert ids_in(iter(numbered)) == [1, "1-2", "1-3", 2]
    numbers = [one for batch in numbered for one in batch.column("id_number").to_pylist()]
    assert numbers == [1, None, None, 2]


@pytest.mark.parametrize("rule", ["drop", "suffix"])
def test_rows_keep_the_numbers_of_their_records(tmp_path: Path, rule: DuplicateRule) -> None:
    file, repeated = file_of(tmp_path, ["a", "a"], ["b", "a"])
    batches = resolve_duplicates(file, repeated, rule, dataset="d")
    records = [one for part in batches for one in part.column("record").to_pylist()]
    assert records == ([1, 5] if rule == "drop" else [1, 3, 5, 7])


@pytest.mark.parametrize(
    ("parts", "first", "again", "shown"),
    [
        ([["b", "a", "a"]], 3, 5, "'a'"),
        ([["b", "a"], ["c"], ["a", "b"]], 3, 7, "'a'"),
        ([[7, "7"], [None, None, 7]], 1, 9, "7"),
    ],
)
def test_the_rule_error_names_both_records_and_what_differs(
    tmp_path: Path, parts: list[Ids], first: int, again: int, shown: str
) -> None:
    file, repeated = file_of(tmp_path, *parts)
    with pytest.raises(MappingError) as caught:
        list(resolve_duplicates(file, repeated, "error", dataset="d"))
    assert str(caught.value) == (
        f"d: record {again}, field id: record {first} has the same id and is the same sample"
        f" (`on_duplicate: drop` keeps the first), value: {shown}"
    )


def of_kinds(path: Path, metadata_types: list[Any], *, as_json: bool = False) -> SampleFile:
    """Write a sample a kind, two in each batch."""
    chosen = {} if as_json else METADATA_TYPES
    batches = []
    for start in range(0, len(metadata_types), 2):
        part = metadata_types[start : start + 2]
        metadata = [{"kind": kind, "deep": {"kind": kind}} for kind in part]
        fields: dict[str, list[Any]] = {"input": ["q"] * len(part), "metadata": metadata}
        batches.append(batch_of(fields, range(start + 1, start + 1 + len(part)), chosen))
    return written(path, batches, chosen)


def selected(file: SampleFile, **wanted: Any) -> list[int]:
    batches = list(select(file, Subsample(**wanted)))
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    return [one for batch in batches for one in batch.column("record").to_pylist()]


def test_a_seed_selects_the_same_samples_in_their_order(tmp_path: Path) -> None:
    file = of_kinds(tmp_path / "f.arrow", [None] * 9)
    assert selected(file, n=4, seed=1) == selected(file, n=4, seed=1) == [5, 6, 7, 8]
    assert selected(file, n=4, seed=2) != [5, 6, 7, 8]


@pytest.mark.parametrize(("n", "count"), [(0, 0), (1, 1), (9, 9), (10, 9)])
def test_the_requested_number_is_selected(tmp_path: Path, n: int, count: int) -> None:
    file = of_kinds(tmp_path / "f.arrow", [None] * 9)
    found = selected(file, n=n, seed=0)
    assert (len(found), found) == (count, sorted(set(found)))


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("key", ["kind", "deep.kind"])
def test_each_stratum_keeps_its_share(tmp_path: Path, key: str, as_json: bool) -> None:
    metadata_types = ["x", "y", "x", "z", "x", "x", "y", "x", None]
    file = of_kinds(tmp_path / "f.arrow", metadata_types, as_json=as_json)
    found = selected(file, n=5, seed=3, stratify_by=key)
    assert Counter(metadata_types[record - 1] for record in found) == {"x": 3, "y": 1, None: 1}
    assert found == sorted(found)


def test_a_missing_stratum_key_is_named(tmp_path: Path) -> None:
    file = of_kinds(tmp_path / "f.arrow", ["x"])
    with pytest.raises(MappingError) as caught:
        selected(file, n=1, seed=0, stratify_by="kin")
    assert str(caught.value) == "field sample.stratify_by: no column 'kin' (did you mean 'kind'?)"


def test_nothing_is_selected_from_an_empty_file(tmp_path: Path) -> None:
    file = of_kinds(tmp_path / "f.arrow", [])
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

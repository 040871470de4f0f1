"""A dataset of the Hub's library shares the memory of ours, and is small when it is pickled."""

from __future__ import annotations

import pickle

from registry import MemoryDataset, Sample, get_dataset
from registry.samples.frames.huggingface import SharedTable

SAMPLES = [Sample(input=f"question {n} " * 100, target="A", id=n) for n in range(50)]


def test_features_are_typed_and_rows_equal() -> None:
    dataset = MemoryDataset(SAMPLES, name="many")
    found = dataset.to_hf()
    assert found.features.arrow_schema.types == dataset.to_arrow().schema.types
    assert found[:] == dataset.to_arrow().to_pydict()
    assert found.info.dataset_name == "many"


def test_input_of_a_dataset_of_the_cache_is_that_of_the_checked_file() -> None:
    dataset = get_dataset("demo-mcq")
    first, second = (dataset.to_hf().data.table.column("input").chunk(0) for _ in range(2))
    addresses = [[one.address for one in column.buffers() if one] for column in (first, second)]
    assert addresses[0] == addresses[1]


def test_pickle_is_that_of_our_dataset_without_rows() -> None:
    dataset = get_dataset("demo-mcq")
    table = SharedTable(dataset, "json")
    assert len(pickle.dumps(table)) < len(pickle.dumps(dataset)) + 500
    again = pickle.loads(pickle.dumps(dataset.to_hf()))
    assert again[:] == dataset.to_hf()[:]


def test_a_later_change_of_our_dataset_does_not_reach_the_table() -> None:
    for dataset in (get_dataset("demo-mcq"), MemoryDataset(SAMPLES)):
        found = dataset.to_hf()
        rows = found[:]
        dataset.sort(reverse=True, key=lambda sample: str(sample.id))
        assert pickle.loads(pickle.dumps(found))[:] == rows


def test_fingerprint_changes_with_the_view_and_only_then() -> None:
    dataset = get_dataset("demo-mcq")
    fingerprint = dataset.to_hf()._fingerprint
    assert get_dataset("demo-mcq").to_hf()._fingerprint == fingerprint
    other = [
        dataset[1:],
        get_dataset("demo-mcq", shuffle=True, seed=1),
        get_dataset("demo-mcq", shuffle_choices=1),
        get_dataset("demo-mcq", auto_id=True),
    ]
    found = {fingerprint, *(one.to_hf()._fingerprint for one in other)}
    assert len(found | {dataset.to_hf(metadata="struct")._fingerprint}) == 6

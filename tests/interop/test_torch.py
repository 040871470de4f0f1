"""PyTorch's DataLoader reads datasets in this process and in spawned workers."""

from __future__ import annotations

from typing import Any

import pytest

from registry import Dataset, get_dataset

DataLoader: Any = pytest.importorskip(
    "torch.utils.data", reason="torch is not installed: its GPU libraries take several GB"
).DataLoader


def ids_of(batches: Any) -> list[str]:
    return [str(sample.id) for batch in batches for sample in batch]


@pytest.fixture
def dataset() -> Dataset:
    return get_dataset("demo-mcq", shuffle=True, seed=1, shuffle_choices=2)


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_yields_the_samples(dataset: Dataset, workers: int) -> None:
    keys: dict[str, Any] = {"multiprocessing_context": "spawn"} if workers else {}
    loader = DataLoader(dataset, batch_size=8, collate_fn=list, num_workers=workers, **keys)
    found = [sample for batch in loader for sample in batch]
    assert found == list(dataset)


def test_loader_shuffles_and_yields_each_sample_once(dataset: Dataset) -> None:
    found = ids_of(DataLoader(dataset, batch_size=8, shuffle=True, collate_fn=list))
    assert sorted(found) == sorted(str(sample.id) for sample in dataset)


def test_loader_without_batches_yields_samples(dataset: Dataset) -> None:
    found = list(DataLoader(dataset, batch_size=None))
    assert found == list(dataset)


def test_tensors_select_samples(dataset: Dataset) -> None:
    import torch

    assert list(dataset[torch.tensor([2, 0])]) == [dataset[2], dataset[0]]
    assert list(dataset[torch.tensor([2])]) == [dataset[2]]
    assert dataset[torch.tensor(2)] == dataset[2]


def test_spawned_workers_read_the_dataset_of_the_hub_library(dataset: Dataset) -> None:
    rows = dataset.to_hf().select_columns(["input", "target"])
    loader = DataLoader(rows, batch_size=8, num_workers=2, multiprocessing_context="spawn")
    found = [text for batch in loader for text in batch["input"]]
    assert found == [sample.input for sample in dataset]

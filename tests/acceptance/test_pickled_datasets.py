"""Datasets survive pickle, copies, spawned processes and a DataLoader as torch has it."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import registry
from registry import CacheError, OfflineError, Sample, csv_dataset, get_dataset
from registry.cli import main
from registry.load import dataset as load_dataset
from tests.acceptance.conftest import Machine
from tests.conftest import CatalogRoot
from tests.servers.hub import HubEmulator, parquet_repo

MANIFEST = """
datasets:
  qa:
    source: {type: json, path: qa.jsonl}
    fields: {input: q, choices: c, target: t, id: n, files: files, metadata: [n]}
  qa-small:
    extends: qa
    shuffle: true
    seed: 3
    shuffle_choices: 5
    limit: 40
"""
COUNT = 300
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def root(catalog_root: CatalogRoot) -> Path:
    folder = catalog_root({"qa": MANIFEST})
    rows = [
        {"q": f"{n}?", "c": ["a", "b", str(n)], "t": "ABC"[n % 3], "n": n, "files": {"f": "f.txt"}}
        for n in range(COUNT)
    ]
    (folder / "qa.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (folder / "f.txt").write_text("", encoding="utf-8")
    return folder


def _is_even(sample: Sample) -> bool:
    return bool(sample.metadata and sample.metadata["n"] % 2 == 0)


def _by_number(sample: Sample) -> int:
    return -int((sample.metadata or {})["n"])


def _everything(dataset: Any) -> Any:
    found = dataset.filter(_is_even, "even")
    found.shuffle_choices(7)
    found.sort(key=_by_number)
    found.shuffle(7)
    return found[2:][::-1]


# The longest pickle of each; tests/samples/test_dataset.py tries any operations.
CHANGES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "as opened": (lambda dataset: dataset, 3000),
    "empty": (lambda dataset: dataset[:0], 3000),
    "as stored": (lambda dataset: dataset.as_stored(), 3000),
    "everything": (_everything, 4500),
}


def facts(dataset: Any) -> dict[str, Any]:
    """Return what users see of a dataset."""
    about = {name: getattr(dataset, name) for name in ("name", "location", "shuffled")}
    return {**about, "samples": [sample.model_dump() for sample in dataset]}


@pytest.mark.parametrize("name", ["qa", "qa-small"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_dataset_survives_pickle_and_copies(root: Path, name: str, change: str) -> None:
    make, size = CHANGES[change]
    dataset = make(get_dataset(name, root=root))
    expected = facts(dataset)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(dataset, protocol)
        assert len(pickled) < size
        assert b"299?" not in pickled
        again = pickle.loads(pickled)
        assert facts(again) == expected
        assert facts(pickle.loads(pickle.dumps(again))) == expected
    assert facts(copy.copy(dataset)) == facts(copy.deepcopy(dataset)) == expected


def test_a_copy_is_changed_separately(root: Path) -> None:
    dataset = get_dataset("qa", root=root)
    before = facts(dataset)
    for copied in (copy.copy(dataset), copy.deepcopy(dataset)):
        copied.shuffle(1)
        copied.shuffle_choices(1)
    assert facts(dataset) == before


def _inputs(dataset: Any) -> list[str]:
    return [str(sample.input) for sample in dataset]


def _item(task: tuple[Any, int]) -> Sample:
    dataset, index = task
    found: Sample = dataset[index]
    return found


def _fail(root: str) -> None:
    get_dataset("qa", root=root)


def test_spawned_processes_read_the_same_samples_and_raise_the_same_error(
    root: Path, tmp_path: Path
) -> None:
    dataset = get_dataset("qa-small", root=root)
    (tmp_path / "x.csv").write_text("input,target\na,b\nc,d\n", encoding="utf-8")
    of_loader = csv_dataset(str(tmp_path / "x.csv"))
    part = dataset[3:30].filter(_is_even)
    every: list[Any] = [dataset, part, of_loader, of_loader[:1], dataset.to_inspect()]
    with SPAWN.Pool(1) as pool:
        assert pool.map(_inputs, every) == [_inputs(one) for one in every]
        # As the loader of torch does, which tests/interop/test_torch.py runs.
        assert pool.map(_item, [(dataset, index) for index in range(4)]) == list(dataset[:4])
        row = {"q": "", "c": ["a"], "t": "A", "n": 1, "files": {}}
        (root / "qa.jsonl").write_text(json.dumps(row), encoding="utf-8")
        with pytest.raises(registry.MappingError) as caught:
            _fail(str(root))
        with pytest.raises(registry.MappingError) as spawned:
            pool.map(_fail, [str(root)])
    assert str(spawned.value) == str(caught.value)
    assert vars(spawned.value) == vars(caught.value)


def test_samples_are_built_again_if_they_are_gone(
    root: Path, tmp_path: Path, machine: Machine
) -> None:
    dataset = get_dataset("qa-small", root=root, limit=7)[1:]
    pickled, expected = pickle.dumps(dataset), facts(dataset)
    machine("another")
    assert facts(pickle.loads(pickled)) == expected
    assert (tmp_path / "another").is_dir()


def test_the_view_is_the_pickled_one_even_if_the_manifest_has_another(root: Path) -> None:
    dataset = get_dataset("qa-small", root=root)
    pickled, expected = pickle.dumps(dataset), facts(dataset)
    manifest = root / "registry" / "qa.yaml"
    manifest.write_text(MANIFEST.replace("seed: 3", "seed: 4"), encoding="utf-8")
    assert facts(pickle.loads(pickled)) == expected


def test_samples_whose_entry_is_removed_as_soon_as_it_is_built_are_there(
    root: Path, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    dataset = get_dataset("qa", root=root)
    pickled, expected = pickle.dumps(dataset), facts(dataset)
    built = load_dataset.get_dataset

    def build_and_lose(*arguments: Any, **keys: Any) -> Any:
        found = built(*arguments, **keys)
        shutil.rmtree(tmp_path / "another")
        return found

    assert main(["lock", "qa", "--root", str(root)]) == 0  # it describes itself otherwise now
    machine("another")
    monkeypatch.setattr(load_dataset, "get_dataset", build_and_lose)
    assert facts(pickle.loads(pickled)) == expected


def test_other_samples_never_stand_in_for_the_pickled_ones(root: Path, machine: Machine) -> None:
    pickled = pickle.dumps(get_dataset("qa", root=root))
    with (root / "qa.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"q": "new?", "c": ["a", "b"], "t": "A", "n": -1, "files": {}}\n')
    assert len(pickle.loads(pickled)) == COUNT, "the samples are still in the cache"
    machine("another")
    message = r"^qa: its samples are not in the cache any more, .* has changed since it was pickled"
    with pytest.raises(CacheError, match=message):
        pickle.loads(pickled)


HUB = """
datasets:
  mcq:
    source: {{type: hf, path: pickle/mcq, split: test, revision: {revision}}}
    limit: {limit}
"""


@pytest.mark.parametrize("limit", [2, "null"])
def test_samples_of_the_hub_are_fetched_again_or_an_offline_error(
    catalog_root: CatalogRoot,
    hub: HubEmulator,
    monkeypatch: pytest.MonkeyPatch,
    machine: Machine,
    limit: Any,
) -> None:
    rows = [{"input": str(n), "target": "x"} for n in range(9)]
    revision = hub.commit("pickle/mcq", parquet_repo({"default": {"test": rows}}))
    root = catalog_root({"mcq": HUB.format(revision=revision, limit=limit)})
    dataset = get_dataset("mcq", root=root)
    pickled, expected = pickle.dumps(dataset), facts(dataset)
    requests = len(hub.requests)
    assert facts(pickle.loads(pickled)) == expected
    assert len(hub.requests) == requests, "samples in the cache need no request"
    machine("another")
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    with pytest.raises(OfflineError, match="not in the cache, and requests are disabled"):
        pickle.loads(pickled)
    monkeypatch.delenv("REGISTRY_OFFLINE")
    assert facts(pickle.loads(pickled)) == expected
    # A part of the samples is not built where all of them are cached.
    machine("third")
    get_dataset("mcq", root=root, limit=None)
    assert facts(pickle.loads(pickled)) == expected


def test_datasets_of_the_loaders_and_for_inspect_survive_too(root: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("input,target\na,b\nc,d\n", encoding="utf-8")
    for dataset in (
        csv_dataset(str(tmp_path / "x.csv")),
        get_dataset("qa-small", root=root).to_inspect(),
    ):
        pickled = pickle.dumps(dataset)
        assert len(pickled) < 2500
        for again in (pickle.loads(pickled), copy.copy(dataset), copy.deepcopy(dataset)):
            assert facts(again) == facts(dataset)

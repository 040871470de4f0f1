"""Opening a dataset by its name: which pin applies, and what a pickled one has."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache
from registry.errors import LockStaleError, ManifestError, SourceError
from registry.load.dataset import CachedSamples, get_dataset, list_datasets
from registry.load.groups import get_group
from registry.settings import Settings
from tests.conftest import OneDataset


@pytest.fixture
def root(one_dataset: OneDataset, tmp_path: Path) -> Path:
    (tmp_path / "data.jsonl").write_text('{"q": "a", "a": "A"}\n{"q": "b", "a": "B"}\n')
    return one_dataset({"type": "json", "path": "../data.jsonl"}, tags=["t"])


def test_datasets_are_listed_by_tags(root: Path) -> None:
    assert list_datasets(root=root) == list_datasets("t", root=root) == ["data"]
    assert list_datasets(["t", "other"], root=root) == []


@pytest.mark.parametrize("switch", [{"locked": True}, {"frozen": True}])
def test_pin_does_not_cover_other_data(root: Path, switch: Any) -> None:
    source = str(root.parent / "data.jsonl")
    with pytest.raises(LockStaleError, match=r"`source` selects data that datasets\.lock does not"):
        get_dataset("data", root=root, source=source, **switch)


def test_a_build_keeps_the_cache_to_its_size(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        return [path.name for path in (cache.versioned / "samples").iterdir()]

    cache = Cache(Settings.from_environment().cache_dir)
    monkeypatch.setenv("REGISTRY_CACHE_SIZE", "1B")
    get_dataset("data", root=root)
    (first,) = names()
    os.utime(cache.versioned / "samples" / first / "meta.json", (0, 0))
    (root.parent / "data.jsonl").write_text('{"q": "c", "a": "C"}\n')
    get_dataset("data", root=root)
    assert first not in names()
    assert len(names()) == 1


@pytest.mark.parametrize("source", [1, {"path": "x.csv"}, Path("x.csv"), "http://[::1/x.csv"])
def test_a_source_that_is_no_str_or_no_url_is_refused(root: Path, source: Any) -> None:
    message = r"^`source` must be a path or a URL, a str, not a \w+$"
    if isinstance(source, str):
        message = r"^http://\[::1/x\.csv: not a URL: Invalid IPv6 URL"
    with pytest.raises((TypeError, SourceError), match=message):
        get_dataset("data", root=root, source=source)


@pytest.mark.parametrize("name", [1, None, ["data"], Path("data")])
def test_a_name_that_is_no_str_is_refused(root: Path, name: Any) -> None:
    for opened in (get_dataset, get_group):
        with pytest.raises(
            TypeError, match=rf"^`name` must be a str, not a {type(name).__name__}$"
        ):
            opened(name, root=root)


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({}, "must not be empty"),
        ({"topic": []}, "must not be empty"),
        ({"topic": {"a": 1}}, "must be a string or .* or a list, is {'a': 1}"),
        ("topic", "must be a dict, is 'topic'"),
    ],
)
def test_a_selection_of_nothing_is_refused(root: Path, only: Any, message: str) -> None:
    with pytest.raises(ManifestError, match=f"^argument `only`: {message}$"):
        get_dataset("data", root=root, only=only)


def test_a_misspelt_source_is_named_as_the_call_has_it(root: Path) -> None:
    with pytest.raises(SourceError, match=r"no such file \(did you mean .*data\.jsonl'?\?\)$"):
        get_dataset("data", root=root, source=str(root.parent / "dota.jsonl"))


def test_pickled_dataset_is_its_key_and_the_call(root: Path) -> None:
    dataset = get_dataset("data", root=root, limit=1)
    origin = dataset.origin  # type: ignore[attr-defined] # of a dataset in the cache
    assert isinstance(origin, CachedSamples)
    assert (origin.opening.view.limit, origin.call["limit"]) == (1, 1)
    assert [sample.input for sample in pickle.loads(pickle.dumps(dataset))] == ["a"]


FORKS = """
import os, signal, sys, threading
from registry import get_dataset

root = sys.argv[1]

def read():
    return [sample.input for sample in get_dataset("data", root=root)]

def read_always():
    while not done:
        read()

read()  # Python itself does not let a child import what another thread of its parent was importing
done, ends = [], []
threads = [threading.Thread(target=read_always) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(40):
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.alarm(15)
            code = int(read() != ["a", "b"])
        finally:
            os._exit(code)
    ends.append(os.waitpid(child, 0)[1])
done.append(True)
for thread in threads:
    thread.join()
print(ends)
"""


def test_forked_processes_read_beside_threads_that_read(root: Path) -> None:
    command = [sys.executable, "-c", FORKS, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert (done.returncode, done.stdout) == (0, f"{[0] * 40}\n")

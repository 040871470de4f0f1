"""What is measured of registry; each function runs in a child process of its own."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.catalogs import TINY
from benchmarks.clock import peak_memory, repeated, seconds
from registry import Dataset, get_dataset, list_datasets
from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "access",
    "build",
    "checked",
    "compared",
    "explored",
    "index",
    "iterate",
    "memory",
    "opened",
    "rebuild",
    "site",
    "synced",
    "validated",
    "warm",
]

_ACCESSES = 10_000
_PAGE_SIZE = 300_000
"""Bytes that every page of a site is smaller than."""


def opened(*, name: str, rows: int, root: str | None = None) -> int:
    """Build a dataset if it is not there, and make sure that it is whole."""
    return len(_whole(get_dataset(name, root=root), rows))


def build(*, name: str, rows: int) -> float:
    """Return the seconds of a first `get_dataset`, in an empty cache, to the first sample."""
    get_dataset(f"{name}{TINY}")[0]
    taken = seconds(lambda: get_dataset(name)[0])
    _whole(get_dataset(name), rows)
    return taken


def rebuild(*, name: str, rows: int, cache: str) -> float:
    """Return the seconds of a build where what `datasets` gave is in the cache already."""
    (samples,) = Path(cache).glob("v*/samples")
    shutil.rmtree(samples)
    return build(name=name, rows=rows)


def memory(*, name: str, rows: int) -> float:
    """Return the most bytes that this process ever held, after a first `get_dataset`."""
    _whole(get_dataset(name), rows)
    return peak_memory()


def warm(*, name: str, root: str | None = None) -> float:
    """Return the seconds of `get_dataset` and its first sample, when both were had before."""
    get_dataset(name, root=root)[0]
    return repeated(lambda: get_dataset(name, root=root)[0])


def explored(*, rows: int) -> float:
    """Return the seconds of the slowest question about the table of many samples."""
    from registry.plugins.site.sample_table import Question, SampleTable

    table = SampleTable.of(_whole(get_dataset("real-explored"), rows))
    names = [column.name for column in table.columns]
    length = names.index("input length")
    questions = (
        Question(),
        Question(words=("apples",)),
        Question(words=("the", "nowhere")),
        Question(sort=names.index("input")),
        Question(sort=length, descending=True, words=("money",), chosen=((1, 0), (1, 1))),
        Question(sort=length, first=rows // 2),
    )
    for question in questions:
        table.answer(question)  # the first time, it sorts a column
    return max(repeated(partial(table.answer, one)) for one in questions)


def iterate(*, name: str, rows: int) -> float:
    """Return the seconds that each sample takes when all are gone through."""
    dataset = _whole(get_dataset(name), rows)
    return seconds(lambda: sum(1 for _ in dataset)) / rows


def checked(*, name: str, rows: int) -> float:
    """Return the seconds that each sample takes to check, which iteration does on the way."""
    dataset = _whole(get_dataset(name), rows)
    if not isinstance(dataset, ArrowDataset):
        raise TypeError(f"{name}: a {type(dataset).__name__}")
    file, view = dataset.as_opened()

    def check() -> None:
        view.verify()
        for number in range(file.batch_count):
            file.batch(number)

    return seconds(check) / rows


def access(*, name: str, rows: int) -> float:
    """Return the seconds that a sample at a random place takes."""
    dataset = _whole(get_dataset(name), rows)
    draw = random.Random(1)
    places = [draw.randrange(rows) for _ in range(_ACCESSES)]
    dataset[0]
    return seconds(lambda: [dataset[place] for place in places]) / len(places)


def index(*, root: str, few: str, count: int) -> float:
    """Return the seconds of reading a catalog that was never read before."""
    list_datasets(root=few)
    names: list[str] = []
    taken = seconds(lambda: names.extend(list_datasets(root=root)))
    if len(names) != count:
        raise ValueError(f"{root}: {len(names)} datasets, expected {count}")
    return taken


def validated(*, root: str) -> int:
    """Check a catalog, so that a cache may remember it; problems are an error."""
    return subprocess.run(
        [sys.executable, "-m", "registry", "validate", "--root", root], check=True, stdout=2
    ).returncode


def compared(*, root: str, count: int) -> float:
    """Return the seconds of `diff --build` of two catalogs, in an empty cache."""
    sides = [str(Path(root, side)) for side in ("base", "head")]
    command = [sys.executable, "-m", "registry", "diff", *sides, "--build", "--format", "json"]
    done: list[subprocess.CompletedProcess[bytes]] = []
    taken = seconds(lambda: done.append(subprocess.run(command, capture_output=True, check=False)))
    changes = json.loads(done[0].stdout)["changes"]
    if [change["samples"]["changed"] for change in changes] != [100] * count:
        raise ValueError(f"{root}: not every dataset was compared")
    return taken


def synced(*, root: str) -> int:
    """Build the datasets of a catalog that are not built yet; a failure is an error."""
    return _run("sync", "--root", root).returncode


def site(*, root: str, count: int) -> float:
    """Return the seconds of a site in an empty folder; no page of it may be too large."""
    with tempfile.TemporaryDirectory() as folder:
        done: list[subprocess.CompletedProcess[bytes]] = []
        taken = seconds(lambda: done.append(_run("site", "--out", folder, "--root", root)))
        largest = max(page.stat().st_size for page in Path(folder).rglob("*.html"))
    if (shown := json.loads(done[0].stdout)["with_samples"]) != count or largest >= _PAGE_SIZE:
        raise ValueError(f"{root}: {shown} datasets with samples, pages of up to {largest} bytes")
    return taken


def _run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "registry", *arguments, "--json"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE)


def _whole(dataset: Dataset, rows: int) -> Dataset:
    if len(dataset) != rows:
        raise ValueError(f"{dataset.name}: {len(dataset)} samples, expected {rows}")
    return dataset

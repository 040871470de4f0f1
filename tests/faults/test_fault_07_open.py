"""An open dataset continues with the right samples when its files are cut, damaged or removed.

So it does when they are damaged again meanwhile, up to three times during one reading.

What it has read it keeps in memory; what it reads later is checked, and built again if damaged.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from select import select

import pytest

from registry import CacheError, get_dataset
from registry.errors import DamagedEntryError
from registry.store.arrow_dataset import ArrowDataset
from tests.conftest import OneDataset
from tests.faults.damaged_cache import digest_of
from tests.faults.process import write_catalog

# Two batches of samples.
ROWS = [
    {"q": f"{number} " * 10_000, "a": "ABC"[number % 3], "c": ["x", "y", f"{number}"]}
    for number in range(70)
]
READ = """
import json, os, sys
from registry import RegistryError, get_dataset
from tests.faults.damaged_cache import digest_of

for line in sys.stdin:
    root, first, environment = json.loads(line)
    os.environ.update(environment)
    dataset = get_dataset("data", root=root)
    samples = iter(dataset)
    read = [next(samples) for _ in range(first)]
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        rest = list(samples)
        print(digest_of([*read, *rest]), digest_of(dataset), dataset[3].input[:3], flush=True)
    except RegistryError as error:
        print(type(error).__name__, error, flush=True)
"""


class Reader:
    """A process that opens datasets, and reads on when it is told to; started again if it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def continued(self, root: Path, harm: Callable[[], object], *, first: int = 1) -> str:
        """Damage the cache after the first samples are read; return what came of the others."""
        environment = {"REGISTRY_CACHE_DIR": os.environ["REGISTRY_CACHE_DIR"]}
        assert self._told(json.dumps([str(root), first, environment])) == "ready"
        harm()
        return self._told("")

    def _told(self, line: str) -> str:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", READ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        if not select([self._process.stdout], [], [], 60)[0]:
            self._process.kill()
        answer = self._process.stdout.readline()
        assert answer, f"ended by the damage: {self._process.wait()}"
        return answer.rstrip("\n")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """Return the process that reads; no test leaves anything in it."""
    with closing(Reader()) as made:
        yield made


@pytest.fixture
def root(one_dataset: OneDataset) -> Path:
    """Write a catalog with a shuffled dataset of a local file."""
    keys = {"fields": {"input": "q", "target": "a", "choices": "c"}}
    view = {"shuffle": True, "seed": 1, "shuffle_choices": 2}
    folder = one_dataset({"type": "json", "path": "data.jsonl"}, **keys, **view)
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


def file_of(cache_dir: Path, name: str) -> Path:
    (path,) = cache_dir.glob(f"v*/*/*/{name}")
    return path


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 4
    with open(path, "r+b") as file:  # in place: the reader has mapped these bytes
        file.write(content)


def cut(*names: str, size: int = 0) -> Callable[[Path], None]:
    """Return a function that cuts files of the cache, also where another process has mapped them."""

    def harm(cache_dir: Path) -> None:
        for name in names:
            path = file_of(cache_dir, name)
            os.truncate(path, size if size >= 0 else path.stat().st_size + size)

    return harm


def overwrite(value: int) -> Callable[[Path], None]:
    """Return a function that overwrites all files of the cache, which other processes have open."""

    def harm(cache_dir: Path) -> None:
        for name in ("samples.arrow", "rows.npy", "choices.npy"):
            path = file_of(cache_dir, name)
            with open(path, "r+b") as file:
                file.write(bytes([value]) * path.stat().st_size)

    return harm


def empty_and_remove(cache_dir: Path) -> None:
    cut("samples.arrow", "rows.npy")(cache_dir)
    shutil.rmtree(cache_dir)


HARMS: dict[str, Callable[[Path], None]] = {
    "samples emptied": cut("samples.arrow"),
    "samples cut": cut("samples.arrow", size=1_500_000),
    "samples cut by a byte": cut("samples.arrow", size=-1),
    "rows emptied": cut("rows.npy"),
    "choices emptied": cut("choices.npy"),
    "everything emptied": cut("samples.arrow", "rows.npy", "choices.npy"),
    "files emptied and everything removed": empty_and_remove,
    "everything removed": shutil.rmtree,
    "zeros": overwrite(0),
    "invalid text": overwrite(255),
    "letters": overwrite(ord("B")),
}


@pytest.mark.parametrize(
    ("harm", "first"),
    [*((harm, 1) for harm in HARMS), ("samples cut", 0), ("letters", 0), ("samples cut", 60)],
)
def test_reader_continues(
    root: Path, cache_dir: Path, reader: Reader, harm: str, first: int
) -> None:
    dataset = get_dataset("data", root=root)
    found = reader.continued(root, lambda: HARMS[harm](cache_dir), first=first)
    right = digest_of(dataset)
    assert found == f"{right} {right} {dataset[3].input[:3]}"


def test_batch_that_is_damaged_before_it_is_read_is_built_again(
    root: Path, cache_dir: Path, reader: Reader
) -> None:
    dataset = get_dataset("data", root=root)
    samples = file_of(cache_dir, "samples.arrow")
    for position in (1000, samples.stat().st_size - 100_000):  # in one batch and in the other
        flip(samples, position)
        found = reader.continued(root, lambda: None, first=0)
        right = digest_of(get_dataset("data", root=root))
        assert found == f"{right} {right} {dataset[3].input[:3]}"
    assert len(list(cache_dir.glob("v*/quarantine/*"))) == 2


@pytest.mark.parametrize("times", [3, 4])
def test_samples_may_be_damaged_again_before_they_are_read(
    root: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """What is damaged each time that it was built again is an error in the end."""
    right = digest_of(get_dataset("data", root=root))
    dataset = get_dataset("data", root=root)
    assert isinstance(dataset, ArrowDataset)
    origin, opened = dataset.origin, []
    assert origin is not None

    def harm() -> None:
        (samples,) = cache_dir.glob("v*/samples/*/samples.arrow")  # not those in the quarantine
        flip(samples, 1000)

    def harmed() -> ArrowDataset:
        again = origin()
        opened.append(again)
        if len(opened) < times:
            harm()
        return again

    monkeypatch.setattr(dataset, "origin", harmed)
    harm()
    if times > 3:
        with pytest.raises(DamagedEntryError, match="open it again"):
            list(dataset)
    else:
        assert digest_of(dataset) == right
    assert len(opened) == 3


@pytest.mark.parametrize("is_gone", [True, False])
def test_samples_that_can_not_be_built_again_are_an_error(
    root: Path, cache_dir: Path, reader: Reader, is_gone: bool
) -> None:
    get_dataset("data", root=root)

    def harm() -> None:
        os.truncate(file_of(cache_dir, "samples.arrow"), 0)
        (root / "data.jsonl").unlink()
        if not is_gone:
            others = "".join(json.dumps(row) + "\n" for row in ROWS[::-1])
            (root / "data.jsonl").write_text(others)

    found = reader.continued(root, harm, first=0)
    assert found.startswith("CacheError ")
    if is_gone:
        assert "was cut to 0 of" in found
        assert "building it again failed: " in found
    assert ("no such file" if is_gone else "has changed") in found


CODE = """
import os
from registry import Sample
def read(record):
    return Sample(input=record["q"], target=os.environ["ANSWER"])
"""


def test_other_samples_never_continue_a_dataset(
    tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answering.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "data.jsonl").write_text('{"q": "a"}\n{"q": "b"}\n', encoding="utf-8")
    datasets = "  data: {source: {type: json, path: data.jsonl}, mapper: 'answering:read'}\n"
    root = write_catalog(tmp_path, datasets, index="trust: ['answering:read']\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ANSWER", "old")
    dataset = get_dataset("data", root=root)
    cut("samples.arrow")(cache_dir)
    monkeypatch.setenv("ANSWER", "new")
    with pytest.raises(CacheError, match="opened again it has other samples"):
        list(dataset)
    assert get_dataset("data", root=root)[1].target == "new"

"""An error of the disk at any write, sync or close publishes nothing, and is reported as such. What `sync` reported is on the disk; what a power cut damaged is detected and built again."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.base.cache_access import versioned_folder
from tests.conftest import Https, OneDataset
from tests.faults.background import finish, start
from tests.faults.crash_sweep import PREVIEWS, Site
from tests.faults.crashes import Crashes, Done
from tests.faults.damaged_cache import HARMS
from tests.faults.process import write_catalog

ROWS = [{"q": f"What is {number}?", "a": str(number)} for number in range(50)]
PREVIEW = "preview data -n 50 --json"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broken")
    source = "source: {type: json, path: data.jsonl}, fields: {input: q, target: a}"
    return write_catalog(folder / "catalog", f"  data: {{{source}, shuffle: true, seed: 1}}\n")


@pytest.fixture(scope="module")
def cache(root: Path) -> Path:
    return root.parent / "cache"


@pytest.fixture(scope="module")
def running(root: Path, cache: Path) -> Iterator[Crashes]:
    """Run commands in the catalog; calls that concern the cache or the lockfile may fail."""
    if platform.machine() != "x86_64":
        pytest.skip("how a call is made to fail is known for x86_64 only")
    watched = [cache, root / ".datasets.lock"]
    with Crashes(root, {"REGISTRY_CACHE_DIR": str(cache)}, watched) as running:
        write_rows(root, ROWS)
        assert running.warm("sync", "lock", PREVIEW, "cache clear --yes").code == 0
        yield running


@pytest.fixture
def crashes(running: Crashes, root: Path) -> Crashes:
    write_rows(root, ROWS)
    (root / "datasets.lock").unlink(missing_ok=True)
    assert running.run("cache clear --yes").code == 0
    return running


def write_rows(root: Path, rows: list[dict[str, str]]) -> None:
    (root / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def samples(cache: Path) -> list[Path]:
    return list((versioned_folder(cache) / "samples").glob("*"))


def is_intact(crashes: Crashes) -> None:
    """Expect that whatever is in the cache is right, and that the dataset can be used."""
    done = crashes.run("cache verify", PREVIEW)
    assert done.code == 0, done.out
    lines = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    found = sorted((one["input"], one["target"]) for one in lines)
    assert found == sorted((row["q"], row["a"]) for row in ROWS)


def sweep(crashes: Crashes, command: str, call: str, error: int, steps: int) -> Iterator[Done]:
    """Let each call fail, or so many of them; yield the results."""
    crashes.run("cache clear --yes")
    number, step = 1, 0
    while (done := crashes.fail(command, call, number, error)).failed:
        yield done
        crashes.run("cache clear --yes")
        count = sum(name == call for name, _ in done.calls)
        step = step or max(1, count // steps)
        number += step
    assert number > 1


@pytest.mark.parametrize(
    ("call", "error"),
    [("write", errno.EIO), ("write", errno.ENOSPC), ("close", errno.EIO)],
    ids=["write-EIO", "write-ENOSPC", "close-EIO"],
)
def test_a_build(crashes: Crashes, cache: Path, thorough: bool, call: str, error: int) -> None:
    codes = set()
    for done in sweep(crashes, PREVIEW, call, error, 1000 if thorough else 3):
        codes.add(done.code)
        if done.code:
            # What was written, or published, is then read, which may fail too.
            is_read = ".arrow: can't be read: " in done.out
            assert is_read or "error: can't write to the cache in " in done.out, done
            # pyarrow says only that the file can't be closed.
            assert os.strerror(error) in done.out or "error closing file" in done.out, done
            assert is_read or samples(cache) == []
        else:  # of what only saves work
            assert done.out.count("\n") >= len(ROWS), done
        is_intact(crashes)
    assert codes <= {0, 1}
    assert 1 in codes or not thorough


def test_sync(crashes: Crashes, cache: Path, thorough: bool) -> None:
    for done in sweep(crashes, "sync", "fsync", errno.EIO, 1000 if thorough else 2):
        assert done.code == 1, done
        assert "error: data: can't write to the cache: " in done.out
        assert "Input/output error" in done.out
        assert samples(cache) == []
        is_intact(crashes)


def test_a_lockfile(crashes: Crashes, root: Path) -> None:
    assert crashes.run("lock").code == 0
    before = (root / "datasets.lock").read_bytes()
    write_rows(root, ROWS[:3])
    done = crashes.fail("lock --upgrade", "fsync", 1, errno.EIO)
    assert done.code == 1
    assert "can't be written: Input/output error" in done.out
    assert (root / "datasets.lock").read_bytes() == before
    assert not list(root.glob(".datasets.lock*"))


PARTS = {"samples", "views", "sources", "index", "records", "blobs"}


def synced(strace: str, root: Path, *arguments: str) -> list[str]:
    """Run Python; return what it synced to the disk, without what is random in the names."""
    log = root / "strace.log"
    trace = [strace, "-f", "-qq", "-y", "--seccomp-bpf", "-o", str(log)]
    calls = "trace=fsync,fdatasync,sync,syncfs,sync_file_range"
    process = start(["-B", *arguments], root, before=[*trace, "-e", calls])
    code, out, err = finish(process, timeout=120)
    assert code == 0, out + err
    paths = re.findall(r"sync\w*\(\d+<(.*?)>", log.read_text(encoding="utf-8"))
    return [re.sub("[0-9a-f]{32,64}", "#", path.partition("/cache/")[2] or path) for path in paths]


def test_only_what_a_promise_needs_is_synced(
    one_dataset: OneDataset, cache_dir: Path, https: Https, strace: str
) -> None:
    url = https.put("/d.jsonl", b'{"q": "One?", "a": "1"}\n', etag="1")
    root = one_dataset({"type": "json", "path": url})
    v = versioned_folder(cache_dir).name
    load = "from registry import get_dataset; get_dataset('data', shuffle=True, seed=1)"
    assert synced(strace, root, "-c", load) == []
    entry = [f"{v}/samples/#/meta.json", f"{v}/samples/#/samples.arrow", f"{v}/samples/#"]
    above = [f"{v}/samples", v, str(cache_dir)]
    for refresh in ([], ["--refresh"]):
        found = synced(strace, root, "-m", "registry", "sync", *refresh)
        # The state of its source is what finds the samples when there is no network.
        states = [path for path in found if path.startswith(f"{v}/sources/#")]
        assert len(states) <= 3
        assert sorted(found) == sorted([*entry, *states, f"{v}/sources", *above])
    before = [
        path for path in synced(strace, root, "-m", "registry", "lock") if ".json" not in path
    ]
    assert before == [f"{root}/.datasets.lock.#", str(root)]


DAMAGES = ("empty", "zero", "cut", "zeros at the end", "gone")


def test_what_was_not_written_is_never_served(thorough: bool, place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    done = crashes.run(*PREVIEWS)
    assert done.code == 0, done.out
    made.save()
    for damage in DAMAGES if thorough else DAMAGES[:3]:
        made.reset()
        files = [path for path in made.cache.rglob("*") if path.is_file()]
        assert {path.relative_to(made.cache).parts[1] for path in files} >= PARTS
        for path in files:
            HARMS[damage](path, {})
        again = crashes.run(*PREVIEWS)
        assert (again.code, again.samples) == (0, done.samples), damage
        # Records and blobs are only read by a build, and the quarantine is for people.
        crashes.run("cache verify")
        assert crashes.run("cache prune", "cache verify", "sync").code == 0
        assert crashes.run(*PREVIEWS).out == done.out

"""What `sync` reported is on the disk; what a power cut damaged is detected and built again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from registry.base.cache_access import versioned_folder
from tests.conftest import Https, OneDataset
from tests.faults.crash_sweep import PREVIEWS, Site
from tests.faults.crashes import Crashes

PARTS = {"samples", "views", "sources", "index", "records", "blobs"}


def synced(strace: str, root: Path, *arguments: str) -> list[str]:
    """Run Python; return what it synced to the disk, without what is random in the names."""
    log = root / "strace.log"
    trace = [strace, "-f", "-qq", "-y", "--seccomp-bpf", "-o", str(log)]
    calls = "trace=fsync,fdatasync,sync,syncfs,sync_file_range"
    done = subprocess.run(
        [*trace, "-e", calls, sys.executable, "-B", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
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


def cut(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zero_end(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))


DAMAGES = (cut, zero, halve, zero_end, Path.unlink)


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
            damage(path)
        again = crashes.run(*PREVIEWS)
        assert (again.code, again.samples) == (0, done.samples), damage
        # Records and blobs are only read by a build, and the quarantine is for people.
        crashes.run("cache verify")
        assert crashes.run("cache prune", "cache verify", "sync").code == 0
        assert crashes.run(*PREVIEWS).out == done.out

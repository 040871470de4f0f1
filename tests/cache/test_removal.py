"""What is reported as removed was removed; what was not is reported with the reason."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.cache.contents import contents
from registry.cache.removal import DAY, Removal
from tests.cache.entries import age, samples, view


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def removal(cache: Cache) -> Removal:
    cache.versioned.mkdir(parents=True)
    return Removal(folder=cache.versioned)


def test_an_item_is_removed_with_its_views(cache: Cache, removal: Removal) -> None:
    paths = [samples(cache, "a"), view(cache, "v", of="a")]
    (item,) = contents(cache)
    removal.remove_item(item, "why")
    assert [(one.kind, one.dataset, one.reason) for one in removal.removed] == [
        ("samples", "a", "why"),
        ("views", "a", "why"),
    ]
    assert removal.bytes == item.total
    assert not any(path.exists() for path in paths)
    assert removal.removed[0].to_dict() == {
        "kind": "samples",
        "name": paths[0].name,
        "bytes": item.bytes,
        "reason": "why",
        "dataset": "a",
    }


def test_what_is_gone_already_was_not_removed(cache: Cache, removal: Removal) -> None:
    samples(cache, "a")
    (item,) = contents(cache)
    shutil.rmtree(item.path)
    removal.remove_item(item, "why")
    assert (removal.removed, removal.errors) == ([], {})


@pytest.mark.parametrize(("age_of_file", "is_removed"), [(DAY + 60, True), (DAY - 60, False)])
def test_what_changed_lately_is_kept_on_request(
    removal: Removal, age_of_file: float, is_removed: bool
) -> None:
    path = removal.folder / "file"
    path.write_bytes(b"x")
    age(path, age_of_file)
    removal.remove_unheld(path, "old", older=DAY)
    assert bool(removal.removed) == is_removed == (not path.exists())


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_all_is_cleared_but_what_may_be_being_written(
    cache: Cache, removal: Removal, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    entry = samples(cache, "a")
    new, old = entry.with_name(".new"), entry.with_name(".old")
    for path in (new, old):
        path.write_bytes(b"x")
    age(old, DAY + 60)
    removal.clear(entry, is_temporary=False)
    for path in (new, old):
        removal.clear(path, is_temporary=True)
    assert [one.name for one in removal.removed] == [entry.name, ".old"]
    assert [path.exists() for path in (entry, new, old)] == [False, True, False]
    assert list(removal.errors) == [new]
    assert "nobody can tell whether a process is writing it" in removal.errors[new]


# A user without rights, because root may remove anything.
REMOVE = """
import os, sys
from pathlib import Path
from registry.cache.cache import Cache
from registry.cache.housekeeping import clear
os.setgid(65534); os.setuid(65534)
removal = clear(Cache(Path(sys.argv[1])))
print(removal.bytes, *removal.errors.values(), sep="|")
"""


def test_what_can_not_be_removed_is_reported(cache: Cache) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    entry = samples(cache, "a")
    for path in [cache.root, *cache.root.rglob("*")]:
        path.chmod(0o755)
    for path in cache.root.parents[:-2]:
        path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", REMOVE, str(cache.root)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "0|Permission denied\n", done.stderr
    assert (entry / "file").read_bytes() == b"x" * 1000

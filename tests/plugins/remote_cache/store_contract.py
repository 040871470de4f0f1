"""What every store does, whatever it is made of."""

from __future__ import annotations

import time
from pathlib import Path

from registry.plugins.remote_cache.folder_store import Store

__all__ = ["check_store"]


def check_store(store: Store, folder: Path) -> None:
    """Use all methods of an empty store; `folder` is for local files. It is empty again after."""
    assert store.read("v3/k/entry.json", 10) is None
    assert store.size("v3/k/entry.json") is None
    assert list(store.objects()) == []

    assert store.write_new("v3/k/entry.json", b"first one")
    assert not store.write_new("v3/k/entry.json", b"second")
    assert store.read("v3/k/entry.json", 5) == b"first"
    assert store.read("v3/k/entry.json", 100) == b"first one"
    store.write("v3/k/entry.json", b"")
    assert store.read("v3/k/entry.json", 100) == b""
    assert store.size("v3/k/entry.json") == 0
    store.write("v3/k/entry.json", b"third")
    assert store.read("v3/k/entry.json", 100) == b"third"

    data = bytes(range(256)) * 40_000
    (folder / "file").write_bytes(data)
    moved: list[int] = []
    store.upload(folder / "file", "v3/k/data", moved.append)
    assert store.size("v3/k/data") == len(data)
    store.upload(folder / "file", "v3/k/data", moved.append)  # again, in its place
    moved.clear()
    store.download("v3/k/data", folder / "all", len(data), moved.append)
    assert (folder / "all").read_bytes() == data
    assert len(moved) > 1
    assert sum(moved) == len(data)
    store.download("v3/k/data", folder / "part", 1000, moved.append)
    assert (folder / "part").read_bytes() == data[:1000]
    store.download("v3/k/data", folder / "inside", 1000, moved.append, start=9_000_000)
    assert (folder / "inside").read_bytes() == data[9_000_000:9_001_000]

    found = {one.name: one for one in store.objects()}
    assert {name: one.size for name, one in found.items()} == {
        "v3/k/data": len(data),
        "v3/k/entry.json": 5,
    }
    assert all(abs(one.written - time.time()) < 600 for one in found.values())
    for name in found:
        store.remove(name)
        store.remove(name)
    assert list(store.objects()) == []

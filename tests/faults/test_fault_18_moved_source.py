"""When a branch moves, nothing changes under a lock, and without one it is never silently stale. A local file that is rewritten in place is found, even with its old size and time, and `lock` trusts bytes alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from registry.cache.folders import seal, unseal
from tests.command_line import Ran
from tests.conftest import Https
from tests.faults.background import finish, start
from tests.faults.faulty_hub import FaultyHub, questions
from tests.faults.process import registry, registry_each, write_catalog
from tests.servers.hub import HubEmulator

OLD, NEW = b"input,target\nold,1\n", b"input,target\nnew,1\n"
LONG_AGO = 1_700_000_000
DATASET = "  d: {source: {type: csv, path: d.csv}, fields: {input: input, target: target}}\n"


def put(path: Path, data: bytes) -> None:
    """Write a file in place, and restore its time as `rsync -t` does."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(data)
        file.truncate()
    os.utime(path, (LONG_AGO, LONG_AGO))


def input_of(ended: Ran) -> str:
    (line,) = [line for line in ended.out.splitlines() if line.startswith("{")]
    return str(json.loads(line)["input"])


def rewritten(path: Path, data: bytes) -> None:
    before = path.stat()
    put(path, data)
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_data(tmp_path: Path) -> None:
    put(tmp_path / "d.csv", OLD)
    catalog = write_catalog(tmp_path, DATASET)
    assert input_of(registry(catalog, "preview", "d", "--json")) == "old"
    rewritten(tmp_path / "d.csv", NEW)
    assert input_of(registry(catalog, "preview", "d", "--json")) == "new"


def test_pinned_data(tmp_path: Path) -> None:
    put(tmp_path / "d.csv", OLD)
    catalog = write_catalog(tmp_path, DATASET)
    ended = registry_each(catalog, "lock", "preview d --json --locked", "lock --check")
    assert (ended.code, input_of(ended)) == (0, "old")
    rewritten(tmp_path / "d.csv", NEW)
    ended = registry(catalog, "preview", "d", "--json", "--locked")
    assert ended.code == 1
    assert hashlib.sha256(OLD).hexdigest() in ended.err
    assert hashlib.sha256(NEW).hexdigest() in ended.err
    ended = registry(catalog, "lock", "--check")
    assert ended.code == 1
    assert "d.csv differs from its pin" in ended.out
    ended = registry_each(catalog, "lock --upgrade d", "preview d --json --locked")
    assert (ended.code, input_of(ended)) == (0, "new")


def test_manifest(tmp_path: Path) -> None:
    put(tmp_path / "old.csv", OLD)
    put(tmp_path / "new.csv", NEW)
    index, manifest = "version: 1\ninclude: [m.yaml]\n", "datasets:\n" + DATASET
    put(tmp_path / "datasets.yaml", index.encode())
    put(tmp_path / "m.yaml", manifest.replace("d.csv", "old.csv").encode())
    assert input_of(registry(tmp_path, "preview", "d", "--json")) == "old"
    rewritten(tmp_path / "m.yaml", manifest.replace("d.csv", "new.csv").encode())
    assert input_of(registry(tmp_path, "preview", "d", "--json")) == "new"


CODE = "from registry import Sample\ndef read(record):\n    return Sample(input='%s')\n"


def test_code(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    put(folder / "mapper.py", (CODE % "old").encode())
    put(tmp_path / "d.csv", OLD)
    datasets = "  d: {source: {type: csv, path: d.csv}, mapper: 'mapper:read'}\n"
    catalog = write_catalog(tmp_path, datasets, index="trust: ['mapper:read']\n")
    # Without byte code: Python looks at its source's size and time alone.
    environment = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def preview() -> str:
        command = ["-m", "registry", "preview", "d", "--json"]
        return input_of(Ran(*finish(start(command, catalog, **environment))))

    assert preview() == "old"
    rewritten(folder / "mapper.py", (CODE % "new").encode())
    assert preview() == "new"


def change_remembered_digests(cache: Path) -> int:
    """Change one hex digit in each digest that the cache remembers, with a right checksum."""
    changed = 0
    for path in cache.glob("v*/sources/*.json"):
        data: dict[str, Any] = unseal(path.read_bytes())
        if "sha256" in data:
            data["sha256"] = re.sub(
                "^.", lambda found: "0" if found[0] != "0" else "1", data["sha256"]
            )
            path.write_bytes(seal(data))
            changed += 1
    return changed


def test_lock_reads_local_bytes_again(tmp_path: Path) -> None:
    put(tmp_path / "d.csv", OLD)
    catalog = write_catalog(tmp_path, DATASET)
    assert registry(catalog, "sync").code == 0
    assert change_remembered_digests(tmp_path / "cache") == 1
    assert registry(catalog, "lock").code == 0
    assert hashlib.sha256(OLD).hexdigest() in (tmp_path / "datasets.lock").read_text()
    assert change_remembered_digests(tmp_path / "cache") == 1
    ended = registry(catalog, "lock", "--check")
    assert ended.code == 0, ended.text


def test_lock_reads_downloaded_bytes_again(tmp_path: Path, https: Https) -> None:
    url = https.put("/d.csv", OLD, etag="1")
    catalog = write_catalog(tmp_path, DATASET.replace("path: d.csv", f"path: '{url}'"))
    assert registry(catalog, "sync").code == 0
    assert https.requests.count(("GET", "/d.csv")) == 1
    # What is remembered and right saves the download; the bytes are here.
    assert registry(catalog, "lock").code == 0
    pinned = (tmp_path / "datasets.lock").read_text()
    assert hashlib.sha256(OLD).hexdigest() in pinned
    assert https.requests.count(("GET", "/d.csv")) == 1
    (tmp_path / "datasets.lock").unlink()
    assert change_remembered_digests(tmp_path / "cache") == 1
    assert registry(catalog, "lock").code == 0
    assert (tmp_path / "datasets.lock").read_text() == pinned
    assert https.requests.count(("GET", "/d.csv")) == 2


def test_a_branch_moves(hub: HubEmulator, tmp_path: Path, faulty: FaultyHub) -> None:
    assert faulty.run("lock").code == 0
    hub.commit("org/data", {"test.parquet": questions(100, "newer")})
    faulty.proxy.clear()
    assert faulty.run("sync", "--locked").code == 0
    assert faulty.proxy.log == []
    (tmp_path / "catalog" / "datasets.lock").rename(tmp_path / "lock")
    assert faulty.run("sync", "--locked").code == 1
    assert faulty.run("sync").code == 0
    assert {text.split()[0] for text in faulty.inputs()} == {"question", "newer"}
    (tmp_path / "lock").rename(tmp_path / "catalog" / "datasets.lock")
    faulty.write(revision="other")
    refused = faulty.run("sync", "--locked")
    assert refused.code == 1
    assert "datasets.lock pins it for an older manifest" in refused.err

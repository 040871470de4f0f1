"""An edit of equal size in the cache is found by `sync` and `lock --check`, which compare digests.

A warm open reads only what is asked for, and compares its checksums, which an attacker can replace.
"""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from registry.cache.folders import checksum, seal, unseal
from registry.store.checked_file import pack_numbers, unpack_numbers
from tests.command_line import run
from tests.git_repository import write_files

DATASET = "{source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}"
INDEX = f"version: 1\ndatasets: {{qa: {DATASET}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a locked catalog, whose samples are cached."""
    files = {"datasets.yaml": INDEX, "qa.csv": "q,a\nIs it good?,good\n"}
    folder = write_files(tmp_path / "catalog", files)
    assert run(folder, "lock").code == 0
    assert run(folder, "sync", "--locked").code == 0
    return folder


def with_checksums_of(samples: bytes, batches: str) -> str:
    """Return the table of batches of an edited file."""
    table = np.array(unpack_numbers(batches)).reshape(-1, 4)
    ends = [int(end) for end in table[:, 2]]
    for number, (start, end) in enumerate(pairwise(ends), 1):
        table[number, 3] = checksum(samples[start:end])
    table[0, 3] = checksum(samples[ends[-1] :])
    return pack_numbers(table)


def edit_samples(cache_dir: Path, *, with_meta: bool) -> None:
    """Edit the cached samples as another user could: same size, same time."""
    (path,) = cache_dir.glob("v*/samples/*/samples.arrow")
    state, old = path.stat(), path.read_bytes()
    new = old.replace(b"good", b"evil")
    assert new != old
    path.write_bytes(new)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    if with_meta:
        meta_path = path.with_name("meta.json")
        meta = unseal(meta_path.read_bytes())
        meta["files"]["samples.arrow"]["sha256"] = hashlib.sha256(new).hexdigest()
        meta["batches"] = with_checksums_of(new, meta["batches"])
        meta_path.write_bytes(seal(meta))


@pytest.mark.parametrize("command", [("sync", "--locked"), ("lock", "--check")])
def test_an_edit_of_the_samples_alone_is_repaired(
    folder: Path, cache_dir: Path, command: tuple[str, ...]
) -> None:
    edit_samples(cache_dir, with_meta=False)
    assert run(folder, *command).code == 0
    assert "evil" not in run(folder, "preview", "qa").out


def test_an_edit_of_the_samples_and_their_digest_differs_from_the_pin(
    folder: Path, cache_dir: Path
) -> None:
    edit_samples(cache_dir, with_meta=True)
    checked = run(folder, "lock", "--check")
    assert checked.code == 1
    assert "qa: ordered is 'sha256:" in checked.out
    done = run(folder, "sync", "--locked")
    assert done.code == 1
    assert "its samples differ" in done.err

"""Samples that differ from their pin are refused with both digests, and are never cached."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from registry import LockError, get_dataset
from registry.cli import main
from tests.command_line import run
from tests.conftest import OneDataset, permit
from tests.faults.background import loaded
from tests.faults.network import Served
from tests.faults.process import write_catalog
from tests.servers.fault_proxy import Fault
from tests.servers.hub import HubEmulator, parquet_repo
from tests.servers.static import StaticFiles

RECORDS = [{"q": f"question {n} {'x' * 90}", "a": f"answer {n}"} for n in range(12_000)]
LINES = b"".join(json.dumps(one).encode() + b"\n" for one in RECORDS)
"""More than 1 MiB: of a smaller file all is read even for its first samples."""
WRONG = f"sha256:{'5' * 64}"
SHUFFLED = {"shuffle": True, "seed": 3}
SAMPLE = {("local", *SHUFFLED), ("http", "limit"), ("hub",)}


def locked(root: Path) -> None:
    assert main(["lock", "--root", str(root)]) == 0


def clear_cache() -> None:
    assert main(["cache", "clear", "--yes"]) == 0


def change_pinned_digest(root: Path) -> str:
    """Give the samples another digest in the lockfile; return the right one."""
    path = root / "datasets.lock"
    text = path.read_text(encoding="utf-8")
    right: str
    (right,) = re.findall(r"\bordered: (sha256:[0-9a-f]{64})", text)
    path.write_text(text.replace(right, WRONG), encoding="utf-8")
    return right


def published(cache_dir: Path) -> list[str]:
    """Return which samples and views are in the cache."""
    found = [*cache_dir.glob("v*/samples/*"), *cache_dir.glob("v*/views/*")]
    return [str(path.relative_to(cache_dir)) for path in found]


@pytest.mark.parametrize("view", [{}, SHUFFLED, {"limit": 5}], ids=["all", "shuffled", "limit"])
@pytest.mark.parametrize("kind", ["local", "http", "hub"])
def test_wrong_digest_of_samples(
    hub: HubEmulator,
    one_dataset: OneDataset,
    cache_dir: Path,
    tmp_path: Path,
    kind: str,
    view: Mapping[str, Any],
    *,
    thorough: bool,
) -> None:
    if not thorough and (kind, *view) not in SAMPLE:
        pytest.skip("a sample of the kinds without `make faults`")
    hub.commit("org/name", parquet_repo({"default": {"test": RECORDS}}))
    (tmp_path / "data.jsonl").write_bytes(LINES)
    with StaticFiles({"/data.jsonl": LINES}) as site:
        source = {
            "local": {"type": "json", "path": str(tmp_path / "data.jsonl")},
            "http": {"type": "json", "path": f"{site.url}/data.jsonl"},
            "hub": {"type": "hf", "path": "org/name", "split": "test"},
        }[kind]
        root = permit(one_dataset(source, **view), hosts=["127.0.0.1"])
        locked(root)
        right = change_pinned_digest(root)
        clear_cache()
        for _ in range(2):  # and it is not cached by the first time
            code, _, err = loaded("data", root)
            assert code == 1
            assert re.match(
                r"LockError: data: its sources match datasets\.lock, its samples differ: pinned ",
                err,
            )
            assert f", {WRONG}, found " in err
            assert f", {right} (" in err
            assert published(cache_dir) == []
        (root / "datasets.lock").unlink()
        code, out, _ = loaded("data", root)
        assert (code, len(json.loads(out))) == (0, view.get("limit", len(RECORDS)))


def test_damaged_first_samples_of_a_server_are_not_cached(
    one_dataset: OneDataset, cache_dir: Path, served: Served
) -> None:
    proxy = served({"/data.jsonl": LINES})
    source = {"type": "json", "path": f"{proxy.url}/data.jsonl"}
    root = permit(one_dataset(source, limit=5), hosts=["127.0.0.1"])
    locked(root)
    clear_cache()
    proxy.add(Fault(flip=LINES.index(b"question 2")), method="GET", times=1)
    code, _, err = loaded("data", root)
    assert code == 1
    assert "its samples differ: pinned 5, sha256:" in err
    assert published(cache_dir) == []
    code, out, err = loaded("data", root)
    assert (code, err) == (0, "")
    assert [one[0] for one in json.loads(out)] == [one["q"] for one in RECORDS[:5]]


def test_samples_that_were_built_without_a_lock_stay_for_loads_without_it(
    one_dataset: OneDataset, cache_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "data.jsonl").write_bytes(LINES)
    root = one_dataset({"type": "json", "path": str(tmp_path / "data.jsonl")})
    locked(root)
    entries = published(cache_dir)
    change_pinned_digest(root)
    code, _, err = loaded("data", root)
    assert code == 1
    assert "its samples differ: pinned" in err
    assert published(cache_dir) == entries
    # What is built again is compared again.
    ran = run(root, "sync", "--refresh")
    assert ran.code == 1
    assert "its samples differ: pinned" in ran.err
    assert published(cache_dir) == entries
    (root / "datasets.lock").unlink()
    ran = run(root, "sync", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json[0]["status"] == "cached"


CODE = """
import os
from registry import Sample
def read(record):
    return Sample(input=record["q"], target=os.environ["ANSWER"])
"""


def test_other_samples_that_took_the_place_of_the_compared_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answers.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "data.jsonl").write_bytes(LINES)
    datasets = "  data: {source: {type: json, path: data.jsonl}, mapper: 'answers:read'}\n"
    root = write_catalog(tmp_path, datasets, index="trust: ['answers:read']\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ANSWER", "old")
    locked(root)
    lockfile = root / "datasets.lock"
    lockfile.rename(root / "away")
    monkeypatch.setenv("ANSWER", "new")  # what code reads is not part of what identifies samples
    assert main(["sync", "--refresh", "--root", str(root)]) == 0
    assert get_dataset("data", root=root)[0].target == "new"
    (root / "away").rename(lockfile)
    with pytest.raises(LockError, match="its samples differ: pinned 12,000"):
        get_dataset("data", root=root)
    monkeypatch.setenv("ANSWER", "old")
    assert main(["sync", "--refresh", "--root", str(root)]) == 0
    assert get_dataset("data", root=root)[0].target == "old"

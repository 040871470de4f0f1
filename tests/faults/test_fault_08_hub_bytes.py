"""A byte that arrives flipped is rejected and fetched once more; it is never cached."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.faulty_hub import PARQUET, FaultyHub, questions
from tests.faults.process import write_catalog
from tests.servers.fault_proxy import Fault
from tests.servers.hub import HubEmulator

JSONL = b"".join(b'{"q": "question %d", "a": "b"}\n' % row for row in range(200))


def test_a_file_that_is_damaged_once_is_fetched_once_more(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(flip=200), path=PARQUET, times=1)
    assert faulty.run("sync").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
    # What is there already is checked, not downloaded.
    assert faulty.run("sync", "--refresh").code == 0
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
    assert not list(faulty.client_folder.rglob("*.parquet"))


@pytest.mark.parametrize("name", ["test.parquet", "test.jsonl", "README.md"])
def test_a_file_that_is_always_damaged_is_an_error_and_leaves_nothing(
    hub: HubEmulator, tmp_path: Path, name: str, faulty: FaultyHub
) -> None:
    if name == "test.jsonl":  # a file of git, not of LFS
        hub.commit("org/data", {name: JSONL})
    faulty.proxy.add(Fault(flip=3), path=name.replace(".", r"\."))
    ended = faulty.run("lock")
    kind = "sha256" if name == "test.parquet" else "git"
    assert ended.code == 1
    assert f"{name}: the Hub names {kind}:" in ended.err
    assert f"the bytes it sends have {kind}:" in ended.err
    assert faulty.cached() == []
    assert faulty.quarantined()
    assert "datasets: {}" in (tmp_path / "catalog" / "datasets.lock").read_text("utf-8")
    faulty.proxy.clear()
    assert faulty.run("lock").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]


@pytest.mark.parametrize("name", ["test.parquet", "test.jsonl"])
def test_a_path_on_the_hub_is_checked_too(
    hub: HubEmulator, tmp_path: Path, name: str, faulty: FaultyHub
) -> None:
    commit = hub.commit("org/data", {"test.parquet": questions(9), "test.jsonl": JSONL})
    path = f"hf://datasets/org/data@{commit}/{name}"
    fields = "{input: q, target: a}"
    kind = "parquet" if name == "test.parquet" else "json"
    source = f"{{type: {kind}, path: '{path}'}}"
    write_catalog(tmp_path / "catalog", f"  data: {{source: {source}, fields: {fields}}}\n")
    faulty.proxy.add(Fault(flip=30), path="/resolve/")
    ended = faulty.run("sync")
    assert ended.code == 1
    digest = "sha256" if name == "test.parquet" else "git"
    assert f"{name}: the bytes differ from the {digest} that the server names" in ended.err
    assert faulty.cached() == []
    faulty.proxy.clear()
    assert faulty.run("sync").code == 0


def test_a_damaged_file_that_the_client_of_the_hub_has_is_not_used(faulty: FaultyHub) -> None:
    assert faulty.run("sync").code == 0
    (card,) = faulty.client_folder.rglob("snapshots/*/README.md")
    card.resolve().write_bytes(b"# Dat\xff\n")
    assert faulty.run("sync", "--refresh").code == 0
    (card,) = faulty.client_folder.rglob("snapshots/*/README.md")
    assert card.read_bytes() == b"# Data\n"

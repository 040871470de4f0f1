"""When a branch moves, nothing changes under a lock, and without one it is never silently stale."""

from __future__ import annotations

from pathlib import Path

from tests.faults.faulty_hub import FaultyHub, questions
from tests.servers.hub import HubEmulator


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

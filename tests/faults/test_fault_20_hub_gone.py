"""A repository that is removed, gated or out of reach gives its exact pinned bytes, or an error."""

from __future__ import annotations

from pathlib import Path

from tests.faults.faulty_hub import FaultyHub
from tests.servers.hub import HubEmulator


def test_pinned_samples_stay_and_others_are_an_error(
    hub: HubEmulator, tmp_path: Path, faulty: FaultyHub
) -> None:
    assert faulty.run("lock").code == 0
    for change, message in (
        (hub.gate, "/datasets/org/data with an account, then set HF_TOKEN to a token of it)"),
        (hub.remove, "org/data: no such dataset, or a private one (then set HF_TOKEN)"),
    ):
        change("org/data")
        faulty.proxy.clear()
        warm = faulty.run("sync", "--locked")
        assert (warm.code, faulty.proxy.log) == (0, [])
        cold = faulty.run("sync", "--locked", REGISTRY_CACHE_DIR=str(tmp_path / "other"))
        assert cold.code == 1
        assert message in cold.err


def test_offline_is_exact_or_an_error(faulty: FaultyHub) -> None:
    cold = faulty.run("sync", "--offline")
    assert cold.code == 1
    assert "org/data: not in the cache, and requests are disabled" in cold.err
    assert faulty.proxy.log == []

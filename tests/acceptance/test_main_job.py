"""The main use case through the public interfaces, with the Hub emulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers.hub import HubEmulator, parquet_repo

ROOT = Path(__file__).parents[2]
MMLU_COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
UNIQUE, REPEATED = 13_937, 105
SUBJECTS = yaml.safe_load((ROOT / "registry" / "groups.yaml").read_bytes())["groups"][
    "mmlu-subjects"
]["values"]


def mmlu_records() -> list[dict[str, Any]]:
    """Make as many records and duplicates as the real dataset has."""
    records = [
        {
            "question": f"Which is number {number}?",
            "subject": SUBJECTS[number % len(SUBJECTS)],
            "choices": [f"{number}", f"{number + 1}", f"{number + 2}", f"{number + 3}"],
            "answer": 0,
        }
        for number in range(UNIQUE)
    ]
    return records + records[:REPEATED]


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[HubEmulator, dict[str, str]]]:
    """Serve mmlu under its real commit; return the environment of a new user."""
    home = tmp_path_factory.mktemp("home")
    with HubEmulator() as hub:
        files = parquet_repo({"all": {"test": mmlu_records()}})
        hub.commit("cais/mmlu", files, sha=MMLU_COMMIT)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HF_ENDPOINT": hub.url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        }
        yield hub, environment


def run(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run Python in the repository's root, beside the folder `registry/`."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_get_dataset_returns_the_same_sample_cold_warm_and_offline(
    served: tuple[HubEmulator, dict[str, str]],
) -> None:
    hub, environment = served
    line = "from registry import get_dataset; print(get_dataset('mmlu-small')[0])"
    cold = run(["-c", line], environment)
    assert cold.returncode == 0, cold.stderr
    assert cold.stdout.startswith("input='Which is number ")
    hub.requests.clear()
    warm = run(["-c", line], environment)
    assert (warm.stdout, hub.requests) == (cold.stdout, [])
    offline = run(["-c", line], {**environment, "REGISTRY_OFFLINE": "1"})
    assert offline.stdout == cold.stdout


def test_sync_builds_once_and_both_views_share_the_samples(
    served: tuple[HubEmulator, dict[str, str]],
) -> None:
    hub, environment = served
    first = run(["-m", "registry", "sync", "mmlu", "mmlu-small", "--json"], environment)
    assert first.returncode == 0, first.stderr
    hub.requests.clear()
    second = run(["-m", "registry", "sync", "mmlu", "mmlu-small", "--json"], environment)
    results = {result["name"]: result for result in json.loads(second.stdout)}
    assert {result["status"] for result in results.values()} == {"cached"}
    assert results["mmlu"]["samples"] == UNIQUE
    assert results["mmlu-small"]["samples"] == 100
    assert hub.requests == []
    listed = json.loads(run(["-m", "registry", "cache", "list", "--json"], environment).stdout)
    assert [entry["samples"] for entry in listed["entries"]] == [UNIQUE]


def test_order_for_a_given_seed_never_changes(served: tuple[HubEmulator, dict[str, str]]) -> None:
    _, environment = served
    code = "from registry import get_dataset; print(*[s.choices[0] for s in get_dataset('mmlu-small')[:4]])"
    # numpy.random.default_rng(42).permutation(13937)[:4]; detects a library that changes it.
    assert run(["-c", code], environment).stdout.split() == ["12956", "2059", "12973", "285"]

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
GROUPS = yaml.safe_load((ROOT / "registry" / "groups.yaml").read_bytes())["groups"]
SUBJECTS = GROUPS["mmlu-subjects"]["values"]


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


Served = tuple[HubEmulator, dict[str, str]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
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


def test_get_dataset_returns_the_same_samples_cold_warm_and_offline(served: Served) -> None:
    hub, environment = served
    line = (
        "from registry import get_dataset; found = get_dataset('mmlu-small');"
        " print(found[0], *[sample.choices[0] for sample in found[:4]], sep='\\n')"
    )
    cold = run(["-c", line], environment)
    assert cold.returncode == 0, cold.stderr
    assert cold.stdout.startswith("input='Which is number ")
    # numpy.random.default_rng(42).permutation(13937)[:4]; detects a library that changes it.
    assert cold.stdout.split("\n")[-5:-1] == ["12956", "2059", "12973", "285"]
    hub.requests.clear()
    warm = run(["-c", line], environment)
    assert (warm.stdout, hub.requests) == (cold.stdout, [])
    offline = run(["-c", line], {**environment, "REGISTRY_OFFLINE": "1"})
    assert offline.stdout == cold.stdout


def test_sync_builds_once_and_both_views_share_the_samples(served: Served) -> None:
    hub, environment = served
    sync = ["-m", "registry", "sync", "mmlu", "mmlu-small", "--json"]
    first = run(sync, environment)
    assert first.returncode == 0, first.stderr
    hub.requests.clear()
    second = run(sync, environment)
    results = {result["name"]: result for result in json.loads(second.stdout)}
    assert {result["status"] for result in results.values()} == {"cached"}
    assert results["mmlu"]["samples"] == UNIQUE
    assert results["mmlu-small"]["samples"] == 100
    assert hub.requests == []
    listed = json.loads(run(["-m", "registry", "cache", "list", "--json"], environment).stdout)
    assert [entry["samples"] for entry in listed["entries"]] == [UNIQUE]

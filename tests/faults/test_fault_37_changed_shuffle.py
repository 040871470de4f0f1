"""With a lock, a library that shuffles differently is a LockError, and nothing of it is cached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from registry.cli import main
from tests.conftest import OneDataset
from tests.faults.background import finish, load, loaded

UPGRADE = """
import random

def shuffle(self, x):
    x.reverse()  # as an upgrade might: another order from the same seed

random.Random.shuffle = shuffle
"""
"""Run by each Python that starts with it on its path, before anything else is imported."""


@pytest.mark.parametrize("view", [{"shuffle": True, "seed": 3}, {"shuffle_choices": 5}], ids=str)
def test_changed_shuffle(
    one_dataset: OneDataset, cache_dir: Path, tmp_path: Path, view: Mapping[str, Any]
) -> None:
    records = [{"q": f"question {n}", "c": ["x", "y", "z"], "a": "A"} for n in range(50)]
    (tmp_path / "d.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")
    (tmp_path / "upgrade").mkdir()
    (tmp_path / "upgrade" / "sitecustomize.py").write_text(UPGRADE, encoding="utf-8")
    root = one_dataset(
        {"type": "json", "path": str(tmp_path / "d.jsonl")},
        fields={"input": "q", "choices": "c", "target": "a"},
        **view,
    )
    assert main(["lock", "--root", str(root)]) == 0
    code, expected, err = loaded("data", root)
    assert (code, err) == (0, "")
    assert main(["cache", "clear", "--yes"]) == 0
    code, _, err = finish(load("data", root, PYTHONPATH=str(tmp_path / "upgrade")))
    assert code == 1
    assert err.startswith("LockError: data: its sources match datasets.lock, its samples differ: ")
    assert list(cache_dir.glob("v*/samples/*")) == list(cache_dir.glob("v*/views/*")) == []
    assert loaded("data", root) == (0, expected, "")

"""`receipt` on what the real `inspect eval` writes, and what such a log says of the machine.

`make inspect` also runs this with the oldest supported version of Inspect AI.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from tests.inspect.conftest import ROOT, Run, argument

OTHERS_TASK = """
import registry
from inspect_ai import Task, task
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def chat():
    return Task(dataset=registry.get_dataset("demo-chat").to_inspect(), solver=generate(),
                scorer=includes())
"""

Registry = Callable[..., str]
"""Runs the command line in the folder of the logs."""


@pytest.fixture(scope="module")
def work(run: Run, home: Path) -> Path:
    """Lock the demo datasets, and evaluate two of them in both formats of logs."""
    work = home / "work"
    shutil.copytree(ROOT / "registry" / "data", work / "registry" / "data")
    shutil.copy(ROOT / "registry" / "demo.yaml", work / "registry")
    shutil.copy(ROOT / "datasets.yaml", work)
    (work / "chat.py").write_text(OTHERS_TASK)
    run("registry", "lock", root=None)
    task = ["registry/dataset", "-T", argument("dataset", "demo-mcq-small")]
    for kind in ("eval", "json"):
        options = ["--display", "none", "--log-format", kind, "--log-dir", f"logs/{kind}"]
        run("inspect_ai", "eval", *task, "--model", "known/right", *options, root=None)
        run("inspect_ai", "eval", "chat.py", "--model", "known/wrong", *options, root=None)
    return work


@pytest.fixture(scope="module")
def registry(run: Run, work: Path) -> Registry:
    assert work.exists()
    return partial(run, "registry", root=None)


@pytest.fixture(scope="module")
def changed(registry: Registry, work: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a copy of the folder with another target, locked again."""
    root = tmp_path_factory.mktemp("changed") / "work"
    shutil.copytree(work, root)
    file = root / "registry" / "data" / "demo-chat.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"answer": "61"', '"answer": "62"', 1), encoding="utf-8")
    registry("lock", "--upgrade", "--root", str(root))
    return str(root)


def receipts(registry: Registry, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(registry("receipt", *arguments, "--json", code=code))
    return found


def test_each_log_is_of_what_is_pinned_and_can_be_rebuilt(registry: Registry) -> None:
    found = receipts(registry, "logs", "--rebuild")
    names = [("demo-chat", 50), ("demo-mcq-small", 10)]
    assert sorted((one["dataset"], one["samples"]) for one in found) == sorted(names * 2)
    for one in found:
        assert (one["verdict"], one["found_by"]) == ("same", "provenance")
        assert one["stated"]["state"] == "verified"
        count = one["samples"]
        text = f"{count} samples with the digest of the log; {count} of {count} samples"
        assert one["rebuilt"] == {"equal": True, "text": f"{text} of the log are in it"}


def test_one_changed_target_is_other_data(registry: Registry, changed: str) -> None:
    logs = receipts(registry, "logs/eval", "--root", changed, code=1)
    found = {one["stated"]["name"]: one for one in logs}
    assert found["demo-mcq-small"]["verdict"] == "same"
    assert found["demo-chat"]["verdict"] == "different"
    assert found["demo-chat"]["reasons"][0] == "demo-chat has other samples now"


def test_a_log_is_compared_with_its_dataset_of_now(
    registry: Registry, work: Path, changed: str
) -> None:
    (log,) = work.glob("logs/eval/*chat*.eval")
    same = registry("compare", str(log), "demo-chat")
    assert same.startswith("comparable: the same 50 samples")
    out = registry("compare", str(log), "demo-chat", "--root", changed, code=1)
    text = "not comparable: version 1-A of the data, and 2-A; 1 sample differs (target of 1)"
    assert out.startswith(text)
    assert "        target: [-61-]{+62+}" in out.splitlines()


# Inspect 0.3.240 leaves the logs that it reads open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_neither_logs_nor_receipts_name_the_home_folder(
    registry: Registry, work: Path, home: Path
) -> None:
    logs = [*work.glob("logs/*/*.eval"), *work.glob("logs/*/*.json")]
    assert len(logs) == 4
    texts = [registry("receipt", "logs", how) for how in ("--rebuild", "--json")]
    for path in logs:
        log = read_eval_log(str(path))
        assert "registry" in (log.eval.metadata or {})
        log.location = ""  # where it was read from
        texts.append(log.model_dump_json())
    # The name of the folder is part of its path, too.
    assert [text for text in texts if home.name in text] == []


def test_truncated_logs_are_unreadable(registry: Registry, work: Path) -> None:
    cuts: list[str] = []
    for log in [*work.glob("logs/*/*.eval"), *work.glob("logs/*/*.json")]:
        data = log.read_bytes()
        for part in (0.1, 0.6, 0.95):
            cuts.append(f"cut-{len(cuts)}{log.suffix}")
            (work / cuts[-1]).write_bytes(data[: int(len(data) * part)])
    found = receipts(registry, *cuts, code=4)
    assert [one["file"] for one in found] == cuts
    assert all("truncated" in one["error"]["message"] for one in found)

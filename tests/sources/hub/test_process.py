"""The process that works with `datasets`: it is kept for the next call, and never the user's."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from registry.errors import MissingDependencyError, SourceError
from registry.manifest.source_models import HfSource
from registry.sources.hub import process
from registry.sources.hub.records import fetch_hub
from registry.sources.hub.source import pin_hub
from registry.sources.pins import SourceContext
from tests.conftest import OneDataset
from tests.faults.background import finish, start
from tests.servers.hub import HubEmulator

LINES = {"test.jsonl": b'{"q": 1}\n'}


def waiting() -> list[int]:
    """Return the ids of the processes that wait for a call."""
    return [one for _, workers in process._idle for one in workers.process_ids]


def fetch(hub: HubEmulator, context: SourceContext, name: str) -> None:
    source = HfSource(path=name, split="test", revision=hub.commit(name, LINES))
    fetch_hub(source, pin_hub(source, context), context)


CHEAP = """
import os, sys, types

reading = types.ModuleType("registry.sources.hub.reading")
reading.timeout = lambda context: (os.getpid(), os.environ.get("REGISTRY_READ_TIMEOUT"))
sys.modules[reading.__name__] = reading
"""
"""Stands in for the module that imports `datasets`, which takes a process more than a second."""


def test_a_process_is_used_again_until_it_ends_or_the_environment_changes(
    context: SourceContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(CHEAP, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("REGISTRY_READ_TIMEOUT", raising=False)
    first, timeout = process.call_datasets("timeout", "org/x", context)
    assert (waiting(), timeout) == ([first], None)
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "7")  # is sent with each call
    assert process.call_datasets("timeout", "org/x", context) == (first, "7")
    os.kill(first, signal.SIGALRM)  # as after a while without a call
    second, _ = process.call_datasets("timeout", "org/x", context)
    assert second != first
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "7")  # is read once
    third, _ = process.call_datasets("timeout", "org/x", context)
    assert waiting() == [third] != [second]
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


def test_a_missing_package_is_an_error_that_names_the_dataset(
    context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "registry.sources.hub.reading", None)
    monkeypatch.setattr(process, "can_start", lambda: False)  # so it is called here
    with pytest.raises(MissingDependencyError, match=r"^org/x: .* needs the package `datas"):
        process.call_datasets("write_first", "org/x", context)


def test_unexpected_errors_and_arguments_that_can_t_be_sent_are_raised_here(
    hub: HubEmulator, context: SourceContext
) -> None:
    source = HfSource(path="org/odd", split="test", revision=hub.commit("org/odd", LINES))
    pinned = pin_hub(source, context)
    with pytest.raises(TypeError, match="'>' not supported between instances of 'str' and 'int'"):
        fetch_hub(source, pinned, context, num_proc="two")
    with pytest.raises(SourceError, match="org/odd: an argument can't be sent"):
        fetch_hub(source, pinned, context, features=lambda: None)


def test_an_error_of_another_package_is_one_line_with_its_traceback_as_a_note(
    context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its class may need that package to be unpickled."""

    def fail(*_: object) -> None:
        raise json.JSONDecodeError("odd", "{", 0)

    monkeypatch.setattr(process, "_call", fail)
    monkeypatch.setattr(signal, "alarm", lambda _: 0)
    found = process.answer(print, {}, "write_some", "org/odd", context)
    assert type(found) is RuntimeError
    assert str(found) == "JSONDecodeError: odd: line 1 column 1 (char 0)"
    (note,) = found.__notes__
    assert note.startswith("Traceback")
    assert "in fail" in note


KILLED = """
import os, signal, sys

if sys.orig_argv[-2].endswith("worker_program.py"):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_each_time_is_an_error(
    hub: HubEmulator, context: SourceContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(KILLED, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    message = r"^org/killed: a worker process was killed by signal 9 \(try again"
    with pytest.raises(SourceError, match=message):
        fetch(hub, context, "org/killed")


USER = """
import os, sys, threading
from registry import get_dataset

before = dict(os.environ)
print([one.input for one in get_dataset("data")])
assert "datasets" not in sys.modules
assert dict(os.environ) == before
"""


def test_the_user_s_process_has_nothing_of_datasets(
    hub: HubEmulator, one_dataset: OneDataset
) -> None:
    """Neither is it loaded, nor does a process of it outlive the user's, or print anything."""
    hub.commit("org/user", {"test.jsonl": b'{"q": "x", "a": "y"}\n'})
    root = one_dataset({"type": "hf", "path": "org/user", "split": "test"})
    user = start(["-W", "error", "-X", "dev", "-c", USER], root)
    assert finish(user) == (0, "['x']\n", "")
    with pytest.raises(ProcessLookupError):
        os.killpg(user.pid, 0)

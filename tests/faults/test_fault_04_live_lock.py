"""A process that waits for another names it, and gives up if that one is stuck.

The other one downloads from a server that stops in the middle of its answer.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import CatalogRoot, Https, OneDataset, permit
from tests.faults.background import finish, load, registry
from tests.faults.network import Served
from tests.servers.fault_proxy import Fault, FaultProxy

LINES = b"".join(b'{"q": "question %d", "a": "x"}\n' % number for number in range(20_000))


@pytest.fixture
def proxy(served: Served) -> FaultProxy:
    """Serve a file whose first download stops before its end, with the connection open."""
    proxy = served({"/data.jsonl": LINES})
    proxy.add(Fault(stall_after=1000), method="GET", times=1)
    return proxy


@pytest.fixture
def root(proxy: FaultProxy, one_dataset: OneDataset) -> Path:
    """Write a catalog with that file."""
    root = one_dataset({"type": "json", "path": f"{proxy.url}/data.jsonl"})
    return permit(root, hosts=["127.0.0.1"])


@pytest.fixture
def stuck(proxy: FaultProxy, root: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that hangs in its download, and so holds the lock."""
    process = load("data", root)
    until = time.monotonic() + 60
    while not any(one.method == "GET" for one in proxy.log):
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


def waiting_for(process: subprocess.Popen[str]) -> str:
    return rf"data: waiting for process {process.pid} on \S+, which has worked on data since .* \(\d+ s so far\)"


def test_waiting_process_gives_up_at_its_deadline(root: Path, stuck: subprocess.Popen[str]) -> None:
    code, _, err = finish(load("data", root, REGISTRY_DEADLINE="2"))  # else it would take minutes
    said, error = err.splitlines()
    assert re.fullmatch(waiting_for(stuck), said)
    assert code == 1
    assert re.match(rf"CacheError: no progress for \d+ seconds by process {stuck.pid} on ", error)
    assert "(end it and try again; REGISTRY_DEADLINE sets how many seconds to wait)" in error


def test_lock_of_a_killed_process_is_free_at_once(root: Path, stuck: subprocess.Popen[str]) -> None:
    waiting = registry("sync", "--json", root=root)
    assert waiting.stderr is not None
    # Said on stderr, so that stdout is nothing but JSON.
    assert re.fullmatch(waiting_for(stuck), waiting.stderr.readline().strip())
    stuck.kill()
    code, out, err = finish(waiting)
    assert (code, err) == (0, "")
    (result,) = json.loads(out)
    assert (result["status"], result["samples"]) == ("built", 20_000)


def test_interrupt_ends_a_wait_at_once(root: Path, stuck: subprocess.Popen[str]) -> None:
    waiting = registry("sync", "--jobs", "2", root=root)
    assert waiting.stderr is not None
    assert re.fullmatch(waiting_for(stuck), waiting.stderr.readline().strip())
    os.kill(waiting.pid, signal.SIGINT)
    code, _, err = finish(waiting)  # else it would wait for minutes
    assert code == 130
    assert "interrupted" in err
    assert "Traceback" not in err


def test_a_command_does_not_wait_for_itself_aloud(https: Https, catalog_root: CatalogRoot) -> None:
    url = https.put("/data.jsonl", LINES, etag="1", seconds=2.5)
    source = f"source: {{type: json, path: {url}}}"
    datasets = [f"  {name}: {{{source}, fields: {{input: {name}}}}}\n" for name in ("q", "a")]
    root = catalog_root({"all": "datasets:\n" + "".join(datasets)})
    code, out, err = finish(registry("sync", "--jobs", "2", root=root))
    assert (code, out.count("built")) == (0, 2), err
    assert "waiting" not in err

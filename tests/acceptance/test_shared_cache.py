"""A cache that machines share: on S3, in a folder and on WebDAV; and what is wrong with one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from registry import get_dataset
from registry.cache.cache import Cache
from registry.cli import main
from registry.shared import open_shared
from tests.conftest import S3, Https, OneDataset, Page, permit

ROWS = b"q,a\n" + b"".join(b"question %d,answer %d\n" % (n, n) for n in range(2000))


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Let no test know what another one learned about a shared cache."""
    open_shared.cache_clear()
    yield
    open_shared.cache_clear()


@pytest.fixture
def root(https: Https, one_dataset: OneDataset, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a locked catalog with one dataset behind a server."""
    https.pages["/data.csv"] = Page(ROWS)
    source = {"type": "csv", "path": f"{https.url}/data.csv"}
    root = permit(one_dataset(source), hosts=["localhost"])
    monkeypatch.setenv("REGISTRY_ROOT", str(root))
    assert main(["lock", "data"]) == 0
    return root


@pytest.fixture(params=["s3", "folder"])
def remote(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], bytes]:
    """Set a shared cache; give a function that changes an object there."""
    if request.param == "folder":
        folder = tmp_path / "shared"
        folder.mkdir()
        monkeypatch.setenv("REGISTRY_REMOTE_CACHE", str(folder))
        return folder
    server: S3 = request.getfixturevalue("s3")
    server.bucket("shared-cache")
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://shared-cache/team")
    return server


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Give a function that goes on with the empty cache of another machine."""

    def change(name: str) -> Path:
        folder = tmp_path / name
        monkeypatch.setenv("REGISTRY_CACHE_DIR", str(folder))
        open_shared.cache_clear()
        return folder

    return change


def push() -> int:
    return main(["sync", "data", "--push"])


def test_a_second_machine_asks_the_source_for_nothing(
    root: Path, remote: object, https: Https, machine: Callable[[str], Path]
) -> None:
    machine("first")
    assert push() == 0
    first = get_dataset("data")
    machine("second")
    https.requests.clear()

    second = get_dataset("data")

    assert https.requests == []
    assert list(second) == list(first)
    assert len(second) == 2000


def test_the_first_samples_come_from_all_that_are_shared(
    root: Path, remote: object, https: Https, machine: Callable[[str], Path]
) -> None:
    machine("first")
    assert push() == 0
    machine("second")
    https.requests.clear()

    assert [one.input for one in get_dataset("data", limit=2)] == ["question 0", "question 1"]
    assert https.requests == []

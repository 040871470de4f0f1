"""Devices, pipes and swapped files in a checkout end at once, with a clear message."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.errors import ReachError
from tests.git_repository import write_files
from tests.security.audit import run_audited

SPECIAL = "it is a device, pipe or socket, not a file"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "version: 1\ninclude: [m.yaml]\ndatasets:\n"
    text += "  pipe: {source: {type: csv, path: data/pipe.csv}}\n"
    text += "  packed: {source: {type: csv, path: data/pipe.csv.gz}}\n"
    text += "  member: {source: {type: csv, path: 'zip://x.csv::data/pipe.zip'}}\n"
    text += "  hub: {source: {type: hf, path: ./data, split: train}}\n"
    text += "  builder: {source: {type: hf, path: csv, split: train, data_files: data/pipe.csv}}\n"
    files = {"datasets.yaml": text, "m.yaml": "datasets: {}\n", "data/README.md": ""}
    folder = write_files(tmp_path / "catalog", files)
    for name in ("pipe.csv", "pipe.csv.gz", "pipe.zip"):
        os.mkfifo(folder / "data" / name)
    return folder


def test_a_pipe_as_data_is_refused_at_once(folder: Path) -> None:
    for command in ("validate", "lock", "diff . .", "lock --check"):
        done = run_audited(command.split(), folder=folder)
        assert done.code in (0, 1, 4), (command, done.text)
    done = run_audited(["sync"], folder=folder)
    assert done.code == 1
    assert done.text.count(SPECIAL) == 5, done.text


@pytest.mark.parametrize("name", ["m.yaml", "datasets.yaml", "datasets.lock"])
def test_a_pipe_in_place_of_a_file_of_the_catalog_is_reported(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    for command in ("validate", f"validate {name}", "sync", "lock", "lock --check"):
        done = run_audited([*command.split(), "--root", "."], folder=folder)
        assert done.code == 1, (command, done.text)
        if command != "lock --check":  # it compares the datasets that it can read
            assert "device, pipe or socket" in done.text, (command, done.text)


def test_a_device_allowed_by_the_user_is_still_refused(folder: Path) -> None:
    (folder / "m.yaml").write_text("datasets:\n  zero: {source: {type: csv, path: /dev/zero}}\n")
    done = run_audited(["preview", "zero", "--allow-path", "/dev"], folder=folder)
    assert done.code == 1
    assert SPECIAL in done.text


@pytest.mark.parametrize("part", ["file", "folder"])
def test_a_file_that_is_swapped_while_it_is_opened_is_never_read(tmp_path: Path, part: str) -> None:
    inside, outside = tmp_path / "catalog" / "sub", tmp_path / "private"
    write_files(tmp_path, {"catalog/sub/x.csv": "mine", "private/x.csv": "hunter2"})
    target = inside / "x.csv" if part == "file" else inside
    other = outside / "x.csv" if part == "file" else outside
    aside, link = tmp_path / "aside", tmp_path / "link"
    boundary = Boundary().allowing([str(tmp_path / "catalog")])
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            link.symlink_to(other)
            target.rename(aside)
            link.rename(target)
            target.unlink()
            aside.rename(target)

    thread = threading.Thread(target=swap)
    thread.start()
    read, refused = set[bytes](), 0
    try:
        for _ in range(3000):
            try:
                with boundary.open_file(str(inside / "x.csv")) as file:
                    read.add(file.read())
            except (ReachError, OSError):
                refused += 1
    finally:
        done.set()
        thread.join()
    assert read <= {b"mine"}
    assert refused

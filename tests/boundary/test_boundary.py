"""What may be read: below a folder after following links, and only regular files."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.errors import ReachError


@pytest.fixture
def boundary(tmp_path: Path) -> Boundary:
    """Return the boundary of a catalog in a folder beside a secret file."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "data.csv").write_text("a\n1\n")
    (tmp_path / "catalog-secret").write_text("hunter2")
    return Boundary().allowing([str(tmp_path / "catalog")])


def test_files_below_the_folder_are_read(boundary: Boundary, tmp_path: Path) -> None:
    with boundary.open_file(str(tmp_path / "catalog" / "data.csv")) as file:
        assert file.read() == b"a\n1\n"


@pytest.mark.parametrize("path", ["catalog-secret", "catalog/../catalog-secret", "catalog/link"])
def test_files_elsewhere_are_never_opened(boundary: Boundary, tmp_path: Path, path: str) -> None:
    (tmp_path / "catalog" / "link").symlink_to(tmp_path / "catalog-secret")
    with pytest.raises(ReachError, match=r"is outside the catalog's folder") as caught:
        boundary.open_file(f"{tmp_path}/{path}")
    assert "hunter2" not in str(caught.value)


def test_a_folder_that_is_a_link_counts_with_its_target(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "x").touch()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    boundary = Boundary().allowing([str(tmp_path / "link")])
    assert boundary.check_path(f"{tmp_path}/link/x") == f"{tmp_path}/disk/x"


def test_a_single_file_can_be_allowed(boundary: Boundary, tmp_path: Path) -> None:
    allowed = boundary.allowing([str(tmp_path / "catalog-secret")])
    assert allowed.contains(str(tmp_path / "catalog-secret"))
    assert not allowed.contains(str(tmp_path / "catalog-secret-2"))


def test_pipes_and_sockets_are_refused_at_once(boundary: Boundary, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "catalog" / "pipe")
    with pytest.raises(ReachError, match="a device, pipe or socket"):
        boundary.open_file(str(tmp_path / "catalog" / "pipe"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "catalog" / "s"))
        with pytest.raises(OSError, match="No such device"):
            boundary.open_file(str(tmp_path / "catalog" / "s"))


def test_devices_are_refused_without_a_boundary_too() -> None:
    with pytest.raises(ReachError, match="a device, pipe or socket"):
        UNBOUNDED.open_file("/dev/zero")


def test_a_missing_file_and_a_folder_are_ordinary_errors(
    boundary: Boundary, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        boundary.open_file(str(tmp_path / "catalog" / "missing"))
    with pytest.raises(IsADirectoryError):
        boundary.open_file(str(tmp_path / "catalog"))


def test_nothing_may_be_read_by_default() -> None:
    assert not Boundary().contains(__file__)
    assert UNBOUNDED.contains(__file__)

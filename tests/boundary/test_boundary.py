"""What may be read: below a folder after following links, and only regular files."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from registry.base.conversion import convert
from registry.base.locations import Location
from registry.boundary import boundary as module
from registry.boundary.boundary import UNBOUNDED, UNLIMITED, Boundary, Limits
from registry.errors import ReachError, SourceError
from registry.manifest.schema import read_schema
from registry.settings import BYTES
from tests.git_repository import write_files


@pytest.fixture
def boundary(tmp_path: Path) -> Boundary:
    """Return the boundary of a catalog in a folder beside a secret file."""
    write_files(tmp_path, {"catalog/data.csv": "a\n1\n", "catalog-secret": "hunter2"})
    return Boundary().allowing([str(tmp_path / "catalog")])


def test_a_file_of_a_source_is_as_large_as_the_limit_allows(tmp_path: Path) -> None:
    location = Location(str(tmp_path / "a.csv"))
    Path(location).write_bytes(b"12345")
    with replace(UNBOUNDED, limits=Limits(unpacked_bytes=5)).open_location(location) as file:
        assert file.read() == b"12345"
    message = re.escape(f"{location}: the file has more than 4 bytes (`limits: {{unpacked_bytes:")
    with pytest.raises(SourceError, match=message):
        replace(UNBOUNDED, limits=Limits(unpacked_bytes=4)).open_location(location)


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


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(
    boundary: Boundary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_open_at", lambda *_: False)
    with pytest.raises(ReachError, match="was replaced while it was opened"):
        boundary.open_file(str(tmp_path / "catalog" / "data.csv"))


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


def test_the_message_names_the_first_link_that_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "catalog" / "sub").mkdir(parents=True)
    (tmp_path / "disk" / "deep").mkdir(parents=True)
    (tmp_path / "catalog" / "sub" / "data").symlink_to(tmp_path / "disk")
    boundary = Boundary().allowing([str(tmp_path / "catalog")])
    message, hint = boundary.refusal(f"{tmp_path}/catalog/sub/data/deep/x.csv") or ("", "")
    assert message.startswith(f"leads to {tmp_path}/disk, which is outside the catalog's folder")
    assert f"add `paths: [{tmp_path}/disk]`" in hint
    message, hint = boundary.refusal(f"{tmp_path}/disk/x.csv") or ("", "")
    assert message.startswith("is outside the catalog's folder")
    assert f"--allow-path {tmp_path}/disk/x.csv" in hint
    assert boundary.refusal(f"{tmp_path}/catalog/x.csv") is None


@pytest.mark.parametrize("name", [".git/config", "sub/.git", ".GIT/hooks/x"])
def test_nothing_in_a_repository_of_git_is_data(
    boundary: Boundary, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ReachError, match=r"in a `\.git` folder"):
        boundary.check_path(f"{tmp_path}/catalog/{name}")
    own = Boundary().allowing([f"{tmp_path}/catalog/{name}"])
    assert own.contains(f"{tmp_path}/catalog/{name}")


def test_a_catalog_in_the_top_folder_does_not_have_the_files_of_the_kernel() -> None:
    boundary = Boundary().allowing(["/"])
    assert boundary.contains("/etc/hostname")
    assert not boundary.contains("/proc/self/environ")
    assert not boundary.contains("/dev/zero")
    assert Boundary().allowing(["/dev/shm"]).contains("/dev/shm/x")


def test_a_path_with_a_nul_is_refused(boundary: Boundary, tmp_path: Path) -> None:
    with pytest.raises(ReachError, match="has a NUL"):
        boundary.check_path(f"{tmp_path}/catalog/\0")


def test_a_file_of_a_package_may_be_read_but_not_what_it_links_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"__init__.py": "", "x.csv": "a"}
    package = write_files(tmp_path / "site" / "qa_linked", files)
    (package / "l.csv").symlink_to(__file__)
    monkeypatch.syspath_prepend(str(package.parent))
    with Boundary().open_location(Location("package:qa_linked/x.csv")) as file:
        assert file.read() == b"a"
    with pytest.raises(ReachError, match="leads out of the package"):
        Boundary().open_location(Location("package:qa_linked/l.csv"))


def test_unknown_limits_are_refused() -> None:
    assert convert({}, Limits) == Limits()
    with pytest.raises(msgspec.ValidationError):
        convert({"forever": 1}, Limits)


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [
        (5, 5),
        ("5kB", 5000),
        ("100MB", 10**8),
        ("2GB", 2 * 10**9),
        ("3MiB", 3 << 20),
        ("2TB", 2 * 10**12),
    ],
)
def test_sizes_may_have_a_unit(given: Any, bytes_: int) -> None:
    assert Limits.of({"line_bytes": given, "records": 7}) == Limits(line_bytes=bytes_, records=7)


def test_a_message_says_how_to_raise_the_limit() -> None:
    assert Limits().message("line_bytes", "a line has", "bytes") == (
        "a line has more than 67,108,864 bytes"
        " (`limits: {line_bytes: …}` in the root index raises the limit)"
    )


def test_the_schema_has_the_same_limits_with_the_same_defaults() -> None:
    limits = read_schema("index")["$defs"]["limits"]["properties"]
    stated = {key: value["default"] for key, value in limits.items()}
    assert stated == msgspec.structs.asdict(Limits())
    units = read_schema("index")["$defs"]["size"]["pattern"]
    assert f"({'|'.join(BYTES)})" in units


def test_a_call_of_the_user_has_no_limits() -> None:
    assert UNBOUNDED.limits == UNLIMITED
    assert UNLIMITED.line_bytes > 1 << 60

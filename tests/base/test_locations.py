"""Locations: protocol, suffix and public form, and files of installed packages."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from registry.base.locations import (
    MAX_ARCHIVES,
    Location,
    bad_package_path,
    package_file,
    package_folders,
    package_location,
)
from registry.errors import MissingDependencyError, SourceError


@pytest.mark.parametrize(
    ("location", "protocol", "local"),
    [
        ("data.csv", "file", True),
        ("/data.csv", "file", True),
        ("file:///data.csv", "file", True),
        ("local:///data.csv", "local", True),
        ("s3://bucket/data.csv", "s3", False),
        ("https://host/data.csv", "https", False),
        ("hf://datasets/o/d/x.csv", "hf", False),
        ("a:b/data.csv", "file", True),
        ("", "file", True),
    ],
)
def test_protocols(location: str, protocol: str, local: bool) -> None:
    assert (Location(location).protocol, Location(location).is_local) == (protocol, local)


def test_local_paths_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    here = os.getcwd()
    assert Location("data.csv").local_path() == f"{here}/data.csv"
    assert Location("./a/../data.csv").local_path() == f"{here}/data.csv"
    assert Location("~/data.csv").local_path() == "/home/me/data.csv"
    assert Location("file:///x/data.csv").local_path() == "/x/data.csv"
    assert Location("file://~/data.csv").local_path() == "/home/me/data.csv"
    assert Location("local://a/../data.csv").local_path("/b") == "/b/data.csv"


@pytest.mark.parametrize(
    ("location", "public"),
    [
        ("https://host/x.csv?token=1", "https://host/x.csv?…"),
        ("https://host/x.csv?", "https://host/x.csv?…"),
        ("https://host/get?id=1&export=download", "https://host/get?id=1&export=download"),
        ("https://host/get?id=1&key=2", "https://host/get?…"),
        ("https://me:word@host/x.csv", "https://host/x.csv"),
        ("https://a@b@host:81/x.csv", "https://host:81/x.csv"),
        ("https://host/x@y.csv", "https://host/x@y.csv"),
        ("http://host?x=1", "http://host?…"),
        ("https://host/x.csv#token", "https://host/x.csv#…"),
        ("https://host/x.csv?token=1#token", "https://host/x.csv?…"),
        ("https://host/get?id=1#token", "https://host/get?id=1#…"),
        ("https://host#token", "https://host#…"),
        ("s3://key:secret@bucket/x?.csv", "s3://bucket/x?.csv"),
        ("s3://bucket/what?.csv", "s3://bucket/what?.csv"),
        ("ftp://me@host/x", "ftp://host/x"),
        ("https://host", "https://host"),
        *((f"HTTPS://me:a{sign}b@host/x", "HTTPS://…") for sign in "/?#"),
        ("HTTPS://host/x?token=1", "HTTPS://host/x?…"),
        ("https://host:81/x@y.csv", "https://host:81/x@y.csv"),
        ("/a@b/x?y.csv", "/a@b/x?y.csv"),
        ("file:///a@b/x?y.csv", "file:///a@b/x?y.csv"),
    ],
)
def test_public_location_has_no_secrets(location: str, public: str) -> None:
    assert Location(location).public == public
    assert Location(location).has_secret == (location != public)
    assert not Location(public).has_secret or "…" in public


@pytest.mark.parametrize(
    ("location", "packed", "unpacked"),
    [
        ("x.jsonl", "", ".jsonl"),
        ("x.JSONL.GZ", ".gz", ".jsonl"),
        ("x.csv.bz2", ".bz2", ".csv"),
        ("x.csv.xz", ".xz", ".csv"),
        ("x.csv.zst", ".zst", ".csv"),
        ("x.gz", ".gz", ""),
        ("folder.gz/x", "", ""),
        (".gz", "", ""),
        ("x.csv.zip", "", ".zip"),
        ("https://host/x.jsonl.gz?sig=a.b", ".gz", ".jsonl"),
        ("https://host/x?name=y.csv.gz", "", ""),
        ("s3://bucket/x?y.csv.gz", ".gz", ".csv"),
        ("https://host/x.csv#part.gz", "", ".csv"),
    ],
)
def test_suffixes_are_taken_from_the_path(location: str, packed: str, unpacked: str) -> None:
    found = Location(location)
    assert (found.packed_suffix, found.unpacked_suffix) == (packed, unpacked)


@pytest.mark.parametrize(
    "location",
    ["[::1", "/a:x/y", "https://h:8/x", "s3://arn:aws:s3:r:1:accesspoint/n/x", "zip://[::x"],
)
def test_locations_that_can_be_taken_apart(location: str) -> None:
    Location(location).check()


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://[::1/x", "not a URL: "),
        ("https://u:secret@h:x/y?k=secret", "not a URL: "),
        ("s3://[b/x", "not a URL: "),
        ("https://u:se/cret@h/x", "a user or a password has a character that ends a host"),
        ("HTTPS://h/x?k=secret", "a protocol has no capital letters (write https://)"),
    ],
)
def test_a_url_that_can_t_be_taken_apart_is_named_without_secrets(url: str, fault: str) -> None:
    for location in (url, f"zip://x.csv::{url}"):
        message = re.escape(f"{Location(location).public}: {fault}")
        with pytest.raises(SourceError, match=message):
            Location(location).check()


@pytest.mark.parametrize(
    "location", ["", "file://", "hf://", "zip://x.csv::", "zip://x.csv::s3://"]
)
def test_a_location_of_no_file_is_refused(location: str) -> None:
    with pytest.raises(SourceError, match=f"'{location}' names no file"):
        Location(location).check()


def test_a_location_with_a_nul_is_refused() -> None:
    with pytest.raises(SourceError, match=r"'a\\x00b' has a NUL, which no path has \(correct it\)"):
        Location("a\0b").check()


@pytest.mark.parametrize("depth", [0, 1, MAX_ARCHIVES])
def test_file_is_the_outermost_archive(depth: int) -> None:
    location = "zip://in/a.csv::" * depth + "https://h.example/x.zip"
    assert Location(location).file == "https://h.example/x.zip"
    changed = Location(location).with_file(lambda file: file.replace("h.", "i."))
    assert changed == location.replace("h.example", "i.example")


@pytest.mark.parametrize("depth", [MAX_ARCHIVES + 1, 100_000])
def test_too_many_archives_within_each_other_are_no_file(depth: int) -> None:
    location = "zip://a::" * depth + "x.zip"
    assert Location(location).protocol == "zip"
    assert not Location(location).is_local
    assert Location(location).with_file(lambda file: file) == location


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install `qa_data`, whose code fails when it is imported."""
    folder = tmp_path / "site" / "qa_data"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "inner" / "x.csv").write_text("q,a\n1,2\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


def test_a_file_is_found_and_nothing_is_imported(package: Path) -> None:
    path = package_file("package:qa_data/inner/x.csv")
    assert path == str(package / "inner" / "x.csv")
    assert package_location("package:qa_data/inner/*.csv", path) == "package:qa_data/inner/x.csv"
    assert "qa_data" not in sys.modules


def test_a_real_package_has_its_own_files() -> None:
    assert Path(package_file("package:pytest/py.typed")).is_file()


def test_a_file_may_be_in_any_folder_of_a_namespace_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "qa_space").mkdir(parents=True)
        (tmp_path / name / "qa_space" / f"{name}.csv").touch()
        monkeypatch.syspath_prepend(str(tmp_path / name))
    assert len(package_folders("qa_space")) == 2
    for name in ("one", "two"):
        assert package_file(f"package:qa_space/{name}.csv").startswith(str(tmp_path / name))


def test_a_missing_package_is_named_with_its_install_command() -> None:
    message = (
        r"package:qa_gone/x\.csv: the package qa_gone is not installed \(`pip install qa-gone`\)"
    )
    with pytest.raises(MissingDependencyError, match=message):
        package_file("package:qa_gone/x.csv")


@pytest.mark.parametrize("name", ["os", "__main__", "sys"])
def test_a_module_is_not_a_package(name: str) -> None:
    with pytest.raises(MissingDependencyError):
        package_file(f"package:{name}/x.csv")


def test_a_path_cannot_leave_the_package(package: Path) -> None:
    assert bad_package_path("package:qa_data/inner/x.csv") == ""
    for location in ("package:qa_data/../x", "package:qa_data//etc/passwd", "package:qa_data/a\\b"):
        with pytest.raises(SourceError, match=r"no `\.\.` and no backslash"):
            package_file(location)


def test_a_link_is_a_package_only_where_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "__init__.py").touch()
    for place, found in (("checkout", 0), ("site-packages", 1)):
        (tmp_path / place).mkdir()
        (tmp_path / place / f"qa_in_{place[:4]}").symlink_to(tmp_path / "private")
        monkeypatch.syspath_prepend(str(tmp_path / place))
        assert len(package_folders(f"qa_in_{place[:4]}")) == found


def test_a_folder_of_the_working_directory_without_code_is_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qa_documents").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert len(package_folders("qa_documents")) == 1
    monkeypatch.chdir(tmp_path)
    assert package_folders("qa_documents") == []
    (tmp_path / "qa_documents" / "__init__.py").touch()
    assert len(package_folders("qa_documents")) == 1

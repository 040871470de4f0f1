"""Datasets in archives and in installed packages: from the manifest to offline samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry import (
    DecodeError,
    DigestMismatchError,
    FieldSpec,
    MissingDependencyError,
    OfflineError,
    SourceError,
    csv_dataset,
    get_dataset,
    json_dataset,
)
from registry.base.materials import Material
from registry.cli import main
from registry.lockfile.models import read_lock
from tests.records import csv_bytes, jsonl, parquet_bytes, tar_bytes, zip_bytes

if TYPE_CHECKING:
    from tests.conftest import S3, Https, OneDataset
    from tests.servers.hub import HubEmulator

ROWS = [{"q": f"What is {number}?", "a": str(2 * number)} for number in range(5)]
QUESTIONS = [row["q"] for row in ROWS]


FORMATS: dict[str, tuple[str, Callable[[list[dict[str, str]]], bytes]]] = {
    "csv": ("csv", csv_bytes),
    "jsonl": ("json", jsonl),
    "json": ("json", lambda rows: json.dumps(rows).encode()),
    "parquet": ("parquet", parquet_bytes),
}


def members(rows: list[dict[str, str]] = ROWS) -> dict[str, bytes]:
    """Return a file of each format, and the rows as two files."""
    parts = {f"parts/{n}.jsonl": jsonl(part) for n, part in enumerate((rows[:2], rows[2:]))}
    return {f"in/x.{suffix}": pack(rows) for suffix, (_, pack) in FORMATS.items()} | parts


ARCHIVES = {"zip": ("a.zip", zip_bytes), "tar": ("a.tar.gz", tar_bytes)}


def questions(root: Path, **options: Any) -> list[str]:
    return [str(sample.input) for sample in get_dataset("data", root=root, **options)]


def pinned_by(root: Path) -> Sequence[Material]:
    lock = read_lock(root / "datasets.lock")
    assert lock is not None
    return lock.pins["data"].sources


@pytest.mark.parametrize(("protocol", "suffix"), [*zip([*ARCHIVES] * 2, FORMATS, strict=True)])
def test_a_member_of_a_remote_archive_takes_the_whole_road(
    https: Https,
    one_dataset: OneDataset,
    capsys: pytest.CaptureFixture[str],
    protocol: str,
    suffix: str,
) -> None:
    name, pack = ARCHIVES[protocol]
    data = pack(members())
    location = f"{protocol}://in/x.{suffix}::{https.put(f'/{name}', data, etag='1')}"
    root = one_dataset({"type": FORMATS[suffix][0], "path": location}, license="mit")
    # `localhost` may use any protocol, and a description is optional.
    assert main(["validate", "--root", str(root), "--ignore", "missing-description"]) == 0
    assert main(["lock", "--root", str(root)]) == 0
    (pinned,) = pinned_by(root)
    assert (pinned.location, pinned.size) == (location, len(data))
    assert main(["sync", "--root", str(root)]) == 0
    https.reset()
    assert questions(root, offline=True, locked=True) == QUESTIONS
    assert get_dataset("data", root=root, limit=2)[1].target == "2"
    assert https.requests == []
    capsys.readouterr()
    assert main(["diff", str(root), str(root)]) == 0


@pytest.mark.parametrize("protocol", ARCHIVES)
def test_a_glob_takes_the_members_in_order_from_one_download(
    https: Https, one_dataset: OneDataset, protocol: str
) -> None:
    name, pack = ARCHIVES[protocol]
    url = https.put(f"/{name}", pack(members()), etag="1")
    pattern = f"{protocol}://parts/*.jsonl::{url}"
    root = one_dataset({"type": "json", "path": pattern})
    with pytest.raises(OfflineError, match=r"://parts/\*\.jsonl::https://.*: not in the cache"):
        get_dataset("data", root=root, offline=True)
    assert questions(root) == questions(root, offline=True) == QUESTIONS
    assert [method for method, _ in https.requests].count("GET") == 1
    assert main(["lock", "--root", str(root)]) == 0
    found = [(one.requested, one.location) for one in pinned_by(root)]
    assert found == [(pattern, f"{protocol}://parts/{n}.jsonl::{url}") for n in range(2)]


def test_a_changed_archive_is_noticed_and_refused_once_it_is_pinned(
    https: Https, one_dataset: OneDataset, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = f"zip://in/x.csv::{https.put('/a.zip', zip_bytes(members()), etag='1')}"
    root = one_dataset({"type": "csv", "path": location})
    assert questions(root) == QUESTIONS
    https.put("/a.zip", zip_bytes(members(ROWS[1:])), etag="2")
    assert questions(root) == QUESTIONS[1:]
    assert main(["lock", "--root", str(root)]) == 0
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(cache_dir / "other"))
    https.put("/a.zip", zip_bytes(members()), etag="3")
    with pytest.raises(DigestMismatchError, match=r"https://.*/a\.zip: datasets.lock pins"):
        get_dataset("data", root=root)


def test_a_local_archive_is_read_in_place_and_pinned_by_a_relative_path(
    one_dataset: OneDataset, cache_dir: Path
) -> None:
    root = one_dataset({"type": "csv", "path": "zip://in/x.csv::data/a.zip"})
    (root / "data").mkdir()
    (root / "data" / "a.zip").write_bytes(zip_bytes(members()))
    assert main(["lock", "--root", str(root)]) == 0
    assert pinned_by(root)[0].location == "zip://in/x.csv::data/a.zip"
    assert questions(root, locked=True) == QUESTIONS
    assert not (cache_dir / "v3" / "blobs").exists()
    (root / "data" / "a.zip").write_bytes(zip_bytes(members(ROWS[1:])))
    with pytest.raises(DigestMismatchError):
        get_dataset("data", root=root, locked=True)


def test_an_archive_on_s3_is_read(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    url = s3.put("bucket", "a.zip", zip_bytes(members()))
    path = [f"zip://in/x.csv::{url}"]
    assert questions(one_dataset({"type": "csv", "path": path})) == QUESTIONS


@pytest.mark.parametrize("path", ["in/x.csv", "in/data_clean.zip"])
def test_a_file_of_a_commit_on_the_hub_is_read(
    hub: HubEmulator, one_dataset: OneDataset, path: str
) -> None:
    files = {"in/x.csv": csv_bytes(ROWS), "in/data_clean.zip": zip_bytes(members())}
    commit = hub.commit("acme/files", {**files, "files.py": b"raise RuntimeError"})
    url = f"hf://datasets/acme/files@{commit}/{path}"
    location = f"zip://in/x.csv::{url}" if path.endswith(".zip") else url
    root = one_dataset({"type": "csv", "path": location})
    assert questions(root) == QUESTIONS
    hub.requests.clear()
    assert questions(root, offline=True) == QUESTIONS
    assert hub.requests == []


def test_errors_name_the_archive_and_the_member(
    https: Https, one_dataset: OneDataset, capsys: pytest.CaptureFixture[str]
) -> None:
    url = https.put("/a.zip", zip_bytes(members()), etag="1")
    for member, error, message in (
        ("in/y.csv", SourceError, r"no such member \(did you mean 'in/x\.csv'"),
        ("parts/*.csv", SourceError, "no member matches"),
        ("in/x.parquet", DecodeError, "$"),
    ):
        root = one_dataset({"type": "csv", "path": f"zip://{member}::{url}?part=hush"})
        with pytest.raises(error, match=message) as caught:
            get_dataset("data", root=root)
        assert f"zip://{member}::{url}" in str(caught.value)
        for command in ("sync", "preview", "lock"):
            assert main([command, "data", "--root", str(root)]) == 1
            shown = capsys.readouterr().err
            assert f"zip://{member}::{url}" in shown
            assert "hush" not in shown


def test_the_loaders_read_members_without_a_cache(https: Https, tmp_path: Path) -> None:
    url = https.put("/a.zip", zip_bytes(members()))
    (tmp_path / "a.tgz").write_bytes(tar_bytes(members()))
    spec = FieldSpec(input="q", target="a")
    for dataset in (
        csv_dataset(f"zip://in/x.csv::{url}", spec),
        json_dataset(f"tar://in/x.jsonl::{tmp_path}/a.tgz", spec),
    ):
        assert [sample.input for sample in dataset] == QUESTIONS


def test_a_source_given_to_a_call_may_be_a_member(
    one_dataset: OneDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = one_dataset({"type": "csv", "path": "gone.csv"})
    (tmp_path / "a.zip").write_bytes(zip_bytes(members()))
    monkeypatch.chdir(tmp_path)
    assert questions(root, source="zip://in/x.jsonl::a.zip") == QUESTIONS


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install `qa_data`, whose code fails when it is imported, with a file and an archive."""
    folder = tmp_path / "site" / "qa_data"
    (folder / "in").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    for name, data in members().items():
        if name.startswith("in/"):
            (folder / name).write_bytes(data)
    (folder / "a.zip").write_bytes(zip_bytes(members()))
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *((f"package:qa_data/in/x.{suffix}", kind) for suffix, (kind, _) in FORMATS.items()),
        ("package:qa_data/in/*.csv", "csv"),
        ("zip://in/x.csv::package:qa_data/a.zip", "csv"),
        ("zip://parts/*.jsonl::package:qa_data/a.zip", "json"),
    ],
)
def test_a_file_of_a_package_is_pinned_without_a_path_of_this_machine(
    package: Path, one_dataset: OneDataset, path: str, kind: str
) -> None:
    root = one_dataset({"type": kind, "path": path})
    assert questions(root) == QUESTIONS
    assert main(["lock", "--root", str(root)]) == 0
    text = (root / "datasets.lock").read_text(encoding="utf-8")
    assert "package:qa_data/" in text
    assert str(package.parent) not in text
    assert questions(root, offline=True, locked=True) == QUESTIONS
    # Another version of the package has other bytes.
    for file in package.rglob("*"):
        if file.suffix[1:] in (*FORMATS, "zip"):
            file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(DigestMismatchError, match=r"package:qa_data/"):
        get_dataset("data", root=root, locked=True)


def test_a_package_that_is_not_installed_is_named_when_it_is_needed(
    one_dataset: OneDataset, capsys: pytest.CaptureFixture[str]
) -> None:
    root = one_dataset({"type": "csv", "path": "package:qa_gone/in/x.csv"}, license="mit")
    assert main(["validate", "--root", str(root), "--ignore", "missing-description"]) == 0
    assert main(["show", "data", "--root", str(root)]) == 0
    message = "package:qa_gone/in/x.csv: the package qa_gone is not installed"
    with pytest.raises(MissingDependencyError, match=message):
        get_dataset("data", root=root)
    assert main(["sync", "--root", str(root)]) == 1
    assert "`pip install qa-gone`" in capsys.readouterr().err


def test_a_missing_file_of_a_package_is_named(package: Path, one_dataset: OneDataset) -> None:
    root = one_dataset({"type": "csv", "path": "package:qa_data/in/y.csv"})
    with pytest.raises(SourceError, match=r"package:qa_data/in/y\.csv: no such file"):
        get_dataset("data", root=root)

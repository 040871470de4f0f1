"""Records of files: parse results round-trip unchanged, and changed files are read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from registry.base.file_state import ABSENT, FileState
from registry.catalog import cached_files
from registry.catalog.cached_files import (
    CachedFile,
    CachedFiles,
    cached_file_from,
    contains_secret,
    document_from,
    may_contain_secret,
)
from registry.yamldoc.reader import parse_partially

MANIFEST = "datasets:\n  a: {source: {type: csv, path: é.csv}, bogus: 1}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Collect the files that are parsed from now on."""
    found: list[bytes] = []
    parse = parse_partially

    def counted(data: bytes, *, file: str) -> Any:
        found.append(data)
        return parse(data, file=file)

    monkeypatch.setattr(cached_files, "parse_partially", counted)
    return found


def read(file: Path, *known: CachedFile, state: FileState | None = None) -> CachedFile:
    files = CachedFiles(known)
    files(file, "manifest", state or FileState.or_absent(file))
    ((key, record),) = files.read.items()
    assert key == (str(file), "manifest")
    return record


def test_record_round_trips_through_its_serialized_form(file: Path) -> None:
    record = read(file)
    again = cached_file_from(record.to_bytes())
    assert again == record
    assert isinstance(again.state, FileState)
    document, direct = document_from(again, "shown.yaml"), record.parsed().document
    assert direct is not None
    assert document.value == direct.value
    assert document.file == "shown.yaml"
    assert document.position(("datasets", "a", "bogus")) == direct.position(
        ("datasets", "a", "bogus")
    )
    assert [problem.path for problem in again.problems] == ["$.datasets.a.bogus"]


def test_file_in_its_known_state_is_not_opened(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = read(file)
    state = FileState.of(file)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("the file was opened"))
    assert read(file, record, state=state) == record


def test_touched_file_with_the_same_bytes_is_not_parsed(file: Path, parsed: list[bytes]) -> None:
    record = read(file)
    os.utime(file, (1_600_000_000, 1_600_000_000))
    again = read(file, record)
    assert (again.state, again.digest) == (FileState.of(file), record.digest)
    assert len(parsed) == 1


def test_changed_bytes_are_parsed(file: Path, parsed: list[bytes]) -> None:
    record = read(file)
    file.write_text("datasets: {}\n", encoding="utf-8")
    assert read(file, record).problems == ()
    assert parsed == [MANIFEST.encode(), b"datasets: {}\n"]


def test_racy_file_is_read_each_time(file: Path) -> None:
    file.touch()
    state, record = FileState.of(file), read(file)
    assert record.racy
    file.write_text("datasets: {}\n", encoding="utf-8")
    assert read(file, record, state=state).problems == ()


def test_file_that_changed_since_it_was_listed_is_racy(file: Path) -> None:
    listed = FileState.of(file)._replace(inode=1)
    assert read(file, state=listed).racy
    assert not read(file).racy


def test_unreadable_file_is_reported_and_retried_each_time(file: Path) -> None:
    file.unlink()
    record = read(file)
    assert (record.state, record.racy, record.digest, record.body) == (ABSENT, True, "", b"")
    assert [str(problem) for problem in record.problems] == [
        f"{file}:1:1 $: can't read the file: No such file or directory"
    ]
    assert record.parsed().document is None


def test_file_may_be_read_as_index_and_as_manifest(file: Path) -> None:
    files = CachedFiles()
    for schema in ("index", "manifest"):
        files(file, schema, FileState.of(file))
    assert [schema for _, schema in files.read] == ["index", "manifest"]


def test_record_without_content_contains_no_data_of_the_file(file: Path) -> None:
    file.write_text("datasets: {a: {source: 'https://host/x?sig=HUSH'}}\n", encoding="utf-8")
    record = read(file)
    assert record.secret
    written = record.without_content().to_bytes()
    assert b"HUSH" in record.to_bytes()
    assert b"HUSH" not in written
    assert cached_file_from(written).racy


SECRETS: list[tuple[Any, bool]] = [
    ("https://host/x?sig=1", True),
    ("https://me:word@host/x", True),
    ("https://host/x#token", True),
    ("https://host/x", False),
    ({"fs_options": {"key": "literal"}}, True),
    ({"fs_options": {"key": {"env": "NAME"}}}, False),
    ({"fs_options": {"anon": True}}, False),
    ({"homepage": "https://host/?id=1", "description": "https://a:b@c/"}, False),
    ([{"source": {"path": ["s3://a/b", "https://host/x?sig=1"]}}], True),
]


@pytest.mark.parametrize(("value", "secret"), SECRETS)
def test_secrets_are_detected_in_urls_and_options(value: Any, secret: bool) -> None:
    assert contains_secret(value) == secret
    assert may_contain_secret(cached_files.compact_json(value)) or not secret

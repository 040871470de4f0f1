"""Paths and globs become locations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import OfflineError, SourceError
from registry.sources.expand import expand, expand_or_recall
from registry.sources.filesystem import FilesystemPool
from tests.conftest import S3
from tests.sources.conftest import context_of


def no_archive(location: str) -> Any:
    raise AssertionError(f"{location} is not an archive")


def expanded(location: str) -> list[Location]:
    return expand(Location(location), FilesystemPool({}, UNBOUNDED), no_archive, UNBOUNDED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "[c].csv"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("*.csv", ["[c].csv", "a.csv", "b.csv"]),
        ("[c].csv", ["[c].csv"]),
        ("[ab].csv", ["a.csv", "b.csv"]),
        ("none.csv", ["none.csv"]),
    ],
)
def test_a_local_glob_returns_sorted_names(folder: Path, path: str, expected: list[str]) -> None:
    assert expanded(str(folder / path)) == [str(folder / name) for name in expected]


def test_a_url_with_a_query_is_not_a_glob() -> None:
    url = "https://host/[x]*.csv?a=b"
    assert expanded(url) == [url]


def test_a_glob_that_matches_nothing_is_an_error(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"\*\.tsv: no file matches"):
        expanded(str(folder / "*.tsv"))


def test_offline_a_remote_glob_has_its_last_expansion(s3: S3, cache: Cache) -> None:
    s3.bucket("bucket")
    names = [s3.put("bucket", name, b"x") for name in ("2.csv", "1.csv")]
    glob, pool = Location("s3://bucket/*.csv"), FilesystemPool({}, UNBOUNDED)
    offline = context_of(cache, offline=True)
    with pytest.raises(OfflineError, match=r"s3://bucket/\*\.csv: not in the cache"):
        expand_or_recall([glob], pool, offline)
    found = {"s3://bucket/*.csv": sorted(names)}
    assert expand_or_recall([glob], pool, context_of(cache)) == found
    s3.put("bucket", "3.csv", b"x")
    assert expand_or_recall([glob], pool, offline) == found

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
from registry.sources.pins import SourceContext
from tests.conftest import S3


def no_archive(location: str) -> Any:
    raise AssertionError(f"{location} is not an archive")


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
    found = expand(
        Location(str(folder / path)), FilesystemPool({}, UNBOUNDED), no_archive, UNBOUNDED
    )
    assert found == [str(folder / name) for name in expected]


def test_a_url_with_a_query_is_not_a_glob() -> None:
    url = "https://host/[x]*.csv?a=b"
    assert expand(Location(url), FilesystemPool({}, UNBOUNDED), no_archive, UNBOUNDED) == [url]


def test_a_glob_that_matches_nothing_is_an_error(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"\*\.tsv: no file matches"):
        expand(
            Location(str(folder / "*.tsv")), FilesystemPool({}, UNBOUNDED), no_archive, UNBOUNDED
        )


def test_offline_a_remote_glob_has_its_last_expansion(s3: S3, tmp_path: Path) -> None:
    s3.bucket("bucket")
    names = [s3.put("bucket", name, b"x") for name in ("2.csv", "1.csv")]
    cache, pool = Cache(tmp_path / "cache"), FilesystemPool({}, UNBOUNDED)
    offline = SourceContext(boundary=UNBOUNDED, cache=cache, offline=True)
    with pytest.raises(OfflineError, match=r"s3://bucket/\*\.csv: not in the cache"):
        expand_or_recall([Location("s3://bucket/*.csv")], pool, offline)
    found = {"s3://bucket/*.csv": sorted(names)}
    assert (
        expand_or_recall(
            [Location("s3://bucket/*.csv")], pool, SourceContext(boundary=UNBOUNDED, cache=cache)
        )
        == found
    )
    s3.put("bucket", "3.csv", b"x")
    assert expand_or_recall([Location("s3://bucket/*.csv")], pool, offline) == found

"""The rows of a lock for the sources of a dataset."""

from __future__ import annotations

from pathlib import Path

from registry.lockfile.models import LockedSource
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.sources.pins import PinnedFile, Pins, SourcePin
from registry.workflows.make_pin import locked_sources

FOLDER = Path("/home/me/catalog")
COMMIT = "c" * 40


def rows(source: dict[str, str], *pins: SourcePin) -> tuple[LockedSource, ...]:
    spec = DatasetSpec(name="d", folder=FOLDER, source=spec_of_source(source, FOLDER))
    return locked_sources(spec, Pins(pins))


def test_files_have_portable_locations_and_what_the_manifest_names() -> None:
    file = PinnedFile("/home/me/catalog/d/a.csv", "0" * 64, 3, requested="/home/me/catalog/d/*.csv")
    found = rows({"type": "csv", "path": "d/*.csv"}, SourcePin({}, (file,)))
    row = LockedSource(location="d/a.csv", requested="d/*.csv", size=3, sha256="0" * 64)
    assert found == (row,)


def test_repository_has_its_commit_and_branch() -> None:
    hub = {"type": "hf", "path": "o/n", "split": "test"}
    location, pinned = "hf://datasets/o/n", SourcePin({}, revision=COMMIT)
    assert rows(hub, pinned) == (
        LockedSource(location=location, requested="HEAD", revision=COMMIT),
    )
    assert rows({**hub, "revision": COMMIT}, pinned) == (
        LockedSource(location=location, revision=COMMIT),
    )


def test_equal_rows_are_written_once() -> None:
    file = PinnedFile("/home/me/catalog/a.csv", "0" * 64, 3)
    found = rows({"type": "csv", "path": "a.csv"}, SourcePin({}, (file, file)))
    assert len(found) == 1

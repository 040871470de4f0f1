"""Which sources are pinned: decided by the manifest, its pin, `locked` and `frozen` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry import LockStaleError
from registry.base.locations import Location
from registry.base.materials import Material, Original, Parts
from registry.lockfile.models import PIN_FORMAT, CommitPin, Pin
from registry.lockfile.pinned import (
    PinnedSources,
    matches,
    pin_sources,
    staleness,
    state_of,
)
from registry.lockfile.spec_digest import requested_location, spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.manifest.source import Repository
from tests.lockfile.pins import DIGEST, pin_of

FOLDER = Path("/home/me/catalog")
SHA = "0123456789abcdef" * 4
COMMIT, OTHER_COMMIT = "c" * 40, "d" * 40
CSV = {"type": "csv", "path": "data/a.csv"}
REPOSITORY = {"type": "hf", "path": "a/b", "split": "train"}


def spec_of(source: dict[str, Any]) -> DatasetSpec:
    return DatasetSpec(name="d", folder=FOLDER, source=spec_of_source(source, FOLDER))


def file(location: str, requested: str | None = None) -> Material:
    return Material(location=location, requested=requested, size=1, sha256=SHA)


def commit(requested: str | None, revision: str = COMMIT) -> Material:
    location = "hf://datasets/a/b"
    return Material(location=location, requested=requested, revision=revision)


def pin(spec: DatasetSpec | None, *sources: Material, format: int = PIN_FORMAT) -> Pin:
    """Return a pin for a manifest, or for an older one."""
    return pin_of(
        spec=DIGEST if spec is None else spec_digest(spec), sources=sources, format=format
    )


def pinned(*sources: Material, **options: Any) -> PinnedSources:
    return PinnedSources(dataset="d", folder=FOLDER, sources=sources, **options)


# --- files ---


def test_path_is_pinned_by_its_portable_location() -> None:
    one, other = file("data/a.csv"), file("/mnt/b.csv")
    sources = pinned(one, other)
    assert sources.files(Location(f"{FOLDER}/data/a.csv")) == [(f"{FOLDER}/data/a.csv", one)]
    assert sources.files(Location("/mnt/b.csv")) == [("/mnt/b.csv", other)]


def test_pinned_glob_resolves_to_the_files_that_it_matched() -> None:
    files = [file(f"data/{name}.csv", "data/*.csv") for name in "ab"]
    assert pinned(*files).files(Location(f"{FOLDER}/data/*.csv")) == [
        (f"{FOLDER}/data/a.csv", files[0]),
        (f"{FOLDER}/data/b.csv", files[1]),
    ]


def test_url_with_a_query_keeps_its_query() -> None:
    url = "https://host/a.csv?sig=SECRET"
    one = file("https://host/a.csv?…", requested_location(Location(url), FOLDER))
    assert pinned(one).files(Location(url)) == [(url, one)]
    assert pinned(one, complete=False).files(Location(url + "2")) is None


def test_unpinned_path_is_looked_up_or_rejected() -> None:
    assert pinned(file("a.csv"), complete=False).files(Location("/mnt/b.csv")) is None
    with pytest.raises(LockStaleError) as caught:
        pinned(file("a.csv")).files(Location("https://me:word@host/b.csv"))
    assert str(caught.value) == (
        "d: datasets.lock does not pin https://host/b.csv (`registry lock d` does)"
    )


# --- repositories ---


@pytest.mark.parametrize(
    ("requested", "revision", "any_branch", "expected"),
    [
        ("HEAD", None, False, COMMIT),
        ("main", "main", False, COMMIT),
        (None, COMMIT, False, COMMIT),
        ("main", COMMIT, False, COMMIT),
        ("main", None, False, None),
        ("main", "dev", False, None),
        ("main", "dev", True, COMMIT),
        ("main", OTHER_COMMIT, True, None),
        (OTHER_COMMIT, OTHER_COMMIT, False, None),
    ],
)
def test_revision_is_the_pinned_commit_of_the_same_branch(
    requested: str | None, revision: str | None, any_branch: bool, expected: str | None
) -> None:
    sources = pinned(commit(requested), complete=False, any_branch=any_branch)
    assert sources.revision(Repository("a/b", revision)) == expected
    assert sources.revision(Repository("other/b", revision)) is None


@pytest.mark.parametrize(
    ("revision", "shown"), [(None, "hf://datasets/a/c"), ("dev", "hf://datasets/a/c at dev")]
)
def test_unpinned_repository_is_rejected(revision: str | None, shown: str) -> None:
    with pytest.raises(LockStaleError) as caught:
        pinned(commit("main")).revision(Repository("a/c", revision))
    assert f"does not pin {shown} (" in str(caught.value)


# --- decisions ---

SPEC = spec_of(CSV)
OWN = file("data/a.csv")


def test_pin_for_this_manifest_pins_sources_and_samples() -> None:
    own = pin(SPEC, OWN)
    for locked in (False, True):
        found = pin_sources(SPEC, own, locked=locked)
        assert found == pinned(OWN, samples=own, reviewed=(SPEC, own))
    frozen = pin_sources(SPEC, own, frozen=True)
    assert frozen is not None
    assert frozen.any_branch


MAPPING = (
    "for an older manifest: its sources are those pinned, but its mapping, transforms or view"
    " changed"
)


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        (pin(None, OWN), f"{MAPPING} (`registry lock d` updates the pin)"),
        (
            pin(SPEC, OWN, format=PIN_FORMAT + 1),
            f"in format {PIN_FORMAT + 1}, of a newer release (upgrade eval-registry)",
        ),
    ],
)
def test_pin_that_does_not_agree_pins_only_its_recorded_sources(old: Pin, reason: str) -> None:
    found = pin_sources(SPEC, old)
    assert found is not None
    assert (found.complete, found.samples) == (False, None)
    frozen = pin_sources(SPEC, old, frozen=True)
    assert frozen is not None
    assert (frozen.complete, frozen.any_branch, frozen.samples) == (True, True, None)
    with pytest.raises(LockStaleError) as caught:
        pin_sources(SPEC, old, locked=True)
    assert str(caught.value) == f"{SPEC.name}: datasets.lock pins it {reason}"


def test_unpinned_dataset_is_looked_up_or_rejected() -> None:
    assert pin_sources(SPEC, None) is None
    none = r"datasets\.lock does not pin it \(`registry lock d`"
    older = r"commit of an older manifest \(`registry lock --of"
    for strict in ("locked", "frozen"):
        options: dict[str, Any] = {strict: True}
        with pytest.raises(LockStaleError, match=none):
            pin_sources(SPEC, None, **options)
        row = CommitPin(spec=spec_digest(SPEC), sources=(), format=1)
        assert pin_sources(SPEC, None, commit=row, **options) is None
        with pytest.raises(LockStaleError, match=older):
            pin_sources(SPEC, None, commit=replace(row, spec=DIGEST), **options)
        with pytest.raises(LockStaleError, match=r"of a newer release \(upgrade eval-registry\)"):
            pin_sources(SPEC, None, commit=replace(row, format=2), **options)


def test_parts_of_a_file_are_those_of_the_manifest_that_was_pinned() -> None:
    parts = replace(OWN, parts=Parts(columns=("a",), size=1, sha256=SHA))
    found = pinned(parts).files(Location(FOLDER / OWN.location))
    assert found is not None
    assert found[0][1].parts is None


def test_pin_of_the_samples_without_corrections_has_no_version() -> None:
    original = Original(samples=1, ordered=DIGEST, unordered=DIGEST)
    found = pin_of(3, original=original, version="2-A").of_original(SPEC)
    assert found == pin_of(1, spec=spec_digest(SPEC))


HUB = {"type": "hf", "path": "a/b", "split": "test"}
RAW = "https://raw.githubusercontent.com/a/b"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CSV, "floating"),  # a file of the catalog is verified as soon as it is pinned
        (HUB, "floating"),
        ({**HUB, "revision": "main"}, "floating"),
        ({**HUB, "revision": "c" * 40}, "commit"),
        ({"type": "csv", "path": f"{RAW}/{'c' * 40}/d.csv"}, "commit"),
        ({"type": "csv", "path": f"zip://d.csv::{RAW}/{'c' * 40}/d.zip"}, "commit"),
        ({"type": "csv", "path": [f"{RAW}/{'c' * 40}/d.csv", f"{RAW}/main/d.csv"]}, "floating"),
        ({"type": "csv", "path": [f"{RAW}/{'c' * 40}/d.csv", "data/a.csv"]}, "commit"),
        ({"type": "csv", "path": f"https://example.org/{'c' * 40}/d.csv"}, "floating"),
        ({"type": "csv", "path": f"hf://datasets/a/b@{'c' * 40}/d.csv"}, "commit"),
        ({"type": "csv", "path": [f"{RAW}/{'c' * 40}/d.csv", "package:other/d.csv"]}, "floating"),
    ],
)
def test_state_says_how_far_the_samples_are_determined(
    source: dict[str, Any], expected: str
) -> None:
    spec = spec_of(source)
    assert state_of(spec, None) == expected
    assert state_of(spec, pin(spec, OWN)) == "verified"
    assert state_of(spec, pin(None, OWN)) == expected


@pytest.mark.parametrize(
    ("source", "sources", "expected"),
    [
        (CSV, [file("data/b.csv")], "data/a.csv is not pinned"),
        (REPOSITORY, [commit("main")], "a/b is not pinned"),
        ({**REPOSITORY, "revision": "dev"}, [commit("main")], "a/b at dev is not pinned"),
        ({**CSV, "path": ["a.csv", "*.csv"]}, [file("x.csv")], "a.csv, *.csv is not pinned"),
    ],
)
def test_changes_list_the_unpinned_sources(
    source: dict[str, Any], sources: list[Material], expected: str
) -> None:
    reason, _ = staleness(spec_of(source), pin(None, *sources))
    assert reason == f"for an older manifest: {expected}"


@pytest.mark.parametrize(
    ("requested", "location"),
    [
        ("data/a.csv", "data/a.csv"),
        ("data/*.csv", "data/a.csv"),
        ("data/[ab].csv", "data/b.csv"),
        ("data/?.csv", "data/b.csv"),
        ("./data/*.csv", "data/a.csv"),
        ("../data/*.csv", "../data/a.csv"),
        ("/mnt/*/a.csv", "/mnt/x/a.csv"),
        ("data/**/*.csv", "data/a.csv"),
        ("data/**/*.csv", "data/x/y/a.csv"),
        ("data/**", "data/x/a.csv"),
        (".data/.*", ".data/.a"),
        ("s3://bucket/*", "s3://bucket/.a"),
        ("folder", "folder/data/train.parquet"),
        ("folder/", "folder/a.csv"),
        ("package:words/data/*.csv", "package:words/data/a.csv"),
        ("s3://bucket/qa/*.csv.gz", "s3://bucket/qa/1.csv.gz"),
        ("s3a://bucket/qa/*.csv.gz", "s3://bucket/qa/1.csv.gz"),
        ("memory://qa/*.csv", "memory:///qa/a.csv"),
        ("hf://datasets/a/b@main/*.csv", "hf://datasets/a/b@main/a.csv"),
        ("zip://*.csv::data.zip", "zip://a.csv::data.zip"),
        ("zip://./*.csv::data.zip", "zip://a.csv::data.zip"),
        ("zip:///in/*.csv::data.zip", "zip://in/a.csv::data.zip"),
        ("zip://in/**/*.csv::tar://x.zip::a.tar", "zip://in/a.csv::tar://x.zip::a.tar"),
    ],
)
def test_a_path_matches_what_it_can_expand_to(requested: str, location: str) -> None:
    assert matches(Location(requested), Location(location))


@pytest.mark.parametrize(
    ("requested", "location"),
    [
        ("data/*.csv", "/etc/hostname"),
        ("data/*.csv", "data/x/a.csv"),
        ("data/*.csv", "other/a.csv"),
        ("data/*", "data/.."),
        ("data/*", "data/.secret"),
        ("data/**/x", "data/.git/x"),
        ("*/a.csv", "../a.csv"),
        ("**/*.csv", "../../a.csv"),
        ("data/**/a.csv", "data/../../a.csv"),
        ("folder", "folder/../secret"),
        ("folder", "folder2/a.csv"),
        ("data/a.csv", "data/b.csv"),
        ("*.csv", "s3://bucket/a.csv"),
        ("s3://bucket/*.csv", "s3://other/a.csv"),
        ("s3://bucket/*.csv", "https://bucket/a.csv"),
        ("s3://bucket/*.csv", "bucket/a.csv"),
        ("s3://bucket", "s3://bucket/a.csv"),
        ("zip://*.csv::data.zip", "zip://a.csv::other.zip"),
        ("zip://*.csv::data.zip", "tar://a.csv::data.zip"),
        ("zip://*.csv::data.zip", "a.csv"),
        ("data.zip", "zip://a.csv::data.zip"),
    ],
)
def test_a_path_matches_nothing_else(requested: str, location: str) -> None:
    assert not matches(Location(requested), Location(location))

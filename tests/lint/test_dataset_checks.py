"""The check of all datasets, which stops at limits and says what is left, and that of pins."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.boundary.boundary import Boundary
from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.lint.dataset_checks import (
    CheckableEntries,
    PinnedDataset,
    checkable_entries,
    orphaned_pins,
    outside_path,
    read_lock_content,
    stale_lock,
)
from registry.lint.runner import check, check_catalog
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.schema import read_schema
from registry.manifest.source_models import CsvSource
from registry.rules import Finding
from tests.git_repository import write_files
from tests.lint.pins import DIGEST, pin

CSV = "source: {type: csv, path: x}"
INDEX = "version: 1\ninclude: [m.yaml]\nvalidate: {ignore: [description]}\n"

SPEC = DatasetSpec(name="d", source=CsvSource(path=("/c/x.csv",)), folder=Path("/c"))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = "".join(f"  d{number}: {{{CSV}, seed: 1}}\n" for number in range(100))
    return write_files(tmp_path, {"x": "", "datasets.yaml": INDEX, "m.yaml": f"datasets:\n{text}"})


def limits(problems: list[Problem]) -> list[str]:
    return [str(one) for one in problems if one.rule == "check-limit"]


def test_unchecked_datasets_are_counted_after_too_many_problems(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits(check(Catalog.open())) == []
    monkeypatch.setattr("registry.lint.dataset_checks._MOST_PROBLEMS", 30)
    found = check(Catalog.open())
    (problem,) = limits(found)
    assert problem == (
        "datasets.yaml:1:1 $: 89 datasets not checked, because there are more than 30 problems"
        " (fix these first)"
    )
    assert len(found) == 12


def test_unchecked_datasets_are_counted_after_the_deadline(root: Path) -> None:
    (problem,) = check(Catalog.open(), deadline=0)
    assert str(problem) == (
        "datasets.yaml:1:1 $: 100 datasets not checked, because it takes too long"
        " (set REGISTRY_VALIDATE_SECONDS if the catalog is your own)"
    )


def test_incomplete_result_is_not_cached(root: Path, tmp_path: Path) -> None:
    for _ in range(2):
        result = check_catalog(Catalog.open(), tmp_path / "cache", deadline=0)
        assert len(limits(result.problems)) == 1
    assert limits(check_catalog(Catalog.open(), tmp_path / "cache").problems) == []


def test_manifests_that_there_is_no_time_to_read_are_reported_and_read_next_time(
    root: Path,
) -> None:
    (found,) = Catalog.open(deadline=0).problems
    assert (found.rule, found.severity) == ("include-limit", "error")
    assert "'m.yaml' is not read after 0 manifests" in found.message
    assert len(Catalog.open(deadline=time.process_time() + 60)) == 100


def test_violations_of_the_schema_are_listed_up_to_a_number(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.manifest.validation._MOST_ERRORS", 100)
    text = "".join(f"  d{number}: {{{CSV}, limitt: 1}}\n" for number in range(200))
    (root / "m.yaml").write_text(f"datasets:\n{text}", encoding="utf-8")
    found = check(Catalog.open())
    assert limits(found) == [
        "m.yaml:1:1 $: more than 100 problems, of which these are the first (fix these first)"
    ]
    # Resolving the other datasets reports theirs.
    assert sum(one.rule == "unknown-key" for one in found) == 200


def checkable_of(root: Path, datasets: str, defaults: str = "{}") -> CheckableEntries:
    index = f"version: 1\ninclude: [m.yaml]\ndefaults: {defaults}\n"
    write_files(root, {"datasets.yaml": index, "m.yaml": f"datasets: {datasets}\n"})
    return checkable_entries(Catalog.open(root, lenient=True))


@pytest.mark.parametrize(
    ("defaults", "left", "unchecked"),
    [
        ("{license: mit, tags: [a]}", {"license", "tags"}, set()),
        ("{license: mit, tags: 5}", {"license"}, {"tags"}),
        ("{source: {csv: {encodin: x}}, auto_id: true}", {"auto_id"}, {"source"}),
        # Any key may be meant, but that of the sources is there.
        ("{licence: mit, source: {csv: {encoding: x}}}", {"source"}, "source"),
        ("5", set(), ""),
    ],
)
def test_invalid_defaults_are_unchecked(
    tmp_path: Path, defaults: str, left: set[str], unchecked: set[str] | str
) -> None:
    checkable = checkable_of(tmp_path, f"{{d: {{{CSV}}}}}", defaults)
    entry = checkable.entries["d"]
    assert entry.defaults.value.keys() == left
    known = read_schema("index")["$defs"]["defaults"]["properties"].keys()
    expected = known - {unchecked} if isinstance(unchecked, str) else unchecked
    assert checkable.unchecked_defaults(entry) == expected


def test_valid_entries_are_checked_in_full(tmp_path: Path) -> None:
    checkable = checkable_of(tmp_path, f"{{d: {{{CSV}}}}}")
    assert checkable.unchecked == {}
    assert checkable.unchecked_keys("d") is None
    assert checkable.entries["d"].value == {"source": {"type": "csv", "path": "x"}}


@pytest.mark.parametrize(
    ("keys", "left", "unchecked"),
    [
        (f"{CSV}, limit: few", {"source"}, {"limit"}),
        (f"{CSV}, limitt: 1", {"source"}, {"limitt"}),
        (f"{CSV}, seed: few, shuffle: true", {"source", "shuffle"}, {"seed", "shuffle"}),
        (f"{CSV}, shuffle: 3, seed: 1", {"source", "seed"}, {"seed", "shuffle"}),
        ("source: {type: csv, pth: x}, limit: 1", {"limit"}, {"source", "concat"}),
        (f"{CSV}, fields: {{input: q, targt: a}}", {"source"}, {"fields"}),
    ],
)
def test_invalid_keys_and_keys_that_depend_on_them_are_unchecked(
    tmp_path: Path, keys: str, left: set[str], unchecked: set[str]
) -> None:
    checkable = checkable_of(tmp_path, f"{{d: {{{keys}}}}}")
    assert set(checkable.unchecked_keys("d") or ()) == unchecked
    assert checkable.entries["d"].value.keys() == left


def test_invalid_keys_of_an_ancestor_are_unchecked_in_its_dependents(tmp_path: Path) -> None:
    invalid = f"a: {{{CSV}, limit: few}}, b: {{extends: a, seed: x}}, c: {{extends: b}}"
    checkable = checkable_of(tmp_path, f"{{{invalid}, other: {{{CSV}}}}}")
    assert checkable.unchecked_keys("c") == frozenset({"limit", "seed", "shuffle"})
    assert checkable.unchecked_keys("a") == frozenset({"limit"})
    assert checkable.unchecked_keys("other") is None


def test_invalid_keys_of_a_dataset_are_unchecked_in_its_splits(tmp_path: Path) -> None:
    splits = "splits: {x: {path: x}, y: {path: x}}, default_split: x"
    checkable = checkable_of(tmp_path, f"{{d: {{source: {{type: csv}}, {splits}, fields: [5]}}}}")
    assert checkable.unchecked_keys("d:y") == checkable.unchecked_keys("d") == frozenset({"fields"})
    errors = [one for one in check(Catalog.open(tmp_path)) if one.severity == "error"]
    assert [one.path for one in errors] == ["$.datasets.d.fields"]


def test_cycle_of_invalid_datasets_ends(tmp_path: Path) -> None:
    checkable = checkable_of(tmp_path, "{a: {extends: b, limit: few}, b: {extends: a}}")
    assert checkable.unchecked_keys("b") == frozenset({"limit"})


# --- lockfiles that can't be read, outdated pins, orphaned pins ---


def pinned(
    spec: DatasetSpec | None, digest: str = DIGEST, location: str = "x.csv"
) -> PinnedDataset:
    source = Material(location=location, size=3, sha256="0a" * 32)
    return PinnedDataset("d", pin(source, spec=digest), spec)


LOCK = lock_text(Lock({"d": pin(Material(location="x.csv", size=3, sha256="0a" * 32))}))


def test_pin_of_the_same_manifest_is_accepted() -> None:
    assert list(stale_lock(pinned(SPEC, spec_digest(SPEC)))) == []


def test_pin_of_an_older_manifest_is_reported_with_the_changes() -> None:
    (mapping,) = stale_lock(pinned(SPEC))
    (source,) = stale_lock(pinned(SPEC, location="old.csv"))
    assert mapping.path == source.path == ()
    assert mapping.message.startswith("pinned for an older manifest: ")
    assert source.message == "pinned for an older manifest: x.csv is not pinned"
    assert source.hint == "`registry lock d` updates the pin"


def test_pin_without_a_manifest_is_reported() -> None:
    message, hint = "'d' is pinned and in no manifest", "`registry lock` drops it"
    assert list(stale_lock(pinned(None))) == [Finding((), message, hint)]


def test_pinned_file_that_the_catalog_may_not_read_is_reported() -> None:
    boundary = Boundary().allowing(["/c"])
    inside, outside = (
        replace(pinned(SPEC, location=one), boundary=boundary) for one in ("x.csv", "/etc/passwd")
    )
    assert list(outside_path(inside)) == list(outside_path(pinned(None))) == []
    (found,) = outside_path(outside)
    assert found.message.startswith("datasets.lock pins '/etc/passwd', which ")
    assert found.hint == "restore it, or run `registry lock --upgrade d`"


def test_orphaned_pin_is_reported_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    path.write_text(LOCK, encoding="utf-8")
    content = read_lock_content(path)
    assert content.problems == ()
    assert list(orphaned_pins(content, {"d"})) == []
    (problem,) = orphaned_pins(content, {"e"})
    assert (problem.line, problem.column, problem.path) == (5, 3, "$.datasets.d")
    assert (problem.rule, problem.severity) == ("stale-lock", "warning")


def test_missing_lockfile_has_no_pins(tmp_path: Path) -> None:
    content = read_lock_content(tmp_path / "datasets.lock")
    assert (content.lock.pins, content.documents, content.problems) == ({}, (), ())


@pytest.mark.parametrize(
    "text",
    [
        LOCK.replace("samples: 1", "samples: one"),
        LOCK.replace("version: 1", "version: 99"),
        LOCK + "<<<<<<< ours\n",
        "datasets: [",
    ],
)
def test_invalid_lockfile_is_one_blocking_problem_with_a_hint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "datasets.lock"
    path.write_text(text, encoding="utf-8")
    content = read_lock_content(path)
    assert not content.lock.pins
    assert {(one.rule, one.severity) for one in content.problems} == {("bad-lock", "error")}
    assert all(one.hint for one in content.problems)

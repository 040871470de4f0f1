"""The check of all datasets stops at limits, and says what is left unchecked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.lint.dataset_checks import CheckableEntries, checkable_entries
from registry.lint.runner import check, check_catalog
from registry.manifest.schema import read_schema
from tests.git_repository import write_files

CSV = "source: {type: csv, path: x}"
INDEX = "version: 1\ninclude: [m.yaml]\nvalidate: {ignore: [description]}\n"


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
    assert "only 0 manifests of 'm.yaml' read" in found.message
    assert len(Catalog.open(deadline=time.process_time() + 60)) == 100


def test_violations_of_the_schema_are_listed_up_to_a_number(root: Path) -> None:
    text = "".join(f"  d{number}: {{{CSV}, limitt: 1}}\n" for number in range(2_000))
    (root / "m.yaml").write_text(f"datasets:\n{text}", encoding="utf-8")
    found = check(Catalog.open())
    assert limits(found) == [
        "m.yaml:1:1 $: more than 1,000 problems, of which these are the first (fix these first)"
    ]
    # Resolving the other datasets reports theirs.
    assert sum(one.rule == "unknown-key" for one in found) == 2_000


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

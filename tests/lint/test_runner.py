"""`check`: which problems of a catalog it finds beside others, and in which files."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.base.fs import best_effort_path
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.lint.runner import CheckResult, check, check_catalog, count_checked, files_under
from tests.git_repository import write_files

INDEX = "version: 1\ninclude: [m/*.yaml]\n"

# --- schema problems do not hide the others ---


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("source: data.csv", "source: must be a mapping, is 'data.csv'"),
        ("fields: question", "fields: must be a mapping, is 'question'"),
        ("join: side.csv", "join: must be a mapping, is 'side.csv'"),
        ("extends: [a]", "extends: must be a string, is ['a']"),
        ("source: {type: [csv], path: x}", "source.type: "),
        ("source: {type: csv, path: x}, shuffle: true", "shuffle: `shuffle` without `seed` "),
    ],
)
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("MMLU: {KEYS}", "'MMLU' is not a valid dataset name"),
        ("1: {KEYS}", "a key must be a string, is 1"),
        ("a: !x {KEYS}", "the tag !x is not allowed"),
        ("a: {<<: 3, KEYS}", "`<<` merges mappings only"),
        ("a: {KEYS}\n  a: {}", "the key 'a' is repeated"),
    ],
)
def test_problem_of_an_entry_hides_no_other(
    tmp_path: Path, entry: str, message: str, keys: str, expected: str
) -> None:
    manifest = f"datasets:\n  {entry.replace('KEYS', keys)}\n"
    write_files(tmp_path, {"datasets.yaml": INDEX, "m/a.yaml": manifest})
    found = check(Catalog.open(tmp_path), ignore=["description"])
    assert message in [one.message for one in found]
    places = [re.sub(r"\$\.datasets(\.\w+|\['1'\])", "", one.path) for one in found]
    shown = [f"{place}: {one.message}" for place, one in zip(places, found, strict=True)]
    assert any(one.startswith(f".{expected}") for one in shown), shown


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "source: {type: csv, path: x}, limitt: 1, shuffle: true",
            ["limitt: unknown key 'limitt'", "shuffle: `shuffle` without `seed` gives a different order on every run"],
        ),
        (
            "source: {type: csv, pth: x}, seed: 1",
            ["source: the key 'path' is missing", "source.pth: unknown key 'pth'", "seed: `seed` without `shuffle` does nothing"],
        ),
        ("source: {type: csv, path: x}, seed: few, shuffle: true", ["seed: must be an integer, is 'few'"]),
        ("source: text, concat: [{split: a}]", ["source: must be a mapping, is 'text'"]),
        ("extends: [a], limit: 1", ["extends: must be a string, is ['a']"]),
        ("source: {type: hf, path: 5, split: t}, fields: [a]", ["source.path: must be a string, is 5", "fields: must be a mapping, is ['a']"]),
        ("limit: 3", [": the key 'source' is missing"]),
    ],
)  # fmt: skip
def test_valid_keys_are_checked_beside_invalid_ones(
    tmp_path: Path, keys: str, expected: list[str]
) -> None:
    text = (
        f"datasets:\n  d: {{{keys}}}\n  kid: {{extends: d, license: mit}}\n"
        "  other: {source: {type: csv, path: x}, seed: 2}\n"
    )
    write_files(tmp_path, {"datasets.yaml": INDEX, "m/a.yaml": text, "x": ""})
    found = check(Catalog.open(tmp_path), ignore=["description"])
    messages = [f"{one.path.removeprefix('$.datasets.')}: {one.message}" for one in found]
    assert messages == [
        *(f"d{'.' if not line.startswith(':') else ''}{line}" for line in expected),
        "other.seed: `seed` without `shuffle` does nothing",
    ]


# --- which files ---

BAD_SEED = "{source: {type: csv, path: x}, seed: 2}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a catalog of two manifests, each with one mistake, and one file outside it."""
    monkeypatch.chdir(tmp_path)
    files = {
        "datasets.yaml": f"{INDEX}validate: {{ignore: [description]}}\n",
        "m/a.yaml": f"datasets: {{a: {BAD_SEED}}}\n",
        "m/b.yml": "not: a manifest\n",
        "m/c.yaml": f"datasets: {{c: {BAD_SEED}, e: {{extends: c, seed: null}}}}\n",
        "new.yaml": f"datasets: {{new: {BAD_SEED}}}\n",
        "x": "",
    }
    return write_files(tmp_path, files)


@pytest.mark.parametrize(
    ("paths", "files", "datasets"),
    [
        ([], ["m/a.yaml", "m/c.yaml"], 3),
        (["m/c.yaml"], ["m/c.yaml"], 2),
        (["new.yaml"], ["new.yaml"], 1),
        (["m/../m/a.yaml", "new.yaml"], ["m/a.yaml", "new.yaml"], 2),
    ],
)
def test_only_problems_of_the_wanted_files_are_returned(
    root: Path, paths: list[str], files: list[str], datasets: int
) -> None:
    wanted = [Path(path) for path in paths]
    assert [one.file for one in check(Catalog.open(), wanted)] == files
    assert count_checked(Catalog.open(), wanted) == datasets


def test_folder_selects_its_yaml_files(root: Path) -> None:
    others = (".github/w.yml", "env/pyvenv.cfg", "env/x.yaml", "node_modules/x.yaml", ".pre.yaml")
    write_files(root / "m", dict.fromkeys(others, ""))
    names = [path.name for path in files_under([Path("m"), Path("new.yaml")])]
    assert names == ["a.yaml", "b.yml", "c.yaml", "new.yaml"]


def test_path_that_does_not_exist_is_an_error(root: Path) -> None:
    with pytest.raises(ManifestError, match=r"gone\.yaml: no such file"):
        check(Catalog.open(), [Path("gone.yaml")])


def test_problems_are_sorted_by_file_and_line(root: Path) -> None:
    text = f"datasets:\n  z: {BAD_SEED}\n  a: {BAD_SEED}\n"
    (root / "m/0.yaml").write_text(text, encoding="utf-8")
    (root / "m/a.yaml").unlink()
    found = [(one.file, one.line) for one in check(Catalog.open())]
    assert found == [("m/0.yaml", 2), ("m/0.yaml", 3), ("m/c.yaml", 1)]


def test_blocking_problem_is_not_repeated_by_later_stages(root: Path) -> None:
    keys = "source: {type: csv, path: x}, fields: {input: {template: '{q'}}"
    (root / "m/a.yaml").write_text(f"datasets: {{a: {{{keys}}}}}\n", encoding="utf-8")
    (found,) = check(Catalog.open(), [Path("m/a.yaml")])
    assert (found.rule, found.path) == ("bad-expression", "$.datasets.a.fields.input")


def test_invalid_configuration_hides_no_unused_comment(tmp_path: Path) -> None:
    comment = "# registry: ignore missing-data -- the file is made later"
    index = f"version: 1\nvalidate:\n  ignore: [no-such-rule]\n{comment}\ndatasets: {{}}\n"
    write_files(tmp_path, {"datasets.yaml": index})
    rules = [problem.rule for problem in check(Catalog.open(tmp_path, lenient=True))]
    assert rules == ["unknown-rule", "unused-ignore"]


Change = Callable[[Path, pytest.MonkeyPatch], object]
DATASET = "datasets:\n  {}: {{source: {{type: csv, path: x.csv}}, {}}}\n"


@pytest.fixture
def cached_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a catalog of two datasets, one with a mistake."""
    folder = tmp_path / "catalog"
    (folder / "m").mkdir(parents=True)
    write(folder / "datasets.yaml", INDEX)
    write(folder / "x.csv", "")
    write(folder / "m/a.yaml", DATASET.format("a", "seed: 3"))
    write(folder / "m/b.yaml", DATASET.format("b", "limit: 3"))
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str) -> None:
    """Write a file whose modification time is old enough to be trusted."""
    path.write_text(text, encoding="utf-8")
    then = time.time() - 60
    os.utime(path, (then, then))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Catalog]:
    """Collect the catalogs that are checked, rather than read from the cache."""
    catalogs: list[Catalog] = []

    def counted(catalog: Catalog, **options: Any) -> list[Problem]:
        catalogs.append(catalog)
        return check(catalog, **options)

    monkeypatch.setattr("registry.lint.runner.check", counted)
    return catalogs


def errors(result: CheckResult) -> list[tuple[str, str]]:
    return [(one.file, one.rule) for one in result.problems if one.severity == "error"]


def test_second_check_returns_the_cached_result(
    cached_root: Path, cache_dir: Path, runs: list[Catalog]
) -> None:
    first = check_catalog(Catalog.open(), cache_dir)
    assert check_catalog(Catalog.open(), cache_dir) == first
    assert first == CheckResult(check(Catalog.open()), 2)
    assert errors(first) == [("m/a.yaml", "seed-without-shuffle")]
    assert len(runs) == 1


def writing(name: str, text: str) -> Change:
    return lambda root, _: write(root / name, text)


CHANGES: dict[str, Change] = {
    "a manifest": writing("m/b.yaml", DATASET.format("b", "seed: 3")),
    "a new manifest": writing("m/c.yaml", DATASET.format("c", "limit: 1")),
    "the lockfile": writing("datasets.lock", "version: 1\ndatasets: {}\n"),
    "a new data file": writing("x.csv", "question\nx\n"),
    "a nested index": writing("m/datasets.yaml", "version: 1\n"),
    # Problems show paths relative to it.
    "the working directory": lambda root, patch: patch.chdir(root / "m"),
    # Paths with `~` lie there.
    "the home folder": lambda root, patch: patch.setenv("HOME", str(root)),
    "a validator": lambda _, patch: patch.setattr("registry.lint.runner.version", str.upper),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_check_runs_again_after_a_change(
    cached_root: Path,
    cache_dir: Path,
    runs: list[Catalog],
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
) -> None:
    check_catalog(Catalog.open(), cache_dir)
    change(cached_root, monkeypatch)
    result = check_catalog(Catalog.open(), cache_dir)
    assert len(runs) == 2
    assert result.problems == check(Catalog.open())


def test_check_runs_again_after_a_change_of_a_data_file(
    cached_root: Path, cache_dir: Path, runs: list[Catalog]
) -> None:
    write(cached_root / "x.csv", "input\nx\n")
    for _ in range(2):
        found = errors(check_catalog(Catalog.open(), cache_dir))
        assert found == [("m/a.yaml", "seed-without-shuffle")]
    assert len(runs) == 1
    write(cached_root / "x.csv", "inputs\nx\n")
    for _ in range(2):
        found = errors(check_catalog(Catalog.open(), cache_dir))
        assert ("m/b.yaml", "unknown-column") in found
    assert len(runs) == 2


def test_result_of_a_data_file_that_just_changed_is_not_cached(
    cached_root: Path, cache_dir: Path, runs: list[Catalog]
) -> None:
    (cached_root / "x.csv").write_text("input\nx\n", encoding="utf-8")
    for _ in range(2):
        check_catalog(Catalog.open(), cache_dir)
    assert len(runs) == 2


@pytest.mark.parametrize(
    "options", [{"select": ["all"]}, {"ignore": ["description"]}, {"locked": True}], ids=str
)
def test_check_runs_again_with_other_options(
    cached_root: Path, cache_dir: Path, runs: list[Catalog], options: dict[str, Any]
) -> None:
    check_catalog(Catalog.open(), cache_dir)
    check_catalog(Catalog.open(), cache_dir, **options)
    assert len(runs) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"seed", b"sead", 1),
        lambda data: data[:-8] + b"00000000",
    ],
    ids=["empty", "truncated", "one character", "checksum"],
)
def test_damaged_result_is_not_used(
    cached_root: Path, cache_dir: Path, runs: list[Catalog], damage: Callable[[bytes], bytes]
) -> None:
    expected = check_catalog(Catalog.open(), cache_dir)
    place = best_effort_path(cached_root / "datasets.yaml", cache_dir, "check")
    place.write_bytes(damage(place.read_bytes()))
    assert check_catalog(Catalog.open(), cache_dir) == expected
    assert len(runs) == 2


def test_catalog_with_a_file_outside_its_index_is_neither_read_nor_cached(
    cached_root: Path, cache_dir: Path, runs: list[Catalog]
) -> None:
    write(cached_root / "more.yaml", DATASET.format("more", "seed: 3"))
    catalog = Catalog.open()
    check_catalog(catalog, cache_dir)
    result = check_catalog(catalog.including([cached_root / "more.yaml"]), cache_dir)
    found = {(Path(file).name, rule) for file, rule in errors(result)}
    assert ("more.yaml", "seed-without-shuffle") in found
    assert errors(check_catalog(catalog, cache_dir)) == [("m/a.yaml", "seed-without-shuffle")]
    assert len(runs) == 2

"""`check`: which problems of a catalog it finds beside others, and in which files."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.errors import ManifestError
from registry.lint.runner import check, count_checked, files_under

# --- schema problems do not hide the others ---


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("source: data.csv", ["source: must be a mapping, is 'data.csv'"]),
        ("fields: question", ["fields: must be a mapping, is 'question'"]),
        ("join: side.csv", ["join: must be a mapping, is 'side.csv'"]),
        ("extends: [a]", ["extends: must be a string, is ['a']"]),
        ("source: {type: [csv], path: x}", ["source.type: "]),
        ("source: {type: csv, path: x}, shuffle: true", ["shuffle: `shuffle` without `seed` "]),
    ],
)
def test_invalid_name_hides_no_other_problem(
    tmp_path: Path, keys: str, expected: list[str]
) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m/*.yaml]\n", encoding="utf-8")
    (tmp_path / "m").mkdir()
    (tmp_path / "m/a.yaml").write_text(f"datasets:\n  MMLU: {{{keys}}}\n", encoding="utf-8")
    found = check(Catalog.open(tmp_path), ignore=["description"])
    places = [f"{one.path.removeprefix('$.datasets.MMLU')}: {one.message}" for one in found]
    assert places[0] == ": 'MMLU' is not a valid dataset name"
    for wanted in expected:
        assert any(place.startswith(f".{wanted}") for place in places), places


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
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    text = (
        f"datasets:\n  d: {{{keys}}}\n  kid: {{extends: d, license: mit}}\n"
        "  other: {source: {type: csv, path: x}, seed: 2}\n"
    )
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "x").write_text("", encoding="utf-8")
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
    (tmp_path / "m").mkdir()
    files = {
        "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n",
        "m/a.yaml": f"datasets: {{a: {BAD_SEED}}}\n",
        "m/b.yml": "not: a manifest\n",
        "m/c.yaml": f"datasets: {{c: {BAD_SEED}, e: {{extends: c, seed: null}}}}\n",
        "new.yaml": f"datasets: {{new: {BAD_SEED}}}\n",
        "x": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


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
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\nvalidate:\n  ignore: [no-such-rule]\n"
        "# registry: ignore missing-data -- the file is made later\ndatasets: {}\n",
        encoding="utf-8",
    )
    rules = [problem.rule for problem in check(Catalog.open(tmp_path, lenient=True))]
    assert rules == ["unknown-rule", "unused-ignore"]

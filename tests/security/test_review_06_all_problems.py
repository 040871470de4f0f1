"""One mistake does not hide the others: `validate` reports every problem of a catalog at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.audit import run_audited

INDEX = "version: 1\ninclude: [registry/*.yaml]\n"
GOOD = """\
datasets:
  one:
    description: Questions.
    license: mit
    source: {type: csv, path: data.csv}
    fields: {input: q, target: a}
"""
TWELVE = """\
datasets:
  one:
    description: Questions.
    description: Other questions.
    licence: mit
    limit: many
    shuffle: true
    source: {type: csv, path: data.csv, pth: x}
    fields: {input: nosuch, target: {from: a, do: [uper]}}
  Two:
    license: mit
    seed: 1
    source: {type: cvs, path: data.csv}
  three:
    source: {type: csv, path: data.csv}
    fields: {input: nosuch}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path, {"datasets.yaml": INDEX, "data.csv": "q,a\nOne?,1\n"})


def validate(folder: Path) -> list[str]:
    """Return the lines of the report without positions, paths and hints."""
    done = run_audited(["validate"], folder=folder)
    assert (done.code, done.err) == (1, "")
    return done.out.splitlines()


def test_duplicate_key_shows_all_problems(root: Path) -> None:
    write_files(root, {"registry/x.yaml": TWELVE})
    without = validate(root)
    write_files(
        root, {"registry/x.yaml": TWELVE.replace("    description: Other questions.\n", "")}
    )
    with_one_mistake_less = validate(root)
    assert len(without) == len(with_one_mistake_less) + 1
    assert without[-1] == "10 errors, 4 warnings"
    (duplicate,) = (line for line in without if "duplicate-key" in line)
    assert duplicate.startswith("registry/x.yaml:4:5 $.datasets.one.description: ")


def test_syntax_error_shows_the_problems_of_the_other_datasets(root: Path) -> None:
    broken = TWELVE.replace("  Two:\n", "  broken:\n    tags: [a, b\n  Two:\n")
    write_files(root, {"registry/x.yaml": broken})
    lines = validate(root)
    assert any(
        line.startswith("registry/x.yaml:11:16 $.datasets.broken: not YAML") for line in lines
    )
    for rule in ("bad-name", "unknown-key", "wrong-type", "unseeded-shuffle", "duplicate-key"):
        assert any(line.endswith(f"[{rule}]") for line in lines), (rule, lines)


def test_syntax_error_hides_no_other_file_and_has_no_consequences_there(root: Path) -> None:
    child = GOOD.replace("one:", "two:").replace("  source", "  extends: one\n    sourc")
    write_files(
        root, {"registry/x.yaml": GOOD.replace("{type", "{type: ["), "registry/y.yaml": child}
    )
    lines = validate(root)
    assert any(line.startswith("registry/x.yaml:") and "yaml-syntax" in line for line in lines)
    assert any(line.startswith("registry/y.yaml:6:5 $.datasets.two.sourc:") for line in lines)
    assert not any("no dataset 'one'" in line for line in lines)


def test_parent_in_a_broken_file_is_not_reported_as_missing_when_it_is_opened(root: Path) -> None:
    broken = "datasets: {one: [\n"
    child = "datasets: {two: {extends: one, limit: 1}}\n"
    write_files(root, {"registry/x.yaml": broken, "registry/y.yaml": child})
    done = run_audited(["show", "two"], folder=root)
    assert done.code == 1
    assert "registry/x.yaml:" in done.err
    assert "no dataset 'one'" not in done.err


def test_parent_that_exists_nowhere_is_still_reported(root: Path) -> None:
    write_files(root, {"registry/y.yaml": "datasets: {two: {extends: one, limit: 1}}\n"})
    assert any("no dataset 'one'" in line for line in validate(root))


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        (f"{INDEX}inclde: [x]\n", "unknown key 'inclde'"),
        ("include: [registry/*.yaml]\n", "the key 'version' is missing"),
        (f"{INDEX}defaults: {{licence: mit}}\n", "unknown key 'licence'"),
        (f"{INDEX}defaults: 3\n", "must be a mapping"),
        (f"{INDEX}trust: 5\n", "must be a list"),
        (f"{INDEX}validate: {{ignore: 5}}\n", "must be a list"),
        (f"{INDEX}version: 1\n", "the key 'version' is repeated"),
        ("version: 1\ninclude: [registry/*.yaml, 5]\n", "must be a string"),
        (f"{INDEX}trust: [a\nvalidate: {{}}\n", "not YAML"),
    ],
)
def test_broken_index_hides_no_manifest(root: Path, index: str, problem: str) -> None:
    write_files(root, {"datasets.yaml": index, "registry/x.yaml": TWELVE})
    lines = validate(root)
    assert any(line.startswith("datasets.yaml:") and problem in line for line in lines), lines
    in_manifest = errors_in_manifest(lines)
    write_files(root, {"datasets.yaml": INDEX})
    expected = errors_in_manifest(validate(root))
    assert len(expected) == 10
    if "defaults: 3" in index:  # the columns depend on the defaults of the source
        expected = [line for line in expected if "unknown-column" not in line]
    assert in_manifest == expected


def errors_in_manifest(lines: list[str]) -> list[str]:
    return [one for one in lines if one.startswith("registry/x.yaml:") and "warning:" not in one]


@pytest.mark.parametrize("index", ["include: [", "[]", "version: 1\ninclude: 3\n", "", "\0"])
def test_index_that_includes_nothing_says_that_no_manifest_is_checked(
    root: Path, index: str
) -> None:
    write_files(root, {"datasets.yaml": index, "registry/x.yaml": TWELVE})
    lines = validate(root)
    assert all(line.startswith("datasets.yaml:") for line in lines[:-1])
    assert "until then no manifest is checked)" in lines[0]


@pytest.mark.parametrize("arguments", [["--select", "all"], ["--fix"], ["registry/x.yaml"]])
@pytest.mark.parametrize(
    "index",
    ["[]", "version: [", "", "datasets: 3\n", f"{INDEX}defaults: [x]\ndatasets: {{a: [}}\n"],
)
def test_broken_index_is_reported_by_every_way_to_check(
    root: Path, index: str, arguments: list[str]
) -> None:
    write_files(root, {"datasets.yaml": index, "registry/x.yaml": TWELVE})
    done = run_audited(["validate", *arguments], folder=root)
    assert done.code == 1, done.text
    assert "unexpected" not in done.text

"""Files beside manifests that Python would import are problems, other code of a project is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.runner import check, check_catalog
from tests.git_repository import write_files

MANIFEST = """\
datasets:
  one:
    description: Questions.
    license: mit
    source: {type: csv, path: qa.csv}
    fields: {input: q}
"""

INDEX = "version: 1\ninclude: ['m/**/*.yaml']\n"
IGNORED = "# registry: ignore nested-index -- a fixture\n\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"datasets.yaml": INDEX, "m/deep/one.yaml": MANIFEST, "qa.csv": "q\nWhy?\n"}
    return write_files(tmp_path, files)


@pytest.mark.parametrize(
    "name",
    [
        *("registry/__init__.py", "registry/__main__.py", "registry/x.pyc", "registry.py"),
        *("registry.cpython-311-x86_64-linux-gnu.so", "sitecustomize.py", "usercustomize.py"),
        *("x.pth", "m/deep/__init__.py", "m/deep/x.py", "m/deep/x.so", "m/deep/x.pth"),
    ],
)
def test_code_beside_manifests_is_reported(root: Path, name: str) -> None:
    write_files(root, {name: ""})
    (problem,) = check(Catalog.open())
    assert (problem.file, problem.rule, problem.severity) == (name, "python-in-catalog", "error")
    assert str(problem) == (
        f"{name}:1:1: Python would import or run this file"
        " (manifests are data: move code to another folder)"
    )


@pytest.mark.parametrize("name", ["setup.py", "src/x.py", "tests/__init__.py", "m/data/x.py"])
def test_other_code_of_a_project_is_not_reported(root: Path, name: str) -> None:
    write_files(root, {name: ""})
    assert check(Catalog.open()) == []


def test_code_that_appears_after_a_cached_check_is_reported(root: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert check_catalog(Catalog.open(), cache).problems == []
    write_files(root, {"m/deep/x.py": ""})
    (problem,) = check_catalog(Catalog.open(), cache).problems
    assert problem.file == "m/deep/x.py"
    (root / "m/deep/x.py").unlink()
    assert check_catalog(Catalog.open(), cache).problems == []


def test_number_of_reported_files_is_limited(root: Path) -> None:
    write_files(root, {f"m/deep/x{number}.py": "" for number in range(150)})
    assert len(check(Catalog.open())) == 100


def test_rule_cannot_be_ignored(root: Path) -> None:
    comment = "# registry: ignore python-in-catalog -- harmless\n"
    index = f"{INDEX}validate: {{ignore: [all]}}\n"
    write_files(root, {"m/deep/x.py": comment, "datasets.yaml": index})
    found = check(Catalog.open(), ignore=["all"])
    assert "python-in-catalog" in [problem.rule for problem in found]


@pytest.fixture
def nested_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path, {"datasets.yaml": "version: 1\n"})


def problems(*, ignore: tuple[str, ...] = ()) -> list[tuple[str, int, str]]:
    return [(one.file, one.line, one.rule) for one in check(Catalog.open(), ignore=ignore)]


@pytest.mark.parametrize("text", ["version: 1\n", "\n\nversion: 1\n", "]", ""])
def test_nested_index_is_reported_at_its_version(nested_root: Path, text: str) -> None:
    write_files(nested_root, {"a/b/datasets.yaml": text})
    line = 1 + text.count("\n\n") * 2
    assert problems() == [("a/b/datasets.yaml", line, "nested-index")]
    assert problems(ignore=("nested-index",)) == []


def test_comment_in_the_nested_index_ignores_it(
    nested_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "# registry: ignore unpinned-revision -- about its own datasets\n"
    write_files(nested_root, {"a/datasets.yaml": f"{IGNORED}version: 1\n{other}"})
    assert problems() == []
    monkeypatch.chdir(nested_root / "a")
    # There the comment is about what the catalog above reports; the other one has no use.
    assert [rule for _, _, rule in problems()] == ["unused-ignore"]


@pytest.mark.parametrize(
    "name", [".venv/datasets.yaml", "node_modules/x/datasets.yaml", "venv/lib/x/datasets.yaml"]
)
def test_folders_of_other_programs_are_left_out(nested_root: Path, name: str) -> None:
    write_files(nested_root, {"venv/pyvenv.cfg": "", name: "version: 1\n"})
    assert problems() == []

"""What one side may contain although it could not be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from registry.diff.checkout import folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.diff.snapshots.unread import Unread, find_unread
from registry.errors import Problem
from tests.git_repository import GitRepository

INDEX = "version: 1\ninclude: [m/*.yaml, sub/*.yaml]\n"
DATASET = "datasets:\n  {}: {{source: {{type: csv, path: {}}}}}\n"


def side(folder: Path, **names: str) -> Contents:
    files = {f"m/{name}.yaml": DATASET.format(name, path) for name, path in names.items()}
    repository = GitRepository.make(folder, {"datasets.yaml": INDEX, **files})
    read = read_contents(folder_checkout(repository.folder / "datasets.yaml", "x"))
    return replace(read, problems=())


@pytest.mark.parametrize("rule", ["yaml-syntax", "unreadable-file", "yaml-limit"])
def test_unreadable_file_may_have_any_dataset_that_is_missing(tmp_path: Path, rule: str) -> None:
    base = side(tmp_path / "base", one="a.csv", two="a.csv")
    head = replace(
        side(tmp_path / "head", two="a.csv", three="a.csv"),
        problems=(Problem(message="broken", rule=rule),),
    )
    assert find_unread(head, base).datasets == {"one"}
    assert find_unread(base, head) == Unread()


def test_invalid_value_hides_no_dataset(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    problem = Problem(message="is not an int", rule="wrong-type")
    assert find_unread(replace(head, problems=(problem,)), base) == Unread()


def missing(contents: Contents, **commits: str) -> Contents:
    return replace(contents, checkout=replace(contents.checkout, missing=commits))


def test_missing_submodule_hides_what_is_included_from_it(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    found = find_unread(missing(base, sub="1" * 40), head)
    (problem,) = found.problems
    assert problem.message == "not compared: the submodule sub is not fetched at 111111111111"
    assert problem.hint.startswith("git submodule update --init sub; git -C sub fetch origin 111")
    assert found.datasets == {"two"}


def test_dataset_that_reads_a_missing_submodule_is_not_compared(tmp_path: Path) -> None:
    base = missing(side(tmp_path / "base", one="data/x.csv", two="b.csv"), data="1" * 40)
    head = side(tmp_path / "head", one="data/x.csv", two="b.csv")
    assert find_unread(base, head).datasets == {"one"}


def test_submodule_that_is_not_read_or_has_not_changed_is_no_problem(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    assert find_unread(missing(base, other="1" * 40), head) == Unread()
    pair = missing(base, sub="1" * 40), missing(head, sub="1" * 40)
    assert find_unread(*pair) == Unread()


def test_name_of_a_submodule_is_quoted_in_the_command(tmp_path: Path) -> None:
    index = INDEX.replace("sub/*.yaml", "'**/*.yaml'")
    base, head = side(tmp_path / "base"), side(tmp_path / "head")
    base.checkout.index.write_text(index)
    found = find_unread(missing(base, **{"$(touch x)": "1" * 40}), head)
    assert "--init '$(touch x)'" in found.problems[0].hint

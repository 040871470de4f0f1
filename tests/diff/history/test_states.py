"""Which files a dataset depends on, and what it was called before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from registry.diff.history.states import History, open_history, outside
from registry.errors import DatasetNotFoundError, RevisionError
from tests.git_repository import GitRepository

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\npaths: [/nowhere]\n",
    "m/base.yaml": "datasets:\n  base: {source: {type: csv, path: data/qa.csv},"
    " fields: {input: q, target: t}}\n",
    "m/child.yaml": "datasets:\n  child: {extends: base, limit: 1}\n",
    "m/many.yaml": "datasets:\n  many: {source: {type: csv, path: 'parts/*.csv'},"
    " fields: {input: q, target: t}}\n",
    "m/boxed.yaml": "datasets:\n  boxed: {source: {type: csv, path: boxed/t.csv},"
    " fields: {input: q, target: t, setup: s}}\n",
    "m/away.yaml": "datasets:\n  away: {source: {type: csv, path: /nowhere/t.csv},"
    " fields: {input: q, target: t}}\n",
    "data/qa.csv": "q,t\nOne?,1\n",
    "parts/1.csv": "q,t\nOne?,1\n",
    "boxed/t.csv": "q,t,s\nOne?,1,run.sh\n",
    "boxed/run.sh": "true\n",
}
ALWAYS = {"datasets.yaml", "datasets.lock"}
DEPENDS = {
    "base": {"m/base.yaml", "data/qa.csv"},
    "child": {"m/child.yaml", "m/base.yaml", "data/qa.csv"},
    "many": {"m/many.yaml", "parts"},
    "boxed": {"m/boxed.yaml", "boxed/t.csv", "boxed"},
}


@pytest.fixture
def history(repository: GitRepository) -> Iterator[History]:
    with open_history(repository.folder / "datasets.yaml", None) as opened:
        yield opened


@pytest.mark.parametrize("name", DEPENDS)
def test_files_that_may_change_a_dataset_are_listed(name: str, history: History) -> None:
    newest = history.work_tree(name)
    for state in (newest, history.at(history.head, newest)):
        found = {one.removeprefix(":(top,literal)") for one in state.pathspecs()}
        assert found == ALWAYS | DEPENDS[name]


def test_old_state_has_the_name_of_its_time(repository: GitRepository) -> None:
    first = repository.git("rev-parse", "HEAD")
    manifest = FILES["m/base.yaml"].replace("base:", "basis:")
    repository.write({"m/base.yaml": manifest, "m/child.yaml": "datasets: {}\n"})
    repository.commit()
    with open_history(repository.folder / "datasets.yaml", None) as history:
        state = history.at(first, history.work_tree("basis"))
    assert (state.name, state.exists, state.problem) == ("base", True, "")


def test_files_of_a_state_are_removed_when_it_is_closed(history: History) -> None:
    state = history.at(history.head, history.work_tree("base"))
    assert state.folder is not None
    assert state.folder.exists()
    state.close()
    assert not state.folder.exists()


def test_problem_of_another_dataset_is_no_problem(
    repository: GitRepository, history: History
) -> None:
    repository.write({"m/many.yaml": "datasets:\n  many: {bogus: 1}\n"})
    assert history.work_tree("base").problem == ""
    problem = history.work_tree("many").problem
    assert problem.startswith("many can't be read in the working tree: m/many.yaml:")


def test_source_outside_the_repository_is_found(history: History) -> None:
    assert outside(history.work_tree("base")) == ""
    assert outside(history.work_tree("away")) == "/nowhere/t.csv"


def test_unknown_dataset_is_answered_with_similar_names(history: History) -> None:
    with pytest.raises(DatasetNotFoundError, match="similar names: base"):
        history.work_tree("bases")


def test_without_a_main_branch_nothing_is_permitted(repository: GitRepository) -> None:
    repository.git("branch", "--move", "main", "trunk")
    index = repository.folder / "datasets.yaml"
    with open_history(index, None) as history:
        assert not history.rules.is_valid
    with open_history(index, "trunk") as history:
        assert history.rules.is_valid
    with pytest.raises(RevisionError, match="no revision 'trnk'"), open_history(index, "trnk"):
        pass

"""Where the files of a snapshot are, how reports name them, and the rules that they are judged by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.base.git import Repository, repository_of
from registry.catalog.catalog import Catalog
from registry.diff.checkout import (
    Checkout,
    checkout_of,
    commit_of,
    folder_checkout,
    fork_point,
    open_rules,
)
from registry.errors import Problem, RevisionError
from tests.git_repository import GitRepository, git

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml, 'package:x', /abs/*.yaml, 3]\n",
    "datasets.lock": "version: 1\ndatasets: {}\n",
    "m/a.yaml": "datasets: {}\n",
    "m/b.txt": "not included",
    "data/x.csv": "q\n",
}

INDEX = "version: 1\ntrust: ['os:getcwd']\n"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["", "datasets.yaml"])
def test_folder_or_index_is_used_in_place(
    repository: GitRepository, tmp_path: Path, name: str
) -> None:
    argument = str(repository.folder / name)
    checkout = checkout_of(argument, Path("unused.yaml"), tmp_path / "out")
    assert (checkout.label, checkout.index) == (argument, repository.folder / "datasets.yaml")
    assert (checkout.mirror, checkout.tree) == (None, None)
    assert not (tmp_path / "out").exists()


def test_revision_is_extracted_without_its_data(repository: GitRepository, tmp_path: Path) -> None:
    repository.write({"m/a.yaml": "changed"})
    checkout = checkout_of("main", repository.folder / "datasets.yaml", tmp_path / "out")
    assert checkout.label == f"main ({repository.git('rev-parse', 'HEAD')[:7]})"
    assert checkout.mirror == tmp_path / "out"
    assert checkout.top == Path(f"{checkout.mirror}{repository.folder}")
    assert files(checkout.top) == {"datasets.yaml", "datasets.lock", "m/a.yaml"}
    assert (checkout.top / "m" / "a.yaml").read_text() == FILES["m/a.yaml"]


def test_without_an_argument_the_fork_point_is_extracted(
    repository: GitRepository, tmp_path: Path
) -> None:
    fork = repository.git("rev-parse", "HEAD")
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write({"m/a.yaml": "datasets: {new: {}}\n"})
    repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.write({"m/a.yaml": "datasets: {theirs: {}}\n"})
    repository.commit()
    repository.git("switch", "--quiet", "topic")
    checkout = checkout_of(None, repository.folder / "datasets.yaml", tmp_path / "out")
    assert checkout.label == f"merge base ({fork[:7]})"
    assert (checkout.top / "m" / "a.yaml").read_text() == FILES["m/a.yaml"]


@pytest.mark.parametrize("folder", ["evals", "..evals"])
def test_commit_before_the_catalog_is_an_empty_catalog(
    repository: GitRepository, tmp_path: Path, folder: str
) -> None:
    name = f"{folder}/datasets.yaml"
    repository.write({name: "version: 1\n"})
    checkout = checkout_of("main", repository.folder / name, tmp_path / "out")
    assert checkout.label.endswith(f", without {name}")
    assert checkout.index.read_text() == "version: 1\n"
    assert files(checkout.top) == {name}


def test_paths_of_an_index_that_is_a_link_are_relative_to_the_link(
    repository: GitRepository, tmp_path: Path
) -> None:
    index = repository.folder / "datasets.yaml"
    repository.write({"conf/index.yaml": FILES["datasets.yaml"]})
    index.unlink()
    index.symlink_to("conf/index.yaml")
    repository.commit()
    checkout = checkout_of("main", index, tmp_path / "out")
    assert checkout.folder == checkout.top
    assert files(checkout.top) == {"datasets.yaml", "datasets.lock", "m/a.yaml"}


def test_broken_index_is_extracted_alone(repository: GitRepository, tmp_path: Path) -> None:
    repository.write({"datasets.yaml": "include: ["})
    repository.commit()
    checkout = checkout_of("main", repository.folder / "datasets.yaml", tmp_path / "out")
    assert files(checkout.top) == {"datasets.yaml", "datasets.lock"}


def test_names_are_relative_to_the_repository(repository: GitRepository) -> None:
    repository.write({"evals/datasets.yaml": "version: 1\n"})
    checkout = folder_checkout(repository.folder / "evals" / "datasets.yaml", "work tree")
    assert checkout.top == repository.folder
    assert checkout.folder == repository.folder / "evals"


def test_names_are_relative_to_the_catalog_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\n")
    assert folder_checkout(tmp_path / "datasets.yaml", "x").top == tmp_path


CHECKOUT = Checkout("x", Path("/top/evals/datasets.yaml"), Path("/top"))


# As in the working tree, `../x.csv` is /home/x.csv.
MIRROR = Path("/tmp/registry-diff-1/base")
TEMPORARY = Checkout("x", MIRROR / "home/r/datasets.yaml", MIRROR / "home/r", mirror=MIRROR)


def test_paths_out_of_the_repository_lose_the_temporary_folder() -> None:
    outer = f"{MIRROR}/home/x.csv"
    assert TEMPORARY.relative([f"{MIRROR}/home/r/m/a.csv", outer]) == ["m/a.csv", "/home/x.csv"]
    assert TEMPORARY.file_name(outer) == "/home/x.csv"
    assert TEMPORARY.strip_folders(f"{outer}: {MIRROR}/home/r/a.csv") == "/home/x.csv: a.csv"
    assert TEMPORARY.relative("/tmp/registry-diff-1/x.csv") == "/x.csv"


def test_folder_that_is_called_like_a_branch_is_ambiguous(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.folder)
    repository.write({"main/datasets.yaml": "version: 1\n"})
    index = repository.folder / "datasets.yaml"
    with pytest.raises(RevisionError, match=r"both a folder and a revision \(`./main` is the fol"):
        checkout_of("main", index, tmp_path / "out")
    assert checkout_of("./main", index, tmp_path / "out").tree is None
    assert checkout_of("refs/heads/main", index, tmp_path / "out").tree is not None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/top/a.csv", "a.csv"),
        ("/top/evals/../b.csv", "b.csv"),
        ("/topping/a.csv", "/topping/a.csv"),
        ("https://h/a.csv", "https://h/a.csv"),
        ("", ""),
    ],
)
def test_file_names_lose_the_folder_of_this_machine(name: str, shown: str) -> None:
    assert CHECKOUT.file_name(name) == shown


def test_problems_lose_the_folder_of_this_machine() -> None:
    problem = Problem(message="see /top/a.yaml", file="/top/b.yaml", line=1, hint="in /top/c")
    portable = CHECKOUT.portable_problem(problem)
    assert (portable.file, portable.message, portable.hint) == ("b.yaml", "see a.yaml", "in c")


@pytest.mark.parametrize(
    ("value", "relative"),
    [
        ("/top/evals/a.csv", "a.csv"),
        ("/top/shared/a.csv", "../shared/a.csv"),
        ("/top", ".."),
        (["/top/evals/a.csv", 1], ["a.csv", 1]),
        ({"k": {"l": "/top/evals/a.csv"}}, {"k": {"l": "a.csv"}}),
        ("s3://b/top/a.csv", "s3://b/top/a.csv"),
    ],
)
def test_paths_in_values_become_relative_to_the_catalog(value: Any, relative: Any) -> None:
    assert CHECKOUT.relative(value) == relative


def test_listed_files_are_those_that_git_may_commit(repository: GitRepository) -> None:
    ignored = {".gitignore": "*.log\n", "new.txt": "", "x.log": ""}
    repository.write(ignored)
    (repository.folder / "m/b.txt").unlink()
    checkout = folder_checkout(repository.folder / "datasets.yaml", "work tree")
    assert checkout.listed == {*FILES, ".gitignore", "new.txt"} - {"m/b.txt"}


def test_listed_files_of_a_revision_exist_once_extracted(
    repository: GitRepository, tmp_path: Path
) -> None:
    (repository.folder / "link").symlink_to("/nowhere")
    repository.commit()
    index = repository.folder / "datasets.yaml"
    checkout = checkout_of("main", index, tmp_path / "out")
    assert checkout.listed == {*FILES, "link"}
    checkout.extract(["data/x.csv", "link"])
    assert (checkout.top / "data/x.csv").read_text() == "q\n"


def test_listed_files_of_a_folder_without_git_are_all_but_environments(tmp_path: Path) -> None:
    GitRepository(tmp_path).write(
        {**FILES, ".venv/pyvenv.cfg": "", ".venv/x.py": "", "__pycache__/x": "", "x/.git/HEAD": ""}
    )
    assert folder_checkout(tmp_path / "datasets.yaml", "x").listed == set(FILES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return GitRepository.make(tmp_path / "one_commit", {"m/a.yaml": "a: 1"}).folder


@pytest.fixture
def one_commit(folder: Path) -> Repository:
    return repository_of(folder)


REFUSED = {
    "mian": r"no revision 'mian' \(did you mean 'main'\?\)",
    "qqqqqq": r"no revision 'qqqqqq' \(try `git fetch`\)",
    "--upload-pack=x": "'--upload-pack=x' is not a revision: it starts with `-`",
    "": "'' is not a revision",
    "main..main": "is a range; pass its ends as two arguments",
    "HEAD:m": "no revision 'HEAD:m'",
    "main\nmain": "no revision 'main⏎main'",
}


@pytest.mark.parametrize("revision", REFUSED, ids=repr)
def test_invalid_revision_is_an_error_with_a_hint(one_commit: Repository, revision: str) -> None:
    with pytest.raises(RevisionError, match=REFUSED[revision]):
        commit_of(one_commit, revision)


@pytest.mark.parametrize("name", ["main", "HEAD", "HEAD~0", "v1", "refs/heads/main"])
def test_any_name_of_a_commit_is_a_revision(one_commit: Repository, name: str) -> None:
    git(one_commit.top, "tag", "--annotate", "--message", "one", "v1")
    assert commit_of(one_commit, name) == git(one_commit.top, "rev-parse", "HEAD")


def test_message_shows_a_near_branch_without_raw_control_characters(one_commit: Repository) -> None:
    git(one_commit.top, "branch", "mi/an\u202e\u2028")
    with pytest.raises(RevisionError) as caught:
        commit_of(one_commit, "mi/an\x1b[2J")
    assert str(caught.value) == (
        "no folder with a datasets.yaml and no revision 'mi/an\\u{1b}[2J' "
        "(did you mean 'mi/an\\u{202e}\\u{2028}'?)"
    )


def test_fork_point_is_where_the_branch_left_main(folder: Path, one_commit: Repository) -> None:
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "switch", "--quiet", "--create", "topic")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "second")
    assert fork_point(one_commit) == first


@pytest.mark.parametrize("branch", ["HEAD", "main", "master"])
def test_main_branch_of_the_remote_is_preferred(
    folder: Path, one_commit: Repository, branch: str
) -> None:
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "update-ref", f"refs/remotes/origin/{branch}", first)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "not pushed")
    assert fork_point(one_commit) == first


def test_without_a_main_branch_a_base_is_required(folder: Path, one_commit: Repository) -> None:
    git(folder, "branch", "--move", "main", "trunk")
    with pytest.raises(
        RevisionError, match=r"no main branch \(tried .*\); pass the base: diff BASE"
    ):
        fork_point(one_commit)


def test_without_common_history_the_hint_is_to_fetch_it(
    folder: Path, one_commit: Repository
) -> None:
    git(folder, "switch", "--quiet", "--orphan", "other")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "alone")
    with pytest.raises(RevisionError, match=r"no commit in common .*--unshallow"):
        fork_point(one_commit)


def test_branch_of_a_stranger_is_not_the_main_branch_of_the_remote(
    folder: Path, one_commit: Repository
) -> None:
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "update-ref", "refs/remotes/origin/main", first)
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "second")
    git(folder, "branch", "origin/main")
    git(folder, "tag", "origin/main")
    assert fork_point(one_commit) == first


# --- the rules of the base ---


@pytest.fixture
def judged(tmp_path: Path) -> GitRepository:
    made = GitRepository.make(tmp_path / "repository", {"datasets.yaml": INDEX})
    made.write({"datasets.yaml": "version: 1\ntrust: ['os:remove']\n"})
    return made


def trust(judged: GitRepository, base: str) -> frozenset[str]:
    index = judged.folder / "datasets.yaml"
    with open_rules(base, index) as rules:
        return Catalog.open(index, rules_from=rules.index).boundary.trust


def test_rules_are_those_of_the_revision(judged: GitRepository) -> None:
    assert trust(judged, "main") == {"os:getcwd"}


def test_rules_are_those_of_the_folder(judged: GitRepository, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "datasets.yaml").write_text("version: 1\ntrust: ['os:listdir']\n")
    assert trust(judged, str(tmp_path / "base")) == {"os:listdir"}


def test_invalid_index_permits_nothing(judged: GitRepository) -> None:
    judged.write({"datasets.yaml": f"{INDEX}bogus: 1\n"})
    judged.commit()
    judged.write({"datasets.yaml": INDEX})
    assert trust(judged, "main") == frozenset()
    with open_rules("main", judged.folder / "datasets.yaml") as rules:
        assert (rules.is_valid, rules.checkout.label[:6]) == (False, "main (")


def test_rules_are_temporary(judged: GitRepository) -> None:
    with open_rules("main", judged.folder / "datasets.yaml") as rules:
        assert rules.index.exists()
    assert not rules.index.exists()


def test_unknown_base_is_an_error(judged: GitRepository) -> None:
    with pytest.raises(RevisionError), open_rules("mian", judged.folder / "datasets.yaml"):
        pass

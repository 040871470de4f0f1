"""Row 2: a side that could not be read is no difference, and nothing was removed from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.command_line import Ran
from tests.security.pull_request import PullRequest

QA = "datasets:\n  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}\n"
FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/one.yaml": QA.replace("qa:", "one:"),
    "m/two.yaml": QA.replace("qa:", "two:"),
    "qa.csv": "q,a\nOne?,1\nTwo?,2\n",
}
SYNTAX = "datasets: [\n"
EDIT = {"m/two.yaml": FILES["m/two.yaml"].replace("}}", "}, limit: 1}")}


def review(tmp_path: Path, head: Mapping[str, str | None]) -> Ran:
    return PullRequest.make(tmp_path, FILES, head).run("diff")


def test_syntax_error_removes_no_dataset(tmp_path: Path) -> None:
    done = review(tmp_path, {**EDIT, "m/one.yaml": SYNTAX})
    assert done.code == 4, "also beside a difference"
    assert "removed" not in done.out
    assert "problem in work tree: m/one.yaml:" in done.out
    assert "not compared: one" in done.out.splitlines()
    assert "limit: (none) → 1" in done.out, "what can be compared is"


def test_every_format_says_what_is_not_compared(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, FILES, {"m/one.yaml": SYNTAX})
    for form in ("markdown", "json"):
        done = request.run("diff", "--format", form)
        assert done.code == 4
        assert '"removed"' not in done.out
        assert "1 removed" not in done.out
        assert "Not compared: `one`" in done.out or done.json["not_compared"] == ["one"]


def test_syntax_error_of_the_base_adds_no_dataset(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, {**FILES, "m/one.yaml": SYNTAX}, FILES)
    done = request.run("diff")
    assert done.code == 4
    assert "added" not in done.out
    assert "not compared: one" in done.out.splitlines()


def test_dataset_that_may_have_moved_into_a_broken_file_is_not_removed(tmp_path: Path) -> None:
    done = review(tmp_path, {"m/one.yaml": None, "m/two.yaml": f"{FILES['m/one.yaml']}  two: ["})
    assert done.code == 4
    assert "removed" not in done.out


def test_broken_lockfile_unpins_no_dataset(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, FILES, {"README.md": "x"})
    assert request.run("lock").code == 0
    request.repository.commit()
    request.push({**EDIT, "datasets.lock": "version: 1\ndatasets: [\n"})
    done = request.run("diff", "HEAD~1")
    assert done.code == 4
    assert "problem in work tree: datasets.lock:" in done.out
    assert "limit: (none) → 1" in done.out
    assert "pin" not in done.out.replace("pinned", "")


def test_file_that_is_deleted_is_removed(tmp_path: Path) -> None:
    done = review(tmp_path, {"m/one.yaml": None})
    assert (done.code, done.err) == (1, "")
    assert "1 dataset removed" in done.out


def test_revision_that_does_not_exist_has_the_same_code_and_others_have_theirs(
    tmp_path: Path,
) -> None:
    request = PullRequest.make(tmp_path, FILES, EDIT)
    for arguments in (("mian",), ("./nowhere",), ("main", "topic2")):
        done = request.run("diff", *arguments)
        assert (done.code, done.out) == (4, "")
        assert done.err.startswith("error: ")
    codes = [request.run("diff", *one).code for one in (["HEAD"], ["main"], ["--bogus"])]
    assert codes == [0, 1, 2]

"""`log` and `blame`: each planted change is found, and what nobody can know is unknown."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from registry.diff.history.states import Change
from tests.cli.invocation import Run
from tests.cli.story import INDEX, PLANTED, Story, tell
from tests.conftest import Https
from tests.git_repository import GitRepository, git


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Make the repository; tests only read it."""
    return tell(tmp_path_factory.mktemp("story") / "repository")


@pytest.fixture
def story(told: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """Enter the repository."""
    monkeypatch.chdir(told.folder)
    return told


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the current folder for a repository of one test."""
    made = tmp_path / "own"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize("case", PLANTED)
def test_planted_change_is_found(case: str, story: Story, run: Run) -> None:
    planted = PLANTED[case]
    found = run("blame", planted.dataset, planted.id, "--field", planted.field, "--json")
    assert found.code == 0, found.err
    (one,) = found.json
    assert (one["commit"]["id"], one["before"]) == (story.commits[planted.commit], planted.before)


FIELDS = "fields: {id: id, input: q, target: t}"


def table(target: str) -> str:
    return f"id,q,t\nr1,One?,{target}\nr2,Two?,2\n"


def one_dataset(
    folder: Path, files: Mapping[str, str], path: str = "qa.csv", keys: str = FIELDS
) -> GitRepository:
    """Make a repository with a dataset `qa`, in one commit."""
    manifest = f"datasets:\n  qa: {{source: {{type: csv, path: {path!r}}}, {keys}}}\n"
    repository = GitRepository(folder)
    repository.git("init", "--quiet", "--initial-branch", "main")
    written = {"datasets.yaml": INDEX, "m/qa.yaml": manifest, "qa.csv": table("1")}
    repository.write({".gitignore": "__pycache__/\n", **written, **files})
    repository.commit()
    return repository


def test_text_has_the_words_that_changed_and_the_reviewers(story: Story, run: Run) -> None:
    lines = run("blame", "qa", "r1").lines
    commit, first = story.commits["target"], story.commits["create"]
    assert lines[0].startswith(f"{first[:7]}  ")
    assert "  input (new): Question 1?" in lines
    title = next(n for n, line in enumerate(lines) if line.startswith(commit[:7]))
    assert lines[title].endswith("  Ann  target")
    assert lines[title + 1 : title + 4] == [
        "  Committer: T <t@example.org>",
        "  Reviewed-by: Rob <rob@example.org>",
        "  target: {+Lyon or +}Answer 1",
    ]


def test_merge_that_brought_a_commit_in_is_named(story: Story, run: Run) -> None:
    merge = "Merge pull request #7 from sid/side"
    lines = run("blame", "qa", "r6", "--field", "target").lines
    assert lines[0].endswith("  Sid  on a side branch")
    short = story.commits[merge][:7]
    assert lines[2] == f"  merged in {short} by Meg <meg@example.org>: {merge}"


def test_pull_request_of_a_squashed_commit_is_named(story: Story, run: Run) -> None:
    lines = run("blame", "qa", "r2", "--field", "input").lines
    assert lines[2] == "  pull request: #31"


def test_named_file_is_said_to_have_other_bytes(story: Story, run: Run) -> None:
    lines = run("blame", "boxed", "r2", "--field", "files").lines
    assert lines[-1] == "  files: other bytes in boxed/f2.txt"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("qa r1 --field tagret", 2, "a sample has no field 'tagret' (did you mean 'target'?)"),
        ("qa r999", 1, "no sample of qa has the id 'r999'; similar ids: "),
        ("qq r1", 1, "similar names: qa"),
    ],
)
def test_misspelt_names_are_answered_with_similar_ones(
    story: Story, run: Run, arguments: str, code: int, words: str
) -> None:
    result = run("blame", *arguments.split())
    assert (result.code, words in result.err) == (code, True)


def test_uncommitted_change_is_not_of_any_commit(folder: Path, run: Run) -> None:
    repository = one_dataset(folder, {})
    repository.write({"qa.csv": table("one")})
    result = run("blame", "qa", "r1", "--field", "target")
    assert (result.code, result.lines) == (0, ["not committed", "  target: [-1-]{+one+}"])
    assert run("blame", "qa", "r1", "--field", "target", "--json").json[0]["commit"] is None


def test_dataset_that_was_never_committed(folder: Path, run: Run) -> None:
    repository = one_dataset(folder, {})
    text = (folder / "m" / "qa.yaml").read_text()
    repository.write({"m/new.yaml": text.replace("qa:", "new:")})
    result = run("blame", "new", "r1", "--field", "target")
    assert (result.code, result.lines) == (0, ["not committed", "  target (new): 1"])


def test_folder_without_a_repository_or_a_commit_is_said(own: Path, run: Run) -> None:
    for command in (("blame", "qa", "1"), ("log", "qa")):
        result = run(*command)
        assert (result.code, result.out) == (4, "")
        assert result.err.startswith("error: ")
        assert "not a git repository" in result.err
        assert result.err.endswith("so there is no history\n")
    git(own, "init", "--quiet")
    result = run("blame", "qa", "1")
    assert (result.code, result.out) == (4, "")
    assert "no commit yet, so there is no history" in result.err


def test_shallow_clone_says_what_it_lacks(
    story: Story, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "3", story.folder.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    result = run("blame", "few", "few-r1", "--field", "id", "--field", "target", "--json")
    found = {one["field"]: one for one in result.json}
    assert result.code == 4
    # What the three commits changed is known, and only that.
    assert found["id"]["commit"]["id"] == story.commits["ids"]
    assert found["id"]["unknown"] is None
    assert found["target"]["before"] is None
    assert "`git fetch --unshallow` gets it" in found["target"]["unknown"]
    git(clone, "fetch", "--quiet", "--unshallow")
    result = run("blame", "few", "few-r1", "--field", "target", "--json")
    assert result.code == 0
    assert result.json[0]["commit"]["id"] == story.commits["few on main"]


LOCAL = {"datasets.yaml": f"{INDEX}hosts: [localhost]\n"}


def test_remote_bytes_that_are_gone_are_unknown(
    folder: Path, run: Run, https: Https, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = https.put("/qa.csv", table("1").encode(), etag="1")
    repository = one_dataset(folder, LOCAL, url)
    assert run("lock", "qa").code == 0
    repository.commit()
    https.put("/qa.csv", table("one").encode(), etag="2")
    assert run("lock", "--upgrade", "qa").code == 0
    upgraded = repository.commit()

    # The bytes of both pins are in the cache of this machine, and no server is asked.
    https.reset()
    result = run("blame", "qa", "r1", "--field", "target", "--json")
    assert (result.code, https.requests) == (0, [])
    assert (result.json[0]["commit"]["id"], result.json[0]["before"]) == (upgraded, "1")

    # Another machine only has what is pinned now.
    https.put("/qa.csv", table("one").encode(), etag="2")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert run("sync", "qa").code == 0
    https.reset()
    result = run("blame", "qa", "r1", "--field", "target")
    assert (result.code, https.requests) == (4, [])
    assert result.lines[0].startswith(f"unknown ({upgraded[:7]} or before): the samples before it")
    assert result.lines[1:] == ["  target"]


def test_unpinned_remote_source_has_no_history(folder: Path, run: Run, https: Https) -> None:
    repository = one_dataset(folder, LOCAL, https.put("/qa.csv", table("1").encode(), etag="1"))
    assert run("sync", "qa").code == 0
    repository.write({"other.txt": "x"})
    repository.commit()
    result = run("blame", "qa", "r1", "--field", "target")
    assert result.code == 4
    assert "its source is remote, and nothing pinned the bytes that it had" in result.lines[0]


MAPPER = """\
from registry import Sample


def make(record):
    return Sample(id=record["id"], input=record["q"], target=record["t"]{more})
"""


def test_code_of_old_commits_is_not_run(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = one_dataset(
        folder,
        {
            "datasets.yaml": f"{INDEX}trust: ['history_maps:make']\n",
            "history_maps.py": MAPPER.format(more=" + '!'"),
        },
        keys="mapper: 'history_maps:make'",
    )
    repository.write({"history_maps.py": MAPPER.format(more="")})
    edited = repository.commit()
    repository.write({"qa.csv": table("one")})
    data = repository.commit()
    monkeypatch.syspath_prepend(folder)
    result = run("blame", "qa", "r1", "--field", "target", "--json")
    assert (result.code, result.json[0]["commit"]["id"]) == (0, data), result.out
    result = run("blame", "qa", "r2", "--field", "target")
    assert result.code == 4
    assert result.lines[0].startswith(f"unknown ({edited[:7]} or before): ")
    assert "history_maps.py, code of the mapper 'history_maps:make', differs" in result.lines[0]
    result = run("blame", "qa", "r2", "--field", "target", "--run-changed-code")
    assert result.code == 4  # the code of that commit is not here: only that of the working tree
    assert "history_maps.py, code of its mapper, is not as it is here" in result.lines[0]


def test_change_of_a_branch_can_not_make_its_code_run(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = one_dataset(folder, {"history_ran.py": "raise SystemExit('it was imported')\n"})
    repository.git("switch", "--quiet", "--create", "change")
    repository.write(
        {
            "datasets.yaml": f"{INDEX}trust: ['history_ran:make']\n",
            "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv},"
            " mapper: 'history_ran:make'}\n",
        }
    )
    repository.commit()
    monkeypatch.syspath_prepend(folder)
    result = run("blame", "qa", "r1")
    assert result.code == 4
    assert "the base does not trust the mapper 'history_ran:make', so it is not run" in result.err


def test_interrupt_leaves_no_temporary_files(
    story: Story, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupted(*_: object, **__: object) -> None:
        assert list(tmp_path.glob("registry-history-*"))
        raise KeyboardInterrupt

    monkeypatch.setattr("registry.diff.history.blame.counterpart", interrupted)
    assert run("blame", "qa", "r1", "--field", "target").code == 130
    assert not list(tmp_path.glob("registry-history-*"))


@pytest.mark.parametrize("lacks", ["blob:none", "tree:0"])
def test_partial_clone_says_what_it_lacks(
    story: Story, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    source, clone = tmp_path / "source", tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", story.folder.as_uri(), str(source))
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", f"--filter={lacks}", source.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    result = run("blame", "qa", "r1", "--field", "target")
    assert result.code == 4
    assert re.match(r"unknown \(\w+ or before\): .*as a partial clone lacks files", result.lines[0])


CHANGES = {
    "mapped": ["mapping", "create"],
    "mixed": ["seed", "create"],
    "joined": ["lookup table", "create"],
    "boxed": ["named file", "create"],
    "few": ["ids", "limit", "few on main", "create"],
    "last-name": [
        "after the renames",
        "rename of the data",
        "between the renames",
        "rename of the dataset",
        "before the rename",
        "create",
    ],
}


def commit(folder: Path, *paths: str) -> None:
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", *(paths or ("--all",)))
    git(folder, "commit", "--quiet", "--message", "step")


@pytest.mark.parametrize("name", CHANGES)
def test_commits_that_changed_a_dataset_are_listed(name: str, story: Story, run: Run) -> None:
    result = run("log", name, "--json")
    assert result.code == 0
    assert [one["commit"]["id"] for one in result.json] == [
        story.commits[label] for label in CHANGES[name]
    ]


def test_both_sides_of_merges_are_listed_once(story: Story, run: Run) -> None:
    commits = [one["commit"] for one in run("log", "qa", "--json").json]
    ids = [one["id"] for one in commits]
    assert len(set(ids)) == len(ids)
    wanted = ("documentation", "merge of both", "ours", "theirs", "on a side branch", "create")
    assert {story.commits[label] for label in wanted} <= set(ids)
    # It has what its branch had.
    merge = story.commits["Merge pull request #7 from sid/side"]
    assert merge not in ids
    by_id = {one["id"]: one for one in commits}
    merged, squashed = (
        by_id[story.commits[label]] for label in ("on a side branch", "input (#31)")
    )
    assert (merged["request"], merged["merge"]["id"]) == ("7", merge)
    assert (squashed["request"], squashed["merge"]) == ("31", None)


def test_line_has_classes_keys_and_the_pin(story: Story, run: Run) -> None:
    (line,) = run("log", "mapped", "-n", "1").lines
    assert line.startswith(f"{story.commits['mapping'][:7]}  ")
    assert line.endswith("  Ann  targets: fields.target; not pinned")
    lines = run("log", "last-name").lines
    assert "renamed from first-name" in lines[3]
    assert lines[-1].endswith("added: as first-name; not pinned")


def test_pin_is_shown_as_the_lock_had_it(own: Path, run: Run) -> None:
    commit(own)
    assert run("lock", "qa").code == 0
    commit(own)
    pinned, first = run("log", "qa").lines
    assert "pin: version 1-A, 3 samples, sha256:" in pinned
    assert first.endswith("added: as qa; not pinned")
    pin = run("log", "qa", "--json").json[0]["pin"]
    assert (pin["samples"], pin["version"]) == (3, "1-A")
    assert pin["ordered"].startswith("sha256:")


def test_shallow_clone_ends_with_what_it_lacks(
    story: Story, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "3", story.folder.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    result = run("log", "few")
    assert result.code == 4
    assert "ids" in result.lines[0]
    assert "unknown: the clone is shallow" in result.lines[1]
    assert len(result.lines) == 2
    # Enough of it is here.
    assert run("log", "few", "-n", "1").code == 0


def test_commit_at_which_the_dataset_is_invalid_is_said(story: Story, own: Path, run: Run) -> None:
    manifest = own / "m" / "qa.yaml"
    text = manifest.read_text()
    for content in (text, text.replace("input: q", "input: {nothing: 1}"), text):
        manifest.write_text(content)
        commit(own)
    result = run("log", "qa")
    assert result.code == 4
    unknown = [("unknown: qa can't be read in" in line) for line in result.lines]
    assert unknown == [True, True, False]


def test_what_is_not_committed_comes_first(own: Path, run: Run) -> None:
    commit(own, "datasets.yaml")
    (line,) = run("log", "qa").lines
    assert line == "not committed  added: as qa; not pinned"
    commit(own)
    (own / "qa.csv").write_text("q,a\nOne?,one\n", encoding="utf-8")
    assert run("log", "qa").lines[0] == ("not committed  source bytes: bytes.qa.csv; not pinned")


def test_manifest_of_a_package_has_its_history_elsewhere(
    shipped: Path, own: Path, run: Run
) -> None:
    commit(own)
    result = run("log", "theirs")
    assert result.code == 0
    assert "of an installed package, whose history is not here" in result.err


def test_progress_is_printed_once_a_walk_takes_more_than_a_second(
    story: Story, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_history: object, _state: object, announce: Callable[[str], None]) -> Iterator[Change]:
        clock = iter([100.5, 101.5, 101.5, 103.0, 107.0, 107.0])
        monkeypatch.setattr("registry.cli.history.time", SimpleNamespace(monotonic=clock.__next__))
        for text in ("early", "first", "soon", "second"):
            announce(text)
        yield from ()

    monkeypatch.setattr("registry.cli.history.time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr("registry.cli.history.changes_of", slow)
    assert run("log", "qa").err == "first\nsecond\n"

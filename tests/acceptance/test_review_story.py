"""A dataset's life in a real git repository, as the reviewer of each step reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.cli import main
from tests.git_repository import GitRepository
from tests.servers.hub import HubEmulator, parquet_repo
from tests.terminal.screens import compare

RECORDS = [
    {"q": "What is the capitol of France?", "a": "Paris", "topic": "geography"},
    {"q": "How many legs has a spider?", "a": "8", "topic": "animals"},
    {"q": "Which planet is the largest?", "a": "Jupiter", "topic": "space"},
    {"q": "What is the boiling point of water in degrees Celsius?", "a": "100", "topic": "physics"},
]
INDEX = "version: 1\ninclude: [m/*.yaml]\n"
LOCAL = "q,a\nOne?,1\nTwo?,2\n"
FIRST = """\
datasets:
  own:
    source: {type: csv, path: own.csv}
    fields: {input: q, target: a}
"""
QUIZ = """\
datasets:
  quiz:
    description: Four questions.
    license: mit
    source:
      type: hf
      path: org/quiz
      split: test
      revision: main
    fields:
      input: q
      target: a
      id: {hash: [q], prefix: quiz, length: 8}
      metadata: [topic]
  quiz-small:
    extends: quiz
    shuffle: true
    seed: 1
    limit: 2
"""


@dataclass(frozen=True)
class Repository(GitRepository):
    """A catalog in a git repository, and its reviewer."""

    capsys: pytest.CaptureFixture[str]
    names: dict[str, str]
    """Names of digests and commits, by their beginnings."""

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write({name: text.replace(old, new)})

    def lock(self, *arguments: str) -> None:
        """Pin with `registry lock`, and register names for the digests of the pins."""
        assert main(["lock", *arguments]) == 0, self.capsys.readouterr().err
        self.capsys.readouterr()

    def name(self, value: str, name: str) -> str:
        """Replace a digest or commit by a name in later output."""
        self.names[value[:12]] = name
        return value

    def diff(self, *arguments: str) -> tuple[int, str]:
        """Return the exit code and the exact text without commit digests."""
        code = main(["diff", *arguments])
        text, errors = self.capsys.readouterr()
        assert "Traceback" not in errors
        text = re.sub(r"\([0-9a-f]{7}\)", "(…)", text)
        for value, name in self.names.items():
            text = text.replace(f"{value}…", name)
        return code, text

    def shows(self, name: str, *arguments: str) -> None:
        """Compare a difference with `review_story/NAME.txt`; WRITE_CAPTURES=1 writes it instead."""
        code, text = self.diff(*arguments)
        assert code == 1
        compare(text.removesuffix("\n"), name, Path(__file__).with_name("review_story"))


@pytest.fixture
def repository(emptied: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository(emptied, capsys, {})
    made.git("init", "--quiet", "--initial-branch", "main")
    made.write({"datasets.yaml": INDEX, "own.csv": LOCAL, "m/own.yaml": FIRST})
    made.commit()
    return made


@pytest.fixture
def quiz(repository: Repository, hub: HubEmulator) -> Repository:
    """Lock and commit a dataset of the Hub, and one that extends it."""
    first = hub.commit("org/quiz", parquet_repo({"default": {"test": RECORDS}}))
    repository.write({"m/quiz.yaml": QUIZ})
    repository.name(first, "<first>")
    repository.lock()
    repository.commit()
    return repository


def test_new_dataset_is_shown_with_its_manifest_and_samples(
    repository: Repository, hub: HubEmulator
) -> None:
    first = hub.commit("org/quiz", parquet_repo({"default": {"test": RECORDS[:1]}}))
    repository.name(first, "<first>")
    text = QUIZ.partition("  quiz-small")[0].replace("revision: main", f"revision: {first}")
    repository.write({"m/quiz.yaml": text})
    repository.shows("new-dataset-is-shown-with-its-manifest-and-samples", "--build")


EDITS = {
    "limit-changes-the-subset": ("m/quiz.yaml", "limit: 2", "limit: 3", "--build"),
    "seed-with-a-limit-changes-the-selection": ("m/quiz.yaml", "seed: 1", "seed: 3", "--build"),
    "changed-field-affects-the-dataset-and-its-children": (
        "m/quiz.yaml",
        "input: q",
        'input: {template: "{q} Answer briefly."}',
        "--build -n 1",
    ),
    "description-change-is-documentation-only-and-builds-nothing": (
        "m/quiz.yaml",
        "Four questions.",
        "Four questions on the world.",
        "--build",
    ),
    "renamed-dataset-that-lost-its-pin-says-so": ("m/own.yaml", "  own:\n", "  mine:\n", ""),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_shown(quiz: Repository, name: str) -> None:
    file, old, new, options = EDITS[name]
    quiz.edit(file, old, new)
    quiz.shows(name, "HEAD", *options.split())


def test_seed_without_a_limit_only_moves_samples(quiz: Repository) -> None:
    quiz.edit("m/quiz.yaml", "    limit: 2\n", "")
    quiz.commit()
    quiz.edit("m/quiz.yaml", "seed: 1", "seed: 3")
    quiz.shows("seed-without-a-limit-only-moves-samples", "HEAD", "--build")


def test_changed_scorer_is_reported_and_builds_nothing(quiz: Repository) -> None:
    quiz.edit("m/quiz.yaml", "Four questions.", "Four questions.\n    eval: {scorer: f1}")
    code, printed = quiz.diff("HEAD", "--build")
    assert code == 1
    assert printed.startswith("quiz: no sample changes; `eval` · quiz-small: no sample changes; ")
    assert "  eval.scorer:  m/quiz.yaml:4\n    + - name: f1\n" in printed
    assert "epochs" not in printed
    assert "samples:" not in printed


def test_new_revision_is_a_new_source(quiz: Repository, hub: HubEmulator) -> None:
    second = hub.commit("org/quiz", parquet_repo({"default": {"test": corrected()}}))
    quiz.name(second, "<second>")
    quiz.edit("m/quiz.yaml", "revision: main", f"revision: {second}")
    quiz.lock()
    quiz.shows("new-revision-is-a-new-source", "HEAD", "--build")


def corrected() -> list[dict[str, Any]]:
    first, *others = RECORDS
    return [{**first, "q": "What is the capital of France?"}, *others[:-1]]


def test_changed_upstream_bytes_are_shown_once_locked(quiz: Repository, hub: HubEmulator) -> None:
    records = [{**RECORDS[0], "a": "Lyon"}, *RECORDS[1:]]
    second = hub.commit("org/quiz", parquet_repo({"default": {"test": records}}))
    quiz.name(second, "<second>")
    assert quiz.diff("HEAD")[0] == 0, "what is not locked yet is not in the repository"
    quiz.lock("--upgrade")
    quiz.shows("changed-upstream-bytes-are-shown-once-locked", "HEAD", "--build")


def test_files_in_the_repository_are_compared_by_content(quiz: Repository) -> None:
    quiz.edit("own.csv", "Two?,2", "Two?,two")
    quiz.lock("--upgrade", "own")
    quiz.shows("files-in-the-repository-are-compared-by-content", "HEAD", "--build")


def test_dataset_with_only_a_new_name_is_reported_as_renamed(quiz: Repository) -> None:
    quiz.edit("m/own.yaml", "  own:\n", "  mine:\n")
    quiz.lock()
    quiz.shows("dataset-with-only-a-new-name-is-reported-as-renamed", "HEAD")


def test_pull_request_comment_shows_the_same_changes(quiz: Repository) -> None:
    quiz.git("switch", "--quiet", "--create", "topic")
    quiz.edit("m/quiz.yaml", "limit: 2", "limit: 3")
    quiz.commit()
    quiz.shows("pull-request-comment-shows-the-same-changes", "--build", "--format", "markdown")


def test_revision_taken_from_the_lock_selects_the_same_samples(
    quiz: Repository, hub: HubEmulator, capsys: pytest.CaptureFixture[str]
) -> None:
    (first,) = set(re.findall(r'revision: "?(\w{40})', (quiz.folder / "datasets.lock").read_text()))
    hub.commit("org/quiz", parquet_repo({"default": {"test": corrected()}}))
    assert main(["validate", "--fix"]) == 0
    output = capsys.readouterr().out
    assert "fixed m/quiz.yaml: took the revision of $.datasets.quiz.source from dat" in output
    assert "m/quiz.yaml:3:3 $.datasets.quiz: warning: pinned for an older manifest" in output
    assert f"revision: {first}\n" in (quiz.folder / "m/quiz.yaml").read_text(encoding="utf-8")
    quiz.lock()
    code, text = quiz.diff("HEAD")
    assert code == 1
    assert "source.revision: main → <first>" in text
    assert "  samples: no difference in 4\n" in text
    assert main(["validate", "--locked"]) == 0

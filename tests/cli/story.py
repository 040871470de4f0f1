"""A repository with planted changes, each in a commit whose message says what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.git_repository import GitRepository

__all__ = ["PLANTED", "Planted", "Story", "tell"]

INDEX = "version: 1\ninclude: [m/*.yaml]\n"


def _manifest(name: str, fields: str, *keys: str, path: str = "") -> str:
    source = f"source: {{type: csv, path: {path or f'data/{name}.csv'}}}"
    lines = ("description: Questions.", source, f"fields: {{{fields}}}", *keys)
    return "\n    ".join((f"datasets:\n  {name}:", *lines)) + "\n"


_FIELDS = "id: id, input: q, target: t"
_TOPICS = "join: {source: {type: csv, path: data/topics.csv}, on: topic, into: about}"
_MANIFESTS = {
    "qa": _manifest("qa", f"{_FIELDS}, choices: {{from: c, do: [{{split: '|'}}]}}")
    + "  qa-child: {extends: qa}\n",
    "few": _manifest("few", _FIELDS, "limit: 2"),
    "mapped": _manifest("mapped", "id: id, input: q, target: a"),
    "mixed": _manifest("mixed", f"{_FIELDS}, choices: [x, y, z, w]", "shuffle_choices: 1"),
    "joined": _manifest("joined", "id: id, input: q, target: about.name", _TOPICS),
    "boxed": _manifest(
        "boxed", f"{_FIELDS}, files: {{object: {{notes.txt: file}}}}", path="boxed/tasks.csv"
    ),
    "counted": _manifest("counted", "input: q, target: t", "auto_id: true"),
    "names": _manifest("first-name", _FIELDS, path="data/names.csv"),
}

Rows = dict[str, dict[str, str]]


@dataclass
class Story:
    """The repository, and the commit of each part of the story."""

    repository: GitRepository
    commits: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.repository.folder

    def write(self, name: str, *, order: Callable[[list[str]], list[str]] = list) -> None:
        """Write a table as CSV."""
        rows = self.rows[name]
        columns = list(next(iter(rows.values())))
        lines = [",".join(["id", *columns])]
        lines += [",".join([key, *rows[key].values()]) for key in order(list(rows))]
        self.repository.write({f"{name}.csv": "\n".join(lines) + "\n"})

    def change(self, name: str, row: str, **values: str) -> None:
        """Change values of a row."""
        self.rows[name].setdefault(row, {}).update(values)
        self.write(name)

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace a text in a file."""
        text = (self.folder / file).read_text(encoding="utf-8")
        assert old in text
        self.repository.write({file: text.replace(old, new)})

    def commit(self, label: str, *paragraphs: str, author: str = "Ann <ann@example.org>") -> None:
        """Commit all files."""
        self.repository.git("add", "--all")
        self._finish(label, *paragraphs, author=author)

    def _finish(self, label: str, *paragraphs: str, author: str) -> None:
        messages = [part for text in (label, *paragraphs) for part in ("--message", text)]
        self.repository.git("commit", "--quiet", f"--author={author}", *messages)
        self.commits[label] = self.repository.git("rev-parse", "HEAD")

    def merge(self, branch: str, label: str, resolve: Callable[[], None] | None = None) -> None:
        """Merge a branch; `resolve` writes what neither side has."""
        git = self.repository.git
        git("merge", "--quiet", "--no-ff", "--no-commit", "--strategy-option=ours", branch)
        if resolve is not None:
            resolve()
        git("add", "--all")
        self._finish(label, author="Meg <meg@example.org>")


def _rows(count: int, **columns: str) -> Rows:
    return {
        f"r{n}": {key: text.format(n=n) for key, text in columns.items()}
        for n in range(1, count + 1)
    }


def tell(folder: Path) -> Story:
    """Make the repository."""
    repository = GitRepository(folder)
    folder.mkdir(parents=True)
    repository.git("init", "--quiet", "--initial-branch", "main")
    story = Story(repository)
    story.rows = {
        "data/qa": _rows(14, q="Question {n}?", t="Answer {n}", c="a{n}|b{n}"),
        "data/few": _rows(4, q="Few {n}?", t="{n}"),
        "data/mapped": _rows(2, q="Mapped {n}?", a="first {n}", b="second {n}"),
        "data/mixed": _rows(2, q="Mixed {n}?", t="A", x="one", y="two", z="three", w="four"),
        "data/joined": _rows(2, q="Joined {n}?", topic="t{n}"),
        "boxed/tasks": _rows(2, q="Boxed {n}?", t="{n}", file="f{n}.txt"),
        "data/counted": _rows(3, q="Counted number {n}?", t="{n}"),
        "data/names": _rows(3, q="Named {n}?", t="{n}"),
    }
    for name in story.rows:
        story.write(name)
    repository.write(
        {
            "datasets.yaml": INDEX,
            "data/topics.csv": "topic,name\nt1,maths\nt2,history\n",
            "boxed/f1.txt": "one\n",
            "boxed/f2.txt": "two\n",
            **{f"m/{name}.yaml": text for name, text in _MANIFESTS.items()},
        }
    )
    story.commit("create")
    _samples(story)
    _branches(story)
    _manifests(story)
    return story


def _samples(story: Story) -> None:
    qa = "data/qa"
    story.change(qa, "r1", t="Lyon or Answer 1")
    story.commit("target", "The old one was wrong.", "Reviewed-by: Rob <rob@example.org>")
    story.change(qa, "r2", q="Question two?")
    story.commit("input (#31)", author="Ben <ben@example.org>")
    story.change(qa, "r3", c="a3|b three")
    story.commit("choices")
    story.change(qa, "r4", t="Wrong 4")
    story.commit("wrong")
    story.change(qa, "r4", t="Answer 4")
    story.commit("back")
    story.change(qa, "r5", t="Mistaken 5")
    story.commit("mistake")
    story.rows[qa]["r5"]["t"] = "Answer 5"
    story.repository.git("revert", "--no-edit", "HEAD")
    story.commits["revert"] = story.repository.git("rev-parse", "HEAD")
    story.change(qa, "r15", q="Question 15?", t="Answer 15", c="x|y")
    story.commit("added row")
    story.write(qa, order=lambda keys: sorted(keys, reverse=True))
    story.commit("re-sorted")
    story.write(qa)
    story.commit("sorted again")
    story.change("data/counted", "r2", t="two")
    story.commit("counted target")
    rows = story.rows["data/counted"]
    story.rows["data/counted"] = {"r9": {"q": "Another at the start?", "t": "9"}, **rows}
    story.write("data/counted")
    story.commit("counted from the start")


def _branches(story: Story) -> None:
    git = story.repository.git
    git("switch", "--quiet", "--create", "side")
    story.change("data/qa", "r6", t="From the side")
    story.commit("on a side branch", author="Sid <sid@example.org>")
    git("switch", "--quiet", "main")
    story.rows["data/qa"]["r6"]["t"] = "Answer 6"
    story.change("data/few", "r1", t="one")
    story.commit("few on main")
    story.merge("side", "Merge pull request #7 from sid/side")
    story.rows["data/qa"]["r6"]["t"] = "From the side"
    git("switch", "--quiet", "--create", "both")
    story.change("data/qa", "r7", t="Theirs 7")
    story.change("data/qa", "r14", t="Theirs 14")
    story.commit("theirs")
    git("switch", "--quiet", "main")
    story.rows["data/qa"]["r14"]["t"] = "Answer 14"
    story.change("data/qa", "r7", t="Ours 7")
    story.change("data/qa", "r8", t="Ours 8")
    story.commit("ours")

    def resolve() -> None:
        story.change("data/qa", "r7", t="Neither 7")
        story.change("data/qa", "r14", t="Theirs 14")

    story.merge("both", "merge of both", resolve)


def _manifests(story: Story) -> None:
    write, git = story.repository.write, story.repository.git
    story.replace("m/mapped.yaml", "target: a", "target: b")
    story.commit("mapping")
    story.replace("m/few.yaml", "limit: 2", "limit: 3")
    story.commit("limit")
    story.replace("m/mixed.yaml", "shuffle_choices: 1", "shuffle_choices: 5")
    story.commit("seed")
    story.replace("data/topics.csv", "history", "art")
    story.commit("lookup table")
    write({"boxed/f2.txt": "two, but longer\n"})
    story.commit("named file")
    write({"boxed/unnamed.txt": "nothing names it\n"})
    story.commit("no file of a sample")
    story.change("data/names", "r1", t="uno")
    story.commit("before the rename")
    story.replace("m/names.yaml", "first-name", "last-name")
    story.commit("rename of the dataset")
    story.change("data/names", "r2", t="dos")
    story.commit("between the renames")
    git("mv", "m/names.yaml", "m/people.yaml")
    story.commit("rename of the manifest")
    git("mv", "data/names.csv", "data/people.csv")
    story.replace("m/people.yaml", "data/names.csv", "data/people.csv")
    story.commit("rename of the data")
    story.rows["data/people"] = story.rows.pop("data/names")
    story.change("data/people", "r3", t="tres")
    story.commit("after the renames")
    story.replace("m/qa.yaml", "Questions.", "Questions about nothing.")
    story.commit("documentation")
    write({"datasets.lock": "# nothing is pinned\nversion: 1\ndatasets: {}\n"})
    story.commit("lock only")
    story.replace("m/few.yaml", "id: id", "id: {template: 'few-{id}'}")
    story.commit("ids")


@dataclass(frozen=True)
class Planted:
    """What blame has to say of a field of a sample."""

    dataset: str
    id: str
    field: str
    commit: str
    before: str | None


PLANTED: Mapping[str, Planted] = {
    "a target": Planted("qa", "r1", "target", "target", "Answer 1"),
    "an input, the id kept": Planted("qa", "r2", "input", "input (#31)", "Question 2?"),
    "choices": Planted("qa", "r3", "choices", "choices", "A) a3\nB) b3"),
    "the other fields of that sample": Planted("qa", "r3", "target", "create", None),
    "a change and the change back": Planted("qa", "r4", "target", "back", "Wrong 4"),
    "a revert": Planted("qa", "r5", "target", "revert", "Mistaken 5"),
    "a side branch": Planted("qa", "r6", "target", "on a side branch", "Answer 6"),
    "a merge that has neither value": Planted("qa", "r7", "target", "merge of both", "Ours 7"),
    "one side of a merge": Planted("qa", "r8", "target", "ours", "Answer 8"),
    "the other side of a merge": Planted("qa", "r14", "target", "theirs", "Answer 14"),
    "nothing, in a file that was sorted twice": Planted("qa", "r9", "target", "create", None),
    "a new row": Planted("qa", "r15", "target", "added row", None),
    "a dataset that extends it": Planted("qa-child", "r2", "input", "input (#31)", "Question 2?"),
    "a mapping": Planted("mapped", "r1", "target", "mapping", "first 1"),
    "a limit": Planted("few", "few-r3", "target", "limit", None),
    "a new form of ids": Planted("few", "few-r1", "id", "ids", "r1"),
    "what was before the new ids": Planted("few", "few-r1", "target", "few on main", "1"),
    "a lookup table": Planted("joined", "r2", "target", "lookup table", "history"),
    "the rest of a lookup table": Planted("joined", "r1", "target", "create", None),
    "a named file": Planted("boxed", "r2", "files", "named file", "notes.txt: f2.txt"),
    "a file that is named elsewhere": Planted("boxed", "r1", "files", "create", None),
    "after the renames": Planted("last-name", "r3", "target", "after the renames", "3"),
    "between the renames": Planted("last-name", "r2", "target", "between the renames", "2"),
    "before the renames": Planted("last-name", "r1", "target", "before the rename", "1"),
    "a row that moved, numbered": Planted("counted", "3", "target", "counted target", "2"),
}

"""The life of a name: renamed, deprecated and removed datasets, through every door."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from registry import Catalog, DatasetNotFoundError, DeprecatedNameWarning, get_dataset
from tests.cli.invocation import Run, write
from tests.git_repository import GitRepository

OLD = """\
datasets:
  questions: {renamed_to: qa}
  first-name: {renamed_to: questions}
  qa-two:
    extends: qa
    limit: 2
    deprecated: {since: 2026-12-01, use: qa, reason: Its labels are wrong.}
  qa-small: {extends: qa-two, limit: 1}
  gone: {removed: {since: "1.4", use: qa, reason: Its server is gone.}}
"""
RENAMED = "'first-name' is called 'qa' now (use that name)"
DEPRECATED = "'qa-two' is deprecated since 2026-12-01: Its labels are wrong (use 'qa')"
REMOVED = "'gone' was removed in 1.4: Its server is gone (use 'qa')"


@pytest.fixture
def old(own: Path) -> Path:
    write(own, "old", OLD)
    (own / "fixed.csv").write_text("q,a\nOne?,1\nTwo?,4\nThree?,3\n", encoding="utf-8")
    return own


@pytest.mark.parametrize(
    ("name", "notice", "found"), [("first-name", RENAMED, "qa"), ("qa-two", DEPRECATED, "qa-two")]
)
def test_get_dataset_warns_with_a_category_of_its_own(
    old: Path, name: str, notice: str, found: str
) -> None:
    with pytest.warns(DeprecatedNameWarning) as caught:
        assert get_dataset(name, root=old).name == found
    assert [str(one.message) for one in caught] == [notice]
    assert caught[0].filename == __file__, "the line of the caller, not ours"


def test_what_extends_a_deprecated_dataset_is_not_deprecated(old: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(get_dataset("qa-small", root=old)) == 1
    assert Catalog.open(old)["qa-small"].deprecated is None


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("preview", "--from", "qa.csv"),
        ("lock",),
        ("correct", "fixed.csv"),
    ],
)
def test_commands_take_an_old_name_and_say_once_what_to_use(
    run: Run, old: Path, command: tuple[str, ...]
) -> None:
    verb, *options = command
    done = run(verb, "first-name", *options)
    assert done.code == 0
    assert done.err.count(f"warning: {RENAMED}") == 1
    assert "first-name" not in done.out


def test_a_removed_dataset_is_an_error_that_says_why(run: Run, old: Path) -> None:
    done = run("show", "gone")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: {REMOVED} (`registry list` shows all)\n"
    assert "similar names: first-name" in run("show", "frist-name").err
    with pytest.raises(DatasetNotFoundError, match="was removed in 1"):
        get_dataset("gone", root=old)


def test_old_names_are_not_among_the_datasets(run: Run, old: Path) -> None:
    catalog = Catalog.open(old)
    assert list(catalog) == ["qa", "qa-one", "qa-small", "qa-two"]
    assert len(catalog) == 4
    assert "questions" not in catalog
    assert catalog["questions"].name == "qa"
    listed = run("list")
    assert [line.split()[0] for line in listed.lines[1:]] == list(catalog)
    assert "(deprecated, use qa) Questions." in listed.out
    assert run("stats", "--json").json["datasets"] == 4


def test_another_opening_finds_old_names_in_the_compiled_catalog(old: Path) -> None:
    fresh, cached = Catalog.open(old, keep=False), Catalog.open(old)
    assert dict(fresh.retired) == {"questions": "qa", "first-name": "qa", "gone": ""}
    assert dict(cached.retired) == dict(Catalog.open(old).retired) == dict(fresh.retired)
    assert fresh.former("qa") == ["questions", "first-name"]


def test_extending_an_old_name_works_and_is_reported(run: Run, old: Path) -> None:
    write(old, "mine", "datasets:\n  mine: {extends: first-name, limit: 1}\n")
    done = run("validate", "m/mine.yaml", "m/old.yaml")
    assert done.lines[0] == (
        f"m/mine.yaml:2:10 $.datasets.mine.extends: warning: {RENAMED} [deprecated-parent]"
    )
    assert DEPRECATED in done.lines[1]
    assert len(get_dataset("mine", root=old)) == 1


BAD = """\
datasets:
  a: {renamed_to: b}
  b: {renamed_to: a}
  c: {renamed_to: qaa}
  d: {renamed_to: qa, description: x}
  e: {renamed_to: gone}
  f: {removed: {use: qaa}}
  g: {removed: {why: because}}
"""


CIRCLE = "is renamed in a circle (name the dataset that it is called now) [rename-cycle]"
UNKNOWN = "no dataset 'qaa' (did you mean 'qa'?) [unknown-replacement]"
REASONS = "unknown key 'why' (known keys: since, use, reason) [unknown-key]"
GONE = "'gone' was removed (name a dataset that there is) [unknown-replacement]"
DESCRIBED = "unknown key 'description' (known keys: renamed_to) [unknown-key]"


def test_validate_reports_names_that_lead_nowhere(run: Run, old: Path) -> None:
    write(old, "bad", BAD)
    done = run("validate", "m/bad.yaml")
    assert [line.removeprefix("m/bad.yaml:") for line in done.lines[:-1]] == [
        f"2:7 $.datasets.a.renamed_to: 'a' {CIRCLE}",
        f"3:7 $.datasets.b.renamed_to: 'b' {CIRCLE}",
        f"4:7 $.datasets.c.renamed_to: {UNKNOWN}",
        f"5:23 $.datasets.d.description: {DESCRIBED}",
        f"6:7 $.datasets.e.renamed_to: {GONE}",
        f"7:17 $.datasets.f.removed.use: {UNKNOWN}",
        f"8:17 $.datasets.g.removed.why: {REASONS}",
    ]
    assert "is renamed in a circle" in run("show", "a").err
    assert "no dataset 'qaa'" in run("show", "c").err


def test_a_rename_is_one_in_lock_diff_and_log(run: Run, own: Path) -> None:
    repository = GitRepository.of(own)
    run("lock")
    repository.commit()
    qa = (own / "m" / "qa.yaml").read_text()
    write(own, "qa", qa.replace("  qa:", "  quiz:"))
    write(own, "old", "datasets:\n  qa: {renamed_to: quiz}\n")
    before = (own / "datasets.lock").read_text()
    checked = run("lock", "--check")
    assert "qa: is pinned, and called 'quiz' now (`registry lock` renames its pin)" in checked.out
    assert run("lock").lines[0] == "qa: its pin is that of quiz now"
    # Byte for byte: `qa-one` sorts before `quiz`, and nothing was built again.
    pins = (own / "datasets.lock").read_text()
    assert pins.count("version:") == before.count("version:")
    assert sorted(pins.splitlines()) == sorted(before.replace("  qa:", "  quiz:").splitlines())
    assert run("lock", "--check").code == 0
    changes = run("diff", "HEAD", "--json").json["changes"]
    renamed = {one["name"]: (one["status"], one["old_name"]) for one in changes}
    assert renamed["quiz"] == ("renamed", "qa")
    repository.commit()
    assert ["renamed from qa" in line for line in run("log", "qa").lines] == [True, False]


def test_a_stated_rename_counts_although_everything_else_changed(run: Run, own: Path) -> None:
    repository = GitRepository.of(own)
    repository.commit()
    (own / "other.csv").write_text("x,y\nSeven?,7\n", encoding="utf-8")
    write(
        own,
        "qa",
        "datasets:\n  quiz: {source: {type: csv, path: other.csv}, fields: {input: x, target: y}}\n"
        "  qa: {renamed_to: quiz}\n",
    )
    changes = run("diff", "HEAD", "--json").json["changes"]
    assert [(one["name"], one["status"]) for one in changes] == [
        ("qa-one", "removed"),
        ("quiz", "renamed"),
    ]


def test_splits_are_renamed_with_their_dataset(run: Run, own: Path) -> None:
    repository = GitRepository.of(own)
    keys = "source: {type: csv}, splits: {a: {path: qa.csv}, b: {path: qa.csv}}, default_split: a"
    fields = "fields: {input: q, target: a}"
    write(own, "qa", f"datasets:\n  parts: {{{keys}, {fields}}}\n")
    run("lock")
    repository.commit()
    new = f"datasets:\n  pieces: {{{keys}, {fields}}}\n  parts: {{renamed_to: pieces}}\n"
    write(own, "qa", new)
    assert run("lock").lines[-1] == "datasets.lock: 2 of 2 datasets pinned"
    assert "pinned, " not in "".join(run("lock").lines[:-1])
    changes = run("diff", "HEAD", "--json").json["changes"]
    assert {one["name"]: (one["status"], one["old_name"]) for one in changes} == {
        "pieces": ("renamed", "parts"),
        "pieces:b": ("renamed", "parts:b"),
    }
    assert run("show", "parts:b").err.startswith("warning: 'parts' is called 'pieces' now")

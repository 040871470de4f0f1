"""When samples are compared, built, or reported as not compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache
from registry.diff.compare import compare
from registry.diff.models import CatalogDiff, SampleChange
from registry.diff.sampling import MAX_NEW_BUILDS, SamplingOptions, with_samples
from registry.diff.snapshot import open_snapshots
from tests.conftest import S3
from tests.git_repository import GitRepository

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QA = "datasets:\n  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}\n"
RECORDS = "q,a\nOne?,1\nTwo?,2\n"


class Folders:
    """Two catalogs to compare."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.base, self.head = folder / "base", folder / "head"
        self.announced: list[str] = []
        self.cache = Cache(cache)
        for one in (self.base, self.head):
            self.write(one)

    def write(
        self, folder: Path, *, qa: str = QA, records: str = RECORDS, index: str = INDEX
    ) -> None:
        (folder / "m").mkdir(parents=True, exist_ok=True)
        (folder / "datasets.yaml").write_text(index)
        (folder / "m" / "qa.yaml").write_text(qa)
        (folder / "qa.csv").write_text(records)

    def diff(self, *, build: bool = True, offline: bool = False, examples: int = 3) -> CatalogDiff:
        options = SamplingOptions(
            cache=self.cache,
            build=build,
            command="registry diff main",
            offline=offline,
            examples=examples,
            announce=self.announced.append,
        )
        index = self.head / "datasets.yaml"
        with open_snapshots(str(self.base), str(self.head), index) as (old, new):
            return with_samples(compare(old.snapshot, new.snapshot), old, new, options)

    def samples(self, **options: Any) -> SampleChange:
        (change,) = self.diff(**options).changes
        assert change.samples is not None
        return change.samples


@pytest.fixture
def folders(tmp_path: Path, cache_dir: Path) -> Folders:
    return Folders(tmp_path, cache_dir)


def test_nothing_is_built_without_the_option(folders: Folders) -> None:
    folders.write(folders.head, records=f"{RECORDS}Three?,3\n")
    note = "not compared: base and head are not cached (`registry diff main --build` compares them)"
    assert folders.samples(build=False) == SampleChange(
        note=note, obstacle="not cached", command="registry diff main --build"
    )
    assert folders.announced == []


def test_cached_samples_are_compared_without_the_option(folders: Folders) -> None:
    folders.write(folders.head, records=f"{RECORDS}Three?,3\n")
    folders.samples()
    change = folders.samples(build=False)
    assert (change.old, change.new, change.added, change.note) == (2, 3, 1, "")


def test_builds_are_announced_and_noted(folders: Folders) -> None:
    folders.write(folders.head, records=f"{RECORDS}Three?,3\n")
    assert folders.samples().note == "base and head are built for this"
    assert folders.announced == [
        f"building qa of {folders.base}",
        f"building qa of {folders.head}",
    ]


def test_build_for_one_snapshot_serves_the_other(folders: Folders) -> None:
    folders.write(folders.head, qa=QA.replace("}}\n", "}, limit: 1}\n"))
    change = folders.samples()
    assert (change.removed, change.note) == (1, "base is built for this")


def test_rows_of_corrections_that_are_gone_are_part_of_the_difference(folders: Folders) -> None:
    row = '{record: 1, field: target, was: "1", now: one, reason: a typo}'
    (folders.base / "e.yaml").write_text(f"corrections:\n- {row}\n")
    folders.write(folders.base, qa=QA.replace("}}\n", "}, corrections: e.yaml}\n"))
    (one,) = folders.samples().corrections
    assert (one.status, one.was, one.now) == ("removed", "1", "one")


@pytest.mark.parametrize("key", ["description: Questions.", "eval: {scorer: f1}"])
def test_changed_documentation_and_scoring_need_no_samples(folders: Folders, key: str) -> None:
    folders.write(folders.head, qa=QA.replace("}}\n", f"}}, {key}}}\n"))
    (change,) = folders.diff().changes
    assert change.samples is None
    assert folders.announced == []


def test_removed_dataset_has_no_samples(folders: Folders) -> None:
    folders.write(folders.head, qa="datasets: {}\n")
    (change,) = folders.diff().changes
    assert (change.status, change.samples) == ("removed", None)


@pytest.mark.parametrize("examples", [0, 2])
def test_new_dataset_shows_its_first_samples(folders: Folders, examples: int) -> None:
    folders.write(folders.base, qa="datasets: {}\n")
    change = folders.samples(examples=examples)
    assert (change.old, change.new, len(change.examples)) == (None, 2, examples)


def test_too_many_new_datasets_are_not_built(folders: Folders) -> None:
    more = "".join(f"  d{n}: {{extends: qa, limit: 1}}\n" for n in range(MAX_NEW_BUILDS))
    folders.write(folders.base, qa="datasets: {}\n")
    folders.write(folders.head, qa=QA + more)
    samples = [change.samples for change in folders.diff().changes if change.samples]
    commands = {f"registry sync -- {name}; registry diff main" for name in ("qa", "d0")}
    assert commands < {one.command for one in samples}
    assert {one.obstacle for one in samples} == {"too many new"}
    message = "not compared: head is not cached; 21 datasets are new, and up to 20 are built ("
    assert all(one.note.startswith(message) for one in samples)
    assert folders.announced == []


URL = "https://data.example.org/qa.csv"


@pytest.mark.parametrize(
    ("path", "options", "obstacle", "words"),
    [
        ("gone.csv", {}, "error", "not compared: gone.csv: no such file (once this is fixed, "),
        (URL, {"build": False}, "needs network", "are not cached, and a source is remote ("),
        (URL, {"offline": True}, "offline", "(without --offline, "),
        ("package:none/qa.csv", {}, "package not installed", "the package none is not installed"),
    ],
)
def test_samples_that_are_not_here_are_a_note_without_folders_of_this_machine(
    folders: Folders, path: str, options: dict[str, bool], obstacle: str, words: str
) -> None:
    folders.write(folders.head, qa=QA.replace("qa.csv", path))
    change = folders.samples(**options)
    assert (change.obstacle, change.command) == (obstacle, "registry diff main --build")
    assert words in change.note
    assert change.note.endswith("`registry diff main --build` compares them)")
    assert str(folders.head) not in change.note


@pytest.mark.parametrize(("old", "new"), [("main~1", "main"), ("main", "main~1")])
def test_error_of_either_revision_names_the_file_as_in_the_repository(
    folders: Folders, old: str, new: str
) -> None:
    repository = GitRepository.of(folders.head)
    repository.commit()
    folders.write(folders.head, records=RECORDS + "\n1,2,3,4,5\n")
    repository.commit()
    options = SamplingOptions(cache=folders.cache, build=True)
    with open_snapshots(old, new, folders.head / "datasets.yaml") as (base, head):
        (change,) = with_samples(compare(base.snapshot, head.snapshot), base, head, options).changes
    assert change.samples is not None
    assert change.samples.note.startswith("not compared: qa.csv:")


IN_BUCKET = QA.replace("qa.csv", "s3://private/qa.csv")


def test_new_bucket_is_not_read_with_own_credentials(folders: Folders, s3: S3) -> None:
    s3.bucket("private")
    s3.put("private", "qa.csv", b"q,a\nsecret,1\n")
    folders.write(folders.head, qa=IN_BUCKET)
    change = folders.samples()
    assert change.obstacle == "own credentials"
    assert "no dataset of the base reads s3://private, so this machine's" in change.note
    assert "secret" not in str(change)
    anonymous = IN_BUCKET.replace("path:", "fs_options: {anon: true}, path:")
    folders.write(folders.head, qa=anonymous)
    assert folders.samples().obstacle != "own credentials"
    folders.write(folders.base, qa=IN_BUCKET.replace("target: a", "target: q"))
    folders.write(folders.head, qa=IN_BUCKET)
    assert folders.samples().obstacle == ""


MAPPED = QA.replace("fields: {input: q, target: a}", "mapper: 'textwrap:dedent'")


def test_code_that_the_base_does_not_trust_is_not_run(folders: Folders) -> None:
    folders.write(folders.head, qa=MAPPED, index=f"{INDEX}trust: ['textwrap:dedent']\n")
    change = folders.samples()
    assert change.note == (
        "not compared: the base does not trust the mapper 'textwrap:dedent', so its code is not run"
        " (once the base trusts it, `registry diff main --build` compares them)"
    )
    assert change.obstacle == "untrusted mapper"
    assert folders.announced == []


def test_code_that_the_base_trusts_is_run(folders: Folders) -> None:
    folders.write(folders.base, index=f"{INDEX}trust: ['textwrap:dedent']\n")
    folders.write(folders.head, qa=MAPPED, index=f"{INDEX}trust: ['textwrap:dedent']\n")
    assert "does not trust" not in folders.samples().note
    assert folders.announced != []


WARNING = "blank target in 1 of 2 samples: qa.csv record 2 (' ')"


@pytest.mark.parametrize(
    ("base", "head", "warnings"),
    [
        ("One?,1\nTwo?,2\n", "One?,1\nTwo?, \n", (WARNING,)),
        ("One?,1\nTwo?, \n", "One!,1\nTwo?, \n", ()),
        ("One?,1\nTwo?, \n", "One?,1\nTwo?,2\n", ()),
    ],
    ids=["new", "old", "gone"],
)
def test_only_new_warnings_are_part_of_the_difference(
    folders: Folders, base: str, head: str, warnings: tuple[str, ...]
) -> None:
    folders.write(folders.base, records=f"q,a\n{base}")
    folders.write(folders.head, records=f"q,a\n{head}")
    assert folders.samples().warnings == warnings


def test_a_new_dataset_has_all_its_warnings(folders: Folders) -> None:
    folders.write(folders.base, qa="datasets: {}\n")
    folders.write(folders.head, records="q,a\nOne?,1\nTwo?, \n")
    assert folders.samples().warnings == (WARNING,)

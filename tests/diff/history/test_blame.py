"""Which states may be opened for blame, and what it does with them; the rest is in tests/cli."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.diff.history.blame import FIELDS, Blame, Opener, blame
from registry.diff.history.states import open_history
from registry.diff.models import Chunk
from registry.errors import SampleNotFoundError
from tests.git_repository import GitRepository

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv},"
    " fields: {id: id, input: q, target: t}}\n",
    "qa.csv": "id,q,t\nr1,One?,1\n",
}


def blamed(repository: GitRepository, cache: Path, *fields: str) -> dict[str, Blame]:
    with open_history(repository.folder / "datasets.yaml", None) as history:
        opener, state = Opener(history, Cache(cache)), history.work_tree("qa")
        found = blame(opener, state, "r1", fields or FIELDS, lambda _: None)
        return {one.field: one for one in found}


def test_each_field_has_its_own_commit(repository: GitRepository, cache_dir: Path) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.write({"qa.csv": "id,q,t\nr1,One?,one\n"})
    second = repository.commit()
    found = blamed(repository, cache_dir)
    assert set(found) == set(FIELDS)
    ids = {field: one.commit and one.commit.id for field, one in found.items()}
    assert ids == dict.fromkeys(FIELDS, first) | {"target": second}
    assert found["target"].chunks == (Chunk("-", "1"), Chunk("+", "one"))
    assert found["input"].before is None


def test_walk_ends_once_all_fields_are_known(repository: GitRepository, cache_dir: Path) -> None:
    repository.write({"m/qa.yaml": "datasets: {qa: {bogus: 1}}\n"})
    repository.commit()
    repository.write({"m/qa.yaml": FILES["m/qa.yaml"]})
    repository.commit()
    repository.write({"qa.csv": "id,q,t\nr1,One?,one\n"})
    repository.commit()
    # Of the commit with the invalid manifest, only other fields need to know.
    found = blamed(repository, cache_dir, "target", "input")
    assert found["target"].unknown == ""
    assert found["input"].unknown.startswith("qa can't be read in ")


def test_data_that_git_does_not_have_is_unknown(repository: GitRepository, cache_dir: Path) -> None:
    repository.git("rm", "--quiet", "--cached", "qa.csv")
    repository.write({".gitignore": "qa.csv\n"})
    repository.commit()
    (found,) = blamed(repository, cache_dir, "target").values()
    assert found.commit is None
    assert found.unknown.startswith("the samples before it, of ")


MAPPER = """\
from registry import Sample

def make(record):
    return Sample(id="r1", input=record["q"], target=record["t"])
"""
UNFIXED: dict[str, tuple[dict[str, str], str]] = {
    "a file outside the repository": (
        {
            "datasets.yaml": f"{FILES['datasets.yaml']}paths: [../site]\n",
            "m/qa.yaml": FILES["m/qa.yaml"].replace("qa.csv", "../site/qa.csv"),
        },
        "its source /.*/site/qa.csv is outside the repository, and was not pinned",
    ),
    "an installed mapper": (
        {
            "datasets.yaml": f"{FILES['datasets.yaml']}trust: ['blamed_maps:make']\n",
            "m/qa.yaml": FILES["m/qa.yaml"].replace(
                "fields: {id: id, input: q, target: t}", "mapper: 'blamed_maps:make'"
            ),
        },
        "its mapper is of an installed package, and was not pinned",
    ),
    "a manifest of a package": (
        {
            "datasets.yaml": "version: 1\ninclude: [m/*.yaml, 'package:blamed_sets']\n",
            "m/qa.yaml": "datasets:\n  qa: {extends: theirs, source: {path: qa.csv}}\n",
        },
        "a part of its manifest is of an installed package, and was not pinned",
    ),
}


@pytest.mark.parametrize("case", UNFIXED)
def test_what_no_commit_has_may_have_changed_at_any_time(
    repository: GitRepository, cache_dir: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, reason = UNFIXED[case]
    site = GitRepository(repository.folder.parent / "site")
    theirs = FILES["m/qa.yaml"].replace("  qa:", "  theirs:")
    site.write({"qa.csv": FILES["qa.csv"], "blamed_maps.py": MAPPER})
    site.write(
        {"blamed_sets/__init__.py": "", "blamed_sets/datasets.yaml": f"version: 1\n{theirs}"}
    )
    monkeypatch.syspath_prepend(site.folder)
    repository.write(files)
    commit = repository.commit()
    (found,) = blamed(repository, cache_dir, "target").values()
    assert found.commit is not None
    assert found.commit.id == commit
    assert re.fullmatch(reason, found.unknown)


@pytest.mark.parametrize(
    ("identifier", "column", "words"),
    [("r11", "id", "similar ids: r1"), ("None", "number", "its samples have no ids")],
)
def test_error_has_similar_ids(
    repository: GitRepository, cache_dir: Path, identifier: str, column: str, words: str
) -> None:
    manifest = FILES["m/qa.yaml"].replace("id: id, ", "")  # a column `id` has them
    repository.write({"m/qa.yaml": manifest, "qa.csv": FILES["qa.csv"].replace("id", column)})
    with open_history(repository.folder / "datasets.yaml", None) as history:
        opener, state = Opener(history, Cache(cache_dir)), history.work_tree("qa")
        with pytest.raises(SampleNotFoundError, match=words):
            list(blame(opener, state, identifier, FIELDS, lambda _: None))

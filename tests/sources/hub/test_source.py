"""Hub sources are pinned by a commit, or by the bytes of their files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.errors import DigestMismatchError, LockStaleError, OfflineError, SourceError
from registry.lockfile.pinned import PinnedSources
from registry.manifest.source_models import HfSource
from registry.sources.hub.source import HubReader, pin_hub
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator
from tests.sources.conftest import context_of

LINES = {"test.jsonl": b'{"q": 1}\n'}


def source(path: str = "org/name", **keys: Any) -> HfSource:
    return HfSource(**{"path": path, "split": "test", **keys})


def lock(cache: Cache, *sources: Material) -> SourceContext:
    pinned = PinnedSources(dataset="d", folder=Path("/"), sources=sources)
    return context_of(cache, lock=pinned)


def test_a_full_commit_makes_no_request(hub: HubEmulator, cache: Cache) -> None:
    hub.requests.clear()
    pinned = pin_hub(source(revision="a" * 40), context_of(cache))
    assert pinned.revision == "a" * 40
    assert hub.requests == []


def test_a_branch_is_the_commit_of_the_last_lookup_when_offline(
    hub: HubEmulator, cache: Cache
) -> None:
    offline = context_of(cache, offline=True)
    with pytest.raises(OfflineError, match=r"org/branch: not in the cache.*registry sync"):
        pin_hub(source("org/branch"), offline)
    commit = hub.commit("org/branch", LINES)
    assert pin_hub(source("org/branch"), context_of(cache)).revision == commit
    newer = hub.commit("org/branch", {"test.jsonl": b'{"q": 2}\n'})
    assert pin_hub(source("org/branch"), offline).revision == commit
    assert pin_hub(source("org/branch"), context_of(cache)).revision == newer


def test_a_locked_repository_is_not_looked_up(hub: HubEmulator, cache: Cache) -> None:
    hub.requests.clear()
    pin = Material(location="hf://datasets/org/name", requested="main", revision="b" * 40)
    assert pin_hub(source(revision="main"), lock(cache, pin)).revision == "b" * 40
    with pytest.raises(LockStaleError, match="org/name at v2"):
        pin_hub(source(revision="v2"), lock(cache, pin))
    assert hub.requests == []


def test_the_identity_changes_with_everything_that_changes_the_records(cache: Cache) -> None:
    context, commit = context_of(cache), "a" * 40
    sources = [
        source(revision=commit),
        source(revision="b" * 40),
        source(revision=commit, name="x"),
        source(revision=commit, split="train"),
        source(revision=commit, data_dir="x"),
        source(revision=commit, data_files="x"),
    ]
    digests = [pin_hub(one, context).digest for one in sources]
    digests.append(pin_hub(sources[0], context, streaming=False).digest)
    assert len(set(digests)) == len(digests)
    assert pin_hub(source(revision=commit), context).digest == digests[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a/x.csv", ".DS_Store", ".git/HEAD"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("q\n1\n", encoding="utf-8")
    return tmp_path / "data"


def test_a_folder_is_pinned_by_the_names_and_bytes_of_its_files(
    folder: Path, context: SourceContext
) -> None:
    pinned = pin_hub(source(str(folder)), context)
    found = [os.path.relpath(file.location, folder) for file in pinned.contents]
    assert found == ["a/x.csv", "b.csv"]
    assert {file.requested for file in pinned.contents} == {str(folder)}
    (folder / ".DS_Store").write_text("other", encoding="utf-8")
    assert pin_hub(source(str(folder)), context).identity == pinned.identity
    (folder / "b.csv").rename(folder / "c.csv")
    assert pin_hub(source(str(folder)), context).identity != pinned.identity


def test_a_locked_folder_has_the_same_files(folder: Path, cache: Cache) -> None:
    pinned = pin_hub(source(str(folder)), context_of(cache))
    sources = [
        Material(location=one.location, requested=str(folder), sha256=one.sha256, size=one.size)
        for one in pinned.contents
    ]
    assert pin_hub(source(str(folder)), lock(cache, *sources)).identity == pinned.identity
    (folder / "c.csv").write_text("q\n", encoding="utf-8")
    with pytest.raises(DigestMismatchError, match=r"a/x\.csv, b\.csv, c\.csv"):
        pin_hub(source(str(folder)), lock(cache, *sources))


def test_a_folder_without_files_and_a_builder_without_data_files_are_errors(
    folder: Path, context: SourceContext
) -> None:
    context = replace(context, boundary=Boundary(folders=(str(folder.parent),)))
    (folder / "empty").mkdir()
    faults = {
        "none": "no such folder",
        "b.csv": "is a file, not a folder",
        "empty": "the folder has no files",
    }
    for name, fault in faults.items():
        with pytest.raises(SourceError, match=f"{folder / name}: {fault}"):
            pin_hub(source(str(folder / name)), context)
    with pytest.raises(SourceError, match="the builder json needs `data_files`"):
        pin_hub(source("json"), context)
    with pytest.raises(SourceError, match="not a URL: Invalid IPv6 URL"):
        pin_hub(source("json", data_files="http://[::1/x.json"), context)


def test_a_builder_is_pinned_by_the_bytes_of_its_files(
    folder: Path, context: SourceContext
) -> None:
    files = [str(folder / "a/x.csv"), str(folder / "b.csv")]
    pinned = pin_hub(HfSource(path="csv", split="train", data_files=files[0]), context)
    same = pin_hub(HfSource(path="csv", split="train", data_files=files[1]), context)
    assert pinned.identity == same.identity
    assert [file.location for file in pinned.files] == files[:1]


def test_only_repositories_without_cached_records_are_probed(folder: Path, cache: Cache) -> None:
    context, commit = context_of(cache), "a" * 40
    probed = HubReader(source(revision=commit)).probe(context)
    assert probed is not None
    assert probed.revision == commit
    for other in (source(str(folder)), source("json"), source(revision=commit, split="test[:3]")):
        assert HubReader(other).probe(context) is None
    assert HubReader(source(revision=commit)).probe(context_of(cache, offline=True)) is None
    pinned = pin_hub(source(revision=commit), context)
    with cache.temporary() as result:
        (result / "records.arrow").touch()
        cache.publish(result, "records", pinned.digest, {"rows": 0})
    assert HubReader(source(revision=commit)).probe(context) is None

"""Files of a commit: listed, downloaded once, and checked each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import SourceError
from registry.sources.hub.files import Commit, check_card, fetch_file, fetch_files, list_files
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator

FILES = {"README.md": b"# x\n", "a/b.txt": b"text", "c.parquet": b"PAR1"}


@pytest.fixture
def context(tmp_path: Path) -> SourceContext:
    return SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))


@pytest.fixture
def commit(hub: HubEmulator) -> Commit:
    return Commit("org/files", hub.commit("org/files", FILES))


def test_a_location_elsewhere_is_refused(commit: Commit) -> None:
    root = f"hf://datasets/org/files@{commit.revision}"
    assert commit.path_of(f"{root}/a/b.txt") == "a/b.txt"
    for location in (f"{root}/../x", "hf://datasets/org/other@main/x", "https://host/x", "/etc/x"):
        with pytest.raises(SourceError, match="not a file of this commit"):
            commit.path_of(location)


def test_digests_are_those_that_git_and_lfs_have(commit: Commit) -> None:
    found = list_files(commit, ["a/b.txt", "c.parquet", "a", "gone"])
    assert {path: file.size for path, file in found.items()} == {"a/b.txt": 4, "c.parquet": 4}
    # printf text | git hash-object --stdin; printf PAR1 | sha256sum
    assert found["a/b.txt"].digest == "git:f3a34851d44d6b97c90fbb99dd3d18c261b9a237"
    assert found["c.parquet"].digest == (
        "sha256:fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6"
    )


def test_files_are_downloaded_once_and_have_their_names(
    hub: HubEmulator, commit: Commit, context: SourceContext, tmp_path: Path
) -> None:
    locations = [f"hf://datasets/{commit.repository}@{commit.revision}/{name}" for name in FILES]
    paths = fetch_files(locations, commit, tmp_path / "one", context)
    assert [Path(path).read_bytes() for path in paths] == list(FILES.values())
    assert paths[1] == str(tmp_path / "one" / "a" / "b.txt")
    hub.requests.clear()
    fetch_files(locations, commit, tmp_path / "two", context)
    assert [one.method for one in hub.requests] == ["POST"]
    with pytest.raises(SourceError, match="no file 'gone'"):
        fetch_files([locations[0].replace("README.md", "gone")], commit, tmp_path, context)


@pytest.mark.parametrize("name", ["a/b.txt", "c.parquet"])
def test_a_damaged_blob_is_downloaded_again(
    commit: Commit, context: SourceContext, name: str
) -> None:
    file = list_files(commit, [name])[name]
    blob = fetch_file(file, commit, context)
    blob.write_bytes(b"TEXT")
    assert fetch_file(file, commit, context).read_bytes() == FILES[name]


def test_a_card_that_the_commit_does_not_have_is_removed(
    hub: HubEmulator, commit: Commit, context: SourceContext
) -> None:
    from huggingface_hub import try_to_load_from_cache

    check_card(commit, context)
    known = try_to_load_from_cache(
        "org/files", "README.md", repo_type="dataset", revision=commit.revision
    )
    assert isinstance(known, str)
    strange = Path(known).with_name("dataset_infos.json")
    strange.write_text("{}")
    check_card(commit, context)
    assert not strange.exists()
    assert Path(known).read_bytes() == FILES["README.md"]

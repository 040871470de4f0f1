"""Files of two checkouts that differ, whatever they are for."""

from __future__ import annotations

import hashlib

from registry.diff.checkout import checkout_of, folder_checkout
from registry.diff.snapshots.changed_files import changed_files, differing_digests, paths_of
from registry.diff.snapshots.contents import Contents, read_contents
from tests.git_repository import GitRepository

FILES = {"datasets.yaml": "version: 1\n", "a": "1", "b": "1", "folder/c": "1"}


def sides(repository: GitRepository, folder: str = "base") -> tuple[Contents, Contents]:
    index = repository.folder / "datasets.yaml"
    base = checkout_of("main", index, repository.folder.parent / folder)
    return read_contents(base), read_contents(folder_checkout(index, "work tree"))


def changed(base: Contents, head: Contents) -> set[str]:
    return changed_files(base, head, paths_of(base.checkout) | paths_of(head.checkout))


def test_revision_and_work_tree_are_compared_by_bytes(repository: GitRepository) -> None:
    repository.write({"a": "2", "new": "", "datasets.yaml": "version: 1 \n"})
    (repository.folder / "b").unlink()
    base, head = sides(repository)
    assert changed(base, head) == {"a", "b", "new"}
    digests = differing_digests(base, head, {"a", "b", "new"})
    assert [[one is None for one in digests[name]] for name in ("a", "b", "new")] == [
        [False, False],
        [False, True],
        [True, False],
    ]


def test_attributes_of_git_hide_nothing(repository: GitRepository) -> None:
    repository.write({".gitattributes": "* text eol=lf\n"})
    (repository.folder / "a").write_bytes(b"1\r\n")
    repository.git("config", "core.autocrlf", "true")
    assert changed(*sides(repository)) == {"a", ".gitattributes"}


def test_link_that_leads_outside_is_not_read(repository: GitRepository) -> None:
    outside = repository.folder.parent / "outside"
    outside.mkdir()
    (outside / "c").write_text("1", encoding="utf-8")
    (repository.folder / "folder/c").unlink()
    (repository.folder / "folder").rmdir()
    (repository.folder / "folder").symlink_to(outside)
    (repository.folder / "a").unlink()
    (repository.folder / "a").symlink_to("../outside/c")
    base, head = sides(repository)
    assert {"a", "folder/c"} <= changed(base, head)
    assert differing_digests(base, head, {"a"})["a"][1] == "link to ../outside/c"
    repository.commit()
    assert changed(*sides(repository, "later")) == set()


def test_pointer_of_git_lfs_equals_what_it_names(repository: GitRepository) -> None:
    oid = hashlib.sha256(b"data").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 4\n"
    repository.write({"b": pointer})
    repository.commit()
    repository.write({"b": "data"})
    base, head = sides(repository)
    assert changed(base, head) == {"b"}
    assert differing_digests(base, head, {"b"}) == {}

"""Read the files of a git revision from the object store: no checkout, no hook, no filter."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO

from registry.base.escape import escape_control
from registry.base.git import FETCH_HINT, Repository, repository_of
from registry.boundary.paths import path_matcher
from registry.errors import RevisionError

__all__ = ["Tree", "files_below", "matching", "may_contain", "missing_paths", "open_tree"]

_CHUNK_BYTES = 1 << 20
_FILE_MODES, _LINK_MODE, _SUBMODULE_MODE = ("100644", "100755"), "120000", "160000"
_MAX_LINKS = 8  # a chain of links may be a cycle
_MAX_TARGET = 4096  # bytes of a link: PATH_MAX of Linux
_TREE_ENTRY = re.compile(r"(?P<mode>\d+) \w+ (?P<id>[0-9a-f]+)\t(?P<path>.*)", re.DOTALL)
_ENTRY = re.compile(r"(?P<tag>\S) (?P<mode>\d+) (?P<id>[0-9a-f]+) \d\t(?P<path>.*)", re.DOTALL)


@dataclass(frozen=True)
class Tree:
    """The files of one commit."""

    repository: Repository
    commit: str
    blobs: Mapping[str, str]
    """Path from the top → object id, of files and of links to files of the tree."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Path from the top → what a link names, as a path from the top."""
    submodules: Mapping[str, Tree] = field(default_factory=dict)
    """Path from the top → the files of a submodule, which `blobs` has too."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Path from the top → commit of a submodule that is not on this machine."""

    def follow(self, path: str) -> str:
        """Return a path without the links in it, as far as they stay in the tree."""
        for _ in range(_MAX_LINKS):
            parts = path.split("/")
            heads = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
            link = next((head for head in heads if head in self.links), None)
            if link is None:
                break
            path = os.path.normpath(self.links[link] + path[len(link) :])
        return path

    def copy(self, paths: Iterable[str], folder: Path) -> None:
        """Write files below a folder, each at its path, unless it exists there."""
        wanted = [path for path in sorted(set(paths)) if not (folder / path).exists()]
        for prefix, tree in self.submodules.items():
            inner = [path for path in wanted if path.startswith(f"{prefix}/")]
            tree.copy((path.removeprefix(f"{prefix}/") for path in inner), folder / prefix)
            wanted = [path for path in wanted if path not in inner]
        if not wanted:
            return
        with _contents(self.repository, (self.blobs[path] for path in wanted)) as stream:
            for path in wanted:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                try:
                    with (folder / path).open("wb") as file:
                        _copy_blob(stream, file, path)
                except OSError as error:  # of a full disk, which names no file
                    error.filename = str(folder / path)
                    raise


def open_tree(repository: Repository, commit: str) -> Tree:
    """Return the files of a commit without reading their contents."""
    listing = repository.git("ls-tree", "-r", "-z", "--full-tree", commit)
    rows = [_TREE_ENTRY.fullmatch(row) for row in listing.split("\0") if row]
    inside = (row for row in rows if row is not None and _is_portable(row["path"]))
    found = {row["path"]: (row["mode"], row["id"]) for row in inside}
    blobs = {path: blob for path, (mode, blob) in found.items() if mode in _FILE_MODES}
    links = {path: blob for path, (mode, blob) in found.items() if mode == _LINK_MODE}
    tree = Tree(repository, commit, blobs, _link_targets(repository, links))
    ends = {path: tree.follow(path) for path in links}
    # A link that leads out of the tree is left out: on this machine it could name any file.
    own = {**blobs, **{path: blobs[end] for path, end in ends.items() if end in blobs}}
    commits = {path: one for path, (mode, one) in found.items() if mode == _SUBMODULE_MODE}
    opened = {path: _open_submodule(repository, path, one) for path, one in commits.items()}
    submodules = {path: one for path, one in opened.items() if one is not None}
    return replace(
        tree,
        blobs={
            f"{prefix}{name}": blob
            for prefix, names in {
                "": own,
                **{f"{path}/": one.blobs for path, one in submodules.items()},
            }.items()
            for name, blob in names.items()
        },
        submodules=submodules,
        missing={path: one for path, one in commits.items() if path not in submodules},
    )


def _open_submodule(repository: Repository, path: str, commit: str) -> Tree | None:
    """Return the files of a submodule, or None if its commit is not on this machine."""
    folder = repository.top / path
    if not os.path.lexists(folder / ".git"):
        return None
    own = repository_of(folder)
    has_commit = own.run("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0
    return open_tree(own, commit) if has_commit else None


def _is_portable(path: str) -> bool:
    """Return whether a path stays below the folder that it is extracted into.

    In a forged tree a name can be `..` or `/etc/x`, which git itself would not check out.
    """
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))


def _link_targets(repository: Repository, links: Mapping[str, str]) -> dict[str, str]:
    """Return what each link names, as a path from the top."""
    targets = {}
    with _contents(repository, links.values()) as stream:
        for path in links:
            # On disk if it is no path, but a file of any size that a forged tree calls a link.
            with tempfile.SpooledTemporaryFile(_MAX_TARGET) as content:
                _copy_blob(stream, content, path)
                content.seek(0)
                target = os.fsdecode(content.read(_MAX_TARGET))
            targets[path] = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return targets


def matching(tree: Tree, pattern: str) -> list[str]:
    """Return the files that a path from the top names: a file, or all below a folder or glob."""
    if pattern in tree.blobs:
        return [pattern]
    pattern = os.path.normpath(pattern)
    if pattern == ".":
        return list(tree.blobs)
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]  # most files are elsewhere
    is_match = path_matcher(pattern, below=True)
    return [path for path in tree.blobs if path.startswith(fixed) and is_match(path)]


def files_below(tree: Tree, folders: frozenset[str] | set[str]) -> list[str]:
    """Return the files below any of some folders; `.` is the top."""
    if "." in folders:
        return list(tree.blobs)
    above = {path: map(str, PurePosixPath(path).parents) for path in tree.blobs}
    return [path for path, parents in above.items() if not folders.isdisjoint(parents)]


@contextmanager
def _contents(repository: Repository, ids: Iterable[str]) -> Iterator[IO[bytes]]:
    """Yield the output of one process of git: each object after a line with its size."""
    ids = list(ids)
    if not ids:  # most trees have no links: saves a process
        yield io.BytesIO()
        return
    with tempfile.TemporaryFile() as wanted:
        # Not a pipe: git would block on a full output pipe while we block on its input pipe.
        wanted.write("".join(f"{one}\n" for one in ids).encode("ascii"))
        wanted.seek(0)
        with repository.start("cat-file", "--batch", stdin=wanted) as process:
            assert process.stdout is not None  # noqa: S101 (it is a pipe)
            yield process.stdout


def _copy_blob(stream: IO[bytes], file: IO[bytes], path: str) -> None:
    shown = escape_control(path)
    header = stream.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise RevisionError(f"git lacks the contents of {shown} ({FETCH_HINT})")
    left = int(header[2])
    while left:
        chunk = stream.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise RevisionError(f"git ended while sending {shown} (run `git fsck`)")
        file.write(chunk)
        left -= len(chunk)
    stream.read(1)  # the newline after each object


def missing_paths(top: Path) -> dict[str, str]:
    """Return what a working tree lacks and git does not count as deleted.

    The path of a submodule that is not checked out → its commit, and of each file that a sparse
    checkout leaves out → "".
    """
    # Most repositories have neither: saves a process.
    if not (top / ".gitmodules").is_file() and not _is_sparse(top / ".git"):
        return {}
    try:
        listing = repository_of(top).git("ls-files", "-t", "--stage", "-z")
    except RevisionError:  # a folder like any other
        return {}
    found = {}
    for row in filter(None, map(_ENTRY.fullmatch, listing.split("\0"))):
        if row["mode"] == "160000":
            if not os.path.lexists(top / row["path"] / ".git"):
                found[row["path"]] = row["id"]
        elif row["tag"] == "S" and not os.path.lexists(top / row["path"]):
            found[row["path"]] = ""
    return found


def _is_sparse(folder: Path) -> bool:
    if folder.is_file():  # of a worktree
        named = os.fsdecode(folder.read_bytes()).removeprefix("gitdir:").strip()
        folder = folder.parent / named
    return (folder / "info" / "sparse-checkout").is_file()


def may_contain(folder: str, pattern: str) -> bool:
    """Return whether a path, folder or glob from the top may name files below a folder."""
    steps = os.path.normpath(pattern).split("/")
    for part, step in zip(folder.split("/"), steps, strict=False):
        if step in ("**", "."):
            return True
        if step != part and not re.search(r"[*?\[]", step):
            return False
    return True

"""Read the files of a git revision from the object store: no checkout, no hook, no filter."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from registry.errors import RevisionError, did_you_mean

__all__ = ["Tree", "commit_of", "fork_point", "matching", "open_tree", "repository_of"]

# The remote's branches first: a local `main` is often behind, and would report others' changes.
_MAIN_NAMES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_CHUNK_BYTES = 1 << 20
_FILE_MODES, _LINK_MODE = ("100644", "100755"), "120000"
_MAX_LINKS = 8  # a chain of links may be a cycle
# A bracket matches any character: at worst, a file is extracted and then not read.
_WILDCARDS = {"*": "[^/]*", "?": "[^/]", "[": "[^/]"}
_TREE_ENTRY = re.compile(r"(?P<mode>\d+) \w+ (?P<id>[0-9a-f]+)\t(?P<path>.*)", re.DOTALL)


@dataclass(frozen=True)
class Tree:
    """The files of one commit."""

    repository: Path
    """Top folder of the working tree."""
    commit: str
    blobs: Mapping[str, str]
    """Path from the top → object id, of files and of links to files of the tree."""

    def copy(self, paths: Iterable[str], folder: Path) -> None:
        """Write files below a folder, each at its path, unless it exists there."""
        wanted = [path for path in sorted(set(paths)) if not (folder / path).exists()]
        if not wanted:
            return
        with tempfile.TemporaryFile() as ids:
            # Not a pipe: git would block on a full output pipe while we block on its input pipe.
            ids.write("".join(f"{self.blobs[path]}\n" for path in wanted).encode("ascii"))
            ids.seek(0)
            with _start(self.repository, "cat-file", "--batch", stdin=ids) as process:
                assert process.stdout is not None  # noqa: S101 (it is a pipe)
                for path in wanted:
                    _copy_blob(process.stdout, folder / path)


def repository_of(folder: Path) -> Path:
    """Return the top folder of the working tree that contains a folder.

    Raises:
        RevisionError: git is not installed, or there is no repository.
    """
    return Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))


def commit_of(repository: Path, revision: str) -> str:
    """Return the full id of a commit.

    Raises:
        RevisionError: no commit has that name; the message suggests the closest branch or tag.
    """
    if revision.startswith("-") or not revision:
        raise RevisionError(f"'{revision}' is not a revision: it starts with `-` or is empty")
    if ".." in revision:
        raise RevisionError(f"'{revision}' is a range; pass its ends as two arguments: BASE HEAD")
    name = f"{revision}^{{commit}}"  # follows an annotated tag to its commit
    done = _run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    if done.returncode == 0:
        return done.stdout.split()[-1]
    hint = did_you_mean(revision, _ref_names(repository)) or "try `git fetch`"
    raise RevisionError(f"no folder with a datasets.yaml and no revision '{revision}' ({hint})")


def fork_point(repository: Path) -> str:
    """Return the commit where the current one left the main branch.

    Raises:
        RevisionError: there is no main branch, or no commit in common.
    """
    names = set(_ref_names(repository))
    main = next((name for name in _MAIN_NAMES if name in names), None)
    if main is None:
        tried = ", ".join(_MAIN_NAMES)
        raise RevisionError(f"no main branch (tried {tried}); pass the base: diff BASE")
    done = _run(repository, "merge-base", "HEAD", main)
    if done.returncode != 0:
        hint = "in a shallow clone run `git fetch --unshallow`, or pass the base: diff BASE"
        raise RevisionError(f"HEAD and {main} have no commit in common ({hint})")
    return done.stdout.strip()


def open_tree(repository: Path, commit: str) -> Tree:
    """Return the files of a commit without reading their contents."""
    listing = _git(repository, "ls-tree", "-r", "-z", "--full-tree", commit)
    rows = [_TREE_ENTRY.fullmatch(row) for row in listing.split("\0") if row]
    # A forged tree can contain `..`, which git itself would refuse to check out.
    inside = (row for row in rows if row is not None and ".." not in row["path"].split("/"))
    found = {row["path"]: (row["mode"], row["id"]) for row in inside}
    blobs = {path: blob for path, (mode, blob) in found.items() if mode in _FILE_MODES}
    targets = {
        path: os.path.normpath(
            os.path.join(os.path.dirname(path), _git(repository, "cat-file", "blob", blob))
        )
        for path, (mode, blob) in found.items()
        if mode == _LINK_MODE
    }
    # A link that leads out of the tree is left out: on this machine it could name any file.
    links = {}
    for path in targets:
        end = path
        for _ in range(_MAX_LINKS):
            end = targets.get(end, end)
        if end in blobs:
            links[path] = blobs[end]
    return Tree(repository, commit, {**blobs, **links})


def matching(tree: Tree, pattern: str) -> list[str]:
    """Return the files that a path from the top names: a file, or all below a folder or glob."""
    if pattern in tree.blobs:
        return [pattern]
    pattern = os.path.normpath(pattern)
    if pattern == ".":
        return list(tree.blobs)
    steps = (
        "(?:[^/]+/)*"
        if step == "**"
        else "".join(
            _WILDCARDS[part[0]] if part[:1] in _WILDCARDS else re.escape(part)
            for part in re.split(r"(\*+|\?|\[[^\]]*\])", step)
        )
        + "/"
        for step in pattern.split("/")
    )
    expression = re.compile("".join(steps).removesuffix("/") + "(?:/.*)?", re.DOTALL)
    return [path for path in tree.blobs if expression.fullmatch(path)]


def _copy_blob(stream: IO[bytes], target: Path) -> None:
    header = stream.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise RevisionError(f"git lacks the contents of {target.name} (run `git fsck`)")
    target.parent.mkdir(parents=True, exist_ok=True)
    left = int(header[2])
    with target.open("wb") as file:
        while left:
            chunk = stream.read(min(left, _CHUNK_BYTES))
            if not chunk:
                raise RevisionError(f"git ended while sending {target.name} (run `git fsck`)")
            file.write(chunk)
            left -= len(chunk)
    stream.read(1)  # the newline after each object


def _ref_names(repository: Path) -> list[str]:
    """Return the names of branches and tags: `main`, `origin/main`, `v1`."""
    prefixes = ("refs/heads", "refs/remotes", "refs/tags")
    text = _git(repository, "for-each-ref", "--format=%(refname)", *prefixes)
    return [name.split("/", 2)[2] for name in text.splitlines()]


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        message = " ".join(done.stderr.split()).removeprefix("fatal: ")
        message = message.partition(" (or any")[0] or f"git {arguments[0]} failed"
        raise RevisionError(f"{folder}: {message} (folders can be compared without git)")
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = _start(folder, *arguments)
    out, err = process.communicate()
    decoded = [os.fsdecode(data) for data in (out, err)]
    return subprocess.CompletedProcess(arguments, process.returncode, *decoded)


def _start(
    folder: Path, *arguments: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    # In a hook git sets GIT_DIR; relative to the hook's folder it would be wrong in this one.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "GIT_DIR" or os.path.isabs(value)
    }
    # No prompt, no pager, no fetching of what a partial clone lacks, no optional locks, English.
    quiet = {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    command: Sequence[str] = ("git", "--no-pager", "-c", "core.quotePath=false", *arguments)
    try:
        return subprocess.Popen(  # noqa: S603 (a list of arguments, never a shell)
            command,
            cwd=folder,
            env={**inherited, **quiet},
            stdin=stdin,
            stdout=subprocess.PIPE,
            # With objects on stdout nobody reads stderr, which could fill up and block git.
            stderr=subprocess.PIPE if stdin is subprocess.DEVNULL else subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise RevisionError(f"{folder}: no such folder") from error
        message = "git is not installed, so revisions can't be read; pass two folders instead"
        raise RevisionError(message) from error

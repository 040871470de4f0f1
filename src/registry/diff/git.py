"""Files of a git revision, read from the object store: no checkout, no hook, no filter."""

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

_MAIN_NAMES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_CHUNK = 1 << 20
_FILE, _LINK = ("100644", "100755"), "120000"
_MOST_LINKS = 8


@dataclass(frozen=True)
class Tree:
    """The files of one commit."""

    repository: Path
    """Top folder of the work tree."""
    commit: str
    blobs: Mapping[str, str]
    """Path from the top → object id, of files; links are followed within the tree."""

    def copy(self, paths: Iterable[str], folder: Path) -> None:
        """Write files to the same places below a folder, where they do not lie yet."""
        wanted = [path for path in sorted(set(paths)) if not (folder / path).exists()]
        if not wanted:
            return
        with tempfile.TemporaryFile() as ids:
            # A file, as a pipe could fill up while `git` waits for its output to be read.
            ids.write("".join(f"{self.blobs[path]}\n" for path in wanted).encode("ascii"))
            ids.seek(0)
            with _start(self.repository, "cat-file", "--batch", given=ids) as process:
                assert process.stdout is not None  # noqa: S101 (it is a pipe)
                for path in wanted:
                    _copy_blob(process.stdout, folder / path)


def repository_of(folder: Path) -> Path:
    """Return the top folder of the work tree that a folder belongs to.

    Raises:
        RevisionError: git is not installed, or there is no repository.
    """
    return Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))


def commit_of(repository: Path, revision: str) -> str:
    """Return the full id of a commit.

    Raises:
        RevisionError: no commit has that name; the message has the nearest branch.
    """
    if revision.startswith("-") or not revision:
        raise RevisionError(f"'{revision}' is no revision: it begins with `-`, or is empty")
    if ".." in revision:
        raise RevisionError(f"'{revision}' is a range; give its ends as two arguments: BASE HEAD")
    name = f"{revision}^{{commit}}"
    done = _run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    if done.returncode == 0:
        return done.stdout.split()[-1]
    hint = did_you_mean(revision, _names(repository)) or "`git fetch` may bring it"
    raise RevisionError(f"no folder with a datasets.yaml and no revision '{revision}' ({hint})")


def fork_point(repository: Path) -> str:
    """Return the commit where the current one left the main branch.

    Raises:
        RevisionError: there is no main branch, or nothing that both have.
    """
    names = set(_names(repository))
    main = next((name for name in _MAIN_NAMES if name in names), None)
    if main is None:
        tried = ", ".join(_MAIN_NAMES)
        raise RevisionError(f"no main branch (tried {tried}); name the base: diff BASE")
    done = _run(repository, "merge-base", "HEAD", main)
    if done.returncode != 0:
        hint = "a shallow clone lacks the history: git fetch --unshallow; or name the base"
        raise RevisionError(f"HEAD and {main} have no commit in common ({hint})")
    return done.stdout.strip()


def open_tree(repository: Path, commit: str) -> Tree:
    """Return the files of a commit; none of their bytes is read."""
    listing = _git(repository, "ls-tree", "-r", "-z", "--full-tree", commit)
    rows = [_LISTED.fullmatch(row) for row in listing.split("\0") if row]
    # A tree can be forged to hold `..`, which git itself would refuse to check out.
    inside = (row for row in rows if row is not None and ".." not in row["path"].split("/"))
    found = {row["path"]: (row["mode"], row["id"]) for row in inside}
    blobs = {path: blob for path, (mode, blob) in found.items() if mode in _FILE}
    links = {path: blob for path, (mode, blob) in found.items() if mode == _LINK}
    return Tree(repository, commit, {**blobs, **_followed(repository, links, blobs)})


_LISTED = re.compile(r"(?P<mode>\d+) \w+ (?P<id>[0-9a-f]+)\t(?P<path>.*)", re.DOTALL)


def _followed(
    repository: Path, links: Mapping[str, str], blobs: Mapping[str, str]
) -> dict[str, str]:
    """Return the links that lead to files of the tree; a link out of it is no file here."""
    targets = {
        path: os.path.normpath(
            os.path.join(os.path.dirname(path), _git(repository, "cat-file", "blob", blob))
        )
        for path, blob in links.items()
    }
    found = {}
    for path in links:
        end = path
        for _ in range(_MOST_LINKS):
            end = targets.get(end, end)
        if end in blobs:
            found[path] = blobs[end]
    return found


def matching(tree: Tree, pattern: str) -> list[str]:
    """Return the files that a path from the top stands for: a file, a folder's, or a glob's."""
    if pattern in tree.blobs:
        return [pattern]
    expression = re.compile(_expression(os.path.normpath(pattern)), re.DOTALL)
    return [path for path in tree.blobs if expression.fullmatch(path)]


def _expression(pattern: str) -> str:
    """Return the expression of all that a glob finds, and all below what it finds."""
    if pattern == ".":
        return ".*"
    steps = ["(?:[^/]+/)*" if step == "**" else _step(step) + "/" for step in pattern.split("/")]
    return "".join(steps).removesuffix("/") + "(?:/.*)?"


def _step(step: str) -> str:
    """Return the expression of one name; what is between brackets may be anything."""
    parts = re.split(r"(\*+|\?|\[[^\]]*\])", step)
    special = {"*": "[^/]*", "?": "[^/]", "[": "[^/]"}
    return "".join(special[part[0]] if part[:1] in special else re.escape(part) for part in parts)


def _copy_blob(stream: IO[bytes], target: Path) -> None:
    header = stream.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        raise RevisionError(f"git has no bytes of {target.name} (git fsck tells more)")
    target.parent.mkdir(parents=True, exist_ok=True)
    left = int(header[2])
    with target.open("wb") as file:
        while left:
            chunk = stream.read(min(left, _CHUNK))
            if not chunk:
                raise RevisionError(f"git ended within {target.name} (git fsck tells more)")
            file.write(chunk)
            left -= len(chunk)
    stream.read(1)


def _names(repository: Path) -> list[str]:
    """Return the names of branches and tags, those of remotes with the remote."""
    kinds = ("refs/heads", "refs/remotes", "refs/tags")
    text = _git(repository, "for-each-ref", "--format=%(refname)", *kinds)
    return [name.split("/", 2)[2] for name in text.splitlines()]


def _git(folder: Path, *arguments: str) -> str:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"git {arguments[0]} failed"
        raise RevisionError(f"{folder}: {said} (folders can be compared without git)")
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = _start(folder, *arguments)
    out, err = process.communicate()
    decoded = [os.fsdecode(data) for data in (out, err)]
    return subprocess.CompletedProcess(arguments, process.returncode, *decoded)


def _start(
    folder: Path, *arguments: str, given: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
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
            env={**_environment(), **quiet},
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if given is subprocess.DEVNULL else subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        if not folder.is_dir():
            raise RevisionError(f"{folder}: no such folder") from error
        message = "git is not installed, so no revision can be read; give two folders instead"
        raise RevisionError(message) from error


def _environment() -> dict[str, str]:
    """Return the environment; of a hook's only what is true in any folder."""
    return {
        name: value
        for name, value in os.environ.items()
        if name != "GIT_DIR" or os.path.isabs(value)
    }

"""Run git on a repository that may be hostile: no hook, no filter, no request, no substitute."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from registry.base.escape import escape_control
from registry.errors import RevisionError

__all__ = ["FETCH_HINT", "Repository", "repository_of"]

FETCH_HINT = "fetch it, as a partial clone lacks files, or run `git fsck`"
"""What to do about an object that git lacks."""
_NO_GIT_HINT = "folders can be compared without git"
_LACKS = re.compile(r"promisor remote|unable to read (tree|sha1)|not a tree object")

_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    # A folder of a commit can look like a bare repository. Only obeyed from here and the user's
    # own settings, never from a repository's.
    "safe.bareRepository": "explicit",
    # Settings that name a program, which a repository's own settings may have.
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    "core.quotePath": "false",
}
_OPTIONS = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
_ENVIRONMENT = {
    # Objects are what their ids say: refs/replace and grafts substitute others.
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    # No prompt, no pager, no fetching of what a partial clone lacks, no optional locks, English.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # git before 2.44 does not know GIT_NO_LAZY_FETCH. This wins over `protocol.NAME.allow`.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
    # Pathspecs mean what they say: some tools, such as Magit, start others with one of these.
    **dict.fromkeys(
        (f"GIT_{kind}_PATHSPECS" for kind in ("LITERAL", "GLOB", "NOGLOB", "ICASE")), "0"
    ),
}
# What `git rev-parse --local-env-vars` lists, without the settings of `git -c`: they describe the
# repository of whoever started us, such as a hook, and say where to find its objects.
_LOCAL = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
}


@dataclass(frozen=True)
class Repository:
    """A repository, found once: no later call of git looks for one."""

    top: Path
    """Top folder of the working tree."""
    git_dir: Path

    def git(self, *arguments: str) -> str:
        """Run git; return what it prints.

        Raises:
            RevisionError: git is not installed, or fails.
        """
        return _checked(self.top, self.run(*arguments), arguments[0])

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git; return what it prints and its exit code."""
        return _run(self.top, *self._places, *arguments)

    def status(self, *paths: str) -> str:
        """Return what `git status` says of paths by their bytes: no filter of a setting runs.

        Raises:
            RevisionError: git fails, or a filter can't be turned off.
        """
        found = self.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.").stdout
        names = found.split("\0")[:-1]
        if any("=" in name for name in names):
            raise RevisionError(f"{self.top}: a filter with `=` in its name")
        off = [part for name in names for part in ("-c", f"{name}=")]
        # A submodule has settings of its own.
        how = ("--porcelain", "--ignore-submodules=dirty")
        return _checked(self.top, self.run(*off, "status", *how, "--", *paths), "status")

    def start(self, *arguments: str, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start git with a pipe for its output."""
        return _start(self.top, *self._places, *arguments, stdin=stdin)

    @property
    def _places(self) -> tuple[str, str]:
        return f"--git-dir={self.git_dir}", f"--work-tree={self.top}"


def repository_of(folder: Path) -> Repository:
    """Return the repository whose working tree contains a folder.

    Raises:
        RevisionError: git is not installed, or there is no repository.
    """
    # A commit can't contain `.git`, so the search passes over whatever else it contains.
    above = (one for one in (folder, *folder.parents) if os.path.lexists(one / ".git"))
    found = next(above, None)
    start, places = (folder, _given_places()) if found is None else (found, ())

    def say(*options: str) -> str:
        done = _run(start, *places, "rev-parse", *options)
        return _checked(folder, done, "rev-parse").removesuffix("\n")

    # The first line is empty at the top of a working tree; else it may be of a path with any text.
    up, _, git_dir = say("--show-cdup", "--absolute-git-dir").partition("\n")
    if not up and git_dir:
        # Not the resolved path that git knows: names of files are given relative to this folder.
        return Repository(start, Path(git_dir))
    return Repository(Path(say("--show-toplevel")), Path(say("--absolute-git-dir")))


def _given_places() -> tuple[str, ...]:
    """Return where the user says that a repository is whose working tree has no `.git`."""
    git_dir, work_tree = (os.environ.get(f"GIT_{name}", "") for name in ("DIR", "WORK_TREE"))
    if os.path.isabs(git_dir) and os.path.isabs(work_tree):
        return f"--git-dir={git_dir}", f"--work-tree={work_tree}"
    return ()


def _checked(folder: Path, done: subprocess.CompletedProcess[str], verb: str) -> str:
    if done.returncode != 0:
        lines = [line for line in done.stderr.split("\n") if not line.startswith("warning: ")]
        message = " ".join(" ".join(lines).split()).removeprefix("fatal: ")
        message = escape_control(message.partition(" (or any")[0]) or f"git {verb} failed"
        hint = FETCH_HINT if _LACKS.search(message) else _NO_GIT_HINT
        raise RevisionError(f"{folder}: {message} ({hint})")
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = _start(folder, *arguments)
    out, err = process.communicate()
    decoded = [os.fsdecode(data) for data in (out, err)]
    return subprocess.CompletedProcess(arguments, process.returncode, *decoded)


def _start(
    folder: Path, *arguments: str, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    inherited = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    if not folder.is_dir():
        raise RevisionError(f"{folder}: no such folder")
    return subprocess.Popen(  # nosec B603 # noqa: S603 (a list of arguments, never a shell)
        (_program(), "--no-pager", *_OPTIONS, *arguments),
        cwd=folder,
        env={**inherited, **_ENVIRONMENT},
        stdin=stdin,
        stdout=subprocess.PIPE,
        # With objects on stdout nobody reads stderr, which could fill up and block git.
        stderr=subprocess.PIPE if stdin is subprocess.DEVNULL else subprocess.DEVNULL,
    )


def _program() -> str:
    # Where PATH has `.` or an empty entry, a file `git` of the change would be run.
    folders = filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))
    found = shutil.which("git", path=os.pathsep.join(folders))
    if found is None:
        raise RevisionError(f"git is not installed ({_NO_GIT_HINT})")
    return found

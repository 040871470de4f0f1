"""Find the files of a snapshot: in a folder, or extracted from a git revision that people name.

The rules that a change is judged by are those of an index too: of the base, not of the change.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import structs

from registry.base.escape import escape_control
from registry.base.git import Repository, repository_of
from registry.base.locations import Location
from registry.base.process_state import cached_property
from registry.catalog.catalog import valid_index
from registry.diff.git_tree import Tree, matching, missing_paths, open_tree
from registry.errors import ManifestError, Problem, RevisionError, did_you_mean
from registry.settings import INDEX_NAME, lock_file_of
from registry.yamldoc.reader import read_yaml

__all__ = [
    "Checkout",
    "Rules",
    "checkout_of",
    "commit_checkout",
    "commit_of",
    "folder_checkout",
    "fork_point",
    "no_rules",
    "open_rules",
    "rules_in",
]

# The remote's branches first: a local `main` is often behind, and would report others' changes.
# Full names, as a branch of a stranger may be called `origin/main`.
_MAIN_BRANCHES = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)


@dataclass(frozen=True)
class Checkout:
    """Where the files of a snapshot are on this machine."""

    label: str
    index: Path
    top: Path
    """What file names are reported relative to: the repository's folder, or the catalog's."""
    tree: Tree | None = None
    """Where further files are extracted from."""
    mirror: Path | None = None
    """A temporary folder that stands for the root of the file system; None if it is the root."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """What is not on this machine, as paths from `top`: a submodule → its commit, a file → \"\"."""

    @property
    def folder(self) -> Path:
        """The catalog's folder."""
        return self.index.parent

    @cached_property
    def listed(self) -> frozenset[str]:
        """Its files and links, as paths from `top`; in a working tree those that git may commit."""
        if self.tree is not None:
            return frozenset({*self.tree.blobs, *self.tree.links})
        try:
            listing = repository_of(self.top).git(
                "ls-files", "-z", "--cached", "--others", "--exclude-standard"
            )
        except RevisionError:  # a folder like any other
            return frozenset(_files_below(self.top))
        # The first list also has what was deleted since it was added.
        names = filter(None, listing.split("\0"))
        return frozenset(name for name in names if os.path.lexists(self.top / name))

    @cached_property
    def paths(self) -> frozenset[str]:
        """`listed` as paths from the catalog's folder; of a submodule, each of its files."""
        if self._inner == ".":
            return self.listed
        return frozenset(os.path.relpath(f"/{name}", f"/{self._inner}") for name in self.listed)

    @cached_property
    def _inner(self) -> str:
        return os.path.relpath(self.folder, self.top)

    def from_top(self, path: str) -> str:
        """Return the path from `top` of a path from the catalog's folder."""
        return os.path.normpath(os.path.join(self._inner, path))

    def extract(self, names: Iterable[str]) -> None:
        """Make files of a revision exist below `top`."""
        if self.tree is not None:
            self.tree.copy([name for name in names if name in self.tree.blobs], self.top)

    def at(self, path: str) -> Checkout:
        """Return the checkout of another index in it, at a path from the catalog's folder."""
        index = Path(os.path.normpath(self.folder / path))
        if self.tree is not None:
            name = os.path.relpath(index, self.top)
            self.extract([name])
            self.extract(_catalog_files(self.tree, name, index))
        return replace(self, index=index)

    def file_name(self, name: str) -> str:
        """Return the name of a file relative to `top`, if it is below it."""
        path = os.path.abspath(name) if name else ""
        inside = path.startswith(f"{self.top}{os.sep}")
        return os.path.relpath(path, self.top) if inside else self.strip_folders(name)

    def strip_folders(self, message: str) -> str:
        """Return a message with the file names in it relative to `top`."""
        return self.strip_mirror(message.replace(f"{self.top}{os.sep}", ""))

    def strip_mirror(self, message: str) -> str:
        """Return a message with the file names in it as they are without the mirror."""
        # The parent, too: `..` may lead out of the mirror, but not out of a root.
        for folder in (self.mirror, self.mirror.parent) if self.mirror else ():
            message = message.replace(str(folder), "")
        return message

    def portable_problem(self, problem: Problem) -> Problem:
        """Return a problem with all file names in it relative to `top`."""
        return structs.replace(
            problem,
            file=self.file_name(problem.file),
            message=self.strip_folders(problem.message),
            hint=self.strip_folders(problem.hint),
        )

    def relative(self, value: Any) -> Any:
        """Return a value with the paths in it relative to the catalog's folder."""
        match value:
            case str() if Location(value).file != value:
                return str(Location(value).with_file(self.relative))
            case str() if value == str(self.top) or value.startswith(f"{self.top}{os.sep}"):
                return os.path.relpath(value, self.folder)
            case str() if self.mirror and value.startswith(f"{self.mirror.parent}{os.sep}"):
                return self.strip_mirror(value)
            case list():
                return [self.relative(item) for item in value]
            case dict():
                return {key: self.relative(item) for key, item in value.items()}
            case _:
                return value


def checkout_of(argument: str | None, index: Path, temporary: Path) -> Checkout:
    """Return the checkout that a command-line argument names.

    Args:
        argument: A folder with an index, an index, or a revision; None is the fork point.
        index: The catalog in the working tree, whose revisions are meant.
        temporary: A folder to create for the files of a revision.

    Raises:
        RevisionError: the argument is none of these, or git fails.
    """
    if argument is not None and (folder := _folder_of(argument, index)):
        return folder_checkout(folder, argument)
    # Not `resolve`: the change may have made the index a link to one with other rules.
    index = Path(os.path.abspath(index))
    repository = repository_of(index.parent)
    commit = fork_point(repository) if argument is None else commit_of(repository, argument)
    return commit_checkout(repository, commit, index, temporary, label=argument or "merge base")


def commit_checkout(
    repository: Repository, commit: str, index: Path, temporary: Path, *, label: str
) -> Checkout:
    """Return the checkout of a commit by its whole id; arguments and errors as `checkout_of`."""
    tree = open_tree(repository, commit)
    written = os.path.relpath(index, repository.top)
    if written.startswith("../"):
        message = f"{index} is not below {repository.top}, the folder of its repository"
        raise RevisionError(f"{message} (folders can be compared without git)")
    # Not of the index itself: where that is a link, paths are relative to the folder of the link.
    parent, own = os.path.split(written)
    name = os.path.join(tree.follow(parent), own)
    label = f"{label} ({commit[:7]})"
    # Below the same folders as in the working tree, so that a path out of the repository stays
    # recognizable.
    top = Path(f"{temporary}{repository.top}")
    top.mkdir(parents=True)
    if name not in tree.blobs:  # the commit precedes the catalog, so all datasets are new
        (top / written).parent.mkdir(parents=True, exist_ok=True)
        (top / written).write_text("version: 1\n", encoding="utf-8")
        label = f"{label}, without {written}"
        return Checkout(label, top / written, top, mirror=temporary)
    tree.copy([name], top)
    tree.copy(_catalog_files(tree, name, top / name), top)
    return Checkout(label, top / name, top, tree, temporary, tree.missing)


def folder_checkout(index: Path, label: str) -> Checkout:
    """Return a folder in its present state as a checkout."""
    index = Path(os.path.abspath(index))
    repositories = (folder for folder in index.parents if os.path.lexists(folder / ".git"))
    top = next(repositories, index.parent)
    return Checkout(label, index, top, missing=missing_paths(top))


def _files_below(top: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        # What no repository has. Other hidden folders may have files that samples name.
        if "pyvenv.cfg" in names and folder != str(top):
            folders[:] = []
            continue
        folders[:] = [one for one in folders if one not in ("__pycache__", ".git")]
        yield from (os.path.relpath(os.path.join(folder, name), top) for name in names)


def _folder_of(argument: str, index: Path) -> Path | None:
    """Return the index in a folder that an argument names, or None if it can only be a revision."""
    path = Path(argument)
    own = path / INDEX_NAME if path.is_dir() else path
    # No revision looks like these; git would take `../x` for a range.
    is_path = argument in (".", "..") or argument.startswith(("./", "../", "/"))
    # An empty argument, such as a variable that is not set, is not the current folder.
    if argument and own.name.endswith((".yaml", ".yml")) and own.is_file():
        if not is_path and _is_revision(argument, index):
            # The change must not choose its base by adding a folder that is called `main`.
            folder = quote(f"./{argument}")
            hint = f"`{folder}` is the folder; a full name as refs/heads/… is the branch"
            raise RevisionError(f"'{argument}' is both a folder and a revision ({hint})")
        return own
    if is_path:
        raise RevisionError(
            f"'{argument}' is not a folder with a {INDEX_NAME} (name that folder, or a revision)"
        )
    return None


def _is_revision(name: str, index: Path) -> bool:
    try:
        commit_of(repository_of(Path(os.path.abspath(index)).parent), name)
    except RevisionError:
        return False
    return True


def _catalog_files(tree: Tree, name: str, index: Path) -> Iterator[str]:
    """Yield the files of a tree that belong to the catalog: its lockfile and manifests."""
    lock = lock_file_of(Path(name)).as_posix()
    if lock in tree.blobs:
        yield lock
    try:
        value = read_yaml(index, is_index=True).value
    except ManifestError:  # reported when the catalog is opened
        return
    included = value.get("include") if isinstance(value, dict) else None
    for pattern in included if isinstance(included, list) else ():
        if isinstance(pattern, str) and not pattern.startswith(("package:", "/")):
            yield from matching(tree, os.path.join(os.path.dirname(name), pattern))


def commit_of(repository: Repository, revision: str) -> str:
    """Return the full id of a commit.

    Raises:
        RevisionError: no commit has that name; the message suggests the closest branch or tag.
    """
    shown = escape_control(revision)
    if revision.startswith("-") or not revision:
        raise RevisionError(f"'{shown}' is not a revision: it starts with `-` or is empty")
    if ".." in revision:
        raise RevisionError(f"'{shown}' is a range; pass its ends as two arguments: BASE HEAD")
    name = f"{revision}^{{commit}}"  # follows an annotated tag to its commit
    done = repository.run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
    if done.returncode == 0:
        return done.stdout.split()[-1]
    names = [_short(ref) for ref in _refs(repository)]
    hint = escape_control(did_you_mean(revision, names)) or "try `git fetch`"
    raise RevisionError(f"no folder with a datasets.yaml and no revision '{shown}' ({hint})")


def fork_point(repository: Repository) -> str:
    """Return the commit where the current one left the main branch.

    Raises:
        RevisionError: there is no main branch, or no commit in common.
    """
    refs = set(_refs(repository))
    main = next((ref for ref in _MAIN_BRANCHES if ref in refs), None)
    if main is None:
        tried = ", ".join(map(_short, _MAIN_BRANCHES))
        raise RevisionError(f"no main branch (tried {tried}); pass the base: diff BASE")
    done = repository.run("merge-base", "HEAD", main)
    if done.returncode != 0:
        hint = "in a shallow clone run `git fetch --unshallow`, or pass the base: diff BASE"
        raise RevisionError(f"HEAD and {_short(main)} have no commit in common ({hint})")
    return done.stdout.strip()


def _refs(repository: Repository) -> list[str]:
    """Return the full names of branches and tags."""
    prefixes = ("refs/heads", "refs/remotes", "refs/tags")
    # Not `splitlines`: a name may contain U+2028, which is an end of a line to Python only.
    return repository.git("for-each-ref", "--format=%(refname)", *prefixes).split("\n")[:-1]


def _short(ref: str) -> str:
    """Return a name as people write it: `main`, `origin/main`, `v1`."""
    return ref.split("/", 2)[2]


# --- the rules of the base ---


@dataclass(frozen=True)
class Rules:
    """The index that decides what is permitted and reported."""

    index: Path
    checkout: Checkout
    """The base, of which it usually is the index."""
    is_valid: bool = True
    """Whether the base has a valid index; otherwise it permits nothing, and the defaults count."""


def rules_in(checkout: Checkout, temporary: Path) -> Rules:
    """Return the rules of a checkout; `temporary` is a folder for those of an invalid index."""
    try:
        valid_index(checkout.index)
    except ManifestError:
        return no_rules(checkout, temporary)
    return Rules(checkout.index, checkout)


def no_rules(checkout: Checkout, temporary: Path) -> Rules:
    """Return the rules that permit nothing, written to a temporary folder."""
    index = temporary / "nothing.yaml"
    index.write_text("version: 1\n", encoding="utf-8")
    return Rules(index, checkout, is_valid=False)


@contextmanager
def open_rules(base: str, index: Path) -> Iterator[Rules]:
    """Open the rules of a base; they exist until the context exits.

    Args:
        base: A folder with a `datasets.yaml`, such a file, or a git revision.
        index: The catalog whose revisions are meant.

    Raises:
        RevisionError: the base can't be read.
    """
    with TemporaryDirectory(prefix="registry-rules-") as temporary:
        folder = Path(temporary).resolve()
        yield rules_in(checkout_of(base, index, folder / "base"), folder)

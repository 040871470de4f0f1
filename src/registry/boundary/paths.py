"""Match globs, list the files that one names, and check folders: nothing outside the boundary."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from glob import has_magic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from registry.base.local_files import NOT_A_FILE
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary, Limits
from registry.errors import ReachError, SourceError

if TYPE_CHECKING:
    import yaml

__all__ = [
    "CARDS",
    "Entries",
    "GlobLimitError",
    "allow_location",
    "check_folder",
    "fixed_folder",
    "leaves_folder",
    "list_files",
    "match_pieces",
    "name_matcher",
    "path_matcher",
    "search",
    "shallow_loader",
]


# A card is a README that starts with YAML, or a file of YAML alone. The first expression is that of
# `huggingface_hub.repocard`: a different one could end the YAML elsewhere.
CARDS = {
    "README.md": r"\s*---(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)",
    ".huggingface.yaml": r"(.*)",
}
"""Name of a card → expression whose group is its YAML."""
_LONGEST_CARD = 1 << 20
_DEEPEST_CARD = 64


def allow_location(boundary: Boundary, location: Location) -> Boundary:
    """Return the boundary with a location that the user named in a call.

    Every file that a glob matches now is allowed, even where it is a link.
    """
    if not location.is_local:
        host = urlsplit(location.file).netloc.rpartition("@")[2]
        return replace(boundary, hosts=boundary.hosts | {host}, named=location)
    if location.is_package:
        return boundary
    path = location.local_path()
    below = boundary.allowing([fixed_folder(path)])
    if fixed_folder(path) == path and not os.path.isdir(
        path
    ):  # one file, of which this is the real path
        return below
    links = (file for file in list_files(path, UNBOUNDED) if not below.contains(file))
    return below.allowing(links)


def list_files(path: str, boundary: Boundary) -> list[str]:
    """Return the file at a path, all files in a folder, or those that a glob matches, sorted.

    Files and folders directly in a folder whose names start with a dot are skipped, as by a glob:
    `.git` and `.DS_Store` change even if the data does not.

    Raises:
        ReachError: the path, or a link that it leads to, is outside the boundary.
        SourceError: there are more files and folders than its limits allow to look at.
    """
    if fixed_folder(path) != path:
        entries = Entries.of_data(path, boundary.limits)
        found = sorted(set(search(path, boundary.check_path, entries)))
    else:
        boundary.check_path(path)
        found = _files_below(path, boundary.limits) if os.path.isdir(path) else [path]
    for file in found:
        if os.path.islink(file):
            boundary.check_path(file)
    return [file for file in found if os.path.isfile(file)]


def fixed_folder(path: str) -> str:
    """Return the part of a glob before the first component with a wildcard, else the path.

    A file or folder may have a name that looks like a glob, such as the catalog's own folder.
    """
    parts = path.split(os.sep)
    for number, part in enumerate(parts):
        if has_magic(part) and not os.path.lexists(os.sep.join(parts[: number + 1])):
            return os.sep.join(parts[:number]) or os.sep
    return path


@cache
def name_matcher(step: str) -> Callable[[str], object]:
    """Return the test of a name; only a step that starts with a dot matches hidden names."""
    not_hidden = "" if step.startswith(".") else r"(?!\.)"
    return re.compile(not_hidden + fnmatch.translate(step)).match


def path_matcher(pattern: str, *, below: bool = False) -> Callable[[str], bool]:
    """Return the test of a member's name; `**` is any number of folders.

    With `below`, what is in a folder that matches, does so too.

    One regular expression for all of the glob would backtrack without end on some names.
    """
    parts = pattern.split("/")
    if parts[-1] == "**":
        parts.append("*")
    tests = [None if part == "**" else re.compile(fnmatch.translate(part)).match for part in parts]
    tests += [None] * below
    return lambda name: match_pieces(tests, name.split("/"))


def match_pieces(tests: Iterable[Callable[[str], object] | None], pieces: Sequence[str]) -> bool:
    """Return whether tests accept the pieces of a path, one each; None is any number of them."""
    # A set of positions instead of backtracking, which a hostile pattern would make exponential.
    reached = {0}
    for test in tests:
        if test is None:
            reached = set(range(min(reached), len(pieces) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(pieces) and test(pieces[at])}
        if not reached:
            return False
    return len(pieces) in reached


class GlobLimitError(Exception):
    """A glob takes too much work; the message says which limit it exceeds."""


class Entries:
    """Counts the entries of folders that are listed."""

    def __init__(self, most: int, error: Exception | None = None) -> None:
        """Start with none; `most` are allowed, and more are the error."""
        self._most, self._count = most, 0
        self._error = error or GlobLimitError(f"lists more than {most:,} files and folders")

    @classmethod
    def of_data(cls, path: str, limits: Limits) -> Entries:
        """Start with none, for what a path of data names."""
        message = limits.message("files", "to list it takes", "files and folders")
        return cls(limits.files, SourceError(f"{path}: {message}"))

    def add(self, count: int) -> None:
        """Count entries; raise the error for too many."""
        self._count += count
        if self._count > self._most:
            raise self._error


def search(pattern: str, check: Callable[[str], str], entries: Entries) -> Iterator[str]:
    """Yield what an absolute glob matches, some of it twice; as `glob.glob`, but bounded.

    A link to a folder is followed unless it leads to a folder that contains it.

    Args:
        pattern: The glob.
        check: Returns the real path of a folder that may be listed, "" for any other one.
        entries: Counts those of the folders.
    """
    folder = fixed_folder(pattern)
    if folder == pattern:
        yield from [pattern] if os.path.lexists(pattern) else ()
        return
    parts = pattern[len(folder) :].lstrip(os.sep).split(os.sep)
    # `**/**` means the same as `**`, and would be searched once for each way to split a path.
    steps = [
        part
        for part, next_one in zip(parts, [*parts[1:], ""], strict=True)
        if part != "**" or next_one != "**"
    ]
    searched = set[tuple[str, int]]()

    def below(folder: str, steps: Sequence[str], above: tuple[str, ...]) -> Iterator[str]:
        # With several `**` there are as many ways to a folder as to split its path.
        key = folder, len(steps)
        if key in searched or not (real := check(folder)):
            return
        searched.add(key)
        step, rest = steps[0], steps[1:]
        if step == "**" and rest:
            yield from below(folder, rest, above)
        elif step == "**":
            yield from [folder] if os.path.isdir(folder) else []
        elif not has_magic(step):
            path = os.path.join(folder, step)
            if os.path.lexists(path):
                yield from below(path, rest, (*above, real)) if rest else (path,)
            return
        for entry in _matching(folder, name_matcher("*" if step == "**" else step), entries):
            is_loop = entry.is_symlink() and os.path.realpath(entry.path) in (*above, real)
            if step == "**" and _is_folder(entry) and not is_loop:
                yield from below(entry.path, steps, (*above, real))
            if not rest:
                yield entry.path
            elif step != "**" and _is_folder(entry):
                yield from below(entry.path, rest, (*above, real))

    yield from below(folder, steps, ())


def _matching(
    folder: str, matches: Callable[[str], object], entries: Entries
) -> list[os.DirEntry[str]]:
    """Return the entries of a folder whose names match."""
    found = []
    try:
        with os.scandir(folder) as listed:
            for entry in listed:
                entries.add(1)
                if matches(entry.name):
                    found.append(entry)
    except (NotADirectoryError, FileNotFoundError, PermissionError):  # as `glob` does
        return []
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder, or a link to one; not if it can't be looked at."""
    try:
        return entry.is_dir()
    except OSError:  # such as a link to itself
        return False


def _files_below(top: str, limits: Limits) -> list[str]:
    """Return all files and links below a folder; links to folders are not followed."""
    found: list[str] = []
    entries = Entries.of_data(top, limits)
    for folder, folders, names in os.walk(top):
        entries.add(len(folders) + len(names))
        is_top = folder == top
        folders[:] = [name for name in folders if not _is_skipped(name, is_top=is_top)]
        found += (
            os.path.join(folder, name) for name in names if not _is_skipped(name, is_top=is_top)
        )
    return sorted(found)


def _is_skipped(name: str, *, is_top: bool) -> bool:
    return name.startswith(".") if is_top else name.casefold() == ".git"


def check_folder(path: str, boundary: Boundary) -> None:
    """Check that no link and no card in a folder leads to a file outside the boundary.

    Raises:
        ReachError: one does, or the folder has a device, pipe or socket.
    """
    if boundary.is_open:
        return
    waiting, seen = [boundary.check_path(path)], set[str]()
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                real = boundary.check_path(entry.path) if entry.is_symlink() else entry.path
                if _is_folder(entry):
                    waiting.append(real)
                elif os.path.exists(real) and not entry.is_file():
                    raise ReachError(f"{entry.path}: {NOT_A_FILE} (remove it from the data)")
    for name, pattern in CARDS.items():
        if os.path.isfile(card := os.path.join(path, name)):
            _check_card(card, pattern, boundary)


def leaves_folder(path: str) -> bool:
    """Return whether a path may lead out of the folder that it is relative to, or into a `.git`."""
    parts = path.casefold().split("/")
    hidden = any(part == ".git" or re.match(r"\..*[*?[{]", part) for part in parts)
    return "://" in path or path.startswith(("/", "~", "\\")) or ".." in parts or hidden


def _check_card(card: str, pattern: str, boundary: Boundary) -> None:
    import yaml

    with boundary.open_file(card) as file:
        text = file.read(_LONGEST_CARD + 1).decode("utf-8", "replace")
    if len(text) > _LONGEST_CARD:
        raise ReachError(f"{card}: is larger than {_LONGEST_CARD >> 20} MiB (shorten it)")
    found = re.match(pattern, text, re.DOTALL)
    try:
        data = yaml.load(found[1], shallow_loader()) if found else None  # noqa: S506  # nosec B506
    # PyYAML leaks errors of its own: for deep keys, 2024-99-99, 5,000 digits, `!!timestamp x`.
    except (yaml.YAMLError, RecursionError, ValueError, AttributeError) as error:
        message = f"is not valid YAML, so it can't be checked: {error}"
        raise ReachError(f"{card}: {message} (correct it)") from error
    configs = data.get("configs") if isinstance(data, dict) else None
    for path in _paths(configs):
        if leaves_folder(path):
            hint = "write a path relative to that folder"
            raise ReachError(f"{card}: '{path}' leads out of the dataset's folder ({hint})")


def _paths(configs: Any) -> Iterator[str]:
    """Yield the strings below `data_files` and `data_dir`; what aliases repeat there, once."""
    waiting, seen = [(configs, False)], set[tuple[int, bool]]()
    while waiting:
        value, named = waiting.pop()
        if isinstance(value, str) and named:
            yield value
        if isinstance(value, dict | list) and (id(value), named) not in seen:
            seen.add((id(value), named))
            items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
            waiting += ((one, named or key in ("data_files", "data_dir")) for key, one in items)


@cache
def shallow_loader() -> type[yaml.SafeLoader]:
    """Return PyYAML's safe loader, which refuses deep nesting long before the stack ends.

    Whatever runs at its end fails too, such as the finalizers of garbage of other code. An anchor
    may be defined again, as in YAML.
    """
    import yaml

    class Shallow(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            if self.depth > _DEEPEST_CARD:
                raise yaml.YAMLError(f"nested deeper than {_DEEPEST_CARD} levels")
            self.depth += 1
            if not self.check_event(yaml.AliasEvent):
                self.anchors.pop(self.peek_event().anchor, None)  # type: ignore[no-untyped-call]
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Shallow

"""Compare the code of mappers that lies in the repository under review, without importing it.

The base trusts a mapper by its name. Where its package is a folder of the repository, a change can
replace what that name stands for; so code that is not as in the base is not run.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from registry.base.locations import find_module, places_of
from registry.boundary.boundary import Boundary
from registry.diff.checkout import Checkout
from registry.diff.models import Chunk, Example, FieldChange
from registry.diff.snapshots.contents import digest_of_file
from registry.diff.words import differences, is_similar, word_diff
from registry.errors import ReachError, count_text

__all__ = ["ChangedCode", "changed_code", "python_files_of"]

_CODE = re.compile(r"\.(?:py[cd]?|so)$")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


_MOST_LINES = 200
"""Number of changed lines of a file that are shown."""


@dataclass(frozen=True)
class ChangedCode:
    """The code of a mapper in the repository, as far as it differs from the base."""

    message: str
    """Why it is not run."""
    files: Mapping[str, tuple[str | None, str | None]]
    """Path from the top of the repository → digests before and after; None if there is no file."""
    lines: tuple[Example, ...]
    """The changed lines of each file."""

    @property
    def file(self) -> str:
        """The first file that differs."""
        return min(self.files)


def changed_code(
    mappers: Iterable[str], base: Checkout, head: Checkout, *, with_work_tree: bool = True
) -> dict[str, ChangedCode]:
    """Return why mappers are not run: their code in the repository differs from the base.

    That is the code of their top-level package, wherever it is in the repository, and of the
    modules beside it that it imports. A package that is only installed is not part of a change.
    Code is imported from the working tree, so that is compared as well, unless nothing will be run.
    """
    sides = [head]
    for tree in filter(None, (base.tree, head.tree) if with_work_tree else ()):
        top = tree.repository.top
        if top not in [side.top for side in sides]:
            sides.append(Checkout("work tree", top / "datasets.yaml", top))
    found = {}
    for mapper in sorted(mappers):
        package = mapper.partition(":")[0].partition(".")[0]
        pairs = ((side, _differences(package, base, side)) for side in sides)
        side, files = next((pair for pair in pairs if pair[1]), (base, {}))
        if files:
            message = f"{min(files)}, code of the mapper '{mapper}', differs from the base"
            lines = tuple(_changed_lines(name, base, side) for name in sorted(files))
            found[mapper] = ChangedCode(f"{message}, so it is not run", files, lines)
    return found


def _differences(
    package: str, base: Checkout, other: Checkout
) -> dict[str, tuple[str | None, str | None]]:
    """Return the files of a package, and of what it imports, that differ, with their digests."""
    found = {}
    for place in _reached(package, base, other):
        before, after = _digests(base, place), _digests(other, place)
        for name in sorted({name for name, _ in before.items() ^ after.items()}):
            found[name] = (before.get(name), after.get(name))
    return found


def _changed_lines(name: str, base: Checkout, other: Checkout) -> Example:
    """Return the lines of a file that differ, each as a field."""
    before, after = (_lines(side, name) for side in (base, other))
    if not before or not after:
        status: Literal["added", "removed"] = "removed" if before else "added"
        pairs = [(n, "", line) for n, line in enumerate(before or after, 1)]
        changes = [FieldChange(f"line {n}", (Chunk("=", line),)) for n, _, line in pairs]
        return Example(status, name, _at_most(changes))
    changes, line = [], 1
    for removed, added, equal in differences(before, after):
        rows = zip_longest(removed, added, fillvalue="")
        changes += [
            FieldChange(f"line {n}", _line_diff(old, new))
            for n, (old, new) in enumerate(rows, line)
        ]
        line += len(added) + len(equal)
    return Example("changed", name, _at_most(changes))


def _line_diff(old: str, new: str) -> tuple[Chunk, ...]:
    """Return how a line differs: by the word only if it is still the same line."""
    if is_similar(old, new):
        return word_diff(old, new)
    return tuple(chunk for chunk in (Chunk("-", old), Chunk("+", new)) if chunk.text)


def _at_most(changes: list[FieldChange]) -> tuple[FieldChange, ...]:
    rest = len(changes) - _MOST_LINES
    if rest <= 0:
        return tuple(changes)
    note = Chunk("=", count_text(rest, "more changed line"))
    return (*changes[:_MOST_LINES], FieldChange("not shown", (note,)))


def _lines(side: Checkout, name: str) -> list[str]:
    """Return the lines of a file; none if it is missing, a link, or not text."""
    path = side.top / name
    if path.is_symlink() or not path.is_file():
        return []
    return path.read_bytes().decode("utf-8", "replace").splitlines()


def _reached(package: str, base: Checkout, other: Checkout) -> Iterator[str]:
    """Yield the places of a package, and of the modules beside it that the base imports."""
    waiting = _places(package, base, other)
    beside = _modules_in({os.path.dirname(place) for place in waiting}, base, other)
    seen = set[str]()
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        yield place
        for name in _imported(_python_files(base, place)):
            waiting += beside.get(name, ())


def python_files_of(mapper: str, base: Checkout, other: Checkout) -> list[Path]:
    """Return the modules of a mapper: those that are compared, else those that are installed."""
    package = mapper.partition(":")[0].partition(".")[0]
    found = [
        file for place in _reached(package, base, other) for file in _python_files(base, place)
    ]
    installed = map(Path, places_of(find_module(package)))
    return found or [
        file for one in installed for file in (one.rglob("*.py") if one.is_dir() else [one])
    ]


def _python_files(side: Checkout, place: str) -> list[Path]:
    names = sorted(name for name in _files(side, place) if name.endswith(".py"))
    side.extract(names)
    return [side.top / name for name in names]


# A place is where a package or module is: a path from the top, without a suffix.


def _places(package: str, *sides: Checkout) -> list[str]:
    """Return where a package may be in the repository, by its name or by where Python finds it."""
    found = set()
    for path in (path for side in sides for path in side.listed):
        *folders, file = path.split("/")
        names = [*folders, file.partition(".")[0] if _CODE.search(file) else file]
        found |= {"/".join(names[: n + 1]) for n, name in enumerate(names) if name == package}
    for location in map(os.path.realpath, places_of(find_module(package))):
        for top in (os.path.realpath(side.top) for side in sides):
            if location.startswith(f"{top}{os.sep}"):
                folder, file = os.path.split(os.path.relpath(location, top))
                found.add(os.path.join(folder, file.partition(".")[0]))
    return sorted(found)


def _modules_in(folders: set[str], *sides: Checkout) -> Mapping[str, set[str]]:
    """Return name → places of the packages and modules in some folders."""
    found = defaultdict(set)
    for path in (path for side in sides for path in side.listed if _CODE.search(path)):
        for folder in folders:
            start = f"{folder}/" if folder else ""
            if path.startswith(start):
                name = re.split(r"[/.]", path.removeprefix(start), maxsplit=1)[0]
                found[name].add(start + name)
    return found


def _imported(files: Iterable[Path]) -> Iterator[str]:
    """Yield the words of all lines with `import`: the names of imported modules are among them."""
    words = set[bytes]()
    for file in files:
        for line in file.read_bytes().splitlines():
            words.update(_WORD.findall(line) if b"import" in line else ())
    yield from (word.decode() for word in sorted(words))


def _digests(side: Checkout, place: str) -> dict[str, str]:
    """Return the digests of the code at a place."""
    names = _files(side, place)
    side.extract(names)
    boundary = Boundary().allowing([str(side.top)])
    return {name: _digest(side, name, boundary) for name in names}


def _digest(side: Checkout, name: str, boundary: Boundary) -> str:
    """Return the digest of a file; for a link, or what can't be read, one of this side alone."""
    path = str(side.top / name)
    if name in side.tree.links if side.tree else os.path.islink(path):
        return f"{side.label}: a link"
    try:
        return digest_of_file(path, boundary).own
    except (OSError, ReachError) as error:
        return f"{side.label}: {error}"


def _files(side: Checkout, place: str) -> set[str]:
    """Return the code at a place, and links, which may lead to some."""
    found = set()
    for name in side.listed:
        if name == place or name.startswith((f"{place}/", f"{place}.")):
            is_link = side.tree is not None and name in side.tree.links
            if name == place or is_link or _CODE.search(name):
                found.add(name)
    if side.tree is None:  # also what git ignores; but compiled files come and go with a run
        for folder, folders, names in os.walk(side.top / place):
            paths = [os.path.join(folder, name) for name in (*folders, *names)]
            found |= {
                os.path.relpath(path, side.top)
                for path in paths
                if os.path.islink(path) or path.endswith((".py", ".pyd", ".so"))
            }
    return found

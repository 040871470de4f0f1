"""Find what only both sides of a diff together tell, beside the values of their datasets.

What an installed package has changed, what one side may contain although it could not be read, and
which other indexes of the repository a change adds, edits or removes.
"""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata

from registry.base.locations import PACKAGE
from registry.boundary.paths import path_matcher
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import package_of
from registry.catalog.reader import may_hide_datasets
from registry.diff.checkout import Checkout
from registry.diff.git_tree import may_contain
from registry.diff.models import Reach
from registry.diff.reach import index_reach
from registry.diff.snapshots.contents import (
    Contents,
    changed_files,
    differing_digests,
    local_patterns,
)
from registry.errors import ManifestError, Problem, count_text, list_names
from registry.lockfile.models import PIN_FORMAT
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.origins import Origin
from registry.settings import INDEX_NAME
from registry.yamldoc.reader import read_yaml

__all__ = [
    "PACKAGE_KEY",
    "Unread",
    "changed_in_packages",
    "find_unread",
    "missing_manifests",
    "nested_indexes",
    "package_notes",
]

PACKAGE_KEY = "package"
"""The key under which a change of a package's manifests is reported."""
_MAX_NAMES = 5
_SHOWN_DIGITS = 12
_MOST_READ = 20
"""More are only named: each may include as many files as a catalog may have."""


# --- packages, of which both sides read the installed version ---
# What their manifests were when the base was pinned is only known by the digests of its pins.


def changed_in_packages(base: Contents, head: Contents) -> dict[str, tuple[Origin, Origin]]:
    """Return the datasets whose manifests in a package differ from those that a side pinned.

    Each has the digests of the resolved manifest before and after, with where they are from.
    """
    found = {}
    for name, packages in _datasets(head).items():
        if name not in base.specs:
            continue
        installed = " and ".join(map(_version_text, sorted(packages)))
        old, new = (spec_digest(side.specs[name]) for side in (base, head))
        before, after = (_pinned_spec(side, name) for side in (base, head))
        if before not in (None, old):
            found[name] = (_pin_origin(base, name), _origin(name, new, installed))
        elif after not in (None, new) and old == new:  # else the change itself explains it
            found[name] = (_origin(name, old, installed), _pin_origin(head, name))
    return found


def package_notes(base: Contents, head: Contents) -> Iterator[str]:
    """Yield for each package what its catalog was compared by."""
    datasets = defaultdict(list)
    for name, packages in _datasets(head).items():
        for package in packages:
            datasets[package].append(name)
    for package, names in sorted(datasets.items()):
        unpinned = [name for name in sorted(names) if _pinned_spec(base, name) is None]
        by_pin = f"{len(names) - len(unpinned)} of {count_text(len(names), 'dataset')}"
        note = f"package {_version_text(package)}: both sides are read from the installed version"
        note += f", and {by_pin} compared with the pins of the base"
        if unpinned:
            listed = list_names(unpinned, _MAX_NAMES)
            note += f"; not compared, as the base has no pin: {listed} (`registry lock` pins them)"
        yield note


def _datasets(side: Contents) -> dict[str, set[str]]:
    """Return the datasets that packages define at least in part, with the packages' names."""
    assert side.catalog is not None  # noqa: S101 (it has datasets)
    found = {}
    for name in sorted(side.specs):
        folders = {entry.folder for entry in side.catalog.lineage(name)}
        if others := folders - {side.catalog.index.parent}:
            found[name] = set(map(package_of, others))
    return found


@cache
def _version_text(package: str) -> str:
    """Return the name of a package and its version, if a distribution says it."""
    names = metadata.packages_distributions().get(package, [])
    return " ".join([package, *(metadata.version(name) for name in names[:1])])


def _pinned_spec(side: Contents, name: str) -> str | None:
    pin = side.lock.pins.get(name)
    return pin.spec if pin is not None and pin.format == PIN_FORMAT else None


def _pin_origin(side: Contents, name: str) -> Origin:
    (pinned,) = (one for one in side.pins[name] if one.key == "pin.spec")
    return replace(pinned, key=PACKAGE_KEY, file=side.file_name(pinned.file))


def _origin(name: str, digest: str, installed: str) -> Origin:
    return Origin(key=PACKAGE_KEY, value=digest, layer=installed, dataset=name)


# --- what could not be read ---


@dataclass(frozen=True)
class Unread:
    """What can't be compared because one side could not be read."""

    problems: tuple[Problem, ...] = ()
    """Those that are not in a file."""
    datasets: frozenset[str] = frozenset()
    """Datasets that this side may have as they were, without them or changed: nobody knows."""


def find_unread(side: Contents, other: Contents) -> Unread:
    """Return what of one side can't be compared with the other side."""
    if side.catalog is None or other.catalog is None:
        return Unread()
    included = missing_manifests(side.checkout)
    data = {
        name: [_from_top(side.checkout, pattern) for pattern in local_patterns(spec)]
        for name, spec in side.specs.items()
    }
    # A submodule that is missing at the same commit on both sides has not changed.
    missing = side.checkout.missing.items() - other.checkout.missing.items()
    # A glob that matches nothing is a problem, but everything that is there was read.
    hides = any(may_hide_datasets(p) and p.rule != "include-nothing" for p in side.problems)
    problems, datasets, left_out = [], set[str](), []
    for path, commit in sorted(missing):
        named = partial(may_contain if commit else _names_file, path)
        reading = {name for name, patterns in data.items() if any(map(named, patterns))}
        is_included = path in included
        if (is_included or reading) and commit:
            problems.append(_missing_submodule(path, commit))
        elif is_included or reading:
            left_out.append(path)
        hides = hides or is_included
        datasets |= reading
    if left_out:
        problems.append(_left_out(left_out))
    if hides:  # neither removed from this side nor added to the other one
        datasets |= set(other.catalog) - set(side.catalog)
    return Unread(tuple(problems), frozenset(datasets))


def missing_manifests(checkout: Checkout) -> list[str]:
    """Return the submodules and files that are not here and may be manifests of the catalog."""
    if not checkout.missing:
        return []
    includes = [
        _from_top(checkout, os.path.join(checkout.index.parent, pattern))
        for pattern in read_yaml(checkout.index, is_index=True).value.get("include", ())
        if not pattern.startswith(PACKAGE)
    ]
    return [
        path
        for path, commit in checkout.missing.items()
        if any(map(partial(may_contain if commit else _names_file, path), includes))
    ]


def _from_top(checkout: Checkout, path: str) -> str:
    return os.path.relpath(path, checkout.top)


def _missing_submodule(path: str, commit: str) -> Problem:
    short, quoted = commit[:_SHOWN_DIGITS], shlex.quote(path)
    return Problem(
        message=f"not compared: the submodule {path} is not fetched at {short}",
        file=path,
        hint=f"git submodule update --init {quoted}; git -C {quoted} fetch origin {short}",
    )


def _names_file(path: str, pattern: str) -> bool:
    """Return whether a path, folder or glob from the top names a file."""
    return pattern in (path, ".") or path_matcher(os.path.normpath(pattern), below=True)(path)


def _left_out(paths: Sequence[str]) -> Problem:
    more = f", and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return Problem(
        message=f"not compared: the sparse checkout leaves out {paths[0]}{more}",
        file=paths[0],
        hint="git sparse-checkout disable",
    )


# --- other indexes of the repository ---


def nested_indexes(base: Contents, head: Contents) -> frozenset[Reach]:
    """Return each other index of the repository that differs, with what it permits and defines.

    Such an index takes over for everybody who works in its folder, with its own permissions.
    """
    if base.catalog is None or head.catalog is None:
        return frozenset()
    paths = {
        path
        for path in base.checkout.paths | head.checkout.paths
        # Where case does not matter, such a file is found, too.
        if os.path.basename(path).lower() == INDEX_NAME
    }
    own = {side.checkout.relative(str(side.checkout.index)) for side in (base, head)}
    found = set[Reach]()
    changed = changed_files(base, head, paths - own)
    for path, (before, after) in differing_digests(base, head, changed).items():
        status = "removed" if after is None else "added" if before is None else "changed"
        is_read = after is not None and len(found) < _MOST_READ
        facts = _facts(head, path, base) if is_read else ()
        found.add(Reach("nested index", f"{path}: {'; '.join([status, *facts])}"))
    return frozenset(found)


def _facts(head: Contents, path: str, rules: Contents) -> Iterator[str]:
    """Yield what an index permits, and which names it has that the catalog has, too."""
    checkout = head.checkout.at(path)
    try:
        # What it may include is decided by the base, not by its own `paths`.
        catalog = Catalog.open(checkout.index, keep=False, paths_from=rules.checkout.index)
        value = catalog.index_document().value
    except ManifestError:
        yield "can't be read"
        return
    if permitted := sorted(one.name for one in index_reach(value) if one.kind == "permission"):
        yield f"permits {', '.join(permitted)}"
    assert head.catalog is not None  # noqa: S101 (see above)
    if shared := sorted(set(catalog.entries) & set(head.catalog.entries)):
        yield f"defines {list_names(shared, _MAX_NAMES)}, as the catalog does"

"""Compare the catalogs of installed packages, of which both sides read the same version.

What a package's manifests were when the base was pinned is only known by the digests of its pins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import metadata

from registry.catalog.discovery import package_of
from registry.diff.snapshots.contents import Contents
from registry.errors import count_text, list_names
from registry.lockfile.models import PIN_FORMAT
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.origins import Origin

__all__ = ["PACKAGE_KEY", "changed_in_packages", "package_notes"]

PACKAGE_KEY = "package"
"""The key under which a change of a package's manifests is reported."""

_MAX_NAMES = 5


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

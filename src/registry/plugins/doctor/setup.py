"""Check what is installed, the catalog with its lockfile, and the folder of the cache."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from registry import CacheError, Catalog, ManifestError, RegistryError
from registry.api import (
    CACHE_FOLDERS,
    CACHE_FORMAT,
    KINDS,
    Cache,
    ExtensionError,
    Settings,
    contents,
    count_text,
    display_path,
    extension,
    extension_points,
    list_names,
    older_formats,
    package_of,
    paths_of,
    read_lock,
    size_of,
    size_text,
)
from registry.plugins.doctor import Observation, fail, fine, warn

__all__ = [
    "cache_observations",
    "catalog_observations",
    "open_catalog",
    "plugin_observations",
    "version_observations",
]


_PACKAGE = "eval-registry"
_SHOWN = ("datasets", "pyarrow", "huggingface_hub", "fsspec", "s3fs", "aiohttp", "pydantic")
"""Packages that behave differently from version to version."""
_NAMED = 3

_OTHER = "set REGISTRY_CACHE_DIR to a folder of your own, with space"
_LITTLE_BYTES = 1 << 30


def version_observations() -> Iterator[Observation]:
    """Yield the versions of Python, of this package, and of what it needs."""
    yield fine("python", f"{platform.python_version()} on {platform.platform(terse=True)}")
    yield fine("registry", metadata.version(_PACKAGE))
    wrong = list(_wrong_requirements())
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _SHOWN if _has(name))
    if wrong:
        yield fail("packages", "; ".join(wrong), f"pip install --upgrade {_PACKAGE}")
    else:
        yield fine("packages", versions)


def plugin_observations() -> Iterator[Observation]:
    """Yield what other packages add, imported for the check."""
    for kind in KINDS:
        for name, points in extension_points(kind).items():
            shown = f"plugin {name}"
            try:
                extension(kind, name)
            except ExtensionError as error:
                yield warn(shown, f"{kind}: {error}", "update or remove its package")
            else:
                yield fine(shown, f"{kind}, from {package_of(points[0])}")


def _has(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _wrong_requirements() -> Iterator[str]:
    """Yield the packages that are missing or too old."""
    from packaging.requirements import Requirement  # huggingface_hub brings it

    for text in metadata.requires(_PACKAGE) or ():
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if not _has(requirement.name):
            yield f"{requirement.name} is not installed"
        elif not requirement.specifier.contains(metadata.version(requirement.name), True):
            version = metadata.version(requirement.name)
            yield f"{requirement.name} is {version}, not {requirement.specifier}"


def open_catalog(settings: Settings) -> Catalog | Observation:
    """Return the catalog, or why it can't be opened."""
    try:
        return Catalog.open(settings=settings)
    except (RegistryError, OSError) as error:
        step = "registry validate, or registry init for a new one"
        return fail("catalog", _first_line(error), step)


def catalog_observations(settings: Settings, catalog: Catalog) -> Iterator[Observation]:
    """Yield the state of the catalog, and of its lockfile."""
    shown = display_path(settings.index)
    text = f"{shown}: {count_text(len(catalog), 'dataset')}"
    if catalog.problems:
        problems = count_text(len(catalog.problems), "problem")
        yield warn("catalog", f"{text}, {problems} in its files", "registry validate")
    else:
        yield fine("catalog", text)
    yield _lock_observation(settings, catalog)


def _lock_observation(settings: Settings, catalog: Catalog) -> Observation:
    shown = display_path(settings.lock_file)
    try:
        lock = read_lock(settings.lock_file, shown_as=shown)
    except (RegistryError, OSError) as error:
        return fail("lock", _first_line(error), "registry lock")
    if lock is None or not lock.pins:
        return warn("lock", f"{shown} pins nothing, so samples may change", "registry lock")
    newer, stale, gone = [], [], []
    for name, pin in lock.pins.items():
        try:
            if name not in catalog:
                gone.append(name)
            elif pin.is_newer:
                newer.append(name)
            elif not pin.agrees(catalog[name]):
                stale.append(name)
        except ManifestError:  # a problem of the catalog
            continue
    text = f"{shown} pins {len(lock.pins):,} of {count_text(len(catalog), 'dataset')}"
    if newer:
        names = list_names(newer, _NAMED)
        return warn("lock", f"{text}, by a newer release: {names}", "upgrade eval-registry")
    if stale:
        names = list_names(stale, _NAMED)
        return warn("lock", f"{text}, for an older manifest: {names}", "registry lock")
    if gone and not catalog.unread_problems():  # else they may be in such a file
        names = list_names(gone, _NAMED)
        return warn("lock", f"{text}, and some that are gone: {names}", "registry lock")
    return fine("lock", text)


def _first_line(error: Exception) -> str:
    problems = getattr(error, "problems", None)
    return str(problems[0] if problems else error).splitlines()[0]


def cache_observations(folder: Path) -> Iterator[Observation]:
    """Yield whether the cache can be written, its size, and what does not belong there."""
    cache = Cache(folder)
    try:
        versioned = cache.versioned
        fault = _write_fault(folder)
        if fault:
            yield fail("cache", f"{folder} can't be written: {fault}", _OTHER)
        else:
            size = size_text(size_of(folder))
            yield fine("cache", f"{folder}, format {CACHE_FORMAT}, {size}")
        yield _disk_observation(folder)
        if versioned.is_dir():
            yield from _content_observations(cache, versioned)
    except (CacheError, OSError) as error:
        yield fail("cache", str(error).splitlines()[0], _OTHER)


def _write_fault(folder: Path) -> str:
    """Return why nothing can be written to a folder, or to where it would be made; "" if it can."""
    existing = _existing(folder)
    try:
        if existing == folder:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"x")
        elif not os.access(existing, os.W_OK | os.X_OK):
            return f"permission denied in {existing}"
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next((one for one in (folder, *folder.parents) if one.exists()), folder)


def _disk_observation(folder: Path) -> Observation:
    free = shutil.disk_usage(_existing(folder)).free
    text = f"{size_text(free)} free"
    if free < _LITTLE_BYTES:
        return warn("disk", text, "registry cache prune --older 30d")
    return fine("disk", text)


def _content_observations(cache: Cache, versioned: Path) -> Iterator[Observation]:
    items = contents(cache)
    known = {one.path for item in items for one in (item, *item.views)}
    damaged = [path for _, path in paths_of(cache) if path not in known]
    quarantine = versioned / "quarantine"
    kept = sorted(quarantine.iterdir()) if quarantine.is_dir() else []
    if damaged or kept:
        found = [f"{count_text(len(damaged), 'item')} damaged"] if damaged else []
        found += [f"{count_text(len(kept), 'item')} in the quarantine"] if kept else []
        step = "registry cache verify" if damaged else "registry cache prune"
        yield warn("cache content", ", ".join(found), step)
    else:
        text = f"{count_text(len(items), 'item')} (registry cache verify reads all of them)"
        yield fine("cache content", text)
    if old := older_formats(cache):
        size = size_text(sum(map(size_of, old)))
        step = (
            f"remove {list_names([str(one) for one in old], _NAMED)}, if no older registry is used"
        )
        yield warn("cache formats", f"{size} of older formats", step)
    foreign = [one.name for one in versioned.iterdir() if one.name not in CACHE_FOLDERS]
    if foreign:
        text = f"files of others in {versioned}: {list_names(sorted(foreign), _NAMED)}"
        yield warn("cache files", text, "move them elsewhere")

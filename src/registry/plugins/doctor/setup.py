"""Check what is installed, and the catalog with its lockfile."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata

from registry import Catalog, ManifestError, RegistryError
from registry.api import (
    KINDS,
    ExtensionError,
    Settings,
    count_text,
    display_path,
    extensions,
    list_names,
    load_extension,
    read_lock,
)
from registry.plugins.doctor.observation import Observation, fail, fine, warn

__all__ = [
    "catalog_observations",
    "open_catalog",
    "plugin_observations",
    "version_observations",
]

_PACKAGE = "eval-registry"
_SHOWN = ("datasets", "pyarrow", "huggingface_hub", "fsspec", "s3fs", "aiohttp", "pydantic")
"""Packages that behave differently from version to version."""
_NAMED = 3


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
        for name, point in extensions(kind).items():
            shown = f"plugin {name}"
            try:
                load_extension(point)
            except ExtensionError as error:
                yield warn(shown, f"{kind}: {error}", "update or remove its package")
            else:
                package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
                yield fine(shown, f"{kind}, from {package}")


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
    stale, gone = [], []
    for name, pin in lock.pins.items():
        try:
            if name not in catalog:
                gone.append(name)
            elif not pin.agrees(catalog[name]):
                stale.append(name)
        except ManifestError:  # a problem of the catalog
            continue
    text = f"{shown} pins {len(lock.pins):,} of {count_text(len(catalog), 'dataset')}"
    if stale:
        names = list_names(stale, _NAMED)
        return warn("lock", f"{text}, for an older manifest: {names}", "registry lock")
    if gone:
        names = list_names(gone, _NAMED)
        return warn("lock", f"{text}, and some that are gone: {names}", "registry lock")
    return fine("lock", text)


def _first_line(error: Exception) -> str:
    problems = getattr(error, "problems", None)
    return str(problems[0] if problems else error).splitlines()[0]

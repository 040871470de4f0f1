"""What the core finds by name and never imports: our own plugins, and those of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from registry.errors import ExtensionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["KINDS", "Kind", "extension", "extensions", "load_extension", "our_own"]

Kind = Literal["commands", "exporters", "importers", "sources"]
KINDS: tuple[Kind, ...] = ("commands", "exporters", "importers", "sources")
"""What other packages can add: an entry point of the group `eval_registry.KIND`, with a name."""

_OWN = {
    "diff_page": "registry.plugins.site.diff_page",
    "open_remote_cache": "registry.plugins.remote_cache.of_dataset",
    "prune_remote": "registry.plugins.remote_cache.prune",
    "remote_samples_of": "registry.plugins.remote_cache.of_dataset",
}
"""Function of our own plugins that the core calls → its module."""


def our_own(name: str) -> Any:
    """Return a function of our own plugins, imported now."""
    return getattr(import_module(_OWN[name]), name)


@cache
def extensions(kind: Kind) -> dict[str, EntryPoint]:
    """Return what other packages add, by name; nothing is imported.

    Of two packages that add the same name, neither does: nobody can tell which one is meant.
    """
    from importlib.metadata import entry_points  # slow to import

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"eval_registry.{kind}"):
        found.setdefault(point.name, []).append(point)
    return {name: points[0] for name, points in sorted(found.items()) if len(points) == 1}


def extension(kind: Kind, name: str) -> Any:
    """Return what another package adds under a name, imported; None if no package does.

    Raises:
        ExtensionError: it can't be imported.
    """
    point = extensions(kind).get(name)
    return None if point is None else load_extension(point)


def load_extension(point: EntryPoint) -> Any:
    """Import what an entry point names.

    Raises:
        ExtensionError: it can't be imported.
    """
    try:
        return point.load()
    except Exception as error:
        raise ExtensionError(
            f"the plugin '{point.name}' of {_package_of(point)} can't be imported from"
            f" '{point.value}': {type(error).__name__}: {error}"
            " (update or remove that package; `registry doctor` lists all plugins)"
        ) from error


def _package_of(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"

"""What the core finds by name and never imports: our own plugins, and those of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from registry.errors import ExtensionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "KINDS",
    "Kind",
    "extension",
    "extension_points",
    "extensions",
    "our_own",
    "package_of",
]

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
def extension_points(kind: Kind) -> dict[str, list[EntryPoint]]:
    """Return what other packages add, by name; nothing is imported."""
    from importlib.metadata import entry_points  # slow to import

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=f"eval_registry.{kind}"):
        found.setdefault(point.name, []).append(point)
    return dict(sorted(found.items()))


def extensions(kind: Kind) -> dict[str, EntryPoint]:
    """Return what other packages add, by name.

    Of two packages that add the same name, neither does: nobody can tell which one is meant.
    """
    return {name: one for name, (one, *more) in extension_points(kind).items() if not more}


def extension(kind: Kind, name: str) -> Any:
    """Return what another package adds under a name, imported; None if no package does.

    Raises:
        ExtensionError: it can't be imported, or several packages add it.
    """
    points = extension_points(kind).get(name)
    if points is None:
        return None
    what = f"the plugin '{name}' of {' and of '.join(map(package_of, points))}"
    if len(points) > 1:
        raise ExtensionError(f"{what}: nobody can tell which one is meant (remove one package)")
    try:
        return points[0].load()
    except Exception as error:
        raise ExtensionError(
            f"{what} can't be imported from '{points[0].value}': {type(error).__name__}: {error}"
            " (update or remove that package; `registry doctor` lists all plugins)"
        ) from error


def package_of(point: EntryPoint) -> str:
    """Return name and version of the package that adds something."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"

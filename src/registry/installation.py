"""What is installed: this package and its extras, and the plugins that the core finds by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from registry.errors import ExtensionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

__all__ = [
    "DISTRIBUTION",
    "KINDS",
    "Kind",
    "extension",
    "extension_points",
    "extensions",
    "extra_advice",
    "install_advice",
    "installed_release",
    "our_own",
    "package_of",
    "requirement",
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
DISTRIBUTION = "eval-registry"
_EXTRAS = {
    "aiobotocore": "s3",
    "dask": "dask",
    "distributed": "dask",
    "inspect_ai": "inspect",
    "jinja2": "site",
    "markupsafe": "site",
    "math_core": "site",
    "ray": "ray",
    "s3fs": "s3",
}
"""Package → the extra that installs it, as in pyproject.toml; aiobotocore comes with s3fs."""


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


def installed_release() -> str:
    """Return the version of this package."""
    from importlib.metadata import version  # takes 10 ms to import

    return version(DISTRIBUTION)


def _repository() -> str:
    """Return the URL of the repository that this package comes from."""
    from importlib.metadata import metadata

    urls: list[str] = metadata(DISTRIBUTION).get_all("Project-URL") or []
    return next(url for name, _, url in (one.partition(", ") for one in urls) if name == "Source")


def requirement() -> str:
    """Return what pip installs as this release.

    It is the tag of the repository: the name alone is not on an index yet.
    """
    return f"git+{_repository()}@v{installed_release()}"


def install_advice(error: BaseException) -> str:
    """Return the command that installs what an import has not found; "" if no extra has it."""
    for name in _missing(error):
        if extra := _EXTRAS.get(name):
            return extra_advice(extra)
    return ""


def extra_advice(extra: str) -> str:
    """Return the command that adds an extra to this package.

    As it is installed, pip and uv take it from where it is, and ask an index for the rest only.
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def _missing(error: BaseException | None) -> Iterator[str]:
    """Yield the top-level packages that an error and its causes have not found."""
    while error is not None:
        if isinstance(error, ImportError) and error.name:
            yield error.name.partition(".")[0]
        error = error.__cause__ or error.__context__

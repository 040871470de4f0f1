"""What is installed of this package, and what installs the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DISTRIBUTION", "extra_advice", "install_advice", "installed_release", "requirement"]

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

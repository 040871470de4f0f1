"""Find files of installed packages, without importing the packages."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from registry.errors import MissingDependencyError, SourceError

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = [
    "PACKAGE",
    "bad_package_path",
    "find_module",
    "package_file",
    "package_folders",
    "package_location",
    "places_of",
]

PACKAGE = "package:"
"""The start of a location in an installed package."""


def bad_package_path(location: str) -> str:
    """Return what is wrong with `package:NAME/inner/path`; "" if nothing is."""
    name, _, inner = location.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier():
        return f"'{name}' is not the name of a package"
    if not inner:
        return "no file within the package"
    if ".." in inner.split("/") or inner.startswith("/") or "\\" in inner:
        return "a path within a package has no `..` and no backslash"
    return ""


def find_module(name: str) -> ModuleSpec | None:
    """Return where a top-level package or module is, without importing it."""
    import importlib.util  # most catalogs read no package

    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module without a spec, such as `__main__`
        return None


def places_of(spec: ModuleSpec | None) -> list[str]:
    """Return the folders of a package, or the file of a module; none for a built-in module."""
    if spec is None:
        return []
    # A namespace package may have several folders.
    if spec.submodule_search_locations is not None:
        return list(spec.submodule_search_locations)
    return [spec.origin] if spec.has_location and spec.origin else []


def package_folders(name: str) -> list[str]:
    """Return the folders of a top-level package; several for a namespace package."""
    spec = find_module(name)
    folders = spec.submodule_search_locations or () if spec else ()
    return [folder for folder in folders if _is_installed(folder)]


def _is_installed(folder: str) -> bool:
    """Return whether the folder of a package is where an installer or the user put it.

    `python -m registry` also finds every folder of the working directory, and every link in it: a
    checkout under review could make `package:NAME` mean any folder of this machine.
    """
    place = os.path.dirname(folder)
    if place not in map(os.path.abspath, sys.path):  # found by the finder of an editable install
        return True
    if os.path.basename(place) in ("site-packages", "dist-packages"):
        return True
    if os.path.realpath(folder) != os.path.join(os.path.realpath(place), os.path.basename(folder)):
        return False
    is_here = os.path.realpath(place) == os.path.realpath(os.curdir)
    return not is_here or os.path.isfile(os.path.join(folder, "__init__.py"))


def package_file(location: str) -> str:
    """Return the path of `package:NAME/inner/path`, which need not exist.

    Raises:
        MissingDependencyError: the package is not installed.
        SourceError: the location is invalid.
    """
    fault = bad_package_path(location)
    if fault:
        raise SourceError(f"{location}: {fault} (write package:NAME/inner/path)")
    name, _, inner = location.removeprefix(PACKAGE).partition("/")
    folders = package_folders(name)
    if not folders:
        message = f"{location}: the package {name} is not installed"
        raise MissingDependencyError(f"{message} (`pip install {name.replace('_', '-')}`)")
    paths = [os.path.join(folder, *inner.split("/")) for folder in folders]
    return next(filter(os.path.exists, paths), paths[0])


def package_location(location: str, path: str) -> str:
    """Return the location of a file at `path`, in the package of another location."""
    name = location.removeprefix(PACKAGE).partition("/")[0]
    folder = next(folder for folder in package_folders(name) if path.startswith(folder + os.sep))
    inner = os.path.relpath(path, folder).replace(os.sep, "/")
    return f"{PACKAGE}{name}/{inner}"

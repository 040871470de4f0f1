"""Load a mapper written in Python, `package.module:function`, from a trusted package."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from registry.base.digest import digest_of
from registry.base.fs import file_sha256
from registry.base.locations import find_module, places_of
from registry.boundary.boundary import Boundary
from registry.errors import MappingError
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

__all__ = ["load_mapper", "mapper_digest"]


def load_mapper(name: str) -> RecordToSample:
    """Import a mapper; the caller must have checked that it is trusted.

    Raises:
        MappingError: the module can't be imported, or does not define such a function.
    """
    module_name, _, function_name = name.partition(":")
    # Third-party code may raise anything, SystemExit included, on import and on each call.
    try:
        function = getattr(importlib.import_module(module_name), function_name)
    except (Exception, SystemExit) as error:
        message = f"can't import the mapper {name}: {type(error).__name__}: {error}"
        raise MappingError(message) from error
    _check_defined(name, function)

    def mapper(record: DatasetRecord) -> Sample | list[Sample]:
        try:
            result: Sample | list[Sample] = function(record)
        except MappingError:
            raise
        except (Exception, SystemExit) as error:
            message = f"the mapper {name} failed: {type(error).__name__}: {error}"
            raise MappingError(message, value=record) from error
        return result

    return mapper


def _check_defined(name: str, function: Callable[..., Any]) -> None:
    """Raise an error unless a mapper is a function written in the package that it names.

    Who trusts `ours.records:read` has read the code of `ours`, not that of what it imports, such as
    `subprocess.check_output`.
    """
    package = _package_of(name)
    inner = inspect.unwrap(function)
    if not isinstance(function, FunctionType) or not isinstance(inner, FunctionType):
        raise MappingError(f"the mapper {name} is a {type(function).__name__}, not a function")
    own = Boundary().allowing(places_of(find_module(package)))
    # A decorator of another package replaces the function by one of its own.
    for one in (function, inner):
        is_inside = own.contains(one.__code__.co_filename)
        if _package_of(one.__module__ or "") != package or not is_inside:
            message = f"the mapper {name} is not defined in the package '{package}'"
            raise MappingError(
                f"{message}, but in {one.__module__} (write a function there that calls it)"
            )


def mapper_digest(name: str) -> str:
    """Return the digest of all Python source files in a mapper's top-level package.

    The mapper's own module is not enough: after a change of a helper that it imports, the cache
    would return samples of the old code. Nothing is imported, as that would run the code.

    Raises:
        MappingError: the package is not installed, or its source can't be read.
    """
    package = _package_of(name)
    spec = find_module(package)
    is_module = spec is not None and spec.submodule_search_locations is None
    if spec is None:
        message = f"can't import the mapper {name}: there is no package '{package}'"
        raise MappingError(f"{message} (install it)")
    try:
        files = [
            found
            for folder in places_of(spec)
            for found in ([(folder, _file_digest(Path(folder)))] if is_module else _sources(folder))
        ]
    except OSError as error:
        message = f"can't read the source of '{package}' for the mapper {name}: {error}"
        raise MappingError(message) from error
    if not files:
        message = f"'{package}' has no source files in a folder"
        raise MappingError(f"{message}: install it unpacked to use the mapper {name}")
    # A single module has the digest of its bytes, whatever its path.
    return files[0][1] if is_module else digest_of(sorted(files))


def _package_of(name: str) -> str:
    """Return the top-level package of a mapper or module."""
    return name.partition(":")[0].partition(".")[0]


def _sources(root: str) -> list[tuple[str, str]]:
    """Return the relative path and digest of each `.py` file in a folder of a package."""
    found = []
    # An entry inside a zip file, or the placeholder of an editable install, is not a folder:
    # `os.walk` yields nothing for it.
    for folder, folders, names in os.walk(root):
        # Modules below `.git` or `.venv` can't be imported by name, so they don't count.
        folders[:] = [one for one in folders if one != "__pycache__" and one[0] != "."]
        paths = [Path(folder, one) for one in names if one.endswith(".py")]
        found += [(path.relative_to(root).as_posix(), _file_digest(path)) for path in paths]
    return found


def _file_digest(path: Path) -> str:
    return f"sha256:{file_sha256(path)}"

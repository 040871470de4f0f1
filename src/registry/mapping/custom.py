"""Load a mapper written in Python, `package.module:function`, from a trusted package."""

from __future__ import annotations

import hashlib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from registry.base.digest import digest_of
from registry.errors import MappingError
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["load_mapper", "mapper_digest"]


def load_mapper(name: str) -> RecordToSample:
    """Import a mapper; the caller must have checked that its package is trusted.

    Raises:
        MappingError: the module can't be imported, or has no such function.
    """
    module_name, _, function_name = name.partition(":")
    # Third-party code may raise anything, SystemExit included, on import and on each call.
    try:
        function = getattr(importlib.import_module(module_name), function_name)
    except (Exception, SystemExit) as error:
        message = f"can't import the mapper {name}: {type(error).__name__}: {error}"
        raise MappingError(message) from error
    if not callable(function):
        raise MappingError(f"the mapper {name} is not callable")

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


def mapper_digest(name: str) -> str:
    """Return the digest of all Python source files in a mapper's top-level package.

    The mapper's own module is not enough: after a change of a helper that it imports, the cache
    would return samples of the old code.

    Raises:
        MappingError: the mapper can't be imported, or its source can't be read.
    """
    load_mapper(name)
    package = importlib.import_module(name.partition(":")[0].partition(".")[0])
    try:
        if not hasattr(package, "__path__"):
            origin = getattr(package, "__file__", None)  # a builtin module has none
            files = [] if origin is None else [(origin, _file_digest(Path(origin)))]
        else:
            files = _source_files(package)
    except OSError as error:
        message = f"can't read the source of '{package.__name__}' for the mapper {name}: {error}"
        raise MappingError(message) from error
    if not files:
        message = f"'{package.__name__}' has no source files in a folder"
        raise MappingError(f"{message}: install it unpacked to use the mapper {name}")
    # A single module has the digest of its bytes, whatever its path.
    return digest_of(files) if hasattr(package, "__path__") else files[0][1]


def _source_files(package: ModuleType) -> list[tuple[str, str]]:
    """Return the relative path and digest of each `.py` file of a package, sorted."""
    found = []
    # A namespace package may have several folders. An entry inside a zip file, or the placeholder
    # of an editable install, is not a folder: `os.walk` yields nothing for it.
    for root in package.__path__:
        for folder, folders, names in os.walk(root):
            # Modules below `.git` or `.venv` can't be imported by name, so they don't count.
            folders[:] = [one for one in folders if one != "__pycache__" and one[0] != "."]
            paths = [Path(folder, one) for one in names if one.endswith(".py")]
            found += [(path.relative_to(root).as_posix(), _file_digest(path)) for path in paths]
    return sorted(found)


def _file_digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()

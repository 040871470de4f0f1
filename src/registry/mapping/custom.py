"""A mapper written in Python: `package.module:function`, from a package that the root trusts."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path

from registry.errors import MappingError
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

__all__ = ["load_mapper", "mapper_digest"]


def load_mapper(name: str) -> RecordToSample:
    """Import a mapper; the caller has made sure that its package is trusted.

    Raises:
        MappingError: no such module or function.
    """
    module_name, _, function_name = name.partition(":")
    # Code of others raises what it will, exits too, while it is imported and while it runs.
    try:
        found = getattr(importlib.import_module(module_name), function_name)
    except (Exception, SystemExit) as error:
        message = f"can't import the mapper {name}: {type(error).__name__}: {error}"
        raise MappingError(message) from error
    if not callable(found):
        raise MappingError(f"the mapper {name} is no function")

    def mapper(record: DatasetRecord) -> Sample | list[Sample]:
        try:
            result: Sample | list[Sample] = found(record)
        except MappingError:
            raise
        except (Exception, SystemExit) as error:
            message = f"the mapper {name} failed: {type(error).__name__}: {error}"
            raise MappingError(message, value=record) from error
        return result

    return mapper


def mapper_digest(name: str) -> str:
    """Return the digest of the source of a mapper's module: another one is another mapping."""
    module_name = name.partition(":")[0]
    load_mapper(name)  # with its errors
    origin = getattr(importlib.import_module(module_name), "__file__", None)
    if origin is None:
        raise MappingError(f"the mapper {name} has no source file")
    return "sha256:" + hashlib.sha256(Path(origin).read_bytes()).hexdigest()

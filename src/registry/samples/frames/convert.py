"""The samples of any dataset as Arrow data, and the packages that take them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from registry.errors import MissingDependencyError
from registry.samples.frames.layout import MetadataForm, MetadataType, frame_schema
from registry.samples.frames.rows import frame_batch, metadata_kinds

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.samples.sample import Sample

__all__ = ["Frames", "check_arguments", "frames_of", "require"]

_ROWS = 1 << 13
"""As many as a batch of the cache has at most."""


class Frames(NamedTuple):
    """Arrow data of a dataset, made as it is read."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class Samples(Protocol):
    """What is used of a dataset."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Sample]: ...


def check_arguments(size: int | None, metadata: MetadataForm) -> None:
    """Raise a ValueError for a size or a form that does not exist."""
    if metadata not in ("json", "struct"):
        raise ValueError(f"metadata must be 'json' or 'struct', not {metadata!r}")
    if size is not None and size < 1:
        raise ValueError(f"a batch has at least one row, not {size}")


def frames_of(samples: Samples, size: int | None, metadata: MetadataForm) -> Frames:
    """Return samples as Arrow data; the arguments are those of `Dataset.batches`."""
    check_arguments(size, metadata)
    kinds = None
    if metadata == "struct":
        kinds = metadata_kinds(sample.metadata for sample in samples)
    return Frames(frame_schema(kinds), _batches(iter(samples), size or _ROWS, kinds))


def _batches(
    samples: Iterator[Sample], size: int, kinds: dict[str, MetadataType] | None
) -> Iterator[pa.RecordBatch]:
    first = 0
    while part := list(islice(samples, size)):
        yield frame_batch(part, kinds, first=first)
        first += len(part)


def require(package: str, method: str) -> Any:
    """Return a package that a method needs.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != package:
            raise
        message = f"`{method}` needs {package}: pip install {package}"
        raise MissingDependencyError(message) from error

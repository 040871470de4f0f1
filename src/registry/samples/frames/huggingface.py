"""A dataset of the Hub's library over the Arrow data of one of ours."""

from __future__ import annotations

from copy import copy
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

import datasets
from datasets.table import InMemoryTable

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.samples.frames.layout import MetadataForm

__all__ = ["SharedTable", "to_hf"]

_FINGERPRINT = 16
"""Characters of a fingerprint of that library."""


class Rows(Protocol):
    """What is used of one of our datasets."""

    @property
    def name(self) -> str | None: ...
    def to_arrow(self, *, metadata: MetadataForm) -> pa.Table: ...


class SharedTable(InMemoryTable):  # type: ignore[misc] # the library has no types
    """A table that another process makes again from our dataset, which maps the file there."""

    def __init__(self, rows: Rows, metadata: MetadataForm) -> None:
        super().__init__(rows.to_arrow(metadata=metadata))
        self._arguments = (rows, metadata)

    def __getstate__(self) -> dict[str, Any]:
        return {"arguments": self._arguments}

    def __setstate__(self, state: dict[str, Any]) -> None:
        SharedTable.__init__(self, *state["arguments"])


def to_hf(rows: Rows, key: str | None, metadata: MetadataForm) -> datasets.Dataset:
    """Return a dataset of the Hub's library.

    Args:
        rows: Our dataset.
        key: Digest of its data, if it opens them again in another process; None if it has them.
        metadata: See `Dataset.batches`.
    """
    if key is None:
        fingerprint, table = None, InMemoryTable(rows.to_arrow(metadata=metadata))
    else:
        fingerprint = sha256(key.encode()).hexdigest()[:_FINGERPRINT]
        # A copy, as the order of the dataset can be changed in place.
        table = SharedTable(copy(rows), metadata)
    features = datasets.Features.from_arrow_schema(table.schema)
    info = datasets.DatasetInfo(features=features, dataset_name=rows.name)
    return datasets.Dataset(table, info=info, fingerprint=fingerprint)

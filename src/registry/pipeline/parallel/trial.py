"""Whether a mapper gives the same samples in another process: it maps known records there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from registry.errors import MappingError, RegistryError
from registry.mapping.custom import mapper_digest
from registry.pipeline.row_pipeline import row_pipeline
from registry.store.schema import MetadataTypeMismatchError

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.pipeline.pipeline import Pipeline, PipelineState

__all__ = ["Trial", "observed"]

_RECORDS = 64


class Trial(Struct, frozen=True):
    """Records of a part, and the rows that the process of the build made of them."""

    first: int
    """Number of the first of the records."""
    skip: int
    """Records of the part before it: at least one, as the first is 1 wherever a mapper counts."""
    stop: int
    """Records of the part up to the last of them."""
    rows: list[str]
    """Each row as text, as NaN differs from itself."""
    mapper: str
    code: str
    """Digest of the mapper's package."""

    def check(
        self, file: SourceBytes, source: Source, pipeline: Pipeline, state: PipelineState
    ) -> None:
        """Map the records by this process; `file` has those of the part.

        Raises:
            MappingError: the rows differ, or the code does.
        """
        if mapper_digest(self.mapper) != self.code:
            raise MappingError(f"the code of the mapper {self.mapper} differs in another process")
        state.next_record = self.first
        batches = row_pipeline(file, source, pipeline, state, skip=self.skip, stop=self.stop)
        rows: list[str] = []
        with contextlib.suppress(RegistryError, MetadataTypeMismatchError):
            rows += [str(row) for batch in batches for row in batch.to_pylist()]
        if rows != self.rows:
            last = self.first + self.stop - self.skip - 1
            raise MappingError(
                f"the samples of records {self.first:,} to {last:,} differ in"
                " another process (is the mapper a function of its record alone?)"
            )


def observed(
    batches: Iterator[pa.RecordBatch],
    mapper: str,
    state: PipelineState,
    use: Callable[[Trial], None],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part; then give a trial to `use`, if it has more than one record."""
    start = state.next_record
    rows: list[dict[str, Any]] = []
    for batch in batches:
        numbers = batch.column("record").to_numpy()
        rows += batch.slice(0, int(np.searchsorted(numbers, start + 2 * _RECORDS))).to_pylist()
        yield batch
    count = state.next_record - start
    skip = min(_RECORDS, count // 2)
    stop = min(skip + _RECORDS, count)
    if skip:
        tried = range(start + skip, start + stop)
        texts = [str(row) for row in rows if row["record"] in tried]
        use(Trial(start + skip, skip, stop, texts, mapper, mapper_digest(mapper)))

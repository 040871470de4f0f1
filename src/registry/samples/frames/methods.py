"""What every dataset can do for tools that read Arrow: a mixin without state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from registry.errors import SampleNotFoundError
from registry.samples.selection import int_of, positions_of

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from registry.samples.frames.description import Description
    from registry.samples.frames.layout import MetadataForm
    from registry.samples.frames.rows import Frames
    from registry.samples.sample import Sample

__all__ = ["FrameMethods"]

_NAMED_IDS = 10_000
"""How many ids are searched for similar ones, which is slower than finding the sample."""


class FrameMethods:
    """Arrow, frames, access by id and a description, over the samples of a dataset.

    Packages such as pyarrow are imported by the methods that need them.
    """

    if TYPE_CHECKING:  # what a dataset has

        @property
        def name(self) -> str | None:
            """Name of the dataset."""

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Sample]: ...
        def __getitem__(self, index: int, /) -> Sample: ...

        def samples_at(self, positions: Sequence[int]) -> Iterator[Sample]:
            """Yield the samples at positions, in their order."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns in Arrow and frames, the same for every dataset."""
        from registry.samples.frames.layout import COLUMNS

        return COLUMNS

    def batches(
        self, size: int | None = None, *, metadata: MetadataForm = "json"
    ) -> Iterator[pa.RecordBatch]:
        """Yield the samples as Arrow data, in order, with the columns of docs/reference/interop.md.

        Args:
            size: Rows of each batch but the last; by default as many as need no copy.
            metadata: `json` for text, or `struct` for a child per key.

        Raises:
            MappingError: a value has no form in Arrow; never for samples of the cache.
        """
        return self._frames(size, metadata).batches

    def to_arrow(self, *, metadata: MetadataForm = "json") -> pa.Table:
        """Return all samples as a table; `batches` needs less memory."""
        import pyarrow as pa

        frames = self._frames(None, metadata)
        return pa.Table.from_batches(frames.batches, frames.schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the samples as a stream of Arrow's C interface, read as it is consumed."""
        import pyarrow as pa

        frames = self._frames(None, "json")
        reader = pa.RecordBatchReader.from_batches(frames.schema, frames.batches)
        return reader.__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, metadata: MetadataForm = "json") -> pd.DataFrame:
        """Return all samples as a frame of pandas.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        from registry.samples.frames.rows import require

        require("pandas", "to_pandas")
        return self.to_arrow(metadata=metadata).to_pandas()

    def to_polars(self, *, metadata: MetadataForm = "json") -> pl.DataFrame:
        """Return all samples as a frame of polars.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        from registry.samples.frames.rows import require

        frame: pl.DataFrame = require("polars", "to_polars").from_arrow(
            self.to_arrow(metadata=metadata)
        )
        return frame

    def to_hf(self, *, metadata: MetadataForm = "json") -> datasets.Dataset:
        """Return the samples as a dataset of the Hub's library, over the same memory.

        A table of samples of the cache is pickled as the dataset is: without rows.
        """
        from registry.samples.frames.huggingface import to_hf

        return to_hf(self, self._frame_key(metadata), metadata)

    def by_id(self, identifier: int | str) -> Sample:
        """Return the first sample with an id; the text of an int is an id too.

        Raises:
            SampleNotFoundError: no sample has it.
        """
        return self[self.position_of(identifier)]

    def position_of(self, identifier: int | str) -> int:
        """Return the position of the first sample with an id; errors as of `by_id`."""
        position = self._position_of(identifier)
        if position is None:
            known = (str(one.id) for one in islice(self, _NAMED_IDS) if one.id is not None)
            raise SampleNotFoundError(identifier, known, dataset=self.name or "the dataset")
        return position

    def describe(self) -> Description:
        """Return how many samples there are, how long, how balanced and how often repeated."""
        from registry.samples.frames.counting import describe

        return describe(self.batches(), name=self.name)

    def __getitems__(self, positions: Sequence[int]) -> list[Sample]:
        """Return several samples at once, as PyTorch's `DataLoader` asks for a batch."""
        return list(self.samples_at(positions_of(positions, len(self))))

    def _frames(self, size: int | None, metadata: MetadataForm) -> Frames:
        """Return the schema and the batches of all samples."""
        from registry.samples.frames.rows import frames_of

        return frames_of(self, size, metadata)

    def _frame_key(self, metadata: MetadataForm) -> str | None:
        """Return a digest of what `to_arrow` returns; None if the samples are in memory."""
        return None

    def _position_of(self, identifier: int | str) -> int | None:
        """Return the position of the first sample with an id, or with an int of that text."""
        ids = [sample.id for sample in self]
        for wanted in (identifier, int_of(identifier)):
            if wanted is not None and wanted in ids:
                return ids.index(wanted)
        return None

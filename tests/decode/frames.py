"""Read files by column, with the reason why reading by column ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from registry.decode import decode_tables
from registry.decode.frame import AnyFrame, NotColumnarError
from registry.decode.stream import SourceBytes
from registry.manifest.source import Source, SourceModel
from registry.manifest.source_models import CsvSource, JsonSource, ParquetSource
from registry.manifest.validation import source_from_arguments

__all__ = ["Q", "frames_of", "parquet", "read", "rows_of", "table"]

Q = frozenset({"q"})


def frames_of(
    path: Path, source: Source, wanted: frozenset[str] | None = Q
) -> tuple[list[AnyFrame], str]:
    """Return the frames of a file, and the reason why they end; "" at the end of the file."""
    frames = []
    try:
        for frame in decode_tables(SourceBytes.of_file(str(path), path), source, wanted):
            frames.append(frame)  # noqa: PERF402 (those before an error count)
    except NotColumnarError as error:
        return frames, str(error)
    return frames, ""


def rows_of(frames: list[AnyFrame]) -> list[dict[str, Any]]:
    """Return the records."""
    return [row for frame in frames for row in frame.records()]


def read(
    folder: Path, data: bytes, name: str, wanted: frozenset[str] | None = Q, **options: Any
) -> tuple[list[dict[str, Any]], str]:
    """Return the records that are read by column, and the reason why they end."""
    path = folder / name
    path.write_bytes(data)
    models: dict[str, type[SourceModel]] = {"csv": CsvSource, "parquet": ParquetSource}
    model = models.get(name.split(".")[1], JsonSource)
    source = source_from_arguments(model, {"path": [str(path)], **options})
    frames, why = frames_of(path, source, wanted)
    return rows_of(frames), why


def table() -> pa.Table:
    return pa.table({"q": ["x", "y", "z"], "a": [1, 2, 3], "m": [{"b": 1, "c": 2}] * 3})


def parquet(path: Path, data: pa.Table, **options: Any) -> ParquetSource:
    pq.write_table(data, path, **options)
    return ParquetSource(path=(str(path),))

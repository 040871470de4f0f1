"""A Parquet file with two short columns among many others."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["chunk", "wide", "write"]

ROWS = 4000


def wide(path: Path, *, groups: int = 4) -> bytes:
    """Write a file of some 7 MB with 40 columns; c07 and c30 have texts. Return its bytes."""
    columns = {f"c{number:02}": [os.urandom(40) for _ in range(ROWS)] for number in range(40)}
    columns["c07"] = [b"question %04d" % row for row in range(ROWS)]
    columns["c30"] = [b"answer %04d" % row for row in range(ROWS)]
    return write(path, columns, groups=groups)


def write(path: Path, columns: Mapping[str, Any], *, groups: int) -> bytes:
    """Write columns so that their bytes are in the file as they are; return its bytes."""
    table = pa.table(dict(columns))
    plain: dict[str, Any] = {"use_dictionary": False, "write_statistics": False}
    rows = table.num_rows // groups
    pq.write_table(table, path, row_group_size=rows, compression="none", **plain)
    return path.read_bytes()


def chunk(data: bytes, column: str, group: int = 0) -> range:
    """Return where the values of a column are in a row group."""
    metadata = pq.read_metadata(io.BytesIO(data)).row_group(group)
    (found,) = (
        metadata.column(at)
        for at in range(metadata.num_columns)
        if metadata.column(at).path_in_schema == column
    )
    return range(found.data_page_offset, found.data_page_offset + found.total_compressed_size)

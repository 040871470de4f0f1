"""`parquet`: a Parquet file with typed columns and the provenance in its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from registry.plugins.export.writers.tables import row_groups, schema_of

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["write"]


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a row group per group of rows."""
    # The bytes must not follow a change of the defaults.
    writer = pq.ParquetWriter(
        file,
        schema_of(exported),
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        data_page_version="1.0",
        write_statistics=True,
        store_schema=True,
    )
    with writer:
        for group in row_groups(exported):
            writer.write_table(pa.Table.from_batches([group]), row_group_size=group.num_rows)

"""`arrow`: an Arrow IPC file, without compression so that it can be memory-mapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from registry.plugins.export.writers.tables import row_groups, schema_of

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

__all__ = ["write"]


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a batch per row group."""
    # The defaults, named: the bytes must not follow a change of them.
    options = pa.ipc.IpcWriteOptions(
        metadata_version=pa.ipc.MetadataVersion.V5, allow_64bit=False, compression=None
    )
    with pa.ipc.new_file(file, schema_of(exported), options=options) as writer:
        for group in row_groups(exported):
            writer.write_batch(group)

"""Records as the bytes of a file, in the formats that most tests write, and archives of files."""

from __future__ import annotations

import csv
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["csv_bytes", "jsonl", "parquet_bytes", "tar_bytes", "zip_bytes"]

Records = Sequence[Mapping[str, Any]]


def jsonl(records: Records) -> bytes:
    """Return JSON Lines in UTF-8, without escapes."""
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records).encode()


def csv_bytes(records: Records, delimiter: str = ",") -> bytes:
    """Return CSV with the keys of the first record as its header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def parquet_bytes(records: Records, **options: Any) -> bytes:
    """Return Parquet; the options are those of pyarrow."""
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(one) for one in records]), buffer, **options)
    return buffer.getvalue()


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive of files by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tar_bytes(files: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    """Return a tar archive of files by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()

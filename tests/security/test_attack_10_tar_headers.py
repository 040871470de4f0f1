"""Attack 10: headers of a tar archive that lead its reader in circles, or make it fail oddly."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.measured import run_measured

_BASE_256 = 256**12


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return a header with a valid checksum, whose size may be negative."""
    entry = tarfile.TarInfo(name)
    entry.type = kind
    block = bytearray(entry.tobuf(format=tarfile.GNU_FORMAT)[:512])
    block[124:136] = (_BASE_256 + size).to_bytes(12, "big") if size < 0 else b"%011o\0" % size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


FIRST = header("a.csv", 8) + b"q,a\n1,2\n".ljust(512, b"\0")
ARCHIVES = {
    "back to itself": FIRST + header("b.csv", -512),
    "back to the start": FIRST + header("b.csv", -1536),
    "a long name back to itself": FIRST + header("b", -512, tarfile.GNUTYPE_LONGNAME),
    "a comment back to itself": FIRST + header("b", -512, tarfile.XHDTYPE),
    "many long names": FIRST
    + (header("b", 8, tarfile.GNUTYPE_LONGNAME) + b"b".ljust(512, b"\0")) * 3000,
    "a size that is no number": FIRST
    + header("b", 16, tarfile.XHDTYPE)
    + b"16 size=1_0_0e7\n".ljust(512, b"\0")
    + header("c.csv", 8)
    + b"x".ljust(512),
    "a sparse file without a map": FIRST
    + header("b", 60, tarfile.XHDTYPE)
    + b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n".ljust(512, b"\0")
    + header("c.csv", 1024)
    + b"x" * 1024,
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_listing_an_archive_ends(tmp_path: Path, kind: str) -> None:
    dataset = "{source: {type: csv, path: 'tar://*.csv::x.tar'}, fields: {input: q, target: a}}"
    index = f"version: 1\ndatasets: {{d: {dataset}}}\n"
    write_files(tmp_path, {"datasets.yaml": index, "x.tar": ARCHIVES[kind] + b"\0" * 1024})
    result = run_measured(tmp_path, "sync", cache=tmp_path / "cache")
    assert result.code == 1
    text = result.text.replace(f"{tmp_path}/", "")
    assert "error: d: tar://*.csv::x.tar: the tar archive is damaged" in text
    assert result.bytes < 500_000_000

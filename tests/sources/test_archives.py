"""Members of real archives are read in place, and faults name the archive and the member."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.errors import DecodeError, SourceError
from registry.sources import archives
from registry.sources.archives import match_members, open_member
from tests.records import tar_bytes

FILES = {"data/a.csv": b"q,a\n1,2\n", "data/b.csv": b"q,a\n3,4\n", "top.jsonl": b"{}\n"}


def zipped(path: Path, files: dict[str, bytes] = FILES) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("data")
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, files: dict[str, bytes] = FILES, *, mode: str = "w") -> Path:
    path.write_bytes(tar_bytes(files, mode))
    return path


def read(location: str) -> bytes:
    """Read a member of a file as of a server, whose URL has a secret that no message has."""
    members, _, path = location.rpartition("::")
    url = Location(f"{members}::https://host{path}?sig=hush")
    with open_member(url, partial(open, path, "rb")) as member:  # type: ignore[arg-type]
        return member.read()


def zstandard(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


def matched(location: str) -> list[Location]:
    path = location.rpartition("::")[2]
    return match_members(Location(location), partial(open, path, "rb"))  # type: ignore[arg-type]


def test_members_are_read_however_the_archive_is_packed(tmp_path: Path) -> None:
    modes = {"a.tar": "w", "a.tar.gz": "w:gz", "a.tgz": "w:gz", "a.tbz": "w:bz2", "a": "w:xz"}
    paths = [f"zip://{{}}::{zipped(tmp_path / 'a.zip')}"]
    paths += [f"tar://{{}}::{tarred(tmp_path / name, mode=modes[name])}" for name in modes]
    for path in paths:
        assert [read(path.format(member)) for member in FILES] == list(FILES.values()), path


def test_an_archive_of_the_tar_command_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    # Names in it start with `./`, which nobody writes in a manifest.
    subprocess.run(["tar", "-czf", "out.tgz", "./data", "./top.jsonl"], cwd=tmp_path, check=True)
    assert read(f"tar://data/a.csv::{tmp_path}/out.tgz") == FILES["data/a.csv"]
    assert matched(f"tar://*.jsonl::{tmp_path}/out.tgz") == [f"tar://top.jsonl::{tmp_path}/out.tgz"]


def test_the_last_member_of_a_name_counts(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar")
    with tarfile.open(path, "a") as archive:
        entry = tarfile.TarInfo("top.jsonl")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"new"))
    assert read(f"tar://top.jsonl::{path}") == b"new"


def test_an_archive_within_an_archive_is_read(tmp_path: Path) -> None:
    inner = tarred(tmp_path / "inner.tgz", mode="w:gz").read_bytes()
    path = zipped(tmp_path / "outer.zip", {"in/inner.tgz": inner})
    assert read(f"tar://top.jsonl::zip://in/inner.tgz::{path}") == b"{}\n"
    found = matched(f"tar://data/*::zip://in/inner.tgz::{path}")
    assert found == [f"tar://data/{name}.csv::zip://in/inner.tgz::{path}" for name in "ab"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("data/*.csv", ["data/a.csv", "data/b.csv"]),
        ("**/*.csv", ["data/a.csv", "data/b.csv"]),
        ("*", ["top.jsonl"]),
        ("data/[b].csv", ["data/b.csv"]),
        ("*.parquet", []),
    ],
)
@pytest.mark.parametrize(("protocol", "pack"), [("zip", zipped), ("tar", tarred)])
def test_globs_match_members_in_order(
    tmp_path: Path, protocol: str, pack: Callable[[Path], Path], pattern: str, names: list[str]
) -> None:
    path = pack(tmp_path / "a")
    found = matched(f"{protocol}://{pattern}::{path}")
    assert found == [f"{protocol}://{name}::{path}" for name in names]


def test_a_name_that_looks_like_a_glob_is_a_name(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"[x].csv": b"1", "x.csv": b"2"})
    assert matched(f"zip://[x].csv::{path}") == [f"zip://[x].csv::{path}"]


def test_names_that_point_out_of_the_archive_are_only_names(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"../../out.csv": b"1", "/abs.csv": b"2"})
    before = sorted(os.listdir(tmp_path))
    assert read(f"zip://../../out.csv::{path}") == b"1"
    assert read(f"zip://abs.csv::{path}") == b"2"
    assert sorted(os.listdir(tmp_path)) == before
    assert not (tmp_path.parent / "out.csv").exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.csv", r"did you mean 'data/a\.csv'\?"),
        ("data", r"did you mean 'data/a\.csv' or 'data/b\.csv'\?"),
        ("data/c.csv", r"did you mean 'data/[ab]\.csv' or 'data/[ab]\.csv'"),
        ("zzzzz", "it has 3 files"),
    ],
)
@pytest.mark.parametrize(("protocol", "pack"), [("zip", zipped), ("tar", tarred)])
def test_a_missing_member_is_named_with_similar_names(
    tmp_path: Path, protocol: str, pack: Callable[[Path], Path], name: str, hint: str
) -> None:
    with pytest.raises(SourceError, match=rf"\?…: no such member .{hint}"):
        read(f"{protocol}://{name}::{pack(tmp_path / 'a')}")


def test_a_link_in_a_tar_is_no_file(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar")
    with tarfile.open(path, "a") as archive:
        entry = tarfile.TarInfo("link.csv")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(SourceError, match=r"link\.csv::.*no such member"):
        read(f"tar://link.csv::{path}")


@pytest.mark.parametrize(
    ("at", "byte", "message"),
    [
        (8, 1, "encrypted, password required"),  # the flag that `zip --encrypt` sets
        (10, 9, "compression"),  # Deflate64, which Windows writes for large files
    ],
)
def test_a_member_that_cannot_be_unpacked_is_an_error(
    tmp_path: Path, at: int, byte: int, message: str
) -> None:
    path = zipped(tmp_path / "a.zip", {"x.csv": b"q,a\n" * 9})
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + at] = byte
    path.write_bytes(data)
    with pytest.raises(SourceError, match=rf"\?…: can't be unpacked: .*{message}"):
        read(f"zip://x.csv::{path}")


@pytest.mark.parametrize("cut", [10, 60, -30])
@pytest.mark.parametrize(
    ("protocol", "pack"), [("zip", zipped), ("tar", partial(tarred, mode="w:gz"))]
)
def test_a_truncated_archive_is_an_error(
    tmp_path: Path, protocol: str, pack: Callable[[Path], Path], cut: int
) -> None:
    path = pack(tmp_path / "a")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DecodeError, match=rf"\?…: the {protocol} archive is damaged, or not"):
        read(f"{protocol}://data/a.csv::{path}")


def test_damaged_bytes_of_a_member_are_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.csv", b"q,a\n1,2\n")
    path = tmp_path / "a.zip"
    path.write_bytes(path.read_bytes().replace(b"1,2", b"1,3"))
    with pytest.raises(DecodeError, match=r"x\.csv::.*damaged, or not one: Bad CRC-32"):
        read(f"zip://x.csv::{path}")


def test_a_damaged_header_does_not_end_a_tar_silently(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar")
    data = bytearray(path.read_bytes())
    data[1024 + 148] ^= 1  # the checksum of the second header
    path.write_bytes(data)
    with pytest.raises(DecodeError, match="damaged, or not one: no header at byte 1024"):
        matched(f"tar://**::{path}")


@pytest.mark.parametrize("data", [b"", b"<!doctype html>", b"q,a\n1,2\n" * 200])
@pytest.mark.parametrize("protocol", ["zip", "tar"])
def test_a_file_that_is_no_archive_is_an_error(tmp_path: Path, protocol: str, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    is_page = data.startswith(b"<")
    fault = "an HTML page" if is_page else f"the {protocol} archive is damaged, or not"
    with pytest.raises(DecodeError, match=fault):
        read(f"{protocol}://x.csv::{tmp_path}/a")


@pytest.fixture
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "HARMLESS_BYTES", 1 << 20)


@pytest.mark.usefixtures("low_limits")
@pytest.mark.parametrize(
    ("protocol", "pack"),
    [("zip", zipped), *(("tar", partial(tarred, mode=f"w:{kind}")) for kind in ("gz", "xz"))],
)
def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, protocol: str, pack: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    path = pack(tmp_path / "a", {"zeros.csv": b"\0" * (1 << 24)})
    size = path.stat().st_size
    limit = max(1 << 20, 200 * size)
    message = f"would unpack to more than {limit:,} bytes, the limit for an archive of {size:,}"
    with pytest.raises(SourceError, match=f"{message} bytes .* raise `limits: {{ratio:"):
        read(f"{protocol}://zeros.csv::{path}")


@pytest.mark.usefixtures("low_limits")
def test_a_bomb_before_a_member_is_refused(tmp_path: Path) -> None:
    files = {"zeros": b"\0" * (1 << 24), "x.csv": b"q,a\n"}
    path = tarred(tmp_path / "a.tgz", files, mode="w:gz")
    with pytest.raises(SourceError, match="would unpack to more than"):
        read(f"tar://x.csv::{path}")


def test_a_huge_header_of_a_tar_is_refused(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("././@LongLink")
    entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 24
    data = entry.tobuf() + b"x" * (1 << 24) + b"\0" * 1024
    (tmp_path / "a.tar").write_bytes(data)
    with pytest.raises(SourceError, match="would unpack to more than"):
        read(f"tar://x.csv::{tmp_path}/a.tar")


def test_a_tar_that_leads_back_to_itself_is_damaged(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("x")
    entry.size = -1024
    (tmp_path / "a.tar").write_bytes(entry.tobuf(tarfile.GNU_FORMAT) * 2 + b"\0" * 1024)
    with pytest.raises(DecodeError, match="not one: a negative size at byte 0"):
        read(f"tar://x.csv::{tmp_path}/a.tar")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard])
def test_a_large_member_of_an_ordinary_archive_is_read(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    data = os.urandom(1 << 20)
    path = tarred(tmp_path / "plain.tar", {"x.bin": data})
    (tmp_path / "packed").write_bytes(pack(path.read_bytes()))
    assert read(f"tar://x.bin::{tmp_path}/packed") == data


def test_an_error_of_the_reader_is_not_the_archives(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    location = f"zip://top.jsonl::{path}"
    with pytest.raises(RecursionError), open_member(Location(location), lambda: path.open("rb")):
        raise RecursionError


def test_members_that_are_too_many_or_too_large_together_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.csv", b"\0" * 1000)

    def match(limits: Limits) -> int:
        location = f"zip://*.csv::{path}"
        return len(match_members(Location(location), partial(open, path, "rb"), limits))  # type: ignore[arg-type]

    assert match(Limits(unpacked_bytes=5000)) == 5
    with pytest.raises(SourceError, match=r"than 4,999 bytes.* `limits: {unpacked_bytes:"):
        match(Limits(unpacked_bytes=4999))
    with pytest.raises(SourceError, match="the glob matches more than 4 members"):
        match(Limits(files=4))

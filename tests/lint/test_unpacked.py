"""Compressed data is unpacked up to a limit."""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import partial

import pytest

from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.lint.unpacked import NotUnpackedError, member_names, unpacked_file, zip_members


def packed(data: bytes) -> SourceBytes:
    return SourceBytes("x.csv.gz", partial(io.BytesIO, gzip.compress(data)))


def content(file: SourceBytes) -> bytes:
    with file.open() as opened:
        return opened.read()


def zipped(names: list[str]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return file


def test_content_is_unpacked_up_to_the_limit() -> None:
    data = b"q,a\n" + b"1,2\n" * 100
    file = unpacked_file(packed(data), len(data), is_start_enough=False)
    assert (file.location, content(file)) == ("x.csv", data)
    with pytest.raises(NotUnpackedError):
        unpacked_file(packed(data), len(data) - 1, is_start_enough=False)


def test_start_ends_with_a_complete_row() -> None:
    file = unpacked_file(packed(b"q,a\n1,2\n3,4\n"), 10, is_start_enough=True)
    assert content(file) == b"q,a\n1,2\n"
    with pytest.raises(NotUnpackedError):
        unpacked_file(packed(b"x" * 20), 10, is_start_enough=True)


def test_bomb_is_not_unpacked_beyond_the_limit() -> None:
    bomb = packed(b"\n" + bytes(1 << 28))
    assert content(unpacked_file(bomb, 1 << 20, is_start_enough=True)) == b"\n"


def test_damaged_file_is_an_error() -> None:
    file = SourceBytes("x.csv.gz", partial(io.BytesIO, b"not gzip"))
    with pytest.raises(DecodeError):
        unpacked_file(file, 100, is_start_enough=True)


def test_members_match_by_name_or_glob() -> None:
    names = ["b.csv", "a.csv", "a[1].csv", "x.json", "folder/"]
    assert member_names(zipped(names)) == ["b.csv", "a.csv", "a[1].csv", "x.json"]
    for pattern, found in (("a[1].csv", ["a[1].csv"]), ("?.csv", ["a.csv", "b.csv"]), ("z", [])):
        members = zip_members(pattern, zipped(names))
        assert [(one.location, content(one)) for one in members] == [
            (name, name.encode()) for name in found
        ]


def test_archive_with_too_many_members_or_none_is_not_read() -> None:
    for file in (zipped([str(number) for number in range(10_001)]), io.BytesIO(b"PK")):
        with pytest.raises(NotUnpackedError):
            member_names(file)

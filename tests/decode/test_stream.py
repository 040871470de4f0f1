"""Decompressed bytes, and text with normalized line ends."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from registry.base.locations import Location
from registry.decode.frame import NotColumnarError
from registry.decode.stream import (
    SourceBytes,
    is_stand_in,
    is_utf8,
    line_blocks,
    open_bytes,
    open_text,
    stand_in_fault,
)
from registry.errors import DecodeError


def source(data: bytes, location: str = "d.csv") -> SourceBytes:
    return SourceBytes(Location(location), lambda: nullcontext(io.BytesIO(data)))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.Codec("zstd").compress(data, asbytes=True)),
}
packers = pytest.mark.parametrize("suffix", PACKERS)
DATA = b"q,a\n" + b"x,1\n" * 1000


@packers
def test_compressed_bytes_are_decompressed(suffix: str) -> None:
    file = source(PACKERS[suffix](DATA), f"https://host/d.csv{suffix.upper()}?x=1")
    with open_bytes(file) as data:
        assert data.read(5) == DATA[:5]
        assert data.read() == DATA[5:]


def test_uncompressed_bytes_are_unchanged() -> None:
    with open_bytes(source(gzip.compress(DATA))) as data:
        assert gzip.decompress(data.read()) == DATA


@packers
@pytest.mark.parametrize("damage", ["truncated", "zeroed", "not compressed"])
def test_damaged_compressed_data_is_a_decode_error(suffix: str, damage: str) -> None:
    packed = PACKERS[suffix](DATA)
    damaged = {
        "truncated": packed[: len(packed) // 2],
        "zeroed": packed[:12] + bytes(len(packed) - 12),
        "not compressed": DATA,
    }[damage]
    message = rf"^d\.csv\{suffix}: the compressed data is damaged or truncated: "
    with (
        pytest.raises(DecodeError, match=message),
        open_bytes(source(damaged, f"d.csv{suffix}")) as data,
    ):
        assert data.read() == DATA


@pytest.mark.parametrize("location", ["d.csv", "d.csv.gz"])
def test_os_error_is_not_a_decode_error(location: str, tmp_path: Path) -> None:
    file = SourceBytes.of_file(location, tmp_path / "missing")
    with pytest.raises(FileNotFoundError), open_bytes(file):
        pass
    with pytest.raises(PermissionError), open_bytes(source(b"", location)):
        raise PermissionError(13, "Permission denied")


def test_a_local_file_is_opened_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"x")
    file = SourceBytes.of_file("https://host/d.csv", path)
    assert (file.location, file.local_path) == ("https://host/d.csv", str(path))
    with file.open() as data:
        assert data.read() == b"x"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"a\r\nb\rc\n", "utf-8", "a\nb\nc\n"),
        (b"\xef\xbb\xbfa", "utf-8", "a"),
        (b"\xef\xbb\xbfa", "UTF8", "a"),
        (b"\xef\xbb\xbfa", "latin-1", "ï»¿a"),
        (b"caf\xe9", "latin-1", "café"),
        ("é\r\n".encode("utf-16"), "utf-16", "é\n"),
        (b"", "utf-8", ""),
    ],
)
def test_text_is_decoded(data: bytes, encoding: str, text: str) -> None:
    with open_text(source(data), encoding) as opened:
        assert opened.read() == text


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (
            b"a\nb\xe9\n",
            "utf-8",
            "d.csv:2: byte 0xe9 is not utf-8 (set `encoding`, such as latin-1)",
        ),
        (b"\xff", "ascii", "d.csv:1: byte 0xff is not ascii (set `encoding`, such as latin-1)"),
        (
            "é".encode("utf-16")[:-1],
            "utf-16",
            "d.csv: byte 0xe9 is not utf-16 (set `encoding`, such as latin-1)",
        ),
        (b"ab", "utf-16", "d.csv: not utf-16: it does not start with a byte-order mark"),
        (b"x", "utf-9", "d.csv: unknown text encoding 'utf-9' (did you mean 'utf'?)"),
        (b"x", "rot13", "d.csv: unknown text encoding 'rot13'"),
        (b"x", "x\0", "d.csv: unknown text encoding 'x\0'"),
    ],
)
def test_text_that_can_not_be_decoded_is_an_error_with_its_line(
    data: bytes, encoding: str, message: str
) -> None:
    with pytest.raises(DecodeError) as caught, open_text(source(data), encoding) as text:
        text.read()
    assert str(caught.value) == message


PAGES = [b"<!DOCTYPE html>", b"<html>", b"\xef\xbb\xbf\n <HTML lang=en>", b"<!doctype HTML PUBLIC"]


@pytest.mark.parametrize("page", PAGES)
def test_an_html_page_is_not_data(page: bytes) -> None:
    assert is_stand_in(page)
    with (
        pytest.raises(DecodeError, match=r"^d\.csv: this is an HTML page, not data \("),
        open_text(source(page + b"\n"), "utf-8"),
    ):
        pass


def test_the_title_of_a_page_is_shown() -> None:
    page = b"<html><head><TITLE lang=en>\n Sign\x1b in  </title>"
    assert "(titled 'Sign\\u{1b} in'; an error" in stand_in_fault(page)
    assert stand_in_fault(b"q,a\n<title>x</title>") == ""


def test_a_pointer_of_git_lfs_is_not_data() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize 1\n" % (b"0" * 64)
    assert is_stand_in(pointer)
    assert not is_stand_in(pointer + b"q,a\n")
    message = r"^d\.csv: this is a pointer of Git LFS, not the data \(`git lfs pull` gets it\)"
    with pytest.raises(DecodeError, match=message), open_text(source(pointer), "utf-8"):
        pass


@pytest.mark.parametrize("data", [b"", b"<", b"<htm", b"q,<html>", b"<xml>", b"{}"])
def test_other_data_is_data(data: bytes) -> None:
    assert not is_stand_in(data)


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        *[(name, True) for name in ("utf-8", "UTF_8", "utf8", "U8", "utf-8-sig")],
        *[(name, False) for name in ("latin-1", "utf-16", "ascii", "utf-9", "", "base64")],
    ],
)
def test_all_names_of_utf8_are_recognized(encoding: str, expected: bool) -> None:
    assert is_utf8(encoding) is expected


@hypothesis.given(st.lists(st.binary(max_size=40), max_size=9).map(b"\n".join), st.integers(1, 50))
@hypothesis.example((b"x" * 40 + b"\n") * 9, 40)
def test_blocks_are_split_at_line_ends(data: bytes, size: int) -> None:
    found = list(line_blocks(io.BytesIO(data), size=size, most=1 << 20))
    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found[:-1])
    assert all(len(block) <= 40 + max(size, 40) for block in found), "a line has at most 40 bytes"


@pytest.mark.parametrize("end", [b"", b"\n", b"\nx\n"])
def test_line_that_is_too_long_is_not_columnar(end: bytes) -> None:
    assert list(line_blocks(io.BytesIO(b"x" * 20 + end), size=8, most=64)) != []
    with pytest.raises(NotColumnarError, match="too long"):
        list(line_blocks(io.BytesIO(b"x" * 65 + end), size=8, most=64))

"""Attack 10: a small file that unpacks to gigabytes took 9.9 GB of memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.decode.handmade_parquet import (
    Thrift,
    data_page,
    dictionary_page,
    indices,
    levels,
    text,
    write,
    zigzag,
)
from tests.git_repository import write_files
from tests.security.measured import run_measured
from tests.thorough import THOROUGH

SIZE = 2 << 30
CHUNK = 1 << 24
LESS_IS_HARMLESS = """
from registry.decode import parquet_files, stream
for module in (parquet_files, stream):
    module.HARMLESS_BYTES = 1 << 28
stream.open_bytes.__wrapped__.__kwdefaults__["harmless"] = 1 << 28
"""
"""Python that lets a quarter of the bytes pass that always do, as to read them takes seconds."""

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}


def pack(path: Path, start: bytes, repeated: bytes) -> None:
    """Write a compressed file of two gigabytes; packed data may follow packed data."""
    packer = PACKERS[path.suffix]
    some = packer(repeated * max(1, CHUNK // len(repeated)))
    count = SIZE // max(CHUNK, len(repeated))
    path.write_bytes(packer(start) + some * count)
    assert path.stat().st_size < 3_000_000


def catalog(tmp_path: Path, kind: str, path: str, more: str = "") -> Path:
    """Write the catalog of the pull request; return its folder."""
    dataset = f"{{source: {{type: {kind}, path: '{path}'}}, fields: {{input: q}}}}"
    index = f"version: 1\ndatasets: {{d: {dataset}}}\n{more}"
    return write_files(tmp_path / "catalog", {"datasets.yaml": index})


def refused(
    folder: Path, message: str, *commands: str, before: str = "", most: int = 10**9
) -> None:
    """Build the dataset: it fails with a message, in little memory."""
    for command in commands or ["sync"]:
        cache = folder.parent / "cache"
        result = run_measured(folder, command, "d", cache=cache, before=before)
        assert result.code != 0
        assert message in result.text
        assert result.bytes < most


LONG_LINE = "the line has more than 67,108,864 bytes (`limits: {line_bytes: …}` in the root index"
RATIO = "so each gives more than 200 bytes (`limits: {ratio: …}` in the root index raises"
LINES = {
    "csv": (b"q\n", f":2: {LONG_LINE}"),
    "json": (b'[{"q": "', RATIO),
    "jsonl": (b'{"q": "', f":1: {LONG_LINE}"),
}


# Each form once with each way to pack it would take minutes.
@pytest.mark.parametrize(
    "name", ["d.csv.bz2", "d.csv.zst", "d.json.zst", "d.jsonl.zst", "d.jsonl.gz", "d.json.xz"]
)
def test_a_packed_line_that_never_ends_is_refused(tmp_path: Path, name: str) -> None:
    form = name.split(".")[1]
    folder = catalog(tmp_path, form.removesuffix("l"), name)
    start, message = LINES[form]
    pack(folder / name, start, b"0")
    refused(folder, message)


@pytest.mark.parametrize(
    ("form", "suffix"),
    [
        ("jsonl", ".zst"),
        pytest.param("csv", ".zst", marks=THOROUGH),
        pytest.param("jsonl", ".xz", marks=THOROUGH),
    ],
)
def test_packed_lines_without_end_are_refused(tmp_path: Path, form: str, suffix: str) -> None:
    name = f"d.{form}{suffix}"
    folder = catalog(tmp_path, form.removesuffix("l"), name)
    line = b"x" * 1000 + b"\n" if form == "csv" else b'{"q": "' + b"x" * 1000 + b'"}\n'
    pack(folder / name, b"q\n" if form == "csv" else b"", line)
    refused(folder, RATIO, before=LESS_IS_HARMLESS, most=350_000_000)


@THOROUGH
def test_many_long_lines_do_not_add_up_in_memory(tmp_path: Path) -> None:
    folder = catalog(tmp_path, "json", "d.jsonl.zst")
    pack(folder / "d.jsonl.zst", b"", b'{"q": "' + b"x" * 60_000_000 + b'"}\n')
    refused(folder, RATIO)


def write_tar(path: Path) -> None:
    entry = tarfile.TarInfo("d.csv")
    entry.size = SIZE
    pack(path, entry.tobuf(), b"\0")


def write_zip(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("d.csv", "w", force_zip64=True) as member,
    ):
        for _ in range(SIZE * 5 // 8 // CHUNK):  # more than always passes; this compresses
            member.write(bytes(CHUNK))


@pytest.mark.parametrize(("name", "write"), [("d.zip", write_zip), ("d.tar.gz", write_tar)])
def test_a_member_of_an_archive_is_refused(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    folder = catalog(tmp_path, "csv", f"{name.split('.')[1]}://d.csv::{name}")
    write(folder / name)
    refused(folder, "would unpack to more than")


def test_a_document_of_nothing_but_values_is_refused(tmp_path: Path) -> None:
    folder = catalog(tmp_path, "json", "zip://d.json::d.zip")
    with zipfile.ZipFile(folder / "d.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("d.json", b'[{"q": "a"}' + b",{}" * 20_000_000 + b"]")
    assert (folder / "d.zip").stat().st_size < 500_000
    message = "the values of the document may take more than 1,073,741,824"
    refused(folder, message, "sync", "preview")


def parquet_of(kind: str, path: Path) -> None:
    """Write few bytes that stand for gigabytes: repeated values, or one packed page."""
    long = "x" * 1_000_000
    if kind == "dictionary":
        indices = pa.array([0] * 20_000 + [1] * 80_000, pa.int32())
        array = pa.DictionaryArray.from_arrays(indices, pa.array(["short", long]))
        table = pa.table({"q": array})
        pq.write_table(table, path, store_schema=False, dictionary_pagesize_limit=10**7)
    elif kind == "page":
        table = pa.table({"q": ["0" * (1 << 20)] * 300})
        pq.write_table(table, path, compression="zstd", use_dictionary=False)
    else:
        table = pa.table({"q": [long + str(number) for number in range(300)]})
        with pq.ParquetWriter(
            path,
            table.schema,
            use_dictionary=False,
            column_encoding={"q": "DELTA_BYTE_ARRAY"},
            compression="zstd",
        ) as writer:
            for _ in range(20):
                writer.write_table(table)


@pytest.mark.parametrize("kind", ["dictionary", "page", pytest.param("delta", marks=THOROUGH)])
def test_a_parquet_file_that_repeats_its_values_is_refused(tmp_path: Path, kind: str) -> None:
    folder = catalog(tmp_path, "parquet", "d.parquet")
    parquet_of(kind, folder / "d.parquet")
    assert (folder / "d.parquet").stat().st_size < 200_000
    refused(folder, RATIO, before=LESS_IS_HARMLESS, most=850_000_000)


def test_pages_that_unpack_to_more_than_the_footer_says_are_refused(tmp_path: Path) -> None:
    folder = catalog(tmp_path, "parquet", "d.parquet")
    zeros = data_page(bytes(CHUNK), 1, times=SIZE // CHUNK - 1)
    write(folder / "d.parquet", [zeros], values=1, unpacked=1000)
    assert (folder / "d.parquet").stat().st_size < 200_000
    message = "the pages of the column 'q' claim to unpack to 2,130,706,432 bytes, while the footer"
    refused(folder, message, "sync", "preview")


def test_a_row_that_repeats_a_value_for_gigabytes_is_refused(tmp_path: Path) -> None:
    folder = catalog(tmp_path, "parquet", "d.parquet")
    many = 20_000_000
    row = levels((0, 1), (1, many - 1)) + levels((3, many)) + indices(many)
    pages = [dictionary_page(text(b"a" * 1000)), data_page(row, many, encoding=8)]
    path = folder / "d.parquet"
    write(path, pages, values=many, unpacked=2000, is_list=True, dictionary_at=4)
    refused(folder, "may decode to 20,080,000,000 in a row, so each gives more than 200 bytes")


@pytest.mark.parametrize(("rows", "long"), [(90, 1_000_000), (2, 45_000_000)])
def test_long_lists_without_bytes_are_refused(tmp_path: Path, rows: int, long: int) -> None:
    folder = catalog(tmp_path, "parquet", "x.parquet")
    lengths = pa.array(range(0, (rows + 1) * long, long), pa.int32())
    lists = pa.ListArray.from_arrays(lengths, pa.nulls(rows * long))
    pq.write_table(pa.table({"q": lists}), folder / "x.parquet")
    assert (folder / "x.parquet").stat().st_size < 1000
    refused(folder, "have 90,000,000 values, so each gives more than 200 bytes")


def test_the_root_index_raises_a_limit(tmp_path: Path) -> None:
    more = "limits: {line_bytes: 100kB}\n"
    folder = catalog(tmp_path, "json", "d.jsonl", more)
    (folder / "d.jsonl").write_text('{"q": "' + "x" * 200_000 + '"}\n', encoding="utf-8")
    refused(folder, "d.jsonl:1: the line has more than 100,000 bytes")
    catalog(tmp_path, "json", "d.jsonl", more.replace("100kB", "1MB"))
    assert run_measured(folder, "sync", "d", cache=tmp_path / "cache").code == 0


def test_a_footer_that_would_end_the_process_is_refused(tmp_path: Path) -> None:
    folder = catalog(tmp_path, "parquet", "d.parquet")
    row = levels((0, 1)) + levels((3, 1)) + text(b"a")
    sizes = Thrift().items(2, 6, [zigzag(1)] * 8).end()  # eight levels of a list, which has two
    page = [data_page(row, 1)]
    write(folder / "d.parquet", page, values=1, unpacked=90, is_list=True, sizes=sizes)
    message = "d.parquet: not a Parquet file, or a damaged one: Repetition level histogram size mis"
    refused(folder, message, "sync", "preview", "lock")

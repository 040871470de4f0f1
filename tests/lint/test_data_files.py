"""Local data files that `validate` reads, and the states on which its result depends."""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import partial
from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.lint.data_files import (
    NotUnpackedError,
    data_patterns,
    data_states,
    local_records,
    member_names,
    unpacked_file,
    zip_members,
)
from registry.manifest.models import to_spec


def test_records_have_the_constant_columns_of_their_source(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "x"}', encoding="utf-8")
    source = {"type": "json", "path": [str(tmp_path / "*.jsonl")], "columns": {"k": 1}}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source})
    ((vary, records),) = local_records(spec.source, tmp_path) or []
    assert (vary, list(records)) == (True, [{"q": "x", "k": 1}])
    assert local_records(spec.source, tmp_path / "other") is None


def test_states_change_with_files_and_with_what_a_glob_matches(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.csv")
    sources = {
        "source": {"type": "csv", "path": [pattern, "https://host/x.csv"]},
        "concat": [{"type": "csv", "path": [pattern]}, {"type": "hf", "path": "a/b", "split": "t"}],
        "join": {"source": {"type": "csv", "path": ["/side.csv"]}, "on": "q", "into": "x"},
    }
    spec = to_spec({"name": "d", "folder": tmp_path, **sources})
    assert data_patterns(spec) == [(str(tmp_path), pattern), (str(tmp_path), "/side.csv")]
    assert data_states(str(tmp_path), pattern) == []
    assert data_states(str(tmp_path), __file__) == []
    (tmp_path / "a.csv").write_text("q", encoding="utf-8")
    first = data_states(str(tmp_path), pattern)
    assert [file for file, _ in first] == [str(tmp_path / "a.csv")]
    (tmp_path / "a.csv").write_text("qq", encoding="utf-8")
    assert data_states(str(tmp_path), pattern) != first


def packed(data: bytes) -> SourceBytes:
    return SourceBytes(Location("x.csv.gz"), partial(io.BytesIO, gzip.compress(data)))


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
    data = gzip.compress(b"\n" + bytes(1 << 25))
    taken: list[bytes] = []

    class Followed(io.BytesIO):
        def read(self, *size: int | None) -> bytes:
            taken.append(super().read(*size))
            return taken[-1]

    bomb = SourceBytes(Location("x.csv.gz"), lambda: Followed(data))
    assert content(unpacked_file(bomb, 1 << 20, is_start_enough=True)) == b"\n"
    assert 0 < sum(map(len, taken)) < len(data)


def test_damaged_file_is_an_error() -> None:
    file = SourceBytes(Location("x.csv.gz"), partial(io.BytesIO, b"not gzip"))
    with pytest.raises(DecodeError):
        unpacked_file(file, 100, is_start_enough=True)


def test_members_match_by_name_or_glob() -> None:
    names = ["./b.csv", "a.csv", "a[1].csv", "x.json", "folder/"]
    assert list(member_names(zipped(names))) == ["b.csv", "a.csv", "a[1].csv", "x.json"]
    for pattern, found in (("a[1].csv", ["a[1].csv"]), ("?.csv", ["a.csv", "b.csv"]), ("z", [])):
        members = zip_members(pattern, zipped(names))
        assert [(one.location, content(one)) for one in members] == [
            (name, name.replace("b", "./b").encode()) for name in found
        ]


@pytest.mark.parametrize(
    ("places", "value"), [((6, -4), 1), ((8, -2), 97), ((30 + len("x.csv"),), 0)]
)
def test_member_that_is_encrypted_or_damaged_is_not_known(
    tmp_path: Path, places: tuple[int, ...], value: int
) -> None:
    data = bytearray(zipped(["x.csv"]).getvalue())
    central = data.index(b"PK\1\2") + 12  # flags and method are in both headers
    for place in places:
        data[place if place > 0 else central + place] = value
    (tmp_path / "a.zip").write_bytes(data)
    source = {"type": "csv", "path": [f"zip://x.csv::{tmp_path}/a.zip"]}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source})
    assert local_records(spec.source, tmp_path) is None


def test_archive_with_too_many_members_or_none_is_not_read() -> None:
    for file in (zipped([str(number) for number in range(10_001)]), io.BytesIO(b"PK")):
        with pytest.raises(NotUnpackedError):
            member_names(file)

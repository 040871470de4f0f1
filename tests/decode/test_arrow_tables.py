"""Which columns of Parquet and Arrow are read, in what batch sizes, and which are not columnar."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from registry.decode import arrow_tables, decode
from registry.decode.frame import NotColumnarError
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source import Source
from registry.manifest.source_models import HfSource
from tests.decode.frames import frames_of, parquet, read, rows_of, table


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (None, ["q", "a", "m"]),
        (frozenset({"a", "q"}), ["q", "a"]),
        (frozenset({"m.b"}), ["m"]),
        (frozenset({"none"}), []),
        (frozenset(), []),
    ],
)
def test_only_the_wanted_columns_of_a_table_are_read(
    tmp_path: Path, wanted: frozenset[str] | None, names: list[str]
) -> None:
    path = tmp_path / "d.parquet"
    frames, why = frames_of(path, parquet(path, table()), wanted)
    assert why == ""
    assert [(frame.names, frame.count) for frame in frames] == [(names, 3)]


def test_row_groups_are_read_in_batches_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_tables, "_BATCH_ROWS", 64)
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(200)]}))
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [64, 64, 64, 8]
    assert [row["q"] for row in rows_of(frames)] == [str(number) for number in range(200)]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_batches_are_bounded_by_values_however_small_they_are_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    monkeypatch.setattr(arrow_tables, "_BATCH_BYTES", 1 << 20)
    path = tmp_path / "d.parquet"
    texts = [letter * 10_000 for letter in "ab"] * 500
    source = parquet(path, pa.table({"q": pa.array(texts, kind)}))
    assert path.stat().st_size < 10_000
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [512, 104, 104, 104, 104, 72]
    assert [row["q"] for row in rows_of(frames)] == texts


def test_batches_of_ordinary_rows_are_large(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(40_000)]}))
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [512, 2048, 8192, 16384, 12864]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no parquet at all"])
def test_invalid_parquet_is_not_columnar(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data, "d.parquet") == ([], "an invalid file")


NO_UTF8 = pa.Array.from_buffers(pa.string(), 2, pa.array([b"good", b"caf\xe9"]).buffers())


@pytest.mark.parametrize(
    "column",
    [
        NO_UTF8,
        pa.DictionaryArray.from_arrays([0, 1], NO_UTF8),
        pa.ListArray.from_arrays([0, 1, 2], NO_UTF8),
        pa.StructArray.from_arrays([NO_UTF8], ["x"]),
        pa.MapArray.from_arrays([0, 1, 2], NO_UTF8, NO_UTF8),
    ],
    ids=lambda column: str(column.type),
)
def test_invalid_utf8_is_not_columnar(tmp_path: Path, column: pa.Array) -> None:
    data = pa.table({"q": column, "a": [1, 2]})
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), data.schema) as writer:
        writer.write_table(data)
    files: list[tuple[Path, Source]] = [(path, HfSource(path="o/d", split="test"))]
    if column is NO_UTF8:
        files.append((tmp_path / "d.parquet", parquet(tmp_path / "d.parquet", data)))
    for path, source in files:
        assert frames_of(path, source) == ([], "an invalid value")
        frames, why = frames_of(path, source, frozenset({"a"}))
        assert (rows_of(frames), why) == ([{"a": 1}, {"a": 2}], "")
        with pytest.raises(DecodeError) as caught:
            list(decode(SourceBytes.of_file("where", path), source))
        assert str(caught.value) == "where: row 2, column 'q': a string that is not UTF-8"


def test_duplicate_column_names_are_not_columnar(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    twice = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], ["q", "q"])
    assert frames_of(path, parquet(path, twice)) == ([], "a duplicate column name")


def test_a_column_with_a_dotted_name_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q.x": ["1"], "q": [{"x": "2"}], "a": [1]}))
    frames, _ = frames_of(path, source, frozenset({"q.x"}))
    assert rows_of(frames) == [{"q.x": "1", "q": {"x": "2"}}]


def test_small_batches_of_an_arrow_file_are_combined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_tables, "_BATCH_ROWS", 2)
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), table().schema) as writer:
        writer.write_table(table(), max_chunksize=1)
    frames, why = frames_of(path, HfSource(path="o/d", split="test"))
    assert [frame.count for frame in frames] == [2, 1]
    assert (rows_of(frames), why) == ([{"q": "x"}, {"q": "y"}, {"q": "z"}], "")


def test_cut_arrow_file_is_not_columnar(tmp_path: Path) -> None:
    path = tmp_path / "records.arrow"
    batch = pa.record_batch({"text": ["x" * 1000] * 100})
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    os.truncate(path, 5000)
    with pytest.raises(NotColumnarError):
        list(
            arrow_tables.read_arrow_tables(
                SourceBytes.of_file("o/d", path), HfSource(path="o/d", split="test"), None
            )
        )

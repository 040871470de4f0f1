"""Which files are read by whole columns, and from which record on the other road takes over."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.decode import arrow_tables, csv_tables, decode, json_tables
from registry.decode import chunks as blocks
from registry.decode.stream import SourceBytes
from registry.decode.tables import Frame, NotColumnarError, decode_tables
from registry.errors import DecodeError
from registry.manifest.arguments import source_from_arguments
from registry.manifest.source import Source, SourceModel
from registry.manifest.source_models import CsvSource, HfSource, JsonSource, ParquetSource

Q = frozenset({"q"})


def frames_of(
    path: Path, source: Source, wanted: frozenset[str] | None = Q
) -> tuple[list[Frame], str]:
    """Return the frames of a file, and why there are no more; empty at its end."""
    frames = []
    try:
        for frame in decode_tables(SourceBytes.of_file(str(path), path), source, wanted):
            frames.append(frame)  # noqa: PERF402 (those before an error count)
    except NotColumnarError as error:
        return frames, str(error)
    return frames, ""


def rows_of(frames: list[Frame]) -> list[dict[str, Any]]:
    return [row for frame in frames for row in frame.batch.to_pylist()]


def read(
    folder: Path, data: bytes, name: str, wanted: frozenset[str] | None = Q, **options: Any
) -> tuple[list[dict[str, Any]], str]:
    """Return the records that are read by column, and why no more are."""
    path = folder / name
    path.write_bytes(data)
    models: dict[str, type[SourceModel]] = {"csv": CsvSource, "parquet": ParquetSource}
    source = source_from_arguments(
        models.get(name.split(".")[1], JsonSource), {"path": [str(path)], **options}
    )
    frames, why = frames_of(path, source, wanted)
    return rows_of(frames), why


# --- JSON Lines ---

LINES = b'{"q": "x", "a": 1}\n{"q": "y"}\n'
XY = [{"q": "x"}, {"q": "y"}]


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        LINES.removesuffix(b"\n"),
        LINES.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + LINES,
        LINES + b"\n\n",
        LINES.replace(b'"q"', b'"\\u0071"'),
        LINES.replace(b'"a": 1', b'"a": NaN, "b": [Infinity, -Infinity], "c": {}'),
        LINES.replace(b'"a": 1', b'"a": 1, "a": 2'),
    ],
)
def test_lines_of_objects_are_read_by_column(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data, "d.jsonl") == (XY, "")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON objects"),
        (b"\n\n", "not JSON objects"),
        (b"[1]\n", "not JSON objects"),
        (b'{"q": \n', "invalid JSON"),
        (LINES.replace(b"\n", b"\r"), "invalid JSON"),
        (b'{"q": "x"} {"q": "y"}\n', "invalid JSON"),
        (b'\n{"q": "x"}\n', "a line that does not start like an object"),
        (b' {"q": "x"}\n', "a line that does not start like an object"),
        (b'{"q": "x"} \n', "a line that does not end like an object"),
        (b'{"q": "x", "a": "\xff"}\n', "invalid JSON"),
        (b'{"q": "x"}\n{"q": 1}\n', "mixed types, or objects"),
        (b'{"q": {"x": 1}}\n', "mixed types, or objects"),
        (b'{"q": 0.5}\n{"q": 1.0}\n', "floats that may have been written as integers"),
        (b'{"q": 0.5}\n{"q": NaN}\n', "floats that may have been written as integers"),
        (b'{"q": "\\ud800"}\n', "types that differ from those of the first lines"),
        (b'{"q": "x", "q": "y"}\n', "types that differ from those of the first lines"),
        (b'{"q": 9223372036854775808}\n', "types that differ from those of the first lines"),
        (
            b'{"q": "x", "a": ' + b"1" * 641 + b"}\n",
            "an integer with more digits than Python parses",
        ),
    ],
)
def test_what_is_told_line_by_line(tmp_path: Path, data: bytes, why: str) -> None:
    assert read(tmp_path, data, "d.jsonl") == ([], why)


PROBED = b'{"q": "x"}\n' * 64


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"q": "x"} {"q": "y"}', "not one object per line"),
        (b'{"q": "x", "a": 1e999}', "types that differ from those of the first lines"),
        (b'{"q": "x", "a": Inf}', "a number that JSON does not have"),
        (b'{"q": "x", "a": -NaN}', "a number that JSON does not have"),
        (b'{"q": "x", "a": "\xff"}', "invalid UTF-8"),
        (b'{"q": "x"}\n\n{"q": "x"}', "a line that does not start like an object"),
        (b'{"q": 1}', "types that differ from those of the first lines"),
        (b"{'q': 1}", "types that differ from those of the first lines"),
        (b'{"q": "x"\n, "a": 1}', "a line that does not start like an object"),
    ],
)
def test_what_is_odd_behind_the_first_lines_is_found_too(
    tmp_path: Path, line: bytes, why: str
) -> None:
    assert read(tmp_path, PROBED + line + b"\n", "d.jsonl") == ([], why)


def test_a_key_that_the_first_lines_lack_must_stay_away(tmp_path: Path) -> None:
    wanted = frozenset({"q", "late"})
    records, why = read(tmp_path, PROBED + b'{"q": "x", "late": null}\n', "d.jsonl", wanted)
    assert (len(records), records[-1], why) == (65, {"late": None, "q": "x"}, "")
    found = read(tmp_path, PROBED + b'{"q": "x", "late": "y"}\n', "d.jsonl", wanted)
    assert found == ([], "types that differ from those of the first lines")


@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        ("d.json", {}, Q),
        ("d.jsonl", {"encoding": "latin-1"}, Q),
        ("d.jsonl", {}, None),
        ("d.jsonl", {}, frozenset({"q.x"})),
    ],
)
def test_other_forms_of_json_are_read_record_by_record(
    tmp_path: Path, name: str, options: dict[str, str], wanted: frozenset[str] | None
) -> None:
    records, why = read(tmp_path, LINES, name, wanted, **options)
    assert records == []
    assert why in {"not JSON Lines in UTF-8", "wanted columns that are not plain keys"}


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
@pytest.mark.parametrize("block", [1, 7, 11, 12, 25, 1 << 20])
def test_blocks_of_any_size_give_the_same_records_in_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    pack: Callable[[bytes], bytes],
    block: int,
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", block)
    wanted = [{"q": str(number)} for number in range(50)]
    data = pack("\n".join(map(json.dumps, wanted)).encode())
    assert read(tmp_path, data, f"d.jsonl{suffix}") == (wanted, "")


def test_records_before_a_fault_are_read_by_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 11)
    data = b'{"q": "x"}\n' * 5 + b'{"q": 1234}\n' + b'{"q": "x"}\n'
    assert read(tmp_path, data, "d.jsonl") == (
        [{"q": "x"}] * 5,
        "types that differ from those of the first lines",
    )


def test_only_the_first_lines_are_parsed_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    loads = json.loads

    def noted(line: bytes) -> Any:
        parsed.append(line)
        return loads(line)

    monkeypatch.setattr(json, "loads", noted)
    records, why = read(tmp_path, b'{"q": "x"}\n' * 1000, "d.jsonl")
    assert (len(records), why) == (1000, "")
    assert len(parsed) == json_tables._PROBE_LINES


# --- CSV ---


@pytest.mark.parametrize(
    "data",
    [
        b"q,a\nx,1\ny,2\n",
        b"q,a\nx,1\ny,2",
        b"q,a\r\nx,1\r\ny,2\r\n",
        b"q,a\rx,1\ry,2\r",
        b'\xef\xbb\xbf"q",a\n"x",1\n\n , \n"","\t"\ny,2\n',
    ],
)
def test_rows_of_csv_are_read_by_column(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data, "d.csv") == ([{"q": "x", "a": "1"}, {"q": "y", "a": "2"}], "")


def test_line_ends_within_quotes_are_those_of_text_mode(tmp_path: Path) -> None:
    data = b'q,a\n"x\r\ny",1\n"x\ry","2\n"\n'
    assert read(tmp_path, data, "d.csv") == (
        [{"q": "x\ny", "a": "1"}, {"q": "x\ny", "a": "2\n"}],
        "",
    )


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"q\tx\n1\t2\n", {"dialect": "excel-tab"}),
        (b"q;x\n1;2\n", {"delimiter": ";"}),
        (b"1,2\n", {"fieldnames": ["q", "x"]}),
        (b"q,x\n1,2\n", {"encoding": "UTF_8"}),
    ],
)
def test_dialects_that_differ_in_the_delimiter_are_read_by_column(
    tmp_path: Path, data: bytes, options: dict[str, Any]
) -> None:
    assert read(tmp_path, data, "d.csv", **options) == ([{"q": "1", "x": "2"}], "")


ROW_BY_ROW = "a form of CSV that is only read row by row"
COMPLAINED = "an invalid header"


@pytest.mark.parametrize(
    ("data", "options", "why"),
    [
        (b"q x\n1 2\n", {"delimiter": " "}, ROW_BY_ROW),
        (b"#\nq\n1\n", {"skip_rows": 1}, ROW_BY_ROW),
        (b"q\n1\n", {"encoding": "latin-1"}, ROW_BY_ROW),
        (b"<html><body>\n", {}, "an HTML page"),
        (b"", {}, COMPLAINED),
        (b"\nq\n1\n", {}, COMPLAINED),
        (b"q,q\n1,2\n", {}, COMPLAINED),
        (b"q,\xff\n1,2\n", {}, "invalid CSV"),
        (b"q\n\xff\n", {}, "invalid CSV"),
        (b"q," + b"x" * (1 << 16) + b"\n1,2\n", {}, "a header that pyarrow reads differently"),
        (b"1,2\n", {"fieldnames": ["q", "q"]}, "a duplicate column name"),
        (b"q,a\n1\n", {}, "invalid CSV"),
        (b"q,a\n1,2,3\n", {}, "invalid CSV"),
        (b'q,a\n1,"2\n', {}, "an unclosed quote"),
        (b'q,a\n1,2\n"3', {}, "an invalid row"),
    ],
)
def test_what_is_told_row_by_row(
    tmp_path: Path, data: bytes, options: dict[str, Any], why: str
) -> None:
    assert read(tmp_path, data, "d.csv", **options) == ([], why)


def test_rows_before_a_ragged_one_are_read_by_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_tables, "_BLOCK_BYTES", 64)
    data = b"q,a\n" + b"x,1\n" * 100 + b"x\n" + b"x,1\n" * 100
    records, why = read(tmp_path, data, "d.csv")
    assert why == "an invalid row"
    assert 50 < len(records) <= 100
    assert records == [{"q": "x", "a": "1"}] * len(records)


# --- Parquet, and the Arrow files of the Hub ---


def table() -> pa.Table:
    return pa.table({"q": ["x", "y", "z"], "a": [1, 2, 3], "m": [{"b": 1, "c": 2}] * 3})


def parquet(path: Path, data: pa.Table, **options: Any) -> ParquetSource:
    pq.write_table(data, path, **options)
    return ParquetSource(path=(str(path),))


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
    assert [(frame.batch.schema.names, frame.batch.num_rows) for frame in frames] == [(names, 3)]


def test_row_groups_are_read_in_batches_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_tables, "_BATCH_ROWS", 64)
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(200)]}))
    frames, _ = frames_of(path, source)
    assert [frame.batch.num_rows for frame in frames] == [64, 64, 64, 8]
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
    assert [frame.batch.num_rows for frame in frames] == [512, 104, 104, 104, 104, 72]
    assert [row["q"] for row in rows_of(frames)] == texts


def test_batches_of_ordinary_rows_are_large(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(40_000)]}))
    frames, _ = frames_of(path, source)
    assert [frame.batch.num_rows for frame in frames] == [512, 2048, 8192, 16384, 12864]


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no parquet at all"])
def test_what_is_no_parquet_is_told_by_records(tmp_path: Path, data: bytes) -> None:
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
def test_text_that_is_not_utf8_is_told_by_records(tmp_path: Path, column: pa.Array) -> None:
    data = pa.table({"q": column, "a": [1, 2]})
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), data.schema) as writer:
        writer.write_table(data)
    told_by_records(path, HfSource(path="o/d", split="test"))


def test_text_of_parquet_that_is_not_utf8_is_told_by_records(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    told_by_records(path, parquet(path, pa.table({"q": NO_UTF8, "a": [1, 2]})))


def told_by_records(path: Path, source: Source) -> None:
    assert frames_of(path, source) == ([], "an invalid value")
    frames, why = frames_of(path, source, frozenset({"a"}))
    assert (rows_of(frames), why) == ([{"a": 1}, {"a": 2}], "")
    with pytest.raises(DecodeError) as caught:
        list(decode(SourceBytes.of_file("where", path), source))
    assert str(caught.value) == "where: row 2, column 'q': a string that is not UTF-8"


def test_names_that_stand_twice_are_told_by_records(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    twice = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], ["q", "q"])
    assert frames_of(path, parquet(path, twice)) == ([], "a duplicate column name")


def test_a_column_with_a_dotted_name_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q.x": ["1"], "q": [{"x": "2"}], "a": [1]}))
    frames, _ = frames_of(path, source, frozenset({"q.x"}))
    assert rows_of(frames) == [{"q.x": "1", "q": {"x": "2"}}]


def test_small_batches_of_an_arrow_file_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_tables, "_BATCH_ROWS", 2)
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), table().schema) as writer:
        writer.write_table(table(), max_chunksize=1)
    frames, why = frames_of(path, HfSource(path="o/d", split="test"))
    assert [frame.batch.num_rows for frame in frames] == [2, 1]
    assert (rows_of(frames), why) == ([{"q": "x"}, {"q": "y"}, {"q": "z"}], "")


def test_a_null_of_json_may_be_a_missing_key_and_one_of_parquet_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    (frame,), _ = frames_of(path, parquet(path, table()))
    assert frame.null_is_value
    lines = tmp_path / "d.jsonl"
    lines.write_bytes(LINES)
    (frame,), _ = frames_of(lines, JsonSource(path=(str(lines),)))
    assert not frame.null_is_value

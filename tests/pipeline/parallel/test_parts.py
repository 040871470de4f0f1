"""Files that are mapped elsewhere give the rows, counts and errors of a single process."""

from __future__ import annotations

import codecs
import io
import json
import pickle
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.processes.executor import Executor, WorkerLostError
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import ByteRange, RowGroups, line_ranges
from registry.errors import RegistryError
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.builder import build
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.parallel import parts as module
from registry.pipeline.parallel.parts import Part, answer, parts_of
from registry.sources.pins import SourceContext

FIELDS = {"input": "q", "target": "a", "metadata": ["m"]}
Records = list[dict[str, Any]]


@dataclass
class Now:
    """The result of a call that was made at once."""

    value: Any

    def result(self, timeout: float | None = None) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def cancel(self) -> None: ...


@dataclass
class Here:
    """Calls by this process, through pickles as if it were another one."""

    most: int = 3
    lost: bool = False
    answers: list[Any] = field(default_factory=list)

    def call(self, function: str, *arguments: Any) -> Now:
        assert function == f"{module.__name__}:answer"
        if self.lost:
            return Now(WorkerLostError("a worker process was killed by signal 9"))
        task, cache = pickle.loads(pickle.dumps(arguments))
        try:
            found = answer(lambda message: None, task, cache)
        except RegistryError as error:
            return Now(error)
        self.answers.append(found)
        return Now(pickle.loads(pickle.dumps(found)))


def spec_of(folder: Path, **keys: Any) -> DatasetSpec:
    source = {"type": "json", "path": [str(folder / "p*.jsonl")]}
    return to_spec({"name": "d", "folder": folder, "source": source, "fields": FIELDS, **keys})


def write(folder: Path, parts: list[Records]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("p*.jsonl"):
        old.unlink()
    for number, records in enumerate(parts):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"p{number:03}.jsonl").write_text(text)


def built(spec: DatasetSpec, folder: Path, elsewhere: Executor | None) -> Any:
    """Return the rows and what is known about them, or the error."""
    own = folder / ("one" if elsewhere is None else f"other-{id(elsewhere)}")
    own.mkdir(parents=True)
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(folder / "cache"), elsewhere=elsewhere)
    try:
        made = build(spec, pin_all(spec, context), context, own)
    except RegistryError as error:
        return f"{type(error).__name__}: {error}"
    file = made.open()
    rows = [row for n in range(file.batch_count) for row in file.batch(n).to_pylist()]
    return made.sha256, made.rows, made.columns, made.quality, made.repeated, rows


GOOD: Records = [{"q": f"q{n}", "a": "x", "m": n} for n in range(7)]
CASES: dict[str, list[Records]] = {
    "good": [GOOD, GOOD[:3], GOOD],
    "empty files": [[], GOOD, [], GOOD, []],
    "nothing": [[], []],
    "other type": [GOOD, [{"q": "q", "a": "x", "m": "text"}], GOOD],
    "other type in the middle": [GOOD, [*GOOD, {"q": "q", "a": "x", "m": [1]}], GOOD],
    "missing column in one": [GOOD, [{"q": "q", "m": 1}], GOOD],
    "error in the second": [GOOD, [*GOOD[:2], {"q": 5, "a": {}, "m": 1}], GOOD],
    "column that comes late": [[{"q": "q", "a": None, "m": 1}], GOOD],
    "unread column": [GOOD, [{**GOOD[0], "choices": "abc", "id": 7}]],
    "blank": [GOOD, [{"q": "", "a": "", "m": 1}], [{"q": " ", "a": "", "m": 1}]],
}


@pytest.mark.parametrize("parts", CASES.values(), ids=CASES)
@pytest.mark.parametrize("most", [1, 3])
def test_result_is_that_of_one_process(tmp_path: Path, parts: list[Records], most: int) -> None:
    write(tmp_path / "data", parts)
    spec = spec_of(tmp_path / "data")
    here = Here(most)
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert here.answers


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(
            st.fixed_dictionaries(
                {"q": st.text(max_size=3), "a": st.sampled_from(["x", "", "y"])},
                optional={"m": st.one_of(st.integers(0, 3), st.text(max_size=2), st.none())},
            ),
            max_size=4,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_any_records_give_what_one_process_gives(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Records]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    write(folder / "data", parts)
    spec = spec_of(folder / "data")
    assert built(spec, folder, Here()) == built(spec, folder, None)


def test_records_that_explode_and_are_filtered(tmp_path: Path) -> None:
    parts = [[{"qs": [{"t": f"{k}-{n}"} for n in range(k)], "a": "x"}] * 3 for k in range(4)]
    write(tmp_path / "data", parts)
    fields = {"input": "item.t", "target": "a"}
    explode = {"column": "qs", "item": "item"}
    where = {"value": "item.t", "not": {"equals": "2-1"}}
    spec = spec_of(tmp_path / "data", fields=fields, explode=explode, where=where)
    here = Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert all(here.answers)


def test_lost_workers_leave_the_files_to_the_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "data", CASES["good"])
    spec = spec_of(tmp_path / "data")
    assert built(spec, tmp_path, Here(lost=True)) == built(spec, tmp_path, None)
    assert "killed by signal 9; this process maps its part" in caplog.text


def test_file_with_more_rows_than_memory_is_left_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data", CASES["good"])
    spec, here = spec_of(tmp_path / "data"), Here()
    monkeypatch.setattr(module, "_MOST_BYTES", 1)
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert here.answers == [None] * 3


def parts_in(folder: Path, spec: DatasetSpec) -> list[Part]:
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(folder / "cache"))
    (pinned,) = pin_all(spec, context).sources
    return parts_of(spec, spec.sources[0], pinned, context)


@pytest.mark.parametrize(
    "keys",
    [
        {"fields": {**FIELDS, "id": {"row_number": 1}}},
        {"fields": {**FIELDS, "metadata": {"n": {"row_number": 0}}}},
        {"explode": {"column": "q", "item": "q", "number": "n"}},
    ],
    ids=["id", "metadata", "explode"],
)
def test_records_that_depend_on_others_stay_together(tmp_path: Path, keys: dict[str, Any]) -> None:
    write(tmp_path, CASES["good"])
    assert len(parts_in(tmp_path, spec_of(tmp_path))) == 3
    assert parts_in(tmp_path, spec_of(tmp_path, **keys)) == []


def parquet_spec(folder: Path, **keys: Any) -> DatasetSpec:
    source = {"type": "parquet", "path": [str(folder / "*.parquet")]}
    return to_spec({"name": "d", "folder": folder, "source": source, "fields": FIELDS, **keys})


def write_groups(path: Path, columns: dict[str, Any], rows: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=rows, compression="none")


def columns_of(count: int, **other: Any) -> dict[str, Any]:
    numbers = range(count)
    return {
        "q": [f"question {n}?" for n in numbers],
        "a": ["x"] * count,
        "m": list(numbers),
        **other,
    }


def test_row_groups_are_parts_of_the_least_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_groups(tmp_path / "a.parquet", columns_of(70), 10)
    write_groups(tmp_path / "b.parquet", columns_of(5), 10)
    spec = parquet_spec(tmp_path)
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == [None, None]
    size = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).total_byte_size
    monkeypatch.setattr(module, "_LEAST_BYTES", int(2.5 * size))
    groups = [RowGroups(0, 3, 0), RowGroups(3, 6, 30), RowGroups(6, 7, 60), None]
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == groups
    assert [one.is_first for one in parts_in(tmp_path, spec)] == [True, False, False, True]


UNDECODABLE = pa.array([b"fine"] * 33 + [b"\xff"] + [b"fine"] * 6).view(pa.binary())
FILES: dict[str, dict[str, Any]] = {
    "good": columns_of(40),
    "blank": columns_of(40, q=["q"] * 15 + [""] * 25),
    "missing values": columns_of(40, m=[None] * 12 + [3] * 28),
    "error in the third group": columns_of(
        40, a=["x"] * 25 + [""] * 15, q=["q"] * 25 + [None] * 15
    ),
    "not UTF-8 in the fourth group": columns_of(
        40, q=pa.Array.from_buffers(pa.string(), 40, UNDECODABLE.buffers())
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("rows", [7, 10])
def test_row_groups_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int
) -> None:
    monkeypatch.setattr(module, "_LEAST_BYTES", 1)
    write_groups(tmp_path / "data" / "a.parquet", FILES[name], rows)
    write_groups(tmp_path / "data" / "b.parquet", columns_of(6), rows)
    spec = parquet_spec(tmp_path / "data")
    here = Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert len(here.answers) >= 3


def test_file_that_is_not_parquet_is_one_part(tmp_path: Path) -> None:
    write_groups(tmp_path / "data" / "a.parquet", columns_of(6), 2)
    (tmp_path / "data" / "b.parquet").write_bytes(b"PAR1 and no more")
    spec = parquet_spec(tmp_path / "data")
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == [None, None]
    assert built(spec, tmp_path, Here()) == built(spec, tmp_path, None)


LINES: dict[str, bytes] = {
    "good": b"".join(b'{"q": "q%d", "a": "x", "m": %d}\n' % (n, n) for n in range(40)),
    "no end": b'{"q": "q", "a": "x", "m": 1}\n' * 9 + b'{"q": "q", "a": "x", "m": 2}',
    "CRLF": b'{"q": "q", "a": "x", "m": 1}\r\n' * 30,
    "CR": b'{"q": "q", "a": "x", "m": 1}\r' * 30,
    "blank lines": b'\n{"q": "q", "a": "x", "m": 1}\n\n\n   \n' * 20,
    "mark": codecs.BOM_UTF8 + b'{"q": "q", "a": "x", "m": 1}\n' * 20,
    # Where a part of 64 bytes would start.
    "mark in the middle": b'{"q": "q", "a": "x", "m": 1}\n' * 9
    + codecs.BOM_UTF8
    + b'{"q": "q", "a": "x", "m": 1}\n' * 20,
    "other type": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "m": [1]}\n' * 9,
    "not JSON": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b"<html>\n" * 9,
    "two lines": b'{"q": "q", "a": "x",\n "m": 1}\n' * 9,
    "not UTF-8": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "\xff", "a": "x", "m": 1}\n',
    "repeated key": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "a": "y"}\n',
    "an error": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": 5, "a": {}, "m": 1}\n' * 2,
    "column that comes late": b'{"q": "q", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "m": 1}\n' * 9,
    "long line": b'{"q": "q", "a": "x", "m": 1}\n' * 12
    + b'{"q": "%s", "a": "x", "m": 1}\n' % (b"q" * 5_000)
    + b'{"q": "q", "a": "x", "m": 1}\n' * 9,
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("size", [64, 200])
@pytest.mark.parametrize("lost", [False, True])
def test_lines_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int, *, lost: bool
) -> None:
    (tmp_path / "p.jsonl").write_bytes(LINES[name])
    spec, here = spec_of(tmp_path), Here(lost=lost)
    alone = built(spec, tmp_path, None)
    monkeypatch.setattr(module, "_LEAST_BYTES", size)
    assert built(spec, tmp_path, here) == alone
    assert lost or len(here.answers) >= {"CR": 0, "two lines": 1}.get(name, 2)


def test_error_of_a_part_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_BYTES", 100)
    (tmp_path / "p.jsonl").write_bytes(LINES["good"] + b"\n\n{]\n")
    assert "p.jsonl:43: not JSON" in built(spec_of(tmp_path), tmp_path, Here())


def test_lines_are_parts_of_the_least_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEAST_BYTES", 100)
    line = b'{"q": "q", "a": "x", "m": 1}\n'
    for name in ("p.jsonl", "p.jsonl.gz", "p.json", "pq.jsonl"):
        (tmp_path / name).write_bytes(line * (9 if name != "pq.jsonl" else 3))
    parts = [part.lines for part in parts_in(tmp_path, spec_of(tmp_path))]
    assert parts == [ByteRange(0, 116), ByteRange(116, 232), ByteRange(232, 261), None]
    for name, encoding, count in (
        ("p.jsonl", "utf-8", 3),
        ("p.jsonl", "utf-16", 1),
        ("p.jsonl.gz", "utf-8", 1),
        ("p.json", "utf-8", 1),
    ):
        source = {"type": "json", "path": [str(tmp_path / name)], "encoding": encoding}
        assert len(parts_in(tmp_path, spec_of(tmp_path, source=source))) == count


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([b"\n", codecs.BOM_UTF8, b"\xef", b"x"]), max_size=40).map(b"".join),
    st.integers(1, 20),
    st.integers(1, 1 << 17),
)
def test_ranges_cover_a_file_in_whole_lines(data: bytes, size: int, most: int) -> None:
    ranges = line_ranges(io.BytesIO(data), size=size, most=most)
    assert b"".join(data[one.start : one.stop] for one in ranges) == data
    for one in ranges[:-1]:
        assert one.stop - one.start >= size
        assert data[one.stop - 1 : one.stop] == b"\n"
        assert not data[one.stop :].startswith(codecs.BOM_UTF8)
    # Not more than it must: no line starts between the least size and the end.
    for one in ranges:
        inner = data[one.start + size - 1 : one.stop]
        assert not re.search(rb"\n(?=[^\xef])", inner)

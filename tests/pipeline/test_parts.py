"""Sources are divided where each part of them can be mapped alone."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import ByteRange, RowGroups, line_ranges
from registry.manifest.models import DatasetSpec
from registry.pipeline import parts
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.parts import Part, parts_of
from registry.sources.pins import SourceContext
from tests.pipeline.elsewhere import (
    FIELDS,
    RECORDS,
    Here,
    built,
    columns_of,
    parquet_spec,
    spec_of,
    write,
    write_groups,
)


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
    write(tmp_path, [RECORDS] * 3)
    assert len(parts_in(tmp_path, spec_of(tmp_path))) == 3
    assert parts_in(tmp_path, spec_of(tmp_path, **keys)) == []


def test_row_groups_are_parts_of_the_least_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_groups(tmp_path / "a.parquet", columns_of(70), 10)
    write_groups(tmp_path / "b.parquet", columns_of(5), 10)
    spec = parquet_spec(tmp_path)
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == [None, None]
    size = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).total_byte_size
    monkeypatch.setattr(parts, "_LEAST_BYTES", int(2.5 * size))
    groups = [RowGroups(0, 3, 0), RowGroups(3, 6, 30), RowGroups(6, 7, 60), None]
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == groups
    assert [one.is_first for one in parts_in(tmp_path, spec)] == [True, False, False, True]


def test_file_that_is_not_parquet_is_one_part(tmp_path: Path) -> None:
    write_groups(tmp_path / "data" / "a.parquet", columns_of(6), 2)
    (tmp_path / "data" / "b.parquet").write_bytes(b"PAR1 and no more")
    spec = parquet_spec(tmp_path / "data")
    assert [one.row_groups for one in parts_in(tmp_path, spec)] == [None, None]
    assert built(spec, tmp_path, Here()) == built(spec, tmp_path, None)


def test_lines_are_parts_of_the_least_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_LEAST_BYTES", 100)
    line = b'{"q": "q", "a": "x", "m": 1}\n'
    for name in ("p.jsonl", "p.jsonl.gz", "p.json", "pq.jsonl"):
        (tmp_path / name).write_bytes(line * (9 if name != "pq.jsonl" else 3))
    ranges = [part.lines for part in parts_in(tmp_path, spec_of(tmp_path))]
    assert ranges == [ByteRange(0, 116), ByteRange(116, 232), ByteRange(232, 261), None]
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

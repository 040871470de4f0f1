"""Parts of a source are its files, or row groups of Parquet files, if its records are independent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import RowGroups
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.parallel import parts as module
from registry.pipeline.parallel.parts import Part, parts_of
from registry.sources.pins import SourceContext
from tests.pipeline.parallel.test_files import CASES, FIELDS, Here, built, spec_of, write


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
        {"mapper": "tests.pipeline.parallel.test_files:spec_of", "fields": {}},
    ],
    ids=["id", "metadata", "explode", "mapper"],
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

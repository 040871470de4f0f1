"""Columns `sandbox`, `files` and `setup`: noticed where records have them and no field reads them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.frame import Frame, ValueFrame
from registry.load.load import load
from registry.manifest.models import DatasetSpec, to_spec
from registry.mapping.unread_columns import UnreadColumns
from registry.pipeline.pipeline import PipelineState

ALL = {"sandbox", "files", "setup"}


def spec(path: str = "/x.csv", kind: str = "csv", **keys: Any) -> DatasetSpec:
    source = {"type": kind, "path": [path]}
    fields = {"input": "q", **keys.pop("fields", {})}
    return to_spec({"name": "d", "folder": Path(), "source": source, "fields": fields, **keys})


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, ALL),
        ({"fields": {"setup": "setup"}}, {"sandbox", "files"}),
        ({"fields": {"setup": "script"}}, ALL),
        ({"fields": {"metadata": ["files"]}}, {"sandbox", "setup"}),
        ({"fields": {"metadata": {"x": "files.name"}}}, {"sandbox", "setup"}),
        ({"fields": {"target": {"template": "{setup}"}}}, {"sandbox", "files"}),
        ({"where": {"value": "sandbox", "equals": "docker"}}, {"files", "setup"}),
        ({"fields": {"metadata": "*"}}, set()),
        ({"mapper": "p:f"}, set()),
        ({"explode": {"column": "x"}}, ALL),
        ({"explode": {"column": "files"}}, {"sandbox", "setup"}),
    ],
)
def test_columns_are_unread_if_no_expression_names_them(
    keys: dict[str, Any], expected: set[str]
) -> None:
    assert UnreadColumns.of(spec(**keys)).missing == expected


@pytest.mark.parametrize("value", ["docker", {"a": "b"}, 0, False, ["x"]])
def test_any_value_counts(value: Any) -> None:
    by_record, by_batch, by_values = (UnreadColumns(ALL) for _ in range(3))
    by_record.add_record({"q": "x", "files": value})
    by_batch.add_frame(Frame(pa.RecordBatch.from_pylist([{"files": value}])))
    by_values.add_frame(ValueFrame(1, {"files": [value]}))
    assert by_record.found == by_batch.found == by_values.found == {"files"}
    assert by_record.missing == by_batch.missing == by_values.missing == {"sandbox", "setup"}


EMPTY: list[Any] = [None, "", {}, [], math.nan]


@pytest.mark.parametrize("record", [{"q": "x"}, *({"files": value} for value in EMPTY)])
def test_an_empty_column_does_not(record: dict[str, Any]) -> None:
    by_record, by_batch, by_values = (UnreadColumns(ALL) for _ in range(3))
    by_record.add_record(record)
    by_batch.add_frame(Frame(pa.RecordBatch.from_pylist([record, record])))
    by_values.add_frame(ValueFrame(2, {}, [record, record]))
    assert by_record.found == by_batch.found == by_values.found == set()


def test_without_names_nothing_is_looked_at() -> None:
    assert PipelineState().unread.missing == set()


RECORD = {"q": "One?", "setup": "rm -rf /", "files": "{}", "sandbox": "docker"}


def write(folder: Path, kind: str) -> str:
    path = folder / f"d.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist([RECORD]), path)
    elif kind == "csv":
        path.write_text("q,setup,files,sandbox\nOne?,rm -rf /,{},docker\n", encoding="utf-8")
    else:
        data = RECORD if kind == "jsonl" else [RECORD]
        path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("limit", [None, 1], ids=["by columns", "by rows"])
def test_columns_of_every_format_are_noticed_and_not_used(
    tmp_path: Path, cache_dir: Path, kind: str, limit: int | None
) -> None:
    path = write(tmp_path, kind)
    opened = load(
        spec(path, "json" if kind == "jsonl" else kind, view={"limit": limit}),
        Cache(cache_dir),
        boundary=UNBOUNDED,
    )
    (sample,) = opened.dataset
    assert (sample.sandbox, sample.files, sample.setup) == (None, None, None)
    assert opened.entry.meta["quality"]["unused_columns"]["first"] == [
        {"value": name} for name in sorted(ALL)
    ]

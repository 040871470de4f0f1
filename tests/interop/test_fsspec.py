"""`registry://` in the tools that open files through fsspec: the same rows as the dataset has."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import fsspec
import pytest

from registry import get_dataset

DATASETS = ("demo-mcq", "demo-mcq-small", "demo-chat")

if not any(
    point.name == "registry" for point in importlib.metadata.entry_points(group="fsspec.specs")
):
    pytest.skip(
        "this environment was installed before the entry point existed", allow_module_level=True
    )


def rows_of(name: str, **view: Any) -> list[dict[str, Any]]:
    """Return what every tool that reads columns must return."""
    rows: list[dict[str, Any]] = get_dataset(name, **view).to_arrow().to_pylist()
    return rows


@pytest.fixture
def files() -> Any:
    return fsspec.filesystem("registry")


def test_entry_point_serves_the_protocol(files: Any) -> None:
    assert type(files).__module__ == "registry.export.filesystem"


@pytest.mark.parametrize("name", DATASETS)
def test_inspect_reads_equal_samples_with_its_default_fields(name: str) -> None:
    dataset = pytest.importorskip("inspect_ai.dataset")
    theirs = dataset.json_dataset(f"registry://{name}.jsonl")
    ours = get_dataset(name).to_inspect()
    assert len(theirs) == len(ours)
    for one, other in zip(theirs, ours, strict=True):
        assert without_ids(one) == without_ids(other)
    view = dataset.json_dataset(f"registry://shuffle=true&seed=9&limit=4/{name}.jsonl")
    assert [one.id for one in view] == [
        one.id for one in get_dataset(name, shuffle=True, seed=9, limit=4)
    ]


def without_ids(sample: Any) -> Any:
    """Return a sample as data, without the ids of messages, which Inspect's loader makes anew."""
    data = sample.model_dump()
    for message in data["input"] if isinstance(data["input"], list) else ():
        del message["id"]
    return data


@pytest.mark.parametrize("name", DATASETS)
def test_pandas(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    lines = pandas.read_json(f"registry://{name}.jsonl", lines=True, dtype=False)
    samples = list(get_dataset(name))
    assert lines["id"].tolist() == [sample.id for sample in samples]
    assert lines["target"].tolist() == [sample.target for sample in samples]
    frame = pandas.read_parquet(f"registry://{name}.parquet")
    assert frame["metadata"].tolist() == [row["metadata"] for row in rows_of(name)]
    assert pandas.read_feather(f"registry://{name}.arrow").shape == frame.shape
    table = pandas.read_csv(f"registry://{name}.csv?limit=3", dtype=str, keep_default_na=False)
    assert table["target"].tolist() == [row["target"] or "" for row in rows_of(name, limit=3)]


@pytest.mark.parametrize("name", DATASETS)
def test_polars(name: str, files: Any) -> None:
    polars = pytest.importorskip("polars")
    rows = rows_of(name)
    read: list[Callable[[], Any]] = [
        lambda: polars.read_parquet(f"registry://{name}.parquet", use_pyarrow=True),
        lambda: polars.read_ipc(f"registry://{name}.arrow", use_pyarrow=True),
        lambda: polars.scan_parquet(files.open(f"{name}.parquet")).collect(),
        lambda: polars.read_ipc(files.open(f"{name}.arrow")),
    ]
    for one in read:
        assert one().to_dicts() == rows
    assert polars.read_ndjson(files.open(f"{name}.jsonl")).height == len(rows)


@pytest.mark.parametrize("name", DATASETS)
def test_pyarrow(name: str, files: Any) -> None:
    import pyarrow.dataset as pds
    import pyarrow.parquet as pq

    assert pq.read_table(f"{name}.parquet", filesystem=files).to_pylist() == rows_of(name)
    found = pds.dataset(f"limit=7/{name}.arrow", filesystem=files, format="ipc").to_table()
    assert found.to_pylist() == rows_of(name, limit=7)


@pytest.mark.parametrize("name", DATASETS)
def test_duckdb(name: str, files: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register_filesystem(files)
    query = f"select input, target, choices, id, metadata from 'registry://{name}.parquet'"
    columns = ("input", "target", "choices", "id", "metadata")
    expected = [tuple(row[column] for column in columns) for row in rows_of(name)]
    assert connection.sql(query).fetchall() == expected
    csv = connection.sql(f"from read_csv('registry://{name}.csv?shuffle=true&seed=2')").fetchall()
    assert len(csv) == len(expected)
    ids = connection.sql(f"select id from read_json('registry://limit=3/{name}.jsonl')").fetchall()
    assert [str(one) for (one,) in ids] == [row["id"] for row in rows_of(name, limit=3)]


@pytest.mark.parametrize("name", DATASETS)
def test_datasets_of_the_hub(name: str, tmp_path: Any) -> None:
    datasets = pytest.importorskip("datasets")
    rows = rows_of(name)
    for kind in ("parquet", "arrow"):
        found = datasets.load_dataset(
            kind, data_files=f"registry://{name}.{kind}", split="train", cache_dir=str(tmp_path)
        )
        assert list(found) == rows
    lines = datasets.load_dataset(
        "json", data_files={"test": f"registry://{name}.jsonl?limit=5"}, cache_dir=str(tmp_path)
    )["test"]
    assert [str(one) for one in lines["id"]] == [row["id"] for row in rows_of(name, limit=5)]
    stream = datasets.load_dataset(
        "parquet", data_files=f"registry://{name}.parquet", split="train", streaming=True
    )
    assert list(stream) == rows

"""pyarrow, pandas, polars, DuckDB and datasets see the rows that the samples have, in every view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry import Dataset, MemoryDataset, Sample, get_dataset

pytestmark = pytest.mark.usefixtures("_shared_cache")

DATASETS: dict[str, Any] = {
    "as it is stored": lambda: get_dataset("demo-mcq"),
    "view": lambda: get_dataset("demo-mcq", shuffle=True, seed=3, shuffle_choices=5, limit=20),
    "slice": lambda: get_dataset("demo-mcq")[5:30],
    "positions": lambda: get_dataset("demo-mcq")[[3, 1, 3]],
    "conversations": lambda: get_dataset("demo-chat"),
    "in memory": lambda: MemoryDataset(list(get_dataset("demo-chat")), name="memory"),
    "empty": lambda: get_dataset("demo-chat")[:0],
}


@pytest.fixture(params=DATASETS, ids=str)
def dataset(request: pytest.FixtureRequest, _shared_cache: None) -> Dataset:
    made: Dataset = DATASETS[request.param]()
    return made


def facts(dataset: Dataset) -> list[Any]:
    """Return what each row must say, from the samples."""
    return [
        {
            "id": str(sample.id),
            "target": sample.target if isinstance(sample.target, str) else None,
            "targets": None if isinstance(sample.target, str) else sample.target,
            "choices": sample.choices,
            "text": sample.input
            if isinstance(sample.input, str)
            else [[message.role, message.text] for message in sample.input],
            "metadata": sample.metadata,
        }
        for sample in dataset
    ]


def said(rows: Any) -> list[Any]:
    """Return the same from the rows of a tool, as dicts."""
    return [
        {
            **{name: row[name] for name in ("id", "target", "targets", "choices")},
            "text": [[one["role"], one["content"]] for one in row["messages"]]
            if row["input"] is None
            else row["input"],
            "metadata": json.loads(row["metadata"]),
        }
        for row in rows
    ]


def test_pyarrow(dataset: Dataset, tmp_path: Path) -> None:
    table = pa.table(dataset)
    assert said(table.to_pylist()) == facts(dataset)
    pq.write_table(table, tmp_path / "x.parquet")
    assert said(pq.read_table(tmp_path / "x.parquet").to_pylist()) == facts(dataset)


def test_pyarrow_scanner_filters_a_stream(dataset: Dataset) -> None:
    import pyarrow.dataset as ds

    reader = pa.RecordBatchReader.from_stream(dataset)
    found = ds.Scanner.from_batches(reader, filter=ds.field("target") == "A").to_table()
    assert said(found.to_pylist()) == [one for one in facts(dataset) if one["target"] == "A"]


@pytest.mark.parametrize("way", ["to_pandas", "from_arrow"])
def test_pandas(dataset: Dataset, way: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    if way == "to_pandas":
        frame = dataset.to_pandas()
    elif hasattr(pandas.DataFrame, "from_arrow"):
        frame = pandas.DataFrame.from_arrow(dataset)
    else:
        pytest.skip("this pandas has no DataFrame.from_arrow")
    back = pa.Table.from_pandas(frame, schema=pa.table(dataset).schema, preserve_index=False)
    assert said(back.to_pylist()) == facts(dataset)


def test_polars(dataset: Dataset) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = dataset.to_polars()
    assert said(frame.to_dicts()) == facts(dataset)
    assert said(polars.from_arrow(dataset.to_arrow()).to_dicts()) == facts(dataset)
    counts = frame.filter(polars.col("target").is_not_null()).height
    assert counts == sum(one["target"] is not None for one in facts(dataset))


def test_duckdb(dataset: Dataset) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    # DuckDB finds the variable; each query reads the stream again.
    for _ in range(2):
        relation = duckdb.sql("from dataset")
        rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
        assert said(rows) == facts(dataset)
    ((found,),) = duckdb.sql("select count(*) from dataset where target = 'A'").fetchall()
    assert found == sum(one["target"] == "A" for one in facts(dataset))


# `sort` of the Hub's library uses an option that pyarrow is about to drop.
@pytest.mark.filterwarnings("ignore:Specifying null_placement:FutureWarning")
def test_datasets(dataset: Dataset) -> None:
    found = dataset.to_hf()
    assert said(found) == facts(dataset)
    kept = found.filter(lambda row: row["target"] == "A")
    assert said(kept) == [one for one in facts(dataset) if one["target"] == "A"]
    assert said(found.shuffle(seed=1).sort("id")) == said(found.sort("id"))
    if len(dataset):  # without a row, `map` adds no column
        again = found.map(lambda row: {"n": len(row["choices"] or [])})
        assert again["n"][:] == [len(one["choices"] or []) for one in facts(dataset)]


def test_datasets_saved_by_that_library_are_read_by_it(tmp_path: Path) -> None:
    import datasets

    dataset = get_dataset("demo-chat")
    dataset.to_hf().save_to_disk(str(tmp_path / "saved"))
    assert said(datasets.load_from_disk(str(tmp_path / "saved"))) == facts(dataset)
    dataset.to_hf().to_parquet(tmp_path / "x.parquet")
    assert said(pq.read_table(tmp_path / "x.parquet").to_pylist()) == facts(dataset)


def test_structs_of_metadata_reach_every_tool() -> None:
    dataset = get_dataset("demo-chat")
    wanted = [sample.metadata for sample in dataset]
    assert dataset.to_arrow(metadata="struct")["metadata"].to_pylist() == wanted
    assert [row["metadata"] for row in dataset.to_hf(metadata="struct")] == wanted
    pytest.importorskip("polars", reason="polars is not installed")
    assert dataset.to_polars(metadata="struct")["metadata"].to_list() == wanted


def test_polars_still_takes_a_dataset_for_a_list_of_rows() -> None:
    """Hold the page and docs/explanation/design.md to it: once this fails, `pl.DataFrame(dataset)` works."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    dataset = get_dataset("demo-mcq")
    assert set(polars.DataFrame(dataset).columns) == set(Sample.model_fields)
    assert isinstance(polars.from_arrow(dataset), polars.Series)

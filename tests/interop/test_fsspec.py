"""`registry://` in the tools that open files through fsspec: the same rows as the dataset has."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fsspec
import pytest

from registry import get_dataset
from tests.interop.page import NOT_SERVED, serves_registry

DATASETS = ("demo-mcq", "demo-chat")

pytestmark = [
    pytest.mark.skipif(not serves_registry(), reason=f"not installed: {NOT_SERVED}"),
    pytest.mark.usefixtures("_shared_cache"),
]


def rows_of(name: str, **view: Any) -> list[dict[str, Any]]:
    """Return what every tool that reads columns must return."""
    rows: list[dict[str, Any]] = get_dataset(name, **view).to_arrow().to_pylist()
    return rows


@pytest.fixture
def files() -> Any:
    return fsspec.filesystem("registry")


def test_entry_point_serves_the_protocol(files: Any) -> None:
    assert type(files).__module__ == "registry.plugins.export.filesystem"


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


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask uses it
@pytest.mark.parametrize("name", DATASETS)
def test_dask(name: str) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    rows = rows_of(name)
    whole = dataframe.read_parquet(f"registry://{name}.parquet").compute(scheduler="processes")
    assert whole["metadata"].tolist() == [row["metadata"] for row in rows]
    parts = dataframe.read_csv(f"registry://{name}.csv", blocksize=2000, dtype=str)
    assert parts["id"].compute().tolist() == [row["id"] for row in rows]
    assert parts.npartitions > 1 or len(rows) == 10
    view = dataframe.read_parquet(f"registry://{name}.parquet?shuffle=true&seed=2&limit=4")
    expected = [row["id"] for row in rows_of(name, shuffle=True, seed=2, limit=4)]
    assert view["id"].compute().tolist() == expected
    lines = dataframe.read_json(f"registry://{name}.jsonl?limit=3", lines=True)
    assert len(lines) == 3


# URL → what the error of each tool says. Of a Parquet file that does not exist, pyarrow and Dask
# report only the path; with options the error is ours.
WRONG = {
    "demo-mqc.jsonl": "similar names: demo-mcq",
    "demo-mqc.jsonl?limit=1": "similar names: demo-mcq",
    "demo-mcq.jsonl?limt=1": "did you mean 'limit'",
    "demo-mcq.jsonl?limit=x": "limit`: must be an integer",
    "demo-mcq.json": "only .jsonl, .parquet, .arrow, .csv are served",
}


@pytest.mark.parametrize("url", WRONG)
def test_errors_of_the_tools_have_the_hint(url: str, files: Any, tmp_path: Path) -> None:
    full = f"registry://{url}"
    tools: dict[str, Any] = {}
    reads: dict[str, Callable[[], Any]] = {
        "inspect_ai.dataset": lambda: tools["inspect_ai.dataset"].json_dataset(full),
        "pandas": lambda: tools["pandas"].read_json(full, lines=True),
        "dask.dataframe": lambda: tools["dask.dataframe"].read_json(full, lines=True),
    }
    if "?" in url:
        parquet = full.replace(".jsonl", ".parquet")
        reads |= {
            "pyarrow.parquet": lambda: tools["pyarrow.parquet"].read_table(
                parquet.removeprefix("registry://"), filesystem=files
            ),
            "pandas.api": lambda: tools["pandas"].read_parquet(parquet),
            "dask": lambda: tools["dask.dataframe"].read_parquet(parquet),
            "polars": lambda: tools["polars"].read_parquet(parquet, use_pyarrow=True),
            # Without options, these two say that no file matches.
            "duckdb": lambda: connected().sql(f"from read_json('{full}')").fetchall(),
            "datasets": lambda: tools["datasets"].load_dataset(
                "json", data_files=full, cache_dir=str(tmp_path)
            ),
        }

    def connected() -> Any:
        connection = tools["duckdb"].connect()
        connection.register_filesystem(files)
        return connection

    tools |= {name: pytest.importorskip(name) for name in reads}
    for read in reads.values():
        with pytest.raises(Exception, match=WRONG[url]):
            read()


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


def test_inspect_finds_images_beside_the_source_by_their_absolute_names(tmp_path: Path) -> None:
    dataset = pytest.importorskip("inspect_ai.dataset")
    keys = "source: {type: json, path: d.jsonl}, fields: {input: messages, target: answer}"
    (tmp_path / "datasets.yaml").write_text(
        f"version: 1\ndatasets:\n  pictures: {{{keys}}}\n", encoding="utf-8"
    )
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image", "image": "p.png"}]
    record = {"messages": [{"role": "user", "content": parts}], "answer": "a dot"}
    (tmp_path / "d.jsonl").write_text(f"{json.dumps(record)}\n", encoding="utf-8")
    (tmp_path / "p.png").write_bytes(b"\x89PNG")
    root = quote(str(tmp_path), safe="")
    (theirs,) = dataset.json_dataset(f"registry://absolute_files=true&root={root}/pictures.jsonl")
    (ours,) = get_dataset("pictures", root=tmp_path).to_inspect()
    assert without_ids(theirs) == without_ids(ours)
    assert theirs.input[0].content[1].image == str(tmp_path / "p.png")


def test_file_system_and_its_files_reach_spawned_processes(files: Any) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(files.cat_file, "limit=2/demo-mcq.jsonl").result()
    assert found == files.cat_file("limit=2/demo-mcq.jsonl")

"""Row groups: the rows and buffers do not depend on how the samples are stored."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    ChatMessageAssistant,
    ChatMessageUser,
    Sample,
    csv_dataset,
    get_dataset,
    json_dataset,
)
from registry.plugins.export import tables
from registry.plugins.export.exported import Exported
from registry.plugins.export.tables import (
    json_line,
    message_data,
    record_of,
    regrouped,
    row_groups,
    schema_of,
    write_arrow,
    write_csv,
    write_jsonl,
    write_parquet,
)
from registry.samples.checkpoint import CheckpointSampleConfig
from registry.samples.digest import sample_digest
from registry.samples.messages import ToolCall
from tests.plugins.export.conftest import Opener

ROWS = st.fixed_dictionaries(
    {
        "a": st.none() | st.text(max_size=5),
        "b": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
    }
)
SCHEMA = pa.schema({"a": pa.large_string(), "b": pa.large_list(pa.large_string())})


def ipc_bytes(batches: list[pa.RecordBatch]) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, SCHEMA) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


@settings(deadline=None)  # the first call imports
@given(rows=st.lists(ROWS, max_size=20), cuts=st.lists(st.integers(0, 20), max_size=5))
def test_groups_do_not_depend_on_the_batches(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    table = pa.RecordBatch.from_pylist(rows, SCHEMA)
    ends = [*sorted(cuts), len(rows)]
    parts = [table.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_UNIT_ROWS", 3)
        patch.setattr(tables, "_GROUP_BYTES", 10)
        whole, cut = list(regrouped([table])), list(regrouped(parts))
    assert ipc_bytes(whole) == ipc_bytes(cut)
    assert [row for batch in cut for row in batch.to_pylist()] == rows


def test_bytes_below_a_null_are_not_written() -> None:
    offsets = pa.py_buffer(pa.array([0, 1, 4], pa.int64()).buffers()[1])
    arrays = [
        pa.LargeStringArray.from_buffers(2, offsets, pa.py_buffer(b"xold"), pa.py_buffer(b"\x01")),
        pa.array(["x", None], pa.large_string()),
    ]
    nulls = pa.nulls(2, SCHEMA.field("b").type)
    dirty, clean = (pa.RecordBatch.from_arrays([one, nulls], schema=SCHEMA) for one in arrays)
    assert dirty.equals(clean)
    assert ipc_bytes(list(regrouped([dirty]))) == ipc_bytes(list(regrouped([clean])))


def test_groups_end_after_so_many_rows_or_so_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_UNIT_ROWS", 2)
    monkeypatch.setattr(tables, "_GROUP_UNITS", 3)
    monkeypatch.setattr(tables, "_GROUP_BYTES", 100)
    rows = [{"a": None, "b": ["x" * (80 if number == 9 else 1)]} for number in range(20)]
    groups = list(regrouped([pa.RecordBatch.from_pylist(rows, SCHEMA)]))
    assert [group.num_rows for group in groups] == [6, 6, 6, 2]
    monkeypatch.setattr(tables, "_GROUP_BYTES", 80)
    groups = list(regrouped([pa.RecordBatch.from_pylist(rows, SCHEMA)]))
    assert [group.num_rows for group in groups] == [6, 4, 6, 4]


def test_columns_are_those_of_every_frame_and_have_the_provenance(opened: Opener) -> None:
    for name in ("mixed", "chat", "few", "mcq"):
        exported = opened(name)
        (group,) = row_groups(exported)
        assert group.schema.equals(get_dataset(name).to_arrow().schema)
        assert group.to_pylist() == get_dataset(name).to_arrow().to_pylist()
        assert (
            json.loads(schema_of(exported).metadata[b"registry"]) == exported.provenance.as_data()
        )


def saved(exported: Exported, write: Callable[[Exported, BinaryIO], None]) -> str:
    """Write an export to a file of the working directory; return its name."""
    name = f"out.{write.__name__.removeprefix('write_')}"
    with open(name, "wb") as file:
        write(exported, file)
    return name


def test_lines_are_read_as_equal_samples(opened: Opener) -> None:
    for name in ("mixed", "few", "mcq"):
        file = saved(opened(name), write_jsonl)
        assert list(json_dataset(file)) == list(get_dataset(name))


def test_conversations_are_read_as_equal_messages(opened: Opener) -> None:
    file = saved(opened("chat"), write_jsonl)
    for read, own in zip(json_dataset(file), get_dataset("chat"), strict=True):
        assert sample_digest(read) == sample_digest(own)


def test_lone_surrogate_is_escaped() -> None:
    assert json_line({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}\n'
    assert json.loads(json_line({"a": "é"})) == {"a": "é"}


def test_every_record_has_the_same_first_keys() -> None:
    unset = {"choices": None, "id": None, "metadata": None}
    assert record_of(Sample(input="a")) == {"input": "a", "target": "", **unset}


def test_rare_fields_are_written_where_they_are_set() -> None:
    sample = Sample(
        input="a",
        target=["x", "y"],
        sandbox=("docker", "compose.yaml"),
        files={"f": "text"},
        setup="run",
        description="d",
        checkpoint=CheckpointSampleConfig(max_consecutive_failures=2),
    )
    found = record_of(sample)
    assert found["target"] == ["x", "y"]
    assert found["sandbox"] == ["docker", "compose.yaml"]
    assert found["checkpoint"] == {"max_consecutive_failures": 2}
    assert (found["files"], found["setup"], found["description"]) == ({"f": "text"}, "run", "d")
    assert record_of(Sample(input="a", sandbox="docker"))["sandbox"] == "docker"


def test_values_that_json_lacks_are_tagged() -> None:
    sample = Sample(input="a", metadata={"on": date(2026, 1, 2), "x": float("inf"), "b": b"\x00"})
    assert record_of(sample)["metadata"] == {
        "on": {"$date": "2026-01-02"},
        "x": {"$float": "inf"},
        "b": {"$bytes": "AA=="},
    }


def test_messages_have_no_random_id_and_keep_their_calls() -> None:
    call = ToolCall(id="1", function="f", arguments={"x": None})
    message = ChatMessageAssistant(content="c", tool_calls=[call], source="input")
    assert message_data(message) == {
        "role": "assistant",
        "content": "c",
        "tool_calls": [{"id": "1", "function": "f", "arguments": {"x": None}, "type": "function"}],
    }
    assert message_data(ChatMessageUser(content="u", source="operator"))["source"] == "operator"


def rows_of(opened: Opener, name: str) -> tuple[str, list[dict[str, str]]]:
    text = Path(saved(opened(name), write_csv)).read_bytes().decode()
    return text, list(csv.DictReader(io.StringIO(text)))


def test_lists_are_json_and_text_stays(opened: Opener) -> None:
    text, rows = rows_of(opened, "mixed")
    assert rows[2]["input"] == 'C,\n"c"'
    assert json.loads(rows[1]["targets"]) == ["y", "z"]
    assert json.loads(rows[3]["choices"]) == ["p", "q"]
    assert json.loads(rows[0]["metadata"]) == {"kind": "a", "more": {"n": [1, None]}}
    assert text.splitlines()[0].startswith('"input","messages","choices","target"')
    # A target that is blank, not missing.
    assert ',,"",,"3",' in text


def test_conversations_are_json(opened: Opener) -> None:
    _, rows = rows_of(opened, "chat")
    messages = json.loads(rows[0]["messages"])
    assert [(one["role"], one["content"]) for one in messages] == [("system", "S"), ("user", "U")]


def test_loader_reads_questions_and_targets(opened: Opener) -> None:
    file = saved(opened("mcq"), write_csv)

    def sample(record: dict[str, str]) -> Sample:
        return Sample(
            input=record["input"], target=record["target"], choices=json.loads(record["choices"])
        )

    assert list(csv_dataset(file, sample)) == list(get_dataset("mcq"))


def test_table_is_that_of_the_dataset(opened: Opener) -> None:
    for name in ("mixed", "chat", "mcq"):
        table = pq.read_table(saved(opened(name), write_parquet))
        assert table.equals(get_dataset(name).to_arrow())
        assert json.loads(table.schema.metadata[b"registry"])["name"] == name


def test_row_groups_are_those_of_the_samples(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_UNIT_ROWS", 1)
    monkeypatch.setattr(tables, "_GROUP_UNITS", 3)
    metadata = pq.read_metadata(saved(opened("mixed"), write_parquet))
    groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert groups == [3, 1]


def test_file_is_mapped_without_a_copy(opened: Opener) -> None:
    file = saved(opened("mixed"), write_arrow)
    before = pa.total_allocated_bytes()
    with pa.memory_map(file) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
        assert pa.total_allocated_bytes() == before
        assert table.to_pylist() == get_dataset("mixed").to_arrow().to_pylist()
        assert json.loads(table.schema.metadata[b"registry"])["license"] == "mit"


def test_dataset_without_samples_has_the_columns(opened: Opener) -> None:
    with pa.memory_map(saved(opened("mixed", limit=0), write_arrow)) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
        assert table.schema.equals(get_dataset("mixed").to_arrow().schema)
        assert table.num_rows == 0

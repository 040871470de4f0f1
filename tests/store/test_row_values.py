"""Single rows have the values that pyarrow reads in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.samples.frames.layout import METADATA_TYPES, MetadataType
from registry.store.row_values import NOT_A_SAMPLES_FILE, Footer
from registry.store.schema import full_schema, json_keys, schema_of

VALUES: dict[MetadataType, st.SearchStrategy[Any]] = {
    "str": st.text(max_size=4),
    "str_list": st.lists(st.none() | st.text(max_size=3), max_size=3),
    "int": st.integers(-(1 << 63), (1 << 63) - 1),
    "float": st.floats(),
    "bool": st.booleans(),
    "json": st.text(max_size=4),
}
METADATA = st.dictionaries(
    st.sampled_from(["n", "choices", "é", "$", "x y"]), st.sampled_from(list(VALUES)), max_size=5
)


def written(schema: pa.Schema, batches: list[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def values_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Return values of a column, often of nulls only or of none."""
    if pa.types.is_struct(kind):
        made = st.fixed_dictionaries({part.name: values_of(part.type) for part in kind})
    else:
        made = VALUES[next(name for name, other in METADATA_TYPES.items() if other == kind)]
    return st.one_of(made, made, st.none())


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, pa.Schema, list[pa.RecordBatch]]:
    """Return a file with some of the columns of samples, in batches that may be slices."""
    schema = full_schema(schema_of(draw(METADATA)))
    chosen = draw(st.lists(st.sampled_from(list(schema)), min_size=1, unique_by=lambda f: f.name))
    schema = pa.schema([field for field in schema if field in chosen])
    batches = []
    for count in draw(st.lists(st.integers(0, 20), max_size=3)):
        columns = []
        for field in schema:
            values = st.lists(values_of(field.type), min_size=count, max_size=count)
            column = draw(st.one_of(values, values, st.just([None] * count)))
            columns.append(pa.array(column, field.type))
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        batches.append(batch.slice(draw(st.integers(0, count))))
    return written(schema, batches), schema, batches


@settings(deadline=None, max_examples=300)
@given(files())
def test_values_are_those_that_pyarrow_reads(
    made: tuple[bytes, pa.Schema, list[pa.RecordBatch]],
) -> None:
    data, schema, batches = made
    footer = Footer(memoryview(data))
    assert footer.json_keys == json_keys(schema)
    for number, batch in enumerate(batches):
        values = footer.batch(number, memoryview(data))
        found = [{name: read(row) for name, read in values.readers} for row in range(len(batch))]
        # As text, since NaN is not equal to itself.
        assert repr(found) == repr(batch.to_pylist())
        if "choices" in schema.names and len(batch):
            lengths = [len(row["choices"] or ()) for row in found]
            starts = values.starts["choices"]
            assert lengths == [starts[row + 1] - starts[row] for row in range(len(batch))]


def test_lists_in_the_metadata_are_not_columns_of_the_file() -> None:
    schema = schema_of({"choices": "str_list"})
    batch = pa.RecordBatch.from_pylist([{"metadata_values": {"choices": ["a"]}}], schema)
    chosen = batch.select(["input", "metadata_values"])
    data = memoryview(written(chosen.schema, [chosen]))
    values = Footer(data).batch(0, data)
    assert values.starts == {}


SOME = pa.record_batch({"input": pa.array(["a", None, "é"], pa.large_string())})


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data[:-10] + (1 << 30).to_bytes(4, "little") + data[-6:],
        lambda data: data[:-10] + bytes(4) + data[-6:],
        lambda data: bytes([255]) * len(data),
    ],
)
def test_bytes_of_something_else_are_one_of_few_errors(harm: Callable[[bytes], bytes]) -> None:
    data = memoryview(harm(written(SOME.schema, [SOME])))
    with pytest.raises(NOT_A_SAMPLES_FILE):
        Footer(data).batch(0, data)


@settings(deadline=None, max_examples=500)
@given(st.data())
def test_any_flipped_bit_gives_a_value_or_one_of_few_errors(data: st.DataObject) -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"input": "q", "choices": ["a", "b"], "metadata_values": {"n": 1, "l": ["x"]}}] * 9,
        schema_of({"n": "int", "l": "str_list"}),
    )
    chosen = batch.select(["input", "choices", "metadata_values"])
    content = bytearray(written(chosen.schema, [chosen]))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    try:
        values = Footer(memoryview(content)).batch(0, memoryview(content))
        for _, read in values.readers:
            read(8)
    except NOT_A_SAMPLES_FILE:
        pass


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.list_(pa.int64()), pa.large_list(pa.large_list(pa.int64()))]
)
def test_type_that_samples_lack_is_an_error(kind: pa.DataType) -> None:
    schema = pa.schema([pa.field("x", kind)])
    with pytest.raises(ValueError, match="a column has the type"):
        Footer(memoryview(written(schema, [])))

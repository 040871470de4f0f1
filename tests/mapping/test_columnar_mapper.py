"""Samples mapped by whole columns: which columns become rows, and the types of metadata."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.base.arrow import list_offsets
from registry.boundary.boundary import Boundary, Limits
from registry.decode.frame import Frame, NotColumnarError, ValueFrame
from registry.errors import MappingError
from registry.manifest.models import FieldsSpec
from registry.mapping import columnar_mapper as module
from registry.mapping.coerce import to_input
from registry.mapping.columnar_mapper import (
    FIELD_COLUMNS,
    ColumnarMapper,
    cast_to_metadata_type,
    input_columns,
    metadata_type_of_column,
)
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.record_batch import RecordBatchView
from registry.mapping.row import Row
from registry.samples.frames.layout import METADATA_TYPES, MetadataType
from registry.store.columns import field_columns
from registry.store.reader import SampleFile
from registry.store.rows import metadata_of
from registry.store.schema import MetadataTypeMismatchError, batch_from, json_keys
from registry.store.writer import SampleWriter
from tests.mapping.views import COLUMNS, view_of

RECORDS: list[dict[str, Any]] = [
    {"q": "x", "a": "A", "n": 1, "f": 0.5, "b": True, "l": ["x"], "m": {"y": 1}, "o": None},
    {"q": "y", "a": "B", "n": 2, "f": 1.5, "b": None, "l": None, "m": {"y": None}, "o": None},
]


_texts = st.text(max_size=4) | st.sampled_from(["", "\x00\x1f\x7f", '"\\/\b\f\n\r\t', "\u2028é😀"])
_values: st.SearchStrategy[Any] = _texts | st.sampled_from([None, 1, 1.5, True, [], {}, ["a"]])
_parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": _texts}),
    st.fixed_dictionaries({"image": _texts, "type": st.just("image")}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "image", "audio", 1, None]), "text": _values},
        optional={"image": _values, "refusal": _values, "detail": st.just("low")},
    ),
    st.fixed_dictionaries({"text": _texts}),
    _texts,
)
_messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(
            ["system", "user", "assistant", "assistant", "tool", "human", None]
        ),
        "content": st.one_of(_texts, st.lists(_parts, max_size=2), _values),
    },
    optional={
        "tool_calls": st.sampled_from([None, [], [{"id": "1", "function": "f", "arguments": {}}]]),
        "tool_call_id": st.just("x"),
        "id": _texts,
        "metadata": st.just({"a": 1}),
    },
)
_plain = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant"]),
        "content": _texts | st.lists(_parts.filter(lambda part: len(part) == 2), max_size=2),
    }
)
_inputs = st.one_of(
    _texts,
    st.lists(_plain, min_size=1, max_size=3),
    st.lists(_messages | _values, max_size=2),
    _values,
)

FIELDS: dict[str, list[str]] = {
    "input": [],
    "target": ["text", "large", "nulls", "none", "empty", "filled"],
    "choices": ["none", "empty"],
    "id": ["text", "large", "nulls", "none", "int", "int8"],
    "sandbox": ["none"],
    "files": ["none"],
    "setup": ["none", "empty", "text", "nulls"],
    "checkpoint": ["none", "empty"],
    "description": ["none", "empty"],
}
CASES = [(name, column) for name, columns in FIELDS.items() for column in columns]


def view_from(records: list[dict[str, Any]] = RECORDS, **constants: Any) -> RecordBatchView:
    batch = pa.RecordBatch.from_pylist(records)
    return RecordBatchView(Frame(batch), constants, np.arange(1, len(records) + 1))


def mapped(
    fields: dict[str, Any], view: RecordBatchView | None = None, **options: Any
) -> pa.RecordBatch:
    mapper = ColumnarMapper(FieldsSpec(**fields), **options)
    return mapper.map(view or view_from(), None)[0]


COLUMNS_ONLY = {"input": "q", "target": "a", "choices": "l", "id": "n", "metadata": ["a", "f", "o"]}


def test_bare_columns_stay_arrow_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    values, read = RecordBatchView.values, []

    def noted(view: RecordBatchView, name: str) -> list[Any]:
        read.append(name)
        return values(view, name)

    monkeypatch.setattr(RecordBatchView, "values", noted)
    batch = mapped(COLUMNS_ONLY)
    assert read == ["l"]  # one of its lists is null, so the values decide
    assert batch.column("input").to_pylist() == ["x", "y"]
    assert batch.column("choices").to_pylist() == [["x"], None]
    assert batch.column("record").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    "raw",
    [
        {"template": "{q} {a|none}{?a}, {q}{/}"},
        {"template": "{x}", "with": {"x": {"from": "m", "do": "dump"}}},
        {"if": {"any": [{"value": "q", "equals": "x"}, {"value": "n", "less": 0}]}, "then": "q"},
        {"messages": [{"role": "user", "content": "q"}]},
        {"from": "l", "do": [{"default": ["x"]}, {"each": {"to": {"template": "{item}{q}"}}}]},
        {"hash": ["q", "l"]},
    ],
    ids=str,
)
def test_a_mapped_view_is_freed_without_the_collector(raw: Any) -> None:
    view = view_from()
    freed = weakref.ref(view)
    gc.disable()  # as it is while records are mapped
    try:
        mapped({"input": "q", "metadata": {"value": raw}}, view)
        del view
        assert freed() is None
    finally:
        gc.enable()


def test_a_mapper_depends_on_the_columns_of_fields_and_condition() -> None:
    fields = FieldsSpec(input={"template": "{q} {v.x}"}, metadata={"k": "m"}, target=None)
    mapper = ColumnarMapper(fields, {"value": "w", "equals": 1})
    assert mapper.dependencies == frozenset({"q", "v.x", "m", "w", "choices", "id"})
    assert ColumnarMapper(FieldsSpec(metadata="*")).dependencies is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[("q", "str"), ("n", "int"), ("f", "float"), ("b", "bool"), ("l", "str_list")],
        *[("m", "json"), ("m.y", "int"), ("o", "json"), ("none", "str")],
    ],
)
def test_metadata_has_the_type_of_its_column(name: str, kind: MetadataType) -> None:
    mapper = ColumnarMapper(FieldsSpec(input="q", metadata={"k": name}))
    batch, metadata_types = mapper.map(view_from(), None)
    assert metadata_types == {"k": kind}
    columns = {"metadata_values": batch.column("metadata_values").to_pylist()}
    outer, _, inner = name.partition(".")
    wanted = [record.get(outer) for record in RECORDS]
    if inner:
        wanted = [value[inner] for value in wanted if value is not None]
    keys = json_keys(batch.schema)
    assert keys == (["k"] if kind == "json" else [])
    assert [item["k"] for item in metadata_of(columns, 2, keys) if item] == wanted


def test_metadata_has_the_keys_in_the_order_of_the_manifest() -> None:
    batch = mapped({"input": "q", "metadata": {"z": "a", "a": "n", "m": {"const": 1}}})
    assert [list(item) for item in batch.column("metadata_values").to_pylist()] == [
        ["z", "a", "m"]
    ] * 2


@pytest.mark.parametrize(
    ("metadata", "wanted"),
    [("none", None), ("o", None), (None, None), ([], [{}, {}]), ({}, [{}, {}])],
)
def test_metadata_without_keys_has_no_columns(metadata: Any, wanted: Any) -> None:
    batch = mapped({"input": "q", "metadata": metadata})
    assert "metadata_values" not in batch.schema.names
    texts = batch.column("metadata").to_pylist()
    assert texts == (
        [None, None]
        if wanted is None
        else [json.dumps(item, separators=(",", ":")) for item in wanted]
    )


def test_whole_records_have_the_constant_columns_too() -> None:
    view = view_from([{"q": "x"}], k=[1], q="over")
    batch = mapped({"input": "q", "metadata": "*"}, view)
    assert batch.column("input").to_pylist() == ["over"]
    columns = {"metadata_values": batch.column("metadata_values").to_pylist()}
    assert metadata_of(columns, 1, json_keys(batch.schema)) == [{"q": "over", "k": [1]}]


def test_dicts_with_different_keys_are_json_as_a_whole() -> None:
    view = view_from([{"q": "x", "m": '{"y": 1}'}, {"q": "x", "m": '{"z": 1}'}])
    batch = mapped({"input": "q", "metadata": "m"}, view)
    assert "metadata_values" not in batch.schema.names
    assert batch.column("metadata").to_pylist() == ['{"y":1}', '{"z":1}']


def test_without_samples_the_metadata_types_are_unchanged() -> None:
    mapper = ColumnarMapper(FieldsSpec(input="q", metadata="m"), {"value": "q", "equals": "no"})
    for metadata_types in (None, {}, {"y": "int"}):
        batch, found = mapper.map(view_from(), metadata_types)  # type: ignore[arg-type]
        assert (batch.num_rows, found) == (0, metadata_types)


def test_mapping_error_is_not_columnar() -> None:
    with pytest.raises(NotColumnarError) as caught:
        mapped({"input": "q", "id": "f"})
    assert isinstance(caught.value.__cause__, MappingError)


@pytest.mark.parametrize(
    ("fields", "most", "message"),
    [
        ({"input": "missing"}, 1 << 28, "an input that a record may lack"),
        ({"input": "q", "target": {"template": "{q}"}}, 1, "values that are too large to map many"),
    ],
)
def test_what_one_record_alone_says_better_is_not_columnar(
    fields: dict[str, Any], most: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.mapping.batch._MOST_BYTES", most)
    with pytest.raises(NotColumnarError, match=message):
        mapped(fields)


@pytest.mark.parametrize(("before", "key"), [({"a": "int"}, "a"), ({"b": "str"}, None)])
def test_metadata_of_other_types_or_keys_than_before_is_a_mismatch(before: Any, key: Any) -> None:
    mapper = ColumnarMapper(FieldsSpec(input="q", metadata=["a"]))
    with pytest.raises(MetadataTypeMismatchError) as caught:
        mapper.map(view_from(), before)
    assert caught.value.key == key


def test_samples_that_may_be_too_large_are_not_columnar() -> None:
    view = view_from()
    view.boundary = Boundary(limits=Limits(sample_bytes=10))
    with pytest.raises(NotColumnarError, match="samples that may be too large"):
        mapped({"input": "q"}, view)


def test_samples_file_written_from_columns_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    batch = mapped(COLUMNS_ONLY)
    with SampleWriter(path, batch.schema, lambda batch: None) as writer:
        writer.write(batch)
    file = SampleFile(path, writer.batches)
    assert list(file.metadata()) == [
        {"a": "A", "f": 0.5, "o": None},
        {"a": "B", "f": 1.5, "o": None},
    ]


@pytest.mark.parametrize(
    "dicts",
    [
        [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}],
        [{"y": None, "x": [1]}, {"y": None, "x": []}],
        [{"x": 1}, {"y": 1}],
        [{"x": 1}, None],
        ['{"x": 1}', {"x": 2}],
        [{}, {}],
    ],
)
@pytest.mark.parametrize("added", [{}, {"z": {"template": "{q}!"}}, {"x": "q", "w": "m.x"}])
def test_keys_may_be_added_to_the_dicts_of_a_column(dicts: list[Any], added: Any) -> None:
    records = [{"q": f"q{number}", "m": one} for number, one in enumerate(dicts)]
    fields = FieldsSpec(input="q", metadata={"*": "m", **added})
    mapper, numbers = FieldMapper(fields), np.arange(1, len(records) + 1)
    view = RecordBatchView(ValueFrame(len(records), {}, records), {}, numbers)
    wanted = [mapper.values(Row(record))["metadata"] for record in records]
    batch = mapped({"input": "q", "metadata": {"*": "m", **added}}, view)
    columns = {
        name: batch.column(name).to_pylist()
        for name in ("metadata", "metadata_values")
        if name in batch.schema.names
    }
    found = metadata_of(columns, len(records), json_keys(batch.schema))
    assert list(map(repr, found)) == list(map(repr, wanted))


def columns_or_error(make: Any, values: list[Any]) -> Any:
    """Return the columns as Python values, or the error."""
    try:
        columns = make(values)
    except MappingError as error:
        return str(error)
    for column in columns.values():
        column.validate(full=True)
    found = {name: column.to_pylist() for name, column in columns.items()}
    return {name: column for name, column in found.items() if set(column) != {None}}


def by_value(values: list[Any]) -> Any:
    return field_columns("input", [to_input(value) for value in values], range(1, 9))


@settings(deadline=None, max_examples=400)
@given(st.lists(_inputs, min_size=1, max_size=3))
@example([[{"role": "user", "content": "\ud800"}]])
@example(["a", "\ud800"])
def test_columns_are_those_of_the_models(values: list[Any]) -> None:
    found = columns_or_error(lambda some: input_columns(some, range(1, 9)), values)
    assert found == columns_or_error(by_value, values)


PLAIN = [
    [{"role": "user", "content": "a"}],
    [{"role": "system", "content": ""}, {"role": "assistant", "content": "b", "tool_calls": None}],
    [{"content": [{"text": "a", "type": "text"}, {"type": "image", "image": "x"}], "role": "user"}],
    [{"role": "assistant", "content": [], "id": "ignored"}],
]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_messages_create_no_model(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = columns_or_error(by_value, [value])
    monkeypatch.delattr(module, "to_input")
    assert columns_or_error(lambda some: input_columns(some, [1]), [value]) == expected


@pytest.mark.parametrize(("name", "column"), CASES, ids=str)
def test_a_column_gives_the_same_field_as_its_values(name: str, column: str) -> None:
    view = view_of()
    values = FieldMapper(FieldsSpec(**{name: column})).field(name, view)
    wanted = field_columns(name, values, view.numbers)
    found = FIELD_COLUMNS[name](COLUMNS[column])
    assert found is not None
    whole = [batch_from(columns, view.count, {}) for columns in (found, wanted)]
    assert whole[0].schema == whole[1].schema
    assert whole[0].to_pylist() == whole[1].to_pylist()
    whole[0].validate(full=True)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *[("input", one) for one in ("text", "nulls", "none", "empty", "int", "texts")],
        *[("target", one) for one in ("texts", "holes", "numbers", "dictionary", "int", "float")],
        # `texts` has lists that end in whitespace, beside a null.
        *[("choices", one) for one in ("texts", "nulls", "text", "holes", "numbers", "int")],
        *[("id", one) for one in ("float", "flag", "uint64", "texts")],
        *[(name, "text") for name in ("sandbox", "files", "checkpoint", "description")],
        *[("setup", one) for one in ("texts", "dictionary")],
    ],
)
def test_the_values_decide_where_the_type_does_not(name: str, column: str) -> None:
    assert FIELD_COLUMNS[name](COLUMNS[column]) is None


def test_items_under_a_null_list_are_ignored() -> None:
    items, mask = pa.array(list("abcdef")), pa.array([False, True, False])
    masked = pa.ListArray.from_arrays([0, 2, 4, 6], items, mask=mask)
    assert list_offsets(cast_to_metadata_type(masked, "str_list")).tolist() == [0, 2, 2, 4]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, "str") for name in ("text", "large", "nulls", "none")],
        *[("texts", "str_list"), ("holes", "str_list"), ("int8", "int"), ("int", "int")],
        *[("float", "float"), ("float32", "float"), ("flag", "bool")],
        *[(name, None) for name in ("empty", "uint64", "dictionary", "view", "numbers", "deep")],
    ],
)
def test_a_column_has_a_metadata_type(name: str, kind: MetadataType | None) -> None:
    column = COLUMNS[name]
    assert metadata_type_of_column(column) == kind
    if kind is not None:
        made = cast_to_metadata_type(column, kind)
        assert made is not None
        assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], column.to_pylist())


@pytest.mark.parametrize("kind", METADATA_TYPES)
def test_a_column_of_nulls_has_any_metadata_type(kind: MetadataType) -> None:
    made = cast_to_metadata_type(pa.nulls(2, pa.int8()), kind)
    assert made is not None
    assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], [None, None])


def test_a_column_is_not_cast_to_a_different_metadata_type() -> None:
    assert cast_to_metadata_type(pa.array([1]), "str") is None
    assert cast_to_metadata_type(pa.array(["x"]), "json") is None

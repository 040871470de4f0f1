"""Columns of lines with few shapes equal what the json module reads, or there are none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.decode.shapes import columns, shape
from registry.decode.shapes.columns import ShapeReader, shaped_lines
from tests.decode.exactly import loads_exactly

TYPES = {
    "q": pa.string(),
    "c": pa.list_(pa.string()),
    "n": pa.int64(),
    "f": pa.float64(),
    "b": pa.bool_(),
    "z": pa.null(),
    "s": pa.struct({"q": pa.string(), "n": pa.int64(), "s": pa.struct({"b": pa.bool_()})}),
}
SCHEMA = pa.schema(TYPES.items())
OTHERS = [b"", *(bytes([one]) for one in b'"\\{}[],:.1e0- \n\x01')]
OTHERS += [b"\\u0041", b"\\ud800", b"NaN", b'", "q": "', b'"q": 1, ']


def read(data: bytes, schema: pa.Schema = SCHEMA) -> list[dict[str, Any]] | None:
    found = shaped_lines(bytearray(data), schema)
    if found is None:
        return None
    found.batch.validate(full=True)
    rows: list[dict[str, Any]] = found.batch.to_pylist()
    records = list(map(json.loads, data.decode().removesuffix("\n").split("\n")))
    for name in schema.names:
        assert (name in found.complete) == all(name in record for record in records)
        if pa.types.is_struct(schema.field(name).type):
            objects = [record.get(name) for record in records]
            for child in schema.field(name).type:
                has = all(type(one) is dict and child.name in one for one in objects)
                assert (f"{name}.{child.name}" in found.complete) == has
    return rows


def dump(*records: Any, **options: Any) -> bytes:
    return "".join(json.dumps(one, **options) + "\n" for one in records).encode()


_texts = st.one_of(
    st.text('ab"\\\n\t/é', max_size=4),
    st.sampled_from(["", "\\", '"', '\\"', "NaN", "{", "}\n{", '": "', "\U0001f600", "x" * 40]),
)
_values: dict[str, st.SearchStrategy[Any]] = {
    "q": st.one_of(st.none(), _texts),
    "c": st.one_of(st.none(), st.lists(_texts, max_size=3)),
    "n": st.one_of(st.none(), st.integers(-(10**3), 10**3), st.integers(-(2**70), 2**70)),
    "f": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    "b": st.one_of(st.none(), st.booleans()),
    "z": st.none(),
    "s": st.one_of(
        st.none(),
        st.fixed_dictionaries({"q": _texts}, optional={"n": st.integers(0, 3)}),
        st.fixed_dictionaries({}, optional={"s": st.sampled_from([None, {}, {"b": True}])}),
    ),
    "more": st.one_of(_texts, st.just({"a": "x", "b": [1]}), st.just([])),
}
_records = st.lists(st.fixed_dictionaries({}, optional=_values), min_size=1, max_size=4).flatmap(
    lambda some: st.lists(st.sampled_from(some), min_size=1, max_size=12)
)


@st.composite
def _lines(draw: st.DrawFn) -> bytes:
    """Draw lines of JSON, sometimes with a few other bytes in the place of some."""
    data = dump(*draw(_records), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        place = draw(st.integers(0, len(data)))
        other = draw(st.sampled_from(OTHERS))
        data = data[:place] + other + data[place + draw(st.integers(0, 2)) :]
    return data


@settings(max_examples=400, deadline=None)
@given(_lines(), st.sampled_from([1, 2, 1 << 12]))
@example(b'{"q": "x", "n": 1,2}\n{"q": "x", "n": 1}\n', 2)
@example(b'{"n": [1], "q": ""}\n{"n": 1], "q": ""}\n{"n": [1, "q": ""}\n', 2)
@example(b'{"n": 1}\n{"n": 01}\n{"n": -1}\n', 2)
@example(b'{"q": "a"}\n{"q": "a"}{"q": "a"}\n{"q":"a"}', 2)
@example(b'{"q": "a", "q": "b"}\n', 2)
@example(b'{"q": "\\ud800"}\n', 2)
@example(b'{"more": "\\ud800", "q": "x"}\n', 2)
@example(b'{"q": "a"\n}\n{"q": "a"}\n', 2)
@example(b'{"q": "a\n"}\n{"q": "b"}\n', 2)
@example(b'{"\\u0071": "a", "q": "b"}\n', 2)
@example(b'{"q": "a" \\}\n', 2)
@example(b'{}\n[]\n{}\n{"q": "x"}\n', 2)
def test_columns_are_those_of_the_json_module_or_none(data: bytes, part_lines: int) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "_PART_LINES", part_lines)
        found = read(data)
    if found is None:
        return
    lines = data.removesuffix(b"\n").split(b"\n")
    wanted = [loads_exactly(line.decode()) for line in lines]
    assert list(map(repr, found)) == [repr(_typed(one, SCHEMA)) for one in wanted]


def _typed(record: Any, fields: Iterable[pa.Field]) -> Any:
    """Return a record with the keys of fields only; a missing one is null."""
    if record is None:
        return None
    return {
        one.name: _typed(record.get(one.name), one.type)
        if pa.types.is_struct(one.type)
        else record.get(one.name)
        for one in fields
    }


def test_usual_lines_have_columns() -> None:
    records = [
        {"q": f"é {number}", "c": ["a", "b\n"][: number % 3], "n": number, "more": {"a": [{}, ""]}}
        for number in range(200)
    ]
    records += [{"q": None, "f": 0.5, "b": True}, {"b": None, "n": -(10**15)}, {}]
    assert read(dump(*records)) == [{key: one.get(key) for key in TYPES} for one in records]


def test_number_that_a_column_does_not_hold_leaves_the_lines_to_a_parser() -> None:
    for value in (2**63, 1.0, True, "1", [1], {"a": 1}):
        assert read(dump({"n": 1, "q": "x"}, {"n": value, "q": "x"})) is None
    assert read(dump({"f": 1.5}, {"f": 1})) is None
    assert read(dump({"z": "x"})) is None


def test_types_without_a_place_leave_the_lines_to_a_parser() -> None:
    assert read(dump({"a": [1]}), pa.schema({"a": pa.list_(pa.int64())})) is None


def test_lines_of_many_shapes_are_left_to_a_parser_soon() -> None:
    records = [{"q": "x", f"key{number}": "y"} for number in range(100)]
    assert read(dump(*records[:3])) is not None
    assert read(dump(*records)) is None


def test_file_whose_blocks_have_other_lines_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "_LEAST_BYTES", 0)
    reader = ShapeReader(SCHEMA)
    good, other = bytearray(dump({"q": "x"})), bytearray(dump({"q": 1}))
    assert not reader.is_used
    assert reader.read(good) is not None
    assert reader.is_used
    assert [reader.read(other), reader.read(other)] == [None, None]
    assert not reader.is_used
    monkeypatch.setattr(columns, "shaped_lines", None)
    assert reader.read(good) is None


def test_small_blocks_are_left_to_a_parser() -> None:
    line = dump({"q": "x"})
    count = columns._LEAST_BYTES // len(line)
    assert ShapeReader(SCHEMA).read(bytearray(line * count)) is None
    found = ShapeReader(SCHEMA).read(bytearray(line * (count + 1)))
    assert found is not None
    assert found.batch.num_rows == count + 1

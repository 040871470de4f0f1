"""Columns of inputs are those of the messages that are created by value, however they are made."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.mapping.coerce import to_input
from registry.mapping.columnar import inputs
from registry.mapping.columnar.inputs import input_columns
from registry.store.columns import field_columns

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


def outcome(make: Any, values: list[Any]) -> Any:
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
    found = outcome(lambda some: input_columns(some, range(1, 9)), values)
    assert found == outcome(by_value, values)


PLAIN = [
    [{"role": "user", "content": "a"}],
    [{"role": "system", "content": ""}, {"role": "assistant", "content": "b", "tool_calls": None}],
    [{"content": [{"text": "a", "type": "text"}, {"type": "image", "image": "x"}], "role": "user"}],
    [{"role": "assistant", "content": [], "id": "ignored"}],
]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_messages_create_no_model(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(by_value, [value])
    monkeypatch.delattr(inputs, "to_input")
    assert outcome(lambda some: input_columns(some, [1]), [value]) == expected

"""Conversations that are written by columns equal those that are made of each record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.decode.frame import Frame
from registry.manifest.expressions import Messages, parse_expression
from registry.mapping.coerce import to_input
from registry.mapping.columnar.expressions import evaluate
from registry.mapping.columnar.kernels import messages
from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.messages import conversations
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.evaluate import compile_expression
from registry.store.conversations import conversation_to_json
from tests.mapping.columnar.views import records_of

_texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.sampled_from(["<0>", '"<1>"', "\\", '"', "\n", "\x00\x1f\x7f", "data:x", "é"]),
    st.none(),
)
_expressions = st.sampled_from(["a", "b", "none", {"const": "k"}, {"template": "{a|}<1>"}])
_parts = st.lists(
    st.tuples(st.sampled_from(["text", "image", "audio", "video"]), _expressions).map(
        lambda pair: {pair[0]: pair[1]}
    ),
    max_size=3,
)
_turns = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant"]),
            "content": st.one_of(_expressions, _parts),
        }
    ),
    min_size=1,
    max_size=3,
)


def _view(**columns: Any) -> RecordBatchView:
    batch = pa.record_batch([pa.array(column) for column in columns.values()], list(columns))
    return RecordBatchView(Frame(batch), {}, np.arange(1, batch.num_rows + 1))


def _written(turns: list[Any], view: RecordBatchView) -> list[str]:
    parsed = parse_expression({"messages": turns})
    assert isinstance(parsed, Messages)
    column = conversations(parsed, view, evaluate)
    column.validate(full=True)
    return list(column.to_pylist())


def _by_record(turns: list[Any], view: RecordBatchView) -> list[str]:
    one_by_one = compile_expression(parse_expression({"messages": turns}))
    made = [to_input(one_by_one(row)) for row in records_of(view)]
    return [conversation_to_json(one) for one in made if not isinstance(one, str)]


@settings(deadline=None, max_examples=150)
@given(_turns, st.lists(st.tuples(_texts, _texts), min_size=1, max_size=5))
def test_conversations_are_those_of_the_records(
    turns: list[Any], rows: list[tuple[str | None, str | None]]
) -> None:
    view = _view(
        **{
            name: pa.array(column, pa.string())
            for name, column in zip("ab", zip(*rows, strict=True), strict=True)
        }
    )
    try:
        found = _written(turns, view)
    except NoKernelError:
        return
    assert found == _by_record(turns, view)


TURNS = [
    {"role": "system", "content": "a"},
    {"role": "user", "content": [{"text": "b"}, {"image": {"const": "x.png"}}, {"image": "a"}]},
    {"role": "assistant", "content": "b"},
]


def test_empty_parts_and_messages_are_omitted_in_any_order() -> None:
    view = _view(a=["x", None, "", 'y"\n', "x"], b=["q", "q", None, "", "<0>"])
    assert _written(TURNS, view) == _by_record(TURNS, view)


@pytest.mark.parametrize(
    "content",
    [
        "numbers",
        "lists",
        [{"document": "a"}],
        [{"image": "lists"}],
        {"object": {"text": "a", "image": "a"}},
    ],
)
def test_other_contents_have_no_kernel(content: Any) -> None:
    view = _view(a=["x", "y"], numbers=[1, 2], lists=[["x"], []])
    with pytest.raises(NoKernelError):
        _written([{"role": "user", "content": content}], view)


def test_record_without_any_message_is_left_to_records() -> None:
    with pytest.raises(NoKernelError):
        _written([{"role": "user", "content": "a"}], _view(a=["x", ""]))


def test_many_forms_are_left_to_records(monkeypatch: pytest.MonkeyPatch) -> None:
    view = _view(a=["x", "", "y"], b=["", "y", "z"])
    turns = [{"role": "user", "content": [{"text": "a"}, {"text": "b"}]}]
    assert _written(turns, view) == _by_record(turns, view)
    monkeypatch.setattr(messages, "_MOST_FORMS", 2)
    with pytest.raises(NoKernelError):
        _written(turns, view)

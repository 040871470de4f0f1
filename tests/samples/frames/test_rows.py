"""Samples become rows, value by value; what Arrow lacks is an error with the sample's position."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from pydantic import BaseModel

from registry import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CheckpointSampleConfig,
    MappingError,
    MissingDependencyError,
    Sample,
    SandboxEnvironmentSpec,
)
from registry.base.digest import from_json
from registry.samples.checkpoint import TurnInterval
from registry.samples.frames.layout import COLUMNS, frame_schema
from registry.samples.frames.rows import (
    check_arguments,
    columns_of,
    frame_batch,
    frames_of,
    message_data,
    message_row,
    metadata_kinds,
    metadata_struct,
    require,
)
from registry.samples.messages import (
    ChatMessage,
    Citation,
    ContentCitation,
    ContentDocument,
    ContentImage,
    ContentReasoning,
    ContentText,
    DocumentCitation,
    DocumentRange,
    ToolCall,
    ToolCallContent,
    ToolCallError,
)
from registry.store.conversations import conversation_data, conversation_to_json
from registry.store.schema import metadata_type_of

VALUES: list[list[Any]] = [
    ["a", None], [1, 2], [1.5, None], [True], [["a", None], []], [[1]],
    [{"a": 1}], [1, 1.5], [True, 1], [1 << 63], [b"x"], [None],
]  # fmt: skip

CITED: list[Citation] = [
    ContentCitation(cited_text=(0, 3)),
    DocumentCitation(range=DocumentRange(type="page", start_index=0, end_index=1)),
]
CALL = ToolCall("c1", "f", {"x": [1, None]}, view=ToolCallContent(format="text"))
MESSAGES: list[ChatMessage] = [
    ChatMessageSystem(content="Be brief.", id="m1", source="input"),
    ChatMessageUser(content="Hi", id="m2", metadata={"unset": 1, "a": None}, role="user"),
    ChatMessageUser(
        content=[
            ContentText(text="one"),
            ContentImage(image="a.png", detail="low"),
            ContentText(text="two", citations=CITED, type="text"),
        ],
        id="m3",
    ),
    ChatMessageUser(content=[ContentDocument(document="a.pdf"), ContentText(text="")], id="m4"),
    ChatMessageAssistant(content="", id="m5", tool_calls=[CALL], model=None),
    ChatMessageAssistant(content=[ContentReasoning(reasoning="hm")], id="m6", source="generate"),
    ChatMessageTool(
        content="no", id="m7", tool_call_id="c1", error=ToolCallError("timeout", "late")
    ),
]


class Compose(BaseModel):
    image: str


def row_of(**fields: Any) -> dict[str, Any]:
    (row,) = frame_batch([Sample(**{"input": "q", **fields})]).to_pylist()
    return dict(row)


def test_every_field_of_a_sample_has_its_columns() -> None:
    assert set(Sample.model_fields) <= set(COLUMNS)
    assert set(COLUMNS) - set(Sample.model_fields) == {"messages", "targets"}


def test_an_empty_frame_has_all_columns() -> None:
    assert frame_batch([]).schema == frame_schema()


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"target": "A"}, {"target": "A", "targets": None}),
        ({"target": ["A", "B"]}, {"target": None, "targets": ["A", "B"]}),
        ({"target": []}, {"target": None, "targets": []}),
        ({"id": 7}, {"id": "7"}),
        ({"id": "é7"}, {"id": "é7"}),
        ({"choices": []}, {"choices": []}),
        ({"setup": "ls", "description": "d"}, {"setup": "ls", "description": "d"}),
        ({"metadata": {}}, {"metadata": "{}"}),
        ({"metadata": {"b": [1, None]}}, {"metadata": '{"b":[1,null]}'}),
        ({"metadata": {"b": b"x"}}, {"metadata": '{"b":{"$bytes":"eA=="}}'}),
        ({"files": {"a": "b"}}, {"files": '{"a":"b"}'}),
        ({"sandbox": "docker"}, {"sandbox": '{"type":"docker","config":null}'}),
        (
            {"sandbox": SandboxEnvironmentSpec("docker", Compose(image="x"))},
            {"sandbox": '{"type":"docker","config":{"image":"x"}}'},
        ),
    ],
    ids=str,
)
def test_values_are_in_their_columns(fields: dict[str, Any], wanted: dict[str, Any]) -> None:
    row = row_of(**fields)
    assert {name: row[name] for name in wanted} == wanted


def test_checkpoints_are_json() -> None:
    row = row_of(checkpoint=CheckpointSampleConfig(trigger=TurnInterval(every=5)))
    assert json.loads(row["checkpoint"])["trigger"] == {"every": 5, "type": "TurnInterval"}


def test_chosen_columns_only() -> None:
    assert list(columns_of([Sample(input="q")], ["id", "input"])) == ["id", "input"]


def test_a_value_that_arrow_lacks_is_an_error_with_its_position() -> None:
    samples = [Sample(input="q"), Sample(input="\ud800")]
    with pytest.raises(MappingError, match=r"sample 8: input can't be a value of Arrow: .*surrog"):
        frame_batch(samples, first=7)


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_values_are_kept_and_their_kinds_are_those_of_the_cache(values: list[Any]) -> None:
    items = [{"k": value} for value in values]
    kinds = metadata_kinds(items)
    # The cache finds out that an int is too large when it writes it.
    assert kinds["k"] == ("json" if values == [1 << 63] else metadata_type_of(values))
    found = [row["k"] for row in metadata_struct(items, kinds).to_pylist()]
    if kinds["k"] == "json":
        found = [None if text is None else from_json(text) for text in found]
    assert (found, list(map(type, found))) == (values, list(map(type, values)))


def test_keys_of_all_samples_are_members_in_the_order_of_their_first_use() -> None:
    items = [{"b": 1}, None, {"a": "x", "b": 2}, {}]
    kinds = metadata_kinds(items)
    assert list(kinds.items()) == [("b", "int"), ("a", "str")]
    assert metadata_struct(items, kinds).to_pylist() == [
        {"b": 1, "a": None},
        None,
        {"b": 2, "a": "x"},
        {"b": None, "a": None},
    ]


def test_metadata_without_keys_keeps_its_length() -> None:
    made = metadata_struct([None, {}], metadata_kinds([None, {}]))
    assert (made.type, made.to_pylist()) == (pa.struct([]), [None, {}])


def row_of_message(message: ChatMessage) -> dict[str, Any]:
    return message_row(message_data(message))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.id)
def test_a_message_can_be_made_again_from_its_row_which_is_that_of_the_cache(
    message: ChatMessage,
) -> None:
    row = row_of_message(message)
    (stored,) = conversation_data(conversation_to_json([message]))
    assert message_row(stored) == row
    rest = from_json(row["rest"]) if row["rest"] else {}
    fields = {"role": row["role"], "content": row["content"], "id": row["id"], **rest}
    again = type(message).model_validate(fields)
    assert again.model_dump(exclude={"source"}) == message.model_dump(exclude={"source"})


def test_plain_messages_have_no_rest() -> None:
    assert row_of_message(MESSAGES[0]) == {
        "role": "system",
        "content": "Be brief.",
        "id": "m1",
        "rest": None,
    }


def test_content_of_parts_is_their_text_and_rest_has_the_parts() -> None:
    row = row_of_message(MESSAGES[2])
    assert row["content"] == MESSAGES[2].text == "one\ntwo"
    parts = json.loads(row["rest"])["content"]
    assert [part["type"] for part in parts] == ["text", "image", "text"]
    assert parts[1] == {"type": "image", "image": "a.png", "detail": "low"}


SAMPLES = [Sample(input=f"q{n}", metadata={"n": n}) for n in range(5)]


@pytest.mark.parametrize(("size", "counts"), [(2, [2, 2, 1]), (5, [5]), (9, [5]), (None, [5])])
def test_batches_have_the_size(size: int | None, counts: list[int]) -> None:
    frames = frames_of(SAMPLES, size, "json")
    batches = list(frames.batches)
    assert [len(batch) for batch in batches] == counts
    assert {batch.schema for batch in batches} == {frames.schema}
    inputs = [text for batch in batches for text in batch.column("input").to_pylist()]
    assert inputs == [sample.input for sample in SAMPLES]


def test_struct_has_the_types_of_all_samples() -> None:
    samples = [*SAMPLES, Sample(input="x", metadata={"n": "five"})]
    frames = frames_of(samples, 2, "struct")
    assert [row for batch in frames.batches for row in batch.column("metadata").to_pylist()] == [
        *({"n": str(n)} for n in range(5)),
        {"n": '"five"'},
    ]


@pytest.mark.parametrize(
    ("size", "metadata", "message"),
    [(0, "json", "at least one row, not 0"), (1, "rows", "'json' or 'struct', not 'rows'")],
)
def test_wrong_arguments_are_errors(size: int, metadata: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_arguments(size, metadata)


def test_missing_package_is_an_error_with_the_command_that_installs_it() -> None:
    with pytest.raises(MissingDependencyError, match="`to_x` needs no_such: pip install no_such"):
        require("no_such", "to_x")


def test_installed_package_is_returned() -> None:
    assert require("pyarrow", "to_x").__name__ == "pyarrow"

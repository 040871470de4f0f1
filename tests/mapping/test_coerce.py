"""Values of a record become fields of a sample as in Inspect's loaders, or are an error.

`tests/loaders/test_inspect_files.py` compares values of every kind with Inspect's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from typing import Any

import pytest
from inspect_ai.dataset._util import read_checkpoint, read_description

from registry.errors import MappingError
from registry.mapping import coerce
from registry.samples.checkpoint import CheckpointSampleConfig, TurnInterval
from registry.samples.messages import ChatMessageAssistant, ChatMessageTool
from registry.samples.sample import SandboxEnvironmentSpec

DOCKER = SandboxEnvironmentSpec("docker", "compose.yaml")


@pytest.mark.parametrize(
    ("to_field", "value", "result"),
    [
        (coerce.to_target, [1, "b", None], ["1", "b", "None"]),
        (coerce.to_choices, "a,,b, ", ["a", "b"]),
        (coerce.to_id, True, 1),
        (coerce.to_id, 1.0, 1),
        (coerce.to_metadata, '{"a": 1}', {"a": 1}),
        (coerce.to_sandbox, ' ["docker", "compose.yaml"]', DOCKER),
        (coerce.to_files, '{"a": "b"}', {"a": "b"}),
        (coerce.to_setup, 5, "5"),
    ],
)
def test_a_value_becomes_a_field(to_field: Callable[[Any], Any], value: Any, result: Any) -> None:
    found = to_field(value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("to_field", "value", "message"),
    [
        (coerce.to_input, None, "field input: No input in dataset, value: None"),
        (coerce.to_input, "", "field input: No input in dataset, value: ''"),
        (coerce.to_input, [], "field input: No input in dataset, value: []"),
        (coerce.to_input, math.nan, "field input: No input in dataset, value: nan"),
        (coerce.to_input, 5, "field input: must be a string or a list of {role, content} messages, value: 5"),
        (coerce.to_id, 1.5, "field id: an id must be an integer or a string, value: 1.5"),
        (coerce.to_id, 2.0**63, "field id: an id must be an integer or a string, value: 9.223372036854776e+18"),
        (coerce.to_id, math.nan, "field id: an id must be an integer or a string, value: nan"),
        (coerce.to_id, [1], "field id: an id must be an integer or a string, value: [1]"),
        (coerce.to_metadata, "[1]", "field metadata: must be a dict, or a JSON string of one, value: '[1]'"),
        (coerce.to_metadata, 5, "field metadata: must be a dict, or a JSON string of one, value: 5"),
        (coerce.to_metadata, "{", "field metadata: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1), value: '{'"),
        (coerce.to_files, {"a": 1}, "field files: must be a dict of strings, or a JSON string of one, value: {'a': 1}"),
        (coerce.to_files, [], "field files: must be a dict of strings, or a JSON string of one, value: []"),
        (coerce.to_sandbox, ["docker"], "field sandbox: must be a string, or a list of two: type and configuration file, value: ['docker']"),
        (coerce.to_sandbox, 5, "field sandbox: must be a string, or a list of two: type and configuration file, value: 5"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_a_mapping_error(
    to_field: Callable[[Any], Any], value: Any, message: str
) -> None:
    with pytest.raises(MappingError) as caught:
        to_field(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "value",
    [
        *[None, math.nan, "", " ", "null", "{}", {}, [], "[]", "x", 5, True],
        *[{"max_consecutive_failures": 0}, {"max_consecutive_failures": "2"}, {"unknown": 1}],
        *['{"sandbox_paths": {"default": []}}', {"sandbox_paths": {"default": ["/a"], "b": None}}],
        {"sandbox_paths": {"a": {"paths": None, "strategy": {"name": "archive"}}}},
        {"sandbox_paths": {"a": {"strategy": {"name": "other"}}}},
        *[{"trigger": None}, {"trigger": {"every": 5}}, '{"trigger": {"every": 5}}'],
    ],
    ids=repr,
)
def test_checkpoints_are_read_as_inspect_reads_them(value: Any) -> None:
    def attempt(read: Callable[[Any], Any]) -> Any:
        try:
            config = read(value)
        except ValueError as error:
            return str(error).replace("field checkpoint: ", "")[:51]
        return config and asdict(config)

    assert attempt(coerce.to_checkpoint) == attempt(read_checkpoint)


def test_a_trigger_of_a_mapper_function_is_kept() -> None:
    config = coerce.to_checkpoint({"trigger": TurnInterval(5)})
    assert config == CheckpointSampleConfig(TurnInterval(5))


@pytest.mark.parametrize("value", [None, math.nan, "", " ", "d", 5, ["d"]], ids=repr)
def test_descriptions_are_read_as_inspect_reads_them(value: Any) -> None:
    def attempt(read: Callable[[Any], Any]) -> Any:
        try:
            return read(value)
        except ValueError as error:
            return str(error).removeprefix("field description: ").split(", value")[0]

    assert attempt(coerce.to_description) == attempt(read_description)


@pytest.mark.parametrize(
    "to_field", [coerce.to_metadata, coerce.to_files, coerce.to_sandbox, coerce.to_checkpoint]
)
@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "9" * 5000 + "]", "[1"], ids=lambda t: t[:2])
def test_invalid_json_is_a_mapping_error(to_field: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(MappingError):
        to_field(text)


def test_messages_have_the_keys_of_their_roles() -> None:
    call = {"id": "c", "function": "f", "arguments": {}}
    messages = coerce.to_input(
        [
            {"role": "system", "content": "s", "tool_calls": "ignored"},
            {"role": "assistant", "content": "a", "tool_calls": [call]},
            {"role": "tool", "content": "t", "tool_call_id": "c", "function": "f"},
        ]
    )
    assert isinstance(messages, list)
    system, assistant, tool = messages
    assert (system.role, system.content) == ("system", "s")
    assert isinstance(assistant, ChatMessageAssistant)
    assert assistant.tool_calls is not None
    assert isinstance(tool, ChatMessageTool)
    assert (tool.tool_call_id, tool.function) == ("c", "f")


def test_message_ids_are_deterministic() -> None:
    conversation = [{"role": "user", "content": "Hello"}, {"role": "user", "content": "Hello"}]
    first, second = (coerce.to_input(conversation) for _ in range(2))
    assert first == second
    assert [message.id for message in first if not isinstance(message, str)] == [
        "beaba9efbc1a4782dd9f16",
        "8df026f42794d9c8a282b3",
    ]


NO_CONTENT = "content not specified for chat input"


@pytest.mark.parametrize(
    ("messages", "place", "message"),
    [
        (["hi"], "input[0]", "a message must be a dict"),
        ([{"role": "user"}], "input[0]", NO_CONTENT),
        *[([{"role": "assistant", key: []}], "input[0]", f"{NO_CONTENT} (add `do: [messages]`, which reads tool calls beside no content)")
          for key in ("tool_calls", "function_call")],
        (
            [{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}],
            "input[1]",
            "role must be one of system, user, assistant, tool",
        ),
        ([{"role": [], "content": "a"}], "input[0]", "role must be one of system, user, assistant, tool"),
        ([{"role": "user", "content": {1}}], "input[0]", "not a message: a value of type set can't be stored"),
    ],
)  # fmt: skip
def test_error_of_an_invalid_message_has_its_index(messages: Any, place: str, message: str) -> None:
    with pytest.raises(MappingError) as caught:
        coerce.to_input(messages)
    assert (caught.value.field, caught.value.message) == (place, message)


def test_invalid_message_content_is_a_mapping_error() -> None:
    with pytest.raises(MappingError, match=r"^field input\[0\]: not a message: "):
        coerce.to_input([{"role": "user", "content": date(2024, 1, 2)}])

"""`messages` reads the forms that files have; tests/interop compares them with Inspect's readers."""

from __future__ import annotations

from typing import Any

import pytest

from registry.mapping.field_mapper import map_fields
from tests.mapping.operations.conversations import ANTHROPIC, OPENAI, OTHERS
from tests.mapping.operations.one_step import error_of, run

FORMS = {**OPENAI, **ANTHROPIC, **OTHERS}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_the_messages_of_inspect(name: str) -> None:
    conversation, messages = FORMS[name]
    assert run("messages", conversation) == messages
    # Messages that were read once are read again as they are: no form is taken for another one.
    assert run("messages", messages) == messages
    made = map_fields({"input": {"from": "chat", "do": ["messages"]}})({"chat": conversation})
    assert isinstance(made.input, list)
    roles = [message.role for message in made.input if not isinstance(message, str)]
    assert roles == [one["role"] for one in messages]


def test_a_system_prompt_beside_the_conversation_comes_first() -> None:
    step = {"messages": {"system": "system", "roles": {"them": "user"}}}
    texts: list[Any] = ["Be brief.", [{"type": "text", "text": "Be brief."}]]
    for system in texts:
        made = run(step, [{"role": "them", "content": "Hello"}], {"system": system})
        assert made == [{"role": "system", "content": system}, {"role": "user", "content": "Hello"}]
    for nothing in ("", None):
        assert run(step, "Hello", {"system": nothing}) == [{"role": "user", "content": "Hello"}]


def _asked(content: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": content}


def _called(arguments: Any) -> dict[str, Any]:
    return {**_asked(None), "tool_calls": [{"id": "a", "name": "f", "arguments": arguments}]}


@pytest.mark.parametrize(
    ("message", "text", "value"),
    [
        ("x", "needs a list of messages", "x"),
        (_asked("x", "robot"), "the role is not one of system, user, assistant, tool (`roles` of `messages` maps other names)", "robot"),
        ({"content": "x"}, "the role is not one of system, user, assistant, tool (`roles` of `messages` maps other names)", None),
        (_asked(None), "the message has neither content nor tool calls", None),
        (_asked([], "user"), "the message has neither content nor tool calls", None),
        (_asked(5), "the content must be a string or a list of parts", 5),
        (_asked([5]), "needs parts as dicts", 5),
        (_asked([{"type": "smell"}]), "a part of the content has no known type", "smell"),
        (_asked([{"type": "image_url"}]), "a part of the content is no image_url of OpenAI, Anthropic or Inspect", {"type": "image_url"}),
        (_asked([{"type": "file", "file": {"file_id": "f"}}]), "a part of the content is no file of OpenAI, Anthropic or Inspect", {"type": "file", "file": {"file_id": "f"}}),
        (_called("{"), "the arguments of the call of f: is not JSON", "{"),
        (_called([1]), "the arguments of the call of f must be a dict, or JSON of one", [1]),
        ({**_asked(None), "tool_calls": [{"id": "a"}]}, "a tool call has no name of a function", {"id": "a"}),
        ({"from": "function_call", "value": "f(x)"}, "is not JSON", "f(x)"),
    ],
)  # fmt: skip
def test_the_error_names_the_message_that_has_no_known_form(
    message: Any, text: str, value: Any
) -> None:
    error = error_of("messages", [_asked("Hello", "user"), message])
    assert error.message.startswith(f"item 1: {text}")
    assert error.value == value

"""The forms of conversations, read by `messages` and by Inspect's own readers of both clients."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from registry.mapping.field_mapper import map_fields
from tests.mapping.operations.conversations import ANTHROPIC, OPENAI


def plain(messages: list[Any]) -> list[Any]:
    """Return what both have to agree on: an empty text is none, and a str is one part of text."""
    made = []
    for message in messages:
        data = message.model_dump(exclude_none=True)
        parts = data.pop("content")
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        parts = [part for part in parts if part != {"type": "text", "text": ""}]
        data |= {"content": parts}
        if "error" in data:  # theirs is the repr of the list of parts
            data["error"] = data["error"]["type"]
        # Theirs are as if a model had answered just now; ours come from a dataset.
        made.append({key: one for key, one in data.items() if key not in ("id", "source") and one})
    return made


def ours(conversation: list[Any]) -> list[Any]:
    sample = map_fields({"input": {"from": "chat", "do": ["messages"]}})({"chat": conversation})
    return plain(list(sample.input))


@pytest.mark.parametrize("name", OPENAI)
def test_openai_is_read_as_inspect_reads_it(name: str) -> None:
    pytest.importorskip("openai")
    from inspect_ai.model import messages_from_openai

    conversation: Any = OPENAI[name][0]
    theirs = asyncio.run(messages_from_openai(copy.deepcopy(conversation)))
    assert ours(conversation) == plain(theirs)


@pytest.mark.parametrize("name", ANTHROPIC)
def test_anthropic_is_read_as_inspect_reads_it(name: str) -> None:
    pytest.importorskip("anthropic")
    from inspect_ai.model import messages_from_anthropic

    conversation: Any = ANTHROPIC[name][0]
    theirs = asyncio.run(messages_from_anthropic(copy.deepcopy(conversation)))
    assert ours(conversation) == plain(theirs)

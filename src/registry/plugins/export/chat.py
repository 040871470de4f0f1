"""Samples as conversations of OpenAI's chat format: for its `evals`, and to fine-tune models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from registry import ChatMessageAssistant, ChatMessageTool, ContentImage, ContentText
from registry.api import ExportError, encode_value, letter_of
from registry.plugins.export.tables import json_line

if TYPE_CHECKING:
    from registry import ChatMessage, Sample
    from registry.plugins.export.exported import Exported

__all__ = ["convert_samples", "prompt_of", "write_evals", "write_fine_tuning"]


_REMOTE = ("http://", "https://", "data:")

_Record = TypeVar("_Record")


def prompt_of(sample: Sample) -> list[dict[str, Any]]:
    """Return the input of a sample as messages; choices follow the text as lines `A) choice`.

    Raises:
        ExportError: the chat format has no such content.
    """
    if isinstance(sample.input, str):
        messages = [{"role": "user", "content": sample.input}]
    else:
        messages = [_message(message) for message in sample.input]
    if sample.choices:
        _append(
            messages,
            "\n\n"
            + "\n".join(
                [f"{letter_of(index)}) {choice}" for index, choice in enumerate(sample.choices)]
            ),
        )
    return messages


def _append(messages: list[dict[str, Any]], text: str) -> None:
    """Append a text to the last message of the user.

    Raises:
        ExportError: the conversation does not end with one.
    """
    last = messages[-1] if messages else {}
    if last.get("role") != "user":
        raise ExportError("it has choices, and does not end with a message of the user")
    if isinstance(last["content"], str):
        last["content"] += text
    else:
        last["content"].append({"type": "text", "text": text})


def _message(message: ChatMessage) -> dict[str, Any]:
    found: dict[str, Any] = {
        "role": message.role,
        "content": (
            message.content
            if isinstance(message.content, str)
            else list(map(_part, message.content))
        ),
    }
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.function,
                    "arguments": json.dumps(encode_value(call.arguments), ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool):
        if message.tool_call_id is None:
            raise ExportError("the message of a tool has no `tool_call_id`")
        found["tool_call_id"] = message.tool_call_id
    return found


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, ContentText):
        return {"type": "text", "text": part.text}
    if isinstance(part, ContentImage) and part.image.startswith(_REMOTE):
        return {"type": "image_url", "image_url": {"url": part.image, "detail": part.detail}}
    if isinstance(part, ContentImage):
        raise ExportError("an image is a local file (the chat format takes URLs and data URIs)")
    raise ExportError(f"the chat format has no content of type {part.type}")


def convert_samples(exported: Exported, convert: Callable[[Sample], _Record]) -> Iterator[_Record]:
    """Yield the record that a function returns for each sample.

    Raises:
        ExportError: as the function; the message has the number and the id of the sample.
    """
    for number, sample in enumerate(exported.samples(), 1):
        try:
            yield convert(sample)
        except ExportError as error:
            place = f"{exported.spec.name}: sample {number} (id {sample.id})"
            raise ExportError(f"{place}: {error}") from error


def write_fine_tuning(exported: Exported, file: BinaryIO) -> None:
    """Write a line per sample.

    Raises:
        ExportError: a sample has not exactly one target; the error has its number.
    """
    file.writelines(json_line(record) for record in convert_samples(exported, _lesson))


def _lesson(sample: Sample) -> dict[str, Any]:
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    # Which of several is the answer to learn nobody can tell.
    if len(targets) != 1 or not targets[0]:
        number = len([target for target in targets if target])
        raise ExportError(f"it has {number or 'no'} targets, and a model learns exactly one")
    answer = {"role": "assistant", "content": targets[0]}
    return {"messages": [*prompt_of(sample), answer]}


def write_evals(exported: Exported, file: BinaryIO) -> None:
    """Write a line per sample.

    Raises:
        ExportError: a sample can't be a conversation; the error has its number.
    """
    records = convert_samples(exported, lambda one: {"input": prompt_of(one), "ideal": one.target})
    file.writelines(map(json_line, records))

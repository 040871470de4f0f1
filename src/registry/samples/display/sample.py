"""A sample in a notebook, and as rich prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from registry.display.html import Budget, Short, block, table
from registry.samples.fields import REST
from registry.samples.letters import letter_of

if TYPE_CHECKING:
    from registry.samples.messages import ChatMessage

__all__ = ["ShownSample", "rich_fields", "sample_html", "text_of_input"]

# In sum, with the tags around them, these stay below `MOST_BYTES`.
_BYTES = 18_000
_INPUT = 8_000
_CHOICE = 1_000
_VALUE = 2_000
_MOST_PARTS = 60
"""Messages, or choices, that are shown."""


class ShownSample(Protocol):
    """What is read of a sample by name; its other fields are read as a table of names says."""

    input: str | list[ChatMessage]
    choices: list[str] | None
    target: str | list[str]
    id: int | str | None


def sample_html(sample: ShownSample) -> str:
    """Return a sample as HTML: the choices that are the target are marked."""
    budget = Budget(_BYTES)
    rows = [("id", budget.text(sample.id, 300))] if sample.id is not None else []
    rows.append(("input", _input(sample.input, budget)))
    rows.append(("target", _target(sample.target, budget)))
    if sample.choices:
        rows.append(("choices", _choices(sample, budget)))
    rest = ((name, getattr(sample, name)) for name in REST)
    rows += [(name, budget.text(_plain(one), _VALUE)) for name, one in rest if one is not None]
    return block(table(rows))


def rich_fields(sample: ShownSample) -> Iterator[tuple[str, Any]]:
    """Yield the fields that have a value, with long texts shortened."""
    for name in ("input", "choices", "target", "id", *REST):
        value = getattr(sample, name)
        if value is not None:
            yield name, Short.of(value)


def text_of_input(value: str | list[ChatMessage]) -> str:
    """Return an input as text, each message after its role."""
    if isinstance(value, str):
        return value
    return "\n".join(f"{_speaker(one)}: {_content(one)}" for one in value)


def _input(value: str | list[ChatMessage], budget: Budget) -> str:
    if isinstance(value, str):
        return budget.text(value, _INPUT)
    most = _INPUT // max(1, min(len(value), _MOST_PARTS))
    lines = [
        f"<b>{budget.text(_speaker(one), 50)}</b> {budget.text(_content(one), most)}"
        for one in value[:_MOST_PARTS]
    ]
    return "<br>".join([*lines, *_more(len(value), "messages")])


def _speaker(message: ChatMessage) -> str:
    """Return the role of a message, and the function of which it is the result."""
    function = getattr(message, "function", None)
    return f"{message.role} {function}" if function else message.role


def _content(message: ChatMessage) -> str:
    """Return the text of a message; other parts, such as images, by their kind and size."""
    parts = list(map(_part, message.content_list))
    if (error := getattr(message, "error", None)) is not None:
        parts.append(f"[error: {error.message}]")
    calls = getattr(message, "tool_calls", None) or ()
    parts += [f"[call of {call.function}: {_plain(call.arguments)}]" for call in calls]
    return "\n".join(filter(None, parts))


def _part(part: Any) -> str:
    match part.type:
        case "text":
            return str(part.text)
        case "reasoning":
            # What is redacted has a signature in the place of the text.
            return f"[reasoning: {part.summary or '' if part.redacted else part.reasoning}]"
    size = len(str(getattr(part, part.type, "")))
    return f"[{part.type}, {size:,} characters]"


def _target(target: str | list[str], budget: Budget) -> str:
    return budget.text(target if isinstance(target, str) else _plain(target), _VALUE)


def _choices(sample: ShownSample, budget: Budget) -> str:
    choices = sample.choices or []
    right = {sample.target} if isinstance(sample.target, str) else set(sample.target)
    lines = []
    for number, choice in enumerate(choices[:_MOST_PARTS]):
        letter = letter_of(number)
        line = f"{letter}) {budget.text(choice, _CHOICE)}"
        # A sign too: colors and weights are not for everyone, and may be dropped.
        lines.append(f"<mark>{line} ✓</mark>" if letter in right else line)
    return "<br>".join([*lines, *_more(len(choices), "choices")])


def _more(count: int, word: str) -> list[str]:
    rest = count - _MOST_PARTS
    return [f"<i>… {rest:,} more {word}</i>"] if rest > 0 else []


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "model_dump"):
        value = value.model_dump(exclude_none=True)
    return json.dumps(value, ensure_ascii=False, default=str)

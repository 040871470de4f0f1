"""A sample as a page shows it: messages, choices, targets, metadata, JSON; all of it bounded."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from registry import ChatMessage, ChatMessageAssistant, ChatMessageTool, Sample
from registry.api import SETTINGS, count_text, index_of, letter_of
from registry.plugins.site.samples.blocks import (
    LABEL_TEXT,
    VALUE_TEXT,
    Allowance,
    data_uri_text,
    json_html,
    note_html,
    picture_html,
    text_html,
    value_html,
)
from registry.plugins.site.text import visible

__all__ = [
    "MOST_MESSAGES",
    "ChoiceView",
    "MessageView",
    "SampleView",
    "message_views",
    "sample_view",
]

_MOST_CHOICES, _MOST_KEYS = 40, 60
_CHOICE_TEXT, _JSON_TEXT, _JSON_LINE = 800, 4_000, 60
MOST_MESSAGES = 40
"""Messages of a sample, parts of a message, and calls in one."""
_MESSAGE_TEXT = 6_000


@dataclass(frozen=True, kw_only=True)
class ChoiceView:
    """A choice with its letter."""

    letter: str
    block: Markup
    is_target: bool


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """A sample; `number` is its position from 1."""

    number: int
    id: str
    messages: tuple[MessageView, ...]
    choices: tuple[ChoiceView, ...]
    targets: tuple[Markup, ...]
    """Those that are no shown choice."""
    fields: tuple[tuple[str, Markup], ...]
    """Other fields, and metadata by key."""
    data: Markup
    """The sample as JSON."""
    record: Markup | None
    """The record that it was made of, if it is known."""
    notes: tuple[str, ...]
    """Of what there is more than is shown."""


def sample_view(
    sample: Sample,
    number: int,
    allowance: Allowance,
    record: tuple[int, Mapping[str, Any]] | None = None,
) -> SampleView:
    """Return what a page shows of a sample, and of its numbered record, within an allowance."""
    # The short parts first, so that a long input leaves room for them.
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    wanted = [_index(target, sample.choices or []) for target in targets]
    choices = tuple(_choices(sample.choices or [], set(wanted), allowance))
    other_targets = [
        target
        for target, index in zip(targets, wanted, strict=True)
        if target and (index is None or index >= len(choices))
    ]
    target_blocks = tuple(
        text_html(one, VALUE_TEXT, allowance) for one in other_targets[:_MOST_CHOICES]
    )
    messages = message_views(sample.input, allowance)
    metadata = sample.metadata or {}
    data = sample.model_dump(mode="json", exclude_none=True)
    return SampleView(
        number=number,
        id="" if sample.id is None else _shown_id(str(sample.id)),
        messages=messages,
        choices=choices,
        targets=target_blocks,
        fields=tuple(_fields(sample, metadata, allowance)),
        data=json_html(data, allowance, most=_JSON_TEXT, line=_JSON_LINE),
        record=record
        and json_html(
            record[1],
            allowance,
            most=_JSON_TEXT,
            line=_JSON_LINE,
            label=f"record {record[0]:,}",
        ),
        notes=tuple(
            _more(
                ("message", sample.input if isinstance(sample.input, list) else (), MOST_MESSAGES),
                ("choice", sample.choices or (), _MOST_CHOICES),
                ("target", other_targets, _MOST_CHOICES),
                ("key of the metadata", metadata, _MOST_KEYS),
            )
        ),
    )


def _shown_id(identifier: str) -> str:
    # As its link has it: with the codes of invisible characters.
    return visible(identifier[:LABEL_TEXT]) + ("…" if len(identifier) > LABEL_TEXT else "")


def _more(*parts: tuple[str, Any, int]) -> Iterator[str]:
    for word, values, most in parts:
        if len(values) > most:
            first, _, rest = word.partition(" ")
            counted = count_text(len(values) - most, f"more {first}")
            yield f"{counted} {rest}".strip() + f" of {len(values):,} not shown"


def _choices(
    choices: Sequence[str], wanted: Collection[int | None], allowance: Allowance
) -> Iterator[ChoiceView]:
    for index, choice in enumerate(choices[:_MOST_CHOICES]):
        block = text_html(choice, _CHOICE_TEXT, allowance)
        yield ChoiceView(letter=letter_of(index), block=block, is_target=index in wanted)


def _index(target: str, choices: Sequence[str]) -> int | None:
    """Return the choice that a target means: by its letter, or else by its text."""
    with contextlib.suppress(ValueError):
        if (index := index_of(target)) < len(choices):
            return index
    return choices.index(target) if target in choices else None


def _fields(
    sample: Sample, metadata: dict[str, Any], allowance: Allowance
) -> Iterator[tuple[str, Markup]]:
    for name in SETTINGS:
        value = getattr(sample, name)
        if value is not None:
            yield name, value_html(_plain(value), allowance)
    for key in list(metadata)[:_MOST_KEYS]:
        shown, note = allowance.take(key, LABEL_TEXT)
        # It has escaped the key.
        name = Markup(f"metadata.{shown}{'…' if note else ''}")  # nosec B704 # noqa: S704
        yield name, value_html(metadata[key], allowance)


def _plain(value: Any) -> Any:
    return (
        value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else value
    )


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """A message, or an input that is a str, whose role is empty."""

    role: str
    blocks: tuple[Markup, ...]


def message_views(value: str | list[ChatMessage], allowance: Allowance) -> tuple[MessageView, ...]:
    """Return the messages of an input, at most `MOST_MESSAGES`."""
    if isinstance(value, str):
        return (MessageView(role="", blocks=(text_html(value, _MESSAGE_TEXT, allowance),)),)
    return tuple(_message(message, allowance) for message in value[:MOST_MESSAGES])


def _message(message: ChatMessage, allowance: Allowance) -> MessageView:
    blocks = [_part(part, allowance) for part in message.content_list[:MOST_MESSAGES]]
    more = len(message.content_list) - len(blocks)
    if more:
        blocks.append(note_html(f"{count_text(more, 'more part')} not shown"))
    role: str = message.role
    if isinstance(message, ChatMessageAssistant):
        blocks.extend(
            json_html(call.arguments, allowance, label=f"call of {call.function}")
            for call in (message.tool_calls or ())[:MOST_MESSAGES]
        )
    if isinstance(message, ChatMessageTool):
        role = f"tool {message.function[:LABEL_TEXT]}" if message.function else role
        if message.error is not None:
            blocks.append(text_html(message.error.message, VALUE_TEXT, allowance, label="error"))
    return MessageView(role=role, blocks=tuple(blocks))


def _part(part: Any, allowance: Allowance) -> Markup:
    match part.type:
        case "text":
            return text_html(part.text, _MESSAGE_TEXT, allowance)
        case "image":
            return picture_html(part.image, allowance)
        case "reasoning":
            shown = part.summary or "" if part.redacted else part.reasoning
            return text_html(shown, _MESSAGE_TEXT, allowance, label="reasoning")
        case "tool_use":
            text = f"{part.arguments}\n→ {part.error or part.result}"
            return text_html(text, VALUE_TEXT, allowance, label=f"use of {part.name}")
        case "data":
            return json_html(part.data, allowance, label="data")
    where = getattr(part, part.type)  # audio, video and document
    shown = data_uri_text(where) if where.startswith("data:") else where
    return text_html(shown, VALUE_TEXT, allowance, label=part.type)

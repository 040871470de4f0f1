"""A sample as HTML, for pages and notebooks alike, and as rich prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from registry.display.formulas import has_undrawn
from registry.display.html import Allowance, Short, content_html
from registry.display.html import block as notebook_block
from registry.display.media import media_html, picture_uri
from registry.display.text import LABEL_TEXT, VALUE_TEXT, json_html, note_html, text_html
from registry.errors import count_text
from registry.installation import extra_advice
from registry.samples.fields import REST, SETTINGS, field_data
from registry.samples.letters import choice_of, letter_of

if TYPE_CHECKING:
    from registry.samples.messages import ChatMessage

__all__ = [
    "ShownSample",
    "rich_fields",
    "sample_body",
    "sample_html",
    "shown_data",
    "target_choices",
    "text_of_input",
]

_MOST_CHOICES, _MOST_KEYS = 40, 60
_CHOICE_TEXT, _MESSAGE_TEXT = 800, 6_000
_METADATA_TEXT = 10_000
"""Characters of a value of the metadata, of which 30 lines are seen at first."""
_MOST_MESSAGES = 40
"""Messages of a sample, parts of a message, and calls in one."""

# In sum, with the tags around them, these stay below `MOST_BYTES`.
_NOTEBOOK_BYTES, _NOTEBOOK_PICTURES = 15_000, 300_000
_ROLES = frozenset({"system", "user", "assistant", "tool"})


class ShownSample(Protocol):
    """What is read of a sample by name; its other fields are read as a table of names says."""

    input: str | list[ChatMessage]
    choices: list[str] | None
    target: str | list[str]
    id: int | str | None
    metadata: dict[str, Any] | None


def sample_html(sample: ShownSample) -> str:
    """Return a sample as HTML for a notebook."""
    allowance = Allowance(_NOTEBOOK_BYTES, pictures=_NOTEBOOK_PICTURES, is_saved=True)
    title = "" if sample.id is None else f"<b>{allowance.take(str(sample.id), 300).html}</b>"
    body = sample_body(sample, allowance)
    if has_undrawn(text_of_input(sample.input)[:_MESSAGE_TEXT]):
        body += note_html(f"formulas are text here: {extra_advice('site')} draws them")
    return notebook_block(title, body)


def sample_body(sample: ShownSample, allowance: Allowance) -> str:
    """Return what a sample has, within an allowance: input, choices, target, all other fields."""
    # The short parts first, so that a long input leaves room for them.
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    choices = sample.choices or []
    wanted = [choice_of(target, choices) for target in targets]
    most = allowance.most
    shown = choices[: most(_MOST_CHOICES)]
    listed = "".join(
        _choice(index, choice, allowance, is_target=index in wanted)
        for index, choice in enumerate(shown)
    )
    others = [
        target
        for target, index in zip(targets, wanted, strict=True)
        if target and (index is None or index >= len(shown))
    ]
    rows = [
        f'<dt class="target">target</dt><dd class="target">{html}</dd>'
        for html in (text_html(one, VALUE_TEXT, allowance) for one in others[: most(_MOST_CHOICES)])
    ]
    messages = _messages(sample.input, allowance)
    rows += (f"<dt>{name}</dt><dd>{html}</dd>" for name, html in _fields(sample, allowance))
    notes = _more(
        ("message", sample.input if isinstance(sample.input, list) else (), most(_MOST_MESSAGES)),
        ("choice", choices, most(_MOST_CHOICES)),
        ("target", others, most(_MOST_CHOICES)),
        ("key of the metadata", sample.metadata or {}, most(_MOST_KEYS)),
    )
    return "\n".join(
        (
            *messages,
            *([f'<ul class="choices" aria-label="Choices">{listed}</ul>'] if listed else ()),
            *([f'<dl class="fields">{"".join(rows)}</dl>'] if rows else ()),
            *map(note_html, notes),
        )
    )


def rich_fields(sample: ShownSample) -> Iterator[tuple[str, Any]]:
    """Yield the fields that have a value, with long texts shortened."""
    for name in ("input", "choices", "target", "id", *REST):
        value = getattr(sample, name)
        if value is not None:
            yield name, Short.of(value)


def text_of_input(value: str | list[ChatMessage]) -> str:
    """Return an input as text, each message after its role; other parts by their kind and size."""
    if isinstance(value, str):
        return value
    return "\n".join(f"{_speaker(one)}: {_content(one)}" for one in value)


def _speaker(message: ChatMessage) -> str:
    """Return the role of a message, and the function of which it is the result."""
    function = getattr(message, "function", None)
    return f"{message.role} {function}" if function else message.role


def _content(message: ChatMessage) -> str:
    parts = list(map(_part_text, message.content_list))
    if (error := getattr(message, "error", None)) is not None:
        parts.append(f"[error: {error.message}]")
    calls = getattr(message, "tool_calls", None) or ()
    parts += [
        f"[call of {one.function}: {json.dumps(one.arguments, ensure_ascii=False, default=str)}]"
        for one in calls
    ]
    return "\n".join(filter(None, parts))


def _part_text(part: Any) -> str:
    match part.type:
        case "text":
            return str(part.text)
        case "reasoning":
            return f"[reasoning: {_reasoning(part)}]"
    size = len(str(getattr(part, part.type, "")))
    return f"[{part.type}, {count_text(size, 'character')}]"


def _reasoning(part: Any) -> str:
    # What is redacted has a signature in the place of the text.
    return str(part.summary or "") if part.redacted else str(part.reasoning)


def shown_data(name: str, value: Any) -> Any:
    """Return the value of a field as data, an object of a class without what it does not have."""
    is_model = hasattr(value, "model_dump")
    return value.model_dump(mode="json", exclude_none=True) if is_model else field_data(name, value)


def target_choices(target: str | list[str], choices: Sequence[str]) -> set[int | None]:
    """Return the indices of the choices that the target means."""
    return {choice_of(one, choices) for one in ([target] if isinstance(target, str) else target)}


def _choice(index: int, choice: str, allowance: Allowance, *, is_target: bool) -> str:
    letter = f'<span class="letter">{letter_of(index)}</span>'
    html = f"<div>{text_html(choice, _CHOICE_TEXT, allowance)}</div>"
    if not is_target:
        return f"<li>{letter}{html}</li>"
    return f'<li class="target">{letter}{html}<span class="state good">target</span></li>'


def _more(*parts: tuple[str, Any, int | None]) -> Iterator[str]:
    for word, values, most in parts:
        if most is not None and len(values) > most:
            first, _, rest = word.partition(" ")
            counted = count_text(len(values) - most, f"more {first}")
            yield f"{counted} {rest}".strip() + f" of {len(values):,} not shown"


def _fields(sample: ShownSample, allowance: Allowance) -> Iterator[tuple[str, str]]:
    for name in SETTINGS:
        value = getattr(sample, name)
        if value is not None:
            yield name, _value(shown_data(name, value), allowance)
    metadata = sample.metadata or {}
    for key in list(metadata)[: allowance.most(_MOST_KEYS)]:
        taken = allowance.take(str(key), LABEL_TEXT)
        yield f"metadata.{taken.html}{'…' if taken.note else ''}", _value(metadata[key], allowance)


def _value(value: Any, allowance: Allowance) -> str:
    """Return a value of any type as HTML: a str as text, most others as JSON."""
    if isinstance(value, bytes):
        if uri := picture_uri(value):
            return media_html("image", uri, allowance)
        return note_html(count_text(len(value), "byte"))
    if isinstance(value, str):
        kind = (
            value[5:10] if value.startswith(("data:image/", "data:audio/", "data:video/")) else ""
        )
        if kind:
            return media_html(kind, value, allowance)
        return text_html(value, _METADATA_TEXT, allowance)
    if value is None or isinstance(value, bool | int | float):
        return text_html(json.dumps(value), _METADATA_TEXT, allowance)
    return json_html(value, allowance, most=_METADATA_TEXT)


def _messages(value: str | list[ChatMessage], allowance: Allowance) -> Iterator[str]:
    if isinstance(value, str):
        yield f'<div class="message plain">{text_html(value, _MESSAGE_TEXT, allowance)}</div>'
        return
    yield from (_message(one, allowance) for one in value[: allowance.most(_MOST_MESSAGES)])


def _message(message: ChatMessage, allowance: Allowance) -> str:
    most = allowance.most(_MOST_MESSAGES)
    parts = message.content_list[:most]
    blocks = [_part(part, allowance) for part in parts]
    more = len(message.content_list) - len(parts)
    if more:
        blocks.append(note_html(f"{count_text(more, 'more part')} not shown"))
    role, name = str(message.role), str(message.role)
    if message.role == "assistant":
        blocks += (_call(one, allowance) for one in (message.tool_calls or ())[:most])
    if message.role == "tool":
        name = f"tool {message.function[:LABEL_TEXT]}" if message.function else name
        if message.error is not None:
            blocks.append(text_html(message.error.message, VALUE_TEXT, allowance, label="error"))
    kind = role if role in _ROLES else "plain"
    title = f'<span class="role">{content_html(name)}</span>'
    return f'<div class="message {kind}">{title}{"".join(blocks)}</div>'


def _call(call: Any, allowance: Allowance) -> str:
    """Return a call of a tool: its short arguments as JSON, and those of several lines as text."""
    long = {
        key: value
        for key, value in call.arguments.items()
        if isinstance(value, str) and "\n" in value
    }
    short = {key: value for key, value in call.arguments.items() if key not in long}
    texts = (
        text_html(value, VALUE_TEXT, allowance, label=str(key))
        for key, value in list(long.items())[: allowance.most(_MOST_MESSAGES)]
    )
    head = json_html(short, allowance, label=f"call of {call.function}")
    return f'<div class="call">{head}{"".join(texts)}</div>'


def _part(part: Any, allowance: Allowance) -> str:
    match part.type:
        case "text":
            return text_html(part.text, _MESSAGE_TEXT, allowance)
        case "image" | "audio" | "video":
            return media_html(part.type, getattr(part, part.type), allowance)
        case "reasoning":
            return text_html(_reasoning(part), _MESSAGE_TEXT, allowance, label="reasoning")
        case "tool_use":
            text = f"{part.arguments}\n→ {part.error or part.result}"
            return text_html(text, VALUE_TEXT, allowance, label=f"use of {part.name}")
        case "data":
            return json_html(part.data, allowance, label="data")
    where = getattr(part, part.type)  # a document
    if where.startswith("data:"):
        return media_html(part.type, where, allowance)
    return text_html(where, VALUE_TEXT, allowance, label=part.type)

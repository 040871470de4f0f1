"""A sample as a page shows it: messages, choices, targets, metadata, JSON; all of it bounded."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from registry import Sample
from registry.api import count_text, index_of, letter_of
from registry.plugins.site.samples.allowance import Allowance
from registry.plugins.site.samples.blocks import (
    LABEL_TEXT,
    VALUE_TEXT,
    json_html,
    text_html,
    value_html,
)
from registry.plugins.site.samples.messages import MOST_MESSAGES, MessageView, message_views
from registry.plugins.site.text import visible

__all__ = ["ChoiceView", "SampleView", "sample_view"]

_MOST_CHOICES, _MOST_KEYS = 40, 60
_CHOICE_TEXT, _JSON_TEXT, _JSON_LINE = 800, 4_000, 60


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
    for name in ("description", "sandbox", "files", "setup", "checkpoint"):
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

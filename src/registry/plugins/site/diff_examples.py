"""Samples that differ, side by side, as many as a page has room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from registry.api import COMPARED_FIELDS, Chunk, Example, FieldChange, count_text, excerpt
from registry.plugins.site.environment import render
from registry.plugins.site.text import cut

__all__ = ["by_importance", "examples_html"]

_FIELD_TEXT = 6_000
"""Characters of one field on each side."""
_COUNT = 100
"""Room for the number of characters that an excerpt leaves out."""
_CONTEXT, _LONGEST = 120, 3_000
"""What is left of an unchanged text on each side of a change, and of a change."""
_MOST_CHUNKS = 400
"""Changes and unchanged texts of one field: each is an element of the page."""
_ORDER = {name: number for number, name in enumerate((*COMPARED_FIELDS, "id"))}
_STATUS_ORDER = {"removed": 0, "changed": 1, "added": 2}


def by_importance(examples: Iterable[Example]) -> list[Example]:
    """Return the samples that are gone first, then those whose input changed, target, and so on."""

    def importance(example: Example) -> tuple[int, int]:
        fields = (_ORDER.get(one.field, len(_ORDER)) for one in example.fields)
        return _STATUS_ORDER[example.status], min(fields, default=len(_ORDER))

    return sorted(examples, key=importance)


@dataclass(frozen=True, kw_only=True)
class _Field:
    """One field of a sample, before and after."""

    name: str
    before: tuple[Chunk, ...]
    after: tuple[Chunk, ...]
    note: str
    """What is left out."""


def examples_html(
    examples: Iterable[Example], numbers: Iterator[int], *, most: int
) -> Iterator[Markup]:
    """Yield examples as HTML, as many of the first ones as fit into `most` bytes.

    Args:
        examples: What to show.
        numbers: Gives each example on the page a number of its own.
        most: Bytes of all of them together.
    """
    for example in examples:
        made = render(
            "example.html",
            number=next(numbers),
            status=example.status,
            label=example.label,
            fields=[_field(one, example.status) for one in example.fields],
        )
        most -= len(made.encode())
        if most < 0:
            return
        yield made


def _field(change: FieldChange, status: str) -> _Field:
    # The whole text where there is nothing to compare it with.
    is_changed = status == "changed"
    context, longest = (_CONTEXT, _LONGEST) if is_changed else (_FIELD_TEXT, _FIELD_TEXT - _COUNT)
    chunks = excerpt(change.chunks[:_MOST_CHUNKS], context=context, longest=longest)
    before, less = _side(chunks, "-", marked=is_changed)
    after, more = _side(chunks, "+", marked=is_changed)
    left = len(change.chunks) - len(chunks)
    parts = f"{count_text(left, 'more part')} of the change not shown" if left > 0 else ""
    note = "; ".join(filter(None, dict.fromkeys((less, more, parts))))
    return _Field(name=change.field, before=before, after=after, note=note)


def _side(chunks: Sequence[Chunk], sign: str, *, marked: bool) -> tuple[tuple[Chunk, ...], str]:
    """Return one side of a change, and a note of what is left out of it."""
    left = _FIELD_TEXT
    shown, missing = [], 0
    for chunk in chunks:
        if chunk.sign not in ("=", sign):
            continue
        text, _ = cut(chunk.text, max(left, 0))
        left -= len(text)
        missing += len(chunk.text) - len(text)
        if text:
            shown.append(Chunk(chunk.sign if marked else "=", text))
    return tuple(shown), f"{count_text(missing, 'more character')} not shown" if missing else ""

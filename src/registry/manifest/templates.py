"""Templates: text with columns put in, and parts that vanish where a column is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

__all__ = ["Placeholder", "Section", "TemplatePart", "parse_template", "template_columns"]


class Placeholder(Struct, frozen=True):
    """A column within a template, and the text where it is missing, null or empty."""

    name: str
    default: str | None = None


class Section(Struct, frozen=True):
    """A part of a template that vanishes where its column is missing, null or empty."""

    name: str
    parts: tuple[TemplatePart, ...]


TemplatePart = str | Placeholder | Section


_MAX_DEPTH = 32
_TOKEN = re.compile(r"\{\{|\}\}|\{/\}|\{\?([^{}]+)\}|\{([^{}]*)\}|[{}]")


def parse_template(text: str) -> tuple[TemplatePart, ...]:
    """Return the parts of a template: `{{ }} {column} {column|default} {?column}…{/}`."""
    open_sections: list[tuple[str, list[TemplatePart]]] = [("", [])]
    place = 0
    for token in _TOKEN.finditer(text):
        parts = open_sections[-1][1]
        parts.append(text[place : token.start()])
        place = token.end()
        if token.group() in ("{{", "}}"):
            parts.append(token.group()[0])
        elif token.group() == "{/}":
            if len(open_sections) == 1:
                raise ValueError("`{/}` closes no part of the template")
            name, inner = open_sections.pop()
            open_sections[-1][1].append(Section(name, _joined(inner)))
        elif len(open_sections) > _MAX_DEPTH:
            raise ValueError(f"parts of a template nest {_MAX_DEPTH} deep at most")
        elif token.group(1):
            open_sections.append((token.group(1), []))
        else:
            parts.append(_placeholder(token))
    if len(open_sections) > 1:
        raise ValueError(f"`{{?{open_sections[-1][0]}}}` is not closed by `{{/}}`")
    return _joined([*open_sections[0][1], text[place:]])


def _placeholder(token: re.Match[str]) -> Placeholder:
    inner = token.group(2)
    if not inner:
        found = token.group()
        raise ValueError(f"`{found}` in a template names no column; a brace is written twice")
    name, bar, default = inner.partition("|")
    return Placeholder(name, default if bar else None)


def _joined(parts: Sequence[TemplatePart]) -> tuple[TemplatePart, ...]:
    """Return parts with neighbouring texts put together."""
    joined: list[TemplatePart] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


def template_columns(parts: tuple[TemplatePart, ...]) -> Iterator[str]:
    """Yield the names that a template reads."""
    for part in parts:
        if isinstance(part, Section):
            yield part.name
            yield from template_columns(part.parts)
        elif isinstance(part, Placeholder):
            yield part.name

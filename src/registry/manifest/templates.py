"""Templates: strings with columns filled in, and sections omitted if a column is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

__all__ = ["Placeholder", "Section", "TemplatePart", "parse_template", "template_columns"]


class Placeholder(Struct, frozen=True):
    """A column in a template, with a default in case it is missing, null or empty."""

    name: str
    default: str | None = None


class Section(Struct, frozen=True):
    """A part of a template that is omitted if its column is missing, null or empty."""

    name: str
    parts: tuple[TemplatePart, ...]


TemplatePart = str | Placeholder | Section


# Sections are rendered recursively, and a manifest may be hostile.
_MAX_DEPTH = 32
_TOKEN = re.compile(r"\{\{|\}\}|\{/\}|\{\?([^{}]+)\}|\{([^{}]*)\}|[{}]")


def parse_template(text: str) -> tuple[TemplatePart, ...]:
    """Return the parts of a template: `{{ }} {column} {column|default} {?column}…{/}`.

    Raises:
        ValueError: a brace or a section is not closed, or lacks the name of a column.
    """
    open_sections: list[tuple[str, list[TemplatePart]]] = [("", [])]
    start = 0
    for token in _TOKEN.finditer(text):
        parts = open_sections[-1][1]
        parts.append(text[start : token.start()])
        start = token.end()
        if token.group() in ("{{", "}}"):
            parts.append(token.group()[0])
        elif token.group() == "{/}":
            if len(open_sections) == 1:
                raise ValueError("`{/}` closes no section of the template")
            name, inner = open_sections.pop()
            open_sections[-1][1].append(Section(name, _joined(inner)))
        elif len(open_sections) > _MAX_DEPTH:
            raise ValueError(f"sections of a template nest at most {_MAX_DEPTH} deep")
        elif token.group(1):
            open_sections.append((token.group(1), []))
        elif token.group(2):
            name, bar, default = token.group(2).partition("|")
            parts.append(Placeholder(name, default if bar else None))
        else:
            message = f"`{token.group()}` in a template names no column"
            raise ValueError(f"{message} (write a literal brace twice)")
    if len(open_sections) > 1:
        raise ValueError(f"`{{?{open_sections[-1][0]}}}` is not closed by `{{/}}`")
    return _joined([*open_sections[0][1], text[start:]])


def _joined(parts: Sequence[TemplatePart]) -> tuple[TemplatePart, ...]:
    """Return parts with adjacent strings joined."""
    joined: list[TemplatePart] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


def template_columns(parts: tuple[TemplatePart, ...]) -> Iterator[str]:
    """Yield the columns that a template reads."""
    for part in parts:
        if isinstance(part, Section):
            yield part.name
            yield from template_columns(part.parts)
        elif isinstance(part, Placeholder):
            yield part.name

"""Compose what has parts: texts by templates, for all records of a batch, and message contents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from registry.boundary.boundary import MAX_TEXT
from registry.decode.frame import MISSING, NotColumnarError
from registry.errors import MappingError
from registry.manifest.expressions import PART_KINDS
from registry.manifest.templates import Placeholder, Section, TemplatePart
from registry.mapping.batch import Batch, are_short, join
from registry.mapping.conditions import is_empty
from registry.mapping.operations.base import BatchFunction

__all__ = ["TemplateTexts", "content_parts"]

_TEXTS = frozenset({str, int, float, bool})
"""Types of the values that a template writes as Python does."""

# Inspect's content types for audio and video require a format; manifests have no key for it.
_MEDIA_FORMATS = {"audio": "mp3", "video": "mp4"}


class TemplateTexts:
    """Compiles the parts of a template."""

    def __init__(self, values_of: Callable[[str], BatchFunction], *, is_bounded: bool) -> None:
        """Take what the names of a template mean.

        Args:
            values_of: Returns the function of a name: that of a column, or of what `with` says.
            is_bounded: Whether all of them are columns, whose size is that of the records at most.
        """
        self._values_of = values_of
        self._is_bounded = is_bounded

    def of(self, parts: Iterable[TemplatePart]) -> BatchFunction:
        """Return the function of a template, or of the inside of a section."""
        functions = list(map(self._part, parts))
        if len(functions) == 1:
            return functions[0]

        def texts(batch: Batch) -> list[str]:
            columns = [function(batch) for function in functions]
            if not columns:
                return [""] * batch.count
            return self._joined(columns, batch)

        return texts

    def _joined(self, columns: Sequence[Sequence[str]], batch: Batch) -> list[str]:
        rows = zip(*columns, strict=True)
        is_small = self._is_bounded and batch.size and batch.size * len(columns) <= MAX_TEXT
        if is_small or are_short(columns):
            return list(map("".join, rows))
        if batch.is_alone:
            return [join("", row) for row in rows]
        raise NotColumnarError("templates that are too large to fill many at a time")

    def _part(self, part: TemplatePart) -> BatchFunction:
        match part:
            case str():
                return lambda batch: [part] * batch.count
            case Placeholder(name, default):
                return _placeholder(name, default, self._values_of(name))
            case Section(name, parts):
                return _section(self._values_of(name), self.of(parts))


def _section(values_of: BatchFunction, inside: BatchFunction) -> BatchFunction:
    def texts(batch: Batch) -> list[str]:
        full = [place for place, value in enumerate(values_of(batch)) if not is_empty(value)]
        if len(full) == batch.count:
            return inside(batch)
        found = [""] * batch.count
        # Only there: elsewhere a column in the section may be missing or null.
        for place, text in zip(full, inside(batch.take(full)) if full else (), strict=True):
            found[place] = text
        return found

    return texts


def _placeholder(name: str, default: str | None, values_of: BatchFunction) -> BatchFunction:
    def texts(batch: Batch) -> list[str]:
        values = values_of(batch)
        if default is not None:
            values = [default if is_empty(value) else value for value in values]
        kinds = set(map(type, values))
        if kinds == {str}:
            return values
        if not kinds <= _TEXTS:
            _refuse(name, values, batch)
        return list(map(str, values))

    return texts


def _refuse(name: str, values: Iterable[Any], batch: Batch) -> None:
    """Raise an error for the first value that is neither a str nor a number."""
    for value in values:
        if isinstance(value, str | int | float):
            continue
        # The str of anything else would put Python's notation, such as "None", into a prompt.
        if value is MISSING:
            raise batch.no_column(name)
        if value is None:
            hint = f"write {{{name}|}} to leave it empty"
            raise MappingError(f"the column '{name}' of the template is null ({hint})")
        hint = "convert a list to a string under `with`"
        raise MappingError(f"'{name}' in the template needs a string ({hint})", value=value)


def content_parts(kind: str, value: Any) -> list[dict[str, Any]]:
    """Return parts as Inspect has them; none for a value that is empty.

    Args:
        kind: Such as `text`; "" if the value itself says which parts it is.
        value: A value, or a list of them, such as the images of a record.
    """
    found: list[dict[str, Any]] = []
    for item in value if isinstance(value, list) else [value]:
        found += _content_part(*_kind_and_value(item) if kind == "" else (kind, item))
    return found


def _kind_and_value(item: Any) -> tuple[str, Any]:
    """Return the kind and the value of a part that an expression returns."""
    if is_empty(item):
        return "", None
    if isinstance(item, dict) and all(key in PART_KINDS for key in item):
        # In Parquet, all dicts of a list have the same keys, most of them null.
        given = [(kind, value) for kind, value in item.items() if value is not None]
        if len(given) < 2:
            return given[0] if given else ("", None)
    message = "a message's content must be a string, or a list of parts such as {text: …}"
    raise MappingError(message, value=item)


def _content_part(kind: str, value: Any) -> list[dict[str, Any]]:
    """Return a part as Inspect has it, in a list that is empty if the value is."""
    if is_empty(value):
        return []
    if not isinstance(value, str):
        raise MappingError(f"a message's {kind} must be a string", value=value)
    media_format = {"format": _MEDIA_FORMATS[kind]} if kind in _MEDIA_FORMATS else {}
    return [{"type": kind, kind: value, **media_format}]

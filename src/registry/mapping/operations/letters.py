"""Operations that convert positions in a list of choices to letters."""

from __future__ import annotations

import functools
from typing import Any

from registry.errors import MappingError, shorten
from registry.manifest.expressions import parse_comparisons
from registry.manifest.templates import Placeholder, parse_template
from registry.mapping.batch import join
from registry.mapping.conditions import compile_comparisons, equal, takes_long
from registry.mapping.operations.base import (
    Operation,
    OperationExample,
    Step,
    expect_type,
    on_list,
    options,
    to_str,
)
from registry.samples.letters import letter_of

__all__ = ["OPERATIONS", "to_index"]

# A larger index is a mistake in the data, not a choice.
_MOST_CHOICES = 1_000


def _letter(argument: Any, _: Any) -> Step:
    chosen = options(argument, base=0, bools=False)
    base = chosen["base"]
    if base not in (0, 1) or isinstance(base, bool):
        raise ValueError("base is 0 or 1")
    if not isinstance(chosen["bools"], bool) or (chosen["bools"] and base):
        raise ValueError("bools is true or false, and excludes {base: 1}")
    if chosen["bools"]:
        message = "needs an index, or true or false"
        return Step(_letters(0).__getitem__, int, _to_index_or_bool, lambda value: message)
    message = f"needs an index from {base} to {_MOST_CHOICES - 1 + base}"
    return Step(_letters(base).__getitem__, int, to_index, lambda value: message)


@functools.cache
def _letters(base: int) -> dict[int, str]:
    return {index + base: letter_of(index) for index in range(_MOST_CHOICES)}


def to_index(value: Any) -> int:
    """Return an index, which may be written in digits; a MappingError for any other value."""
    if isinstance(value, bool):
        hint = "for a boolean, {letter: {bools: true}}: A for false, B for true"
        raise MappingError(f"needs an integer, or digits ({hint})", value=value)
    digits = value.strip() if isinstance(value, str) else ""
    # `isdigit` alone is also true for "²" and for digits of other scripts.
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        return int(digits)
    index: int = expect_type(value, int, "an integer, or digits")
    return index


def _to_index_or_bool(value: Any) -> int:
    return int(value) if isinstance(value, bool) else to_index(value)


def _letter_in(value: Any, labels: Any) -> str:
    if not isinstance(labels, list):
        raise MappingError("needs a list of labels", value=labels)
    index = next((i for i, label in enumerate(labels) if equal(value, label)), None)
    if index is None:
        raise MappingError(f"not among the labels {shorten(labels)}", value=value)
    return letter_of(index)


def _letters_where(argument: Any, _: Any) -> Step:
    # `equals: 1` alone is no match for true, as 1 and true differ.
    comparisons = parse_comparisons({"in": [1, True]} if argument is None else argument)
    holds = compile_comparisons(comparisons)

    def letters(mask: list[Any]) -> list[str]:
        # Marks of CSV, of which none would ever be correct.
        if argument is None and mask and all(isinstance(item, str) for item in mask):
            message = (
                "the marks are strings, so none is 1 or true (say which, as in `{equals: 'TRUE'}`)"
            )
            raise MappingError(message, value=mask)
        return [letter_of(index) for index, item in enumerate(mask) if holds(item)]

    return on_list(letters, is_heavy=takes_long(comparisons))


def _lettered(argument: Any, _: Any) -> Step:
    chosen = options(argument, format="{letter}. {item}", separator="\n")
    separator = chosen["separator"]
    if not isinstance(separator, str):
        raise ValueError("`separator` is a string")
    parts = _parse_format(chosen["format"])

    def fill(values: dict[str, str]) -> str:
        texts = (part if isinstance(part, str) else values[part.name] for part in parts)
        return join("", texts)

    def lettered(value: list[Any]) -> str:
        items = list(map(to_str, value))
        if len(items) > _MOST_CHOICES:
            raise MappingError(f"needs at most {_MOST_CHOICES} items", value=value)
        values = ({"letter": letter_of(index), "item": item} for index, item in enumerate(items))
        return join(separator, map(fill, values))

    return on_list(lettered, "a list of strings", is_heavy=True)


def _parse_format(raw: Any) -> tuple[str | Placeholder, ...]:
    if not isinstance(raw, str):
        raise ValueError("`format` is a string with {letter} and {item}")
    parts: list[str | Placeholder] = []
    for part in parse_template(raw):
        if not isinstance(part, str) and part not in (Placeholder("letter"), Placeholder("item")):
            raise ValueError("`format` has no placeholders but {letter} and {item}")
        parts.append(part)
    return tuple(parts)


OPERATIONS = (
    Operation(
        "letter",
        "The letter of an index: A for 0, for 1 with {base: 1}, for false with {bools: true}.",
        _letter,
        OperationExample("letter", 2, "C"),
    ),
    Operation(
        "letter_in",
        "The letter of the value's position in a list, which an expression returns.",
        lambda argument, _: Step(_letter_in),
        OperationExample({"letter_in": "labels"}, "2", "B", {"labels": ["1", "2", "3"]}),
        expressions=lambda argument: [argument],
    ),
    Operation(
        "letters_where",
        "The letters of the items that are 1 or true, or that meet the given comparisons.",
        _letters_where,
        OperationExample("letters_where", [0, 1, 1], ["B", "C"]),
    ),
    Operation(
        "lettered",
        "One string of all items with their letters; `format` and `separator` default to "
        '"{letter}. {item}" and a newline.',
        _lettered,
        OperationExample(
            {"lettered": {"format": "({letter}) {item}"}}, ["red", "blue"], "(A) red\n(B) blue"
        ),
        texts=lambda argument: list((argument or {}).values()),
    ),
)

"""Operations on text."""

from __future__ import annotations

import re
from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.base import (
    Apply,
    Example,
    Operation,
    no_argument,
    options,
    to_str,
)

__all__ = ["OPERATIONS"]


def _split(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str) or not argument:
        raise ValueError("takes the separator, a text that is not empty")
    return lambda value, row: to_str(value).split(argument)


def _lines(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: to_str(value).splitlines()


def _strip(argument: Any, _: Any) -> Apply:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes the characters to strip as text")
    return lambda value, row: to_str(value).strip(argument)


def _lower(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: to_str(value).lower()


def _upper(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: to_str(value).upper()


def _replace(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, dict) or not argument or "" in argument:
        raise ValueError("takes a map from text to its replacement")
    if not all(isinstance(text, str) for pair in argument.items() for text in pair):
        raise ValueError("takes a map from text to its replacement")

    def apply(value: Any, row: Any) -> str:
        text = to_str(value)
        for old, new in argument.items():
            text = text.replace(old, new)
        return text

    return apply


def _regex(argument: Any, _: Any) -> Apply:
    given = {"pattern": argument} if isinstance(argument, str) else argument
    chosen = options(given, pattern=None, all=False, optional=False)
    pattern = _compiled(chosen["pattern"])
    if chosen["all"]:
        return lambda value, row: [_captured(match) for match in pattern.finditer(to_str(value))]

    def apply(value: Any, row: Any) -> str | None:
        match = pattern.search(to_str(value))
        if match is not None:
            return _captured(match)
        if chosen["optional"]:
            return None
        raise MappingError(f"the pattern {pattern.pattern!r} matches nowhere", value=value)

    return apply


def _compiled(pattern: Any) -> re.Pattern[str]:
    if not isinstance(pattern, str):
        raise ValueError("takes a pattern as text")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error


def _captured(match: re.Match[str]) -> str:
    """Return the first group that took part, else the whole match."""
    groups = [group for group in match.groups() if group is not None]
    return groups[0] if groups else match.group()


def _sub(argument: Any, _: Any) -> Apply:
    chosen = options(argument, pattern=None, to="")
    pattern, to = _compiled(chosen["pattern"]), chosen["to"]
    if not isinstance(to, str):
        raise ValueError("`to` is a text")

    def apply(value: Any, row: Any) -> str:
        try:
            return pattern.sub(to, to_str(value))
        except (re.error, IndexError) as error:
            raise MappingError(f"can't put in {to!r}: {error}", value=value) from error

    return apply


OPERATIONS = (
    Operation(
        "split",
        "Split text at a separator into a list.",
        _split,
        Example({"split": "####"}, "steps #### 18", ["steps ", " 18"]),
    ),
    Operation(
        "lines",
        "Split text into its lines.",
        _lines,
        Example("lines", "A) red\nB) blue", ["A) red", "B) blue"]),
    ),
    Operation(
        "strip",
        "Take blanks, or the characters given, off both ends of a text.",
        _strip,
        Example("strip", " 18\n", "18"),
    ),
    Operation("lower", "Turn a text to lower case.", _lower, Example("lower", "Yes", "yes")),
    Operation("upper", "Turn a text to upper case.", _upper, Example("upper", "b", "B")),
    Operation(
        "replace",
        "Replace texts by others, in the order given.",
        _replace,
        Example({"replace": {"_": "[BLANK]"}}, "The _ fell.", "The [BLANK] fell."),
    ),
    Operation(
        "regex",
        "What a regular expression's first group captures; {all: true} lists every match.",
        _regex,
        Example({"regex": r"#### (-?\d+)"}, "steps\n#### 18", "18"),
    ),
    Operation(
        "sub",
        "Replace every match of a regular expression.",
        _sub,
        Example({"sub": {"pattern": r"^\([A-E]\) ?", "to": ""}}, "(B) blue", "blue"),
    ),
)

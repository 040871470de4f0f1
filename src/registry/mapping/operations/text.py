"""Operations on strings."""

from __future__ import annotations

from operator import methodcaller
from typing import Any

from registry.boundary.boundary import MAX_TEXT
from registry.errors import MappingError
from registry.mapping.batch import check_size
from registry.mapping.operations.base import (
    Operation,
    OperationExample,
    Step,
    no_argument,
    on_text,
    options,
    to_str,
)
from registry.mapping.regex import Pattern, compile_pattern

__all__ = ["OPERATIONS"]


def _split(argument: Any, _: Any) -> Step:
    if not isinstance(argument, str) or not argument:
        raise ValueError("takes the separator, a string that is not empty")
    return on_text(methodcaller("split", argument))


def _strip(argument: Any, _: Any) -> Step:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes the characters to strip, a string")
    return on_text(str.strip if argument is None else methodcaller("strip", argument))


def _replace(argument: Any, _: Any) -> Step:
    pairs = list(argument.items()) if isinstance(argument, dict) else []
    is_valid = all(isinstance(old, str) and old and isinstance(new, str) for old, new in pairs)
    if not pairs or not is_valid:
        raise ValueError("takes a mapping from a string to its replacement")

    def replaced(text: str) -> str:
        for old, new in pairs:
            longer = len(new) - len(old)
            if longer > 0 and (len(text) + 1) * len(new) > MAX_TEXT:  # else counting is in vain
                check_size(len(text) + text.count(old) * longer)
            text = text.replace(old, new)
        return text

    return on_text(replaced, is_heavy=any(len(old) < len(new) for old, new in pairs))


def _regex(argument: Any, _: Any) -> Step:
    given = {"pattern": argument} if isinstance(argument, str) else argument
    chosen = options(given, pattern=None, all=False, optional=False)
    pattern = _compile_pattern(chosen["pattern"])
    if chosen["all"]:
        return on_text(pattern.every, is_heavy=True)

    def first(value: Any) -> str | None:
        found = pattern.first(to_str(value))
        if found is None and not chosen["optional"]:
            raise MappingError(f"the pattern {pattern.text!r} matches nowhere", value=value)
        return found

    return Step(first, is_heavy=True)


def _sub(argument: Any, _: Any) -> Step:
    chosen = options(argument, pattern=None, to="")
    pattern, to = _compile_pattern(chosen["pattern"]), chosen["to"]
    if not isinstance(to, str):
        raise ValueError("`to` is a string")
    return on_text(lambda text: pattern.sub(text, to), is_heavy=True)


def _compile_pattern(pattern: Any) -> Pattern:
    if not isinstance(pattern, str):
        raise ValueError("takes a pattern, a string")
    return compile_pattern(pattern)


OPERATIONS = (
    Operation(
        "split",
        "Split a string at a separator into a list.",
        _split,
        OperationExample({"split": "####"}, "steps #### 18", ["steps ", " 18"]),
    ),
    Operation(
        "lines",
        "Split a string into its lines.",
        no_argument(on_text(str.splitlines)),
        OperationExample("lines", "A) red\nB) blue", ["A) red", "B) blue"]),
    ),
    Operation(
        "strip",
        "Remove whitespace, or the characters given, from both ends of a string.",
        _strip,
        OperationExample("strip", " 18\n", "18"),
    ),
    Operation(
        "lower",
        "Convert a string to lower case.",
        no_argument(on_text(str.lower)),
        OperationExample("lower", "Yes", "yes"),
    ),
    Operation(
        "upper",
        "Convert a string to upper case.",
        no_argument(on_text(str.upper)),
        OperationExample("upper", "b", "B"),
    ),
    Operation(
        "capitalize",
        "Convert the first character of a string to upper case and all others to lower case.",
        no_argument(on_text(str.capitalize)),
        OperationExample("capitalize", "the sky is Blue", "The sky is blue"),
    ),
    Operation(
        "replace",
        "Replace substrings with others, in the order given.",
        _replace,
        OperationExample({"replace": {"_": "[BLANK]"}}, "The _ fell.", "The [BLANK] fell."),
        texts=lambda argument: list(argument.values()),
    ),
    Operation(
        "regex",
        "The first match of a regular expression, or its first group; {all: true} lists every one.",
        _regex,
        OperationExample({"regex": r"#### (-?\d+)"}, "steps\n#### 18", "18"),
    ),
    Operation(
        "sub",
        "Replace every match of a regular expression.",
        _sub,
        OperationExample({"sub": {"pattern": r"^\([A-E]\) ?", "to": ""}}, "(B) blue", "blue"),
        texts=lambda argument: argument.get("to"),
    ),
)

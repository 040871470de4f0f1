"""Generate the code of operations on strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from registry.boundary.limits import MAX_TEXT
from registry.mapping.generated.source import Source, Value
from registry.mapping.operations.base import to_str
from registry.mapping.regex import compile_pattern

__all__ = ["EMITTERS", "text_of"]

_STR = Value("", "str")
_MOST_GROUPS = 8
"""Groups of a pattern that are asked one after the other in one line."""


def text_of(source: Source, value: Value) -> str:
    """Return the name of a value that is a str, or a number as a str."""
    if source.kind(value) == "str":
        return value.name
    name = value.name
    slow = f"{source.bind(to_str)}({name})"
    return source.assign(f"{name} if type({name}) is str else {slow}", "str").name


def _method(method: str, kind: str) -> Callable[[Source, Value, Any], Value]:
    """Return the emitter of a method of str that takes the argument of the operation."""

    def emit(source: Source, value: Value, argument: Any) -> Value:
        given = "" if argument is None else source.bind(argument)
        result = source.assign(f"{text_of(source, value)}.{method}({given})", kind)
        return source.has_items(result, _STR) if kind == "list" else result

    return emit


def _replace(source: Source, value: Value, argument: dict[str, str]) -> Value:
    text = text_of(source, value)
    for old, new in argument.items():
        if len(new) > len(old):  # counting the matches is left to another way
            source.step_aside_if(f"(len({text}) + 1) * {len(new)} > {MAX_TEXT}")
        text = source.assign(f"{text}.replace({source.bind(old)}, {source.bind(new)})", "str").name
    return Value(text, "str")


def _regex(source: Source, value: Value, argument: Any) -> Value | None:
    chosen = {"pattern": argument} if isinstance(argument, str) else argument
    pattern, text = compile_pattern(chosen["pattern"]), text_of(source, value)
    if chosen.get("all"):
        return source.assign(f"{source.bind(pattern.every)}({text})", "list")
    if pattern.compiled.groups > _MOST_GROUPS:
        return None
    # A longer text is for the process that can be stopped.
    source.step_aside_if(f"len({text}) > {pattern.longest_direct}")
    match = source.assign(f"{source.bind(pattern.compiled.search)}({text})", "given").name
    groups = pattern.compiled.groups
    if not chosen.get("optional"):
        source.step_aside_if(f"{match} is None")
        found = _captured(source, match, groups)
        return source.assign(found, "str")
    return source.assign(
        f"None if {match} is None else {_captured(source, match, groups)}", "given"
    )


def _captured(source: Source, match: str, groups: int) -> str:
    """Return the Python expression of the first group that matched, else of the whole match."""
    if groups == 0:
        return f"{match}[0]"
    tests = (f"{match}[{group}] if {match}[{group}] is not None" for group in range(1, groups + 1))
    return f"({' else '.join(tests)} else {match}[0])"


def _sub(source: Source, value: Value, argument: dict[str, Any]) -> Value | None:
    pattern, to = compile_pattern(argument["pattern"]), argument.get("to", "")
    try:
        pattern.compiled.sub(to, "")
    except (re.error, IndexError):
        return None  # an error of every record
    text = text_of(source, value)
    # As the function of `regex_worker`, for a replacement that can't become larger than a string
    # may be; a longer text is for the process that can be stopped.
    growth = f"(len({text}) + 1) * ({len(to) + 1} + {to.count(chr(92))} * len({text}))"
    source.step_aside_if(f"len({text}) > {pattern.longest_direct} or {growth} > {MAX_TEXT}")
    made = f"{source.bind(pattern.compiled.sub)}({source.bind(to)}, {text})"
    if "\\" in to:  # which `re` parses for each text, so looking for a match first costs less
        search = source.bind(pattern.compiled.search)
        made = f"{made} if {search}({text}) is not None else {text}"
    return source.assign(made, "str")


EMITTERS: dict[str, Callable[[Source, Value, Any], Value | None]] = {
    "split": _method("split", "list"),
    "lines": _method("splitlines", "list"),
    "strip": _method("strip", "str"),
    "lower": _method("lower", "str"),
    "upper": _method("upper", "str"),
    "capitalize": _method("capitalize", "str"),
    "replace": _replace,
    "regex": _regex,
    "sub": _sub,
}
"""Name of an operation → what adds its lines."""

"""Generate the test of a condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from registry.manifest.expressions import AllOf, AnyOf, Comparisons, Condition, Not
from registry.mapping.conditions import compile_comparisons, is_empty
from registry.mapping.generated.runtime import SIZED
from registry.mapping.generated.source import MISSING_KIND, Source, Value
from registry.mapping.regex import compile_pattern

__all__ = ["compare", "emit_condition", "empty_test"]

_SIGNS = {"less": "<", "at_most": "<=", "greater": ">", "at_least": ">="}


def emit_condition(source: Source, condition: Condition) -> str:
    """Add the lines that a condition needs, and return a Python expression of whether it holds."""
    match condition:
        case AllOf(conditions):
            return _chain(source, conditions, "if {}:", "True")
        case AnyOf(conditions):
            return _chain(source, conditions, "if not {}:", "False")
        case Not(inner):
            # A variable, as Python limits how deep parentheses nest.
            return source.assign(f"not {emit_condition(source, inner)}", "bool").name
        case Comparisons(tests, value):
            if value is None:
                raise ValueError("a condition needs `value`")
            return compare(source, tests, source.expression(value))


def _chain(source: Source, conditions: Sequence[Condition], head: str, empty: str) -> str:
    """Return the test of several conditions, each evaluated only if those before don't decide."""
    if not conditions:
        return empty
    first, *others = conditions
    result = source.assign(emit_condition(source, first), "bool").name
    if others:
        with source.block(head.format(result)):
            source.line(f"{result} = {_chain(source, others, head, empty)}")
    return result


def empty_test(source: Source, value: Value) -> str:
    """Return the test of whether a value is missing, null or empty."""
    match source.kind(value):
        case "str" | "list" | "dict":
            return f"not {value.name}"
        case "int" | "bool":
            return "False"
        case _:
            sized, slow = source.bind(SIZED), source.bind(is_empty)
            # Most columns are of strings, and the set has to be searched for other types only.
            name = value.name
            # A column that no record has is MISSING in all of them.
            null = f"{name} is None or {name} is MISSING"
            return f"(not {name} if type({name}) in {sized} else {null} or {slow}({name}))"


def compare(source: Source, tests: Sequence[tuple[str, Any]], value: Value) -> str:
    """Return the test of whether a value meets comparisons; MISSING compares like null."""
    parts = []
    for name, operand in tests:
        direct = _DIRECT[name](source, operand, value)
        parts.append(direct or f"{_slow(source, name, operand)}({value.name})")
    return f"({' and '.join(parts)})" if parts else "True"


def _slow(source: Source, name: str, operand: Any) -> str:
    """Return the name of the function that compares any value."""
    return source.bind(compile_comparisons(Comparisons(((name, operand),))))


def _equals(source: Source, operand: Any, value: Value) -> str | None:
    name = value.name
    if operand is None:
        missing = f" or {name} is MISSING" if source.kind(value) == MISSING_KIND else ""
        return f"({name} is None{missing})"
    if type(operand) is bool:
        return f"({name} is {operand})"
    if type(operand) in SIZED:  # equals no bool
        return f"({name} == {source.bind(operand)})"
    if type(operand) in (int, float):
        return f"({name} == {source.bind(operand)} and type({name}) is not bool)"
    return None


def _not_equals(source: Source, operand: Any, value: Value) -> str | None:
    direct = _equals(source, operand, value)
    return direct and f"(not {direct})"


def _is_in(source: Source, operand: list[Any], value: Value) -> str:
    # A bool equals no str and no int to manifests, and a value of another type may have no hash.
    found = frozenset(item for item in operand if type(item) in (str, int, float))
    name, slow = value.name, _slow(source, "in", operand)
    fast = f"{name} in {source.bind(found)} if type({name}) is str or type({name}) is int"
    return f"({fast} else {slow}({name}))"


def _not_in(source: Source, operand: list[Any], value: Value) -> str:
    return f"(not {_is_in(source, operand, value)})"


def _empty(source: Source, operand: bool, value: Value) -> str:
    test = empty_test(source, value)
    return f"({test})" if operand else f"(not {test})"


def _regex(source: Source, operand: str, value: Value) -> str:
    pattern = compile_pattern(operand)
    name, search = value.name, source.bind(pattern.compiled.search)
    # A longer text is for the process that can be stopped.
    fast = f"{search}({name}) is not None if len({name}) <= {pattern.longest_direct}"
    found = f"({fast} else {source.bind(pattern.found)}({name}))"
    return found if source.kind(value) == "str" else f"(type({name}) is str and {found})"


def _ordering(comparison: str, sign: str) -> Callable[[Source, Any, Value], str]:
    def emit(source: Source, operand: Any, value: Value) -> str:
        name, slow = value.name, _slow(source, comparison, operand)
        fast = f"{name} {sign} {source.bind(operand)}"
        return f"({fast} if type({name}) is {type(operand).__name__} else {slow}({name}))"

    return emit


_DIRECT: dict[str, Callable[[Source, Any, Value], str | None]] = {
    "equals": _equals,
    "not_equals": _not_equals,
    "in": _is_in,
    "not_in": _not_in,
    "empty": _empty,
    "regex": _regex,
    **{name: _ordering(name, sign) for name, sign in _SIGNS.items()},
}

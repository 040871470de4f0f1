"""Whether data fits a schema, decided fast: the common case, in which there is nothing to report.

A schema becomes functions that say yes or no. Where they say no, or can't tell, jsonschema finds
the words. A test holds both to the same answers.

Most keywords speak of one type only, and `type`, `if` and `enum` often ask for no more than the
type. So each node has one function for each type of value, with only what is left to ask of that
type; it is made when the first such value comes, which also ends the circles of `$ref`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, NamedTuple

__all__ = ["Fits", "compile_schema"]

Fits = Callable[[Any], bool]
"""Return whether a value fits."""

_Check = Fits | bool
"""What decides for values of one type; a bool, where the type alone decides."""

_ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "examples", "default"}
_MEMBERS = {"properties", "patternProperties", "additionalProperties"}

_NAMES: dict[type, set[str]] = {
    dict: {"object"},
    list: {"array"},
    str: {"string"},
    # To JSON Schema 10.0 is a whole number; to a reader of YAML it is not.
    int: {"integer", "number"},
    float: {"number"},
    bool: {"boolean"},
    NoneType: {"null"},
}
"""What `type` calls the types of plain data."""


class _UnsureError(Exception):
    """The value has a form that only jsonschema judges."""


def compile_schema(name: str, schemas: Mapping[str, Any], pointer: str = "") -> Fits:
    """Return the check of a node of the schema `name`; `schemas` are all that `$ref` may name.

    Raises:
        ValueError: a schema has a keyword that is not known here.
    """
    for home, schema in schemas.items():
        _check_keywords(schema, home)
    root = _Compiler(schemas).node(_at(schemas[name], pointer), name)

    def fits(value: Any) -> bool:
        try:
            return root[type(value)](value)
        except (_UnsureError, RecursionError):
            return False

    return fits


def _check_keywords(schema: Any, home: str) -> None:
    for keyword, value in () if isinstance(schema, bool) else schema.items():
        if keyword not in _KNOWN:
            raise ValueError(f"the keyword '{keyword}' of {home} has no check in {__name__}")
        for one in _BELOW.get(keyword, lambda _: ())(value):
            _check_keywords(one, home)


def _at(schema: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        schema = schema[part]
    return schema


class _Node(dict[type, Fits]):
    """The checks of a node, by the type of the value; made when they are asked for."""

    def __init__(self, compiled: Callable[[type], _Check]) -> None:
        super().__init__()
        self._compiled = compiled

    def __missing__(self, kind: type) -> Fits:
        check = self._compiled(kind) if kind in _NAMES else _unsure
        self[kind] = fits = _YES_OR_NO[check] if isinstance(check, bool) else check
        return fits


_YES_OR_NO: dict[bool, Fits] = {True: lambda _: True, False: lambda _: False}


def _unsure(_: Any) -> bool:
    raise _UnsureError


class _Compiler:
    """Compiles nodes of the schemas; what a `$ref` names, only once."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._targets: dict[tuple[str, str, type], _Check] = {}

    def node(self, schema: Any, home: str) -> _Node:
        """Return the checks of a node that stands in the schema `home`."""
        return _Node(lambda kind: self._of(schema, home, kind))

    def _of(self, schema: Any, home: str, kind: type) -> _Check:
        """Return the check of a node for values of a type."""
        if isinstance(schema, bool):
            return schema
        place = _Place(
            kind, lambda one: self.node(one, home), lambda one: self._of(one, home, kind)
        )
        checks = [
            compiled(schema[keyword], schema, place)
            for keyword, (compiled, kinds) in _KEYWORDS.items()
            if keyword in schema and kind in kinds
        ]
        if kind is dict and not _MEMBERS.isdisjoint(schema):
            checks.append(_members(schema, place))
        if "$ref" in schema:
            checks.append(self._reference(schema["$ref"], home, kind))
        return _every(checks)

    def _reference(self, reference: str, home: str, kind: type) -> _Check:
        file, _, pointer = reference.partition("#")
        name = file.removesuffix(".schema.json") or home
        key = (name, pointer, kind)
        if key not in self._targets:
            self._targets[key] = self._of(_at(self._schemas[name], pointer), name, kind)
        return self._targets[key]


class _Place(NamedTuple):
    """What a keyword is compiled for, and how to compile other nodes."""

    kind: type
    """The type of the values."""
    child: Callable[[Any], _Node]
    """Compile a node for what is in a value."""
    same: Callable[[Any], _Check]
    """Compile a node for the value itself."""


def _every(checks: Sequence[_Check]) -> _Check:
    """Return a check that says yes where all do."""
    if False in checks:
        return False
    rest = [check for check in checks if not isinstance(check, bool)]
    if len(rest) < 2:
        return rest[0] if rest else True

    def fits(value: Any) -> bool:
        for check in rest:  # noqa: SIM110 (`all` takes twice as long)
            if not check(value):
                return False
        return True

    return fits


def _members(node: Mapping[str, Any], place: _Place) -> Fits:
    """Return the check of the keys of a mapping and of what they hold, in one walk."""
    patterns = [(re.compile(key), one) for key, one in node.get("patternProperties", {}).items()]
    known = {
        key: place.child({"allOf": [one, *(also for at, also in patterns if at.search(key))]})
        for key, one in node.get("properties", {}).items()
    }
    unknown = _unknown(node, patterns, place)

    def fits(value: Any) -> bool:
        for key, item in value.items():
            member = known[key] if key in known else unknown(key)
            if not member[type(item)](item):
                return False
        return True

    return fits


def _unknown(
    node: Mapping[str, Any], patterns: Sequence[tuple[re.Pattern[str], Any]], place: _Place
) -> Callable[[str], _Node]:
    """Return what gives the node of a key that `properties` does not have."""
    additional = place.child(node.get("additionalProperties", True))
    by_number = functools.cache(
        lambda numbers: place.child({"allOf": [patterns[number][1] for number in numbers]})
    )

    def unknown(key: str) -> _Node:
        numbers = tuple(number for number, (at, _) in enumerate(patterns) if at.search(key))
        return by_number(numbers) if numbers else additional

    return unknown if patterns else lambda _: additional


def _type(names: Any, node: Any, place: _Place) -> _Check:
    return not _NAMES[place.kind].isdisjoint([names] if isinstance(names, str) else names)


def _const(wanted: Any, node: Any, place: _Place) -> _Check:
    return _enum([wanted], node, place)


def _enum(allowed: Any, node: Any, place: _Place) -> _Check:
    """Compare as JSON does, where true is not 1."""
    numbers = {int, float}
    kinds = numbers if place.kind in numbers else {place.kind}
    same = [one for one in allowed if type(one) in kinds]
    if place.kind is NoneType or not same:
        return bool(same)
    return (frozenset(same) if place.kind is str else same).__contains__


def _required(keys: Any, node: Any, place: _Place) -> _Check:
    wanted = frozenset(keys)
    return lambda value: wanted <= value.keys()


def _items(schema: Any, node: Any, place: _Place) -> _Check:
    items = place.child(schema)

    def fits(value: Any) -> bool:
        for item in value:  # noqa: SIM110 (as above)
            if not items[type(item)](item):
                return False
        return True

    return fits


def _unique(wanted: Any, node: Any, place: _Place) -> _Check:
    def fits(value: Any) -> bool:
        if not all(isinstance(item, str) for item in value):
            raise _UnsureError
        return len(set(value)) == len(value)

    return fits if wanted else True


def _all_of(schemas: Any, node: Any, place: _Place) -> _Check:
    return _every([place.same(schema) for schema in schemas])


def _not(schema: Any, node: Any, place: _Place) -> _Check:
    check = place.same(schema)
    return not check if isinstance(check, bool) else lambda value: not check(value)


def _if(schema: Any, node: Any, place: _Place) -> _Check:
    condition = place.same(schema)
    if isinstance(condition, bool):
        return place.same(node.get("then" if condition else "else", True))
    branches = [place.same(node.get(branch, True)) for branch in ("then", "else")]
    then, otherwise = (_YES_OR_NO[one] if isinstance(one, bool) else one for one in branches)
    return lambda value: then(value) if condition(value) else otherwise(value)


def _pattern(pattern: Any, node: Any, place: _Place) -> _Check:
    search = re.compile(pattern).search
    return lambda value: search(value) is not None


_Keyword = Callable[[Any, Any, _Place], _Check]


def _least(bound: float, node: Any, place: _Place, *, size: Callable[[Any], float]) -> _Check:
    return lambda value: size(value) >= bound


def _most(bound: float, node: Any, place: _Place, *, size: Callable[[Any], float]) -> _Check:
    return lambda value: size(value) <= bound


_AT_LEAST, _AT_MOST = functools.partial(_least, size=len), functools.partial(_most, size=len)

_KEYWORDS: dict[str, tuple[_Keyword, Collection[type]]] = {
    "type": (_type, _NAMES),
    "const": (_const, _NAMES),
    "enum": (_enum, _NAMES),
    "allOf": (_all_of, _NAMES),
    "not": (_not, _NAMES),
    "if": (_if, _NAMES),
    "required": (_required, {dict}),
    "minProperties": (_AT_LEAST, {dict}),
    "maxProperties": (_AT_MOST, {dict}),
    "items": (_items, {list}),
    "uniqueItems": (_unique, {list}),
    "minItems": (_AT_LEAST, {list}),
    "maxItems": (_AT_MOST, {list}),
    "pattern": (_pattern, {str}),
    "minLength": (_AT_LEAST, {str}),
    "maxLength": (_AT_MOST, {str}),
    "minimum": (functools.partial(_least, size=lambda value: value), {int, float}),
    "maximum": (functools.partial(_most, size=lambda value: value), {int, float}),
}
"""How a keyword is compiled, and the types that it speaks of."""
_BELOW: dict[str, Callable[[Any], Iterable[Any]]] = {
    **dict.fromkeys(["properties", "patternProperties", "$defs"], lambda value: value.values()),
    "allOf": lambda value: value,
    **dict.fromkeys(
        ["items", "additionalProperties", "not", "if", "then", "else"], lambda value: [value]
    ),
}
"""The schemas that stand below a keyword."""
_KNOWN = {*_KEYWORDS, *_MEMBERS, *_ANNOTATIONS, "$ref", "then", "else"}

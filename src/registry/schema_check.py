"""Whether data fits a schema, decided fast: the common case, in which there is nothing to report.

A schema becomes a tree of functions that say yes or no. Where they say no, or can't tell,
jsonschema finds the words. A test holds both to the same answers.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Fits", "compile_schema"]

Fits = Callable[[Any], bool]
"""Return whether a value fits."""

_ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "examples", "default"}


class _UnsureError(Exception):
    """The value has a form that only jsonschema judges."""


def compile_schema(name: str, schemas: Mapping[str, Any], pointer: str = "") -> Fits:
    """Return the check of a node of the schema `name`; `schemas` are all that `$ref` may name.

    Raises:
        ValueError: a schema has a keyword that is not known here.
    """
    return _whole(_Compiler(schemas).of({"$ref": f"#{pointer}"}, name))


def _whole(check: Fits) -> Fits:
    def fits(value: Any) -> bool:
        try:
            return check(value)
        except (_UnsureError, RecursionError):
            return False

    return fits


class _Compiler:
    """Compiles nodes of the schemas; what a `$ref` names, only once."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._targets: dict[tuple[str, str], Fits] = {}

    def of(self, node: Any, home: str) -> Fits:
        """Return the check of a node that stands in the schema `home`."""
        if isinstance(node, bool):
            return lambda _: node
        return _every(self._checks(node, home))

    def _checks(self, node: Mapping[str, Any], home: str) -> Sequence[Fits]:
        compiled = functools.partial(self.of, home=home)
        checks = []
        for keyword, value in node.items():
            if keyword == "$ref":
                checks.append(self._reference(value, home))
            elif keyword in _KEYWORDS:
                checks.append(_KEYWORDS[keyword](value, node, compiled))
            elif keyword not in _ANNOTATIONS | _TOGETHER:
                raise ValueError(f"the keyword '{keyword}' of {home} has no check in {__name__}")
        return checks

    def _reference(self, reference: str, home: str) -> Fits:
        file, _, pointer = reference.partition("#")
        name = file.removesuffix(".schema.json") or home
        key = (name, pointer)
        if key not in self._targets:
            # Known before it is compiled, because conditions and expressions hold themselves.
            self._targets[key] = lambda value: self._targets[key](value)  # noqa: PLW0108
            self._targets[key] = self.of(_at(self._schemas[name], pointer), name)
        return self._targets[key]


def _every(checks: Sequence[Fits]) -> Fits:
    """Return whether all checks say yes; a loop, because `all` takes twice as long."""
    if len(checks) == 1:
        return checks[0]

    def fits(value: Any) -> bool:
        for check in checks:  # noqa: SIM110 (as above)
            if not check(value):
                return False
        return True

    return fits


def _at(schema: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        schema = schema[part]
    return schema


_Compiled = Callable[[Any], Fits]

_TYPES: dict[str, Fits] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    # To JSON Schema 10.0 is a whole number; to a reader of YAML it is not.
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _type(names: Any, node: Any, compiled: _Compiled) -> Fits:
    checks = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
    if len(checks) == 1:
        return checks[0]
    return lambda value: any(check(value) for check in checks)


def _const(wanted: Any, node: Any, compiled: _Compiled) -> Fits:
    return lambda value: _same(value, wanted)


def _enum(allowed: Any, node: Any, compiled: _Compiled) -> Fits:
    return lambda value: any(_same(value, wanted) for wanted in allowed)


def _same(value: Any, wanted: Any) -> bool:
    """Compare as JSON does, where true is not 1."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def _properties(schemas: Any, node: Any, compiled: _Compiled) -> Fits:
    checks = {key: compiled(schema) for key, schema in schemas.items()}

    def fits(value: Any) -> bool:
        if isinstance(value, dict):
            for key, item in value.items():
                check = checks.get(key)
                if check is not None and not check(item):
                    return False
        return True

    return fits


def _pattern_properties(schemas: Any, node: Any, compiled: _Compiled) -> Fits:
    checks = [(re.compile(pattern), compiled(schema)) for pattern, schema in schemas.items()]

    def fits(value: Any) -> bool:
        return not isinstance(value, dict) or all(
            check(item)
            for pattern, check in checks
            for key, item in value.items()
            if pattern.search(key)
        )

    return fits


def _additional(schema: Any, node: Any, compiled: _Compiled) -> Fits:
    known = frozenset(node.get("properties", ()))
    patterns = [re.compile(pattern) for pattern in node.get("patternProperties", ())]
    check = compiled(schema)

    def fits(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        rest = [key for key in value if key not in known]
        return not rest or all(
            check(value[key]) for key in rest if not any(one.search(key) for one in patterns)
        )

    return fits


def _required(keys: Any, node: Any, compiled: _Compiled) -> Fits:
    wanted = frozenset(keys)
    return lambda value: not isinstance(value, dict) or wanted <= value.keys()


def _items(schema: Any, node: Any, compiled: _Compiled) -> Fits:
    check = compiled(schema)
    return lambda value: not isinstance(value, list) or all(check(item) for item in value)


def _unique(wanted: Any, node: Any, compiled: _Compiled) -> Fits:
    def fits(value: Any) -> bool:
        if not isinstance(value, list):
            return True
        if not all(isinstance(item, str) for item in value):
            raise _UnsureError
        return len(set(value)) == len(value)

    return fits if wanted else lambda value: True


def _all_of(schemas: Any, node: Any, compiled: _Compiled) -> Fits:
    return _every([compiled(schema) for schema in schemas])


def _not(schema: Any, node: Any, compiled: _Compiled) -> Fits:
    check = compiled(schema)
    return lambda value: not check(value)


def _if(schema: Any, node: Any, compiled: _Compiled) -> Fits:
    condition = compiled(schema)
    then, otherwise = compiled(node.get("then", True)), compiled(node.get("else", True))
    return lambda value: then(value) if condition(value) else otherwise(value)


def _pattern(pattern: Any, node: Any, compiled: _Compiled) -> Fits:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


_Keyword = Callable[[Any, Any, _Compiled], Fits]


def _bound(kind: Fits, size: Callable[[Any], float], *, least: bool) -> _Keyword:
    """Return a keyword that bounds values of a kind, and lets all others pass."""

    def keyword(bound: float, node: Any, compiled: _Compiled) -> Fits:
        if least:
            return lambda value: not kind(value) or size(value) >= bound
        return lambda value: not kind(value) or size(value) <= bound

    return keyword


def _number(value: float) -> float:
    return value


_KEYWORDS: dict[str, _Keyword] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "uniqueItems": _unique,
    "allOf": _all_of,
    "not": _not,
    "if": _if,
    "pattern": _pattern,
    "minLength": _bound(_TYPES["string"], len, least=True),
    "maxLength": _bound(_TYPES["string"], len, least=False),
    "minItems": _bound(_TYPES["array"], len, least=True),
    "maxItems": _bound(_TYPES["array"], len, least=False),
    "minProperties": _bound(_TYPES["object"], len, least=True),
    "maxProperties": _bound(_TYPES["object"], len, least=False),
    "minimum": _bound(_TYPES["number"], _number, least=True),
    "maximum": _bound(_TYPES["number"], _number, least=False),
}
_TOGETHER = {"then", "else"}
"""Keywords that another one reads."""

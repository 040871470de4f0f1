"""The JSON Schemas, and what a value violates of them."""

from __future__ import annotations

import functools
import json
import math
import os
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote

from registry.errors import shorten
from registry.installation import extension, extensions
from registry.settings import builtin_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import jsonschema_rs

    from registry.yamldoc.reader import DataPath

__all__ = [
    "SCHEMAS",
    "SchemaName",
    "Violation",
    "as_json",
    "installed_schema",
    "is_surely_valid",
    "read_schema",
    "schema_text",
    "schema_uri",
    "violations",
]

SchemaName = Literal["corrections", "index", "lock", "manifest"]
SCHEMAS: tuple[SchemaName, ...] = ("manifest", "index", "corrections", "lock")

_NAMED = {"lock": "pin", "manifest": "dataset"}
"""For each schema, the definition of the values under `datasets`, whose keys are names."""
_NUMBER = re.compile(r"\+?[0-9]+")
_SURE = 2.0**52
"""From here on every float is a whole number."""


class Violation(NamedTuple):
    """A keyword of a schema that a value violates."""

    path: DataPath
    keyword: str
    limit: Any
    """What the schema has beside the keyword."""
    schema: dict[str, Any]
    """The part of the schema that has the keyword."""
    instance: Any
    message: str
    unknown: tuple[str, ...] = ()
    """The keys that the schema doesn't have."""


def schema_text(name: SchemaName) -> str:
    """Return the text of a schema file."""
    folder = builtin_root().parent / "schemas"
    return (folder / f"{name}.schema.json").read_text(encoding="utf-8")


def read_schema(name: SchemaName) -> dict[str, Any]:
    """Return a schema as JSON data."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def installed_schema(name: SchemaName) -> dict[str, Any]:
    """Return a schema with the types of sources that other packages add."""
    schema = read_schema(name)
    if name == "manifest":
        source = schema["$defs"]["source"]
        for kind in extensions("sources"):
            source["properties"]["type"]["enum"].append(kind)
            keys = extension("sources", kind).schema
            source["allOf"].append(
                {
                    "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
                    "then": keys,
                }
            )
    return schema


def schema_uri(name: SchemaName, definition: str = "") -> str:
    """Return the URI of a schema, or of a definition in it, for `$ref`."""
    pointer = f"#/$defs/{definition}" if definition else ""
    return f"https://registry.example/schemas/v1/{name}.schema.json{pointer}"


def is_surely_valid(value: Any, name: SchemaName, definition: str) -> bool:
    """Return whether a value is valid by our own schema; False may be due to added sources."""
    try:
        return _validator(name, definition).is_valid(as_json(value))
    except (TypeError, RecursionError):
        return False


def violations(value: Any, name: SchemaName, definition: str) -> Iterator[Violation]:
    """Yield what a value violates, also below an invalid name, in the order of its keys.

    Raises:
        TypeError: a value or a key is not what YAML has.
    """
    errors = _validator(name, definition, is_extended=True).iter_errors(as_json(value))
    places = _Places(value)
    located = [(_path(error, value), error) for error in errors]
    for path, error in sorted(located, key=lambda one: places.of(one[0])):
        one = _violation(error, path, value)
        yield one
        for key in one.unknown if "patternProperties" in one.schema else ():
            kind: SchemaName = "lock" if name == "lock" else "manifest"
            inside = "group" if one.path[-1:] == ("groups",) else _NAMED[kind]
            for inner in violations(one.instance[key], kind, inside):
                yield inner._replace(path=(*one.path, key, *inner.path))


class _Places:
    """Where the keys and items of a value are in their mappings and lists."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._orders: dict[int, dict[Any, int]] = {}
        """Of each mapping, numbered once: it may have 70,000 keys."""

    def of(self, path: DataPath) -> list[int]:
        """Return the place of each step of a path."""
        places, value = [], self._value
        for step in path:
            keys: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
            if id(value) not in self._orders:
                self._orders[id(value)] = {key: place for place, key in enumerate(keys)}
            places.append(self._orders[id(value)][step])
            value = value[step]
        return places


def as_json(value: Any) -> Any:
    """Return what JSON Schema has to check in place of a value.

    It would take 10.0 for an integer, and knows neither infinite numbers nor half a pair of
    surrogates.

    Raises:
        TypeError: a value or a key is none that YAML has, such as a tuple.
    """
    kind = type(value)
    if isinstance(value, str):  # also a location, which `jsonschema-rs` doesn't take
        return str(value) if value.isascii() else value.encode(errors="replace").decode()
    if value is None or kind is bool or kind is int:
        return value
    if isinstance(value, dict):
        return {str(as_json(key)): as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value) or abs(value) >= _SURE:
            return math.copysign(_SURE / 2 + 0.5, value)
        return math.nextafter(value, math.inf) if value.is_integer() else value
    is_path = isinstance(value, os.PathLike)
    hint = "pass the str of it" if is_path else "write a list, or another value of YAML"
    raise TypeError(f"{shorten(value)} is not a value that YAML has ({hint})")


@functools.cache
def _validator(
    name: SchemaName, definition: str, *, is_extended: bool = False
) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # a warm dataset needs none

    read = installed_schema if is_extended else read_schema
    known = jsonschema_rs.Registry([(schema_uri(key), read(key)) for key in SCHEMAS])
    schema = {"$ref": schema_uri(name, definition)}
    return jsonschema_rs.Draft202012Validator(schema, registry=known, offline=True)


@functools.cache
def _schemas() -> dict[str, Any]:
    return {schema_uri(key): installed_schema(key) for key in SCHEMAS}


def _path(error: jsonschema_rs.ValidationError, value: Any) -> DataPath:
    paths = list(_paths(error.instance_path, value))
    if len(paths) > 1:
        paths.sort(key=lambda path: as_json(_at(value, path)) != error.instance)
    return paths[0]


def _violation(error: jsonschema_rs.ValidationError, path: DataPath, value: Any) -> Violation:
    address, _, pointer = str(error.absolute_keyword_location).partition("#")
    parts = map(unquote, pointer.split("/")[1:])
    steps = [part.replace("~1", "/").replace("~0", "~") for part in parts]
    keyword = steps.pop()
    schema = _at(_schemas()[address], steps)
    unknown = tuple(getattr(error.kind, "unexpected", ()))
    instance = _at(value, path)
    return Violation(path, keyword, schema[keyword], schema, instance, error.message, unknown)


def _paths(steps: Sequence[str | int], value: Any) -> Iterator[DataPath]:
    """Yield the paths that jsonschema-rs may mean: 0.61 gives 1 for the keys '1', '01' and '+1'."""
    if not steps:
        yield ()
        return
    step, *rest = steps
    keys: Iterable[Any] = [step]
    if isinstance(value, dict) and step not in value:
        keys = (key for key in value if _is_step(step, str(as_json(key))))
    for key in keys:
        yield from ((key, *path) for path in _paths(rest, value[key]))


def _is_step(step: str | int, key: str) -> bool:
    return key == step or (
        isinstance(step, int) and bool(_NUMBER.fullmatch(key)) and int(key) == step
    )


def _at(value: Any, steps: Iterable[str | int]) -> Any:
    for step in steps:
        value = value[int(step) if isinstance(value, list) else step]
    return value

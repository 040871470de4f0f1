"""Validate documents, and values given in Python, and explain in words what is invalid."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from registry.errors import Problem, did_you_mean, shorten
from registry.manifest.schema import (
    SCHEMAS,
    SchemaName,
    is_surely_valid,
    read_schema,
    schema_uri,
)
from registry.rules import Finding
from registry.yamldoc.reader import DataPath, Document

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

__all__ = ["schema_errors", "validate"]

# jsonschema makes up to 25 calls per level. Where they fill the stack, a part of it that is
# written in Rust may panic, which is no RecursionError and ends the process.
_MAX_LEVELS = 32

_TYPE_NAMES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_MESSAGES = {
    "const": "must be {limit!r}, is {shown}",
    "pattern": "{shown} does not match {limit}",
    "minimum": "must be {limit} or more, is {shown}",
    "maximum": "must be {limit} or less, is {shown}",
    "uniqueItems": "must not repeat an item, is {shown}",
}
_NAMED = {"lock": "pin", "manifest": "dataset"}
"""Definition of what has a name in the documents of a schema."""


def validate(document: Document, name: SchemaName) -> list[Problem]:
    """Return all problems of a document, in the order of the file."""
    problems = [error.at(document) for error in schema_errors(document.value, name)]
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def schema_errors(value: Any, name: SchemaName, definition: str = "") -> list[Finding]:
    """Return how a value violates a schema, or one definition under its `$defs`."""
    # jsonschema is the reference and reports why a value is invalid, but takes 100 times as long,
    # and its import another 0.1 s: most files are valid and never need it.
    if is_surely_valid(value, name, definition):
        return []
    too_deep = Finding((), "nested too deeply to be checked", rule="yaml-limit")
    if _is_deeper(value, _MAX_LEVELS):
        return [too_deep]
    try:
        found = [
            reported
            for error in _validation_errors(value, name, definition)
            for reported in _report(error)
        ]
    except RecursionError:
        return [too_deep]
    # A key may be constrained in two places of a schema, and violate both in the same way.
    return list(dict.fromkeys(found))


def _is_deeper(value: Any, levels: int) -> bool:
    """Return whether dicts and lists are nested in more levels."""
    if not isinstance(value, dict | list):
        return False
    items: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in items)


def _validation_errors(value: Any, name: SchemaName, definition: str) -> Iterator[ValidationError]:
    """Yield what jsonschema reports; a dataset or pin with an invalid name is validated too."""
    kind: SchemaName = "lock" if name == "lock" else "manifest"
    for error in _validator(name, definition).iter_errors(value):
        yield error
        for key in _invalid_names(error):
            instance: Any = error.instance
            for inner in _validator(kind, _NAMED[kind]).iter_errors(instance[key]):
                inner.relative_path.extendleft(reversed([*error.absolute_path, key]))
                yield inner


@functools.cache
def _validator(name: SchemaName, definition: str) -> Draft202012Validator:
    """Return the reference validator of a schema, or of a definition in it."""
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    extend: Any = validators.extend  # it has no types
    validator: type[Draft202012Validator] = extend(Draft202012Validator, type_checker=checker)
    # A resource that states its `$schema` would be left to the validator of that, not to ours.
    schemas = {schema_uri(known): read_schema(known) for known in SCHEMAS}
    for schema in schemas.values():
        del schema["$schema"]
    registry: Registry[Any] = Registry().with_contents(
        schemas.items(), default_specification=DRAFT202012
    )
    return validator({"$ref": schema_uri(name, definition)}, registry=registry)


def _is_integer(_: Any, value: Any) -> bool:
    """Return whether a value is an int: JSON Schema would take 10.0 as well."""
    return isinstance(value, int) and not isinstance(value, bool)


def _report(error: ValidationError) -> Iterator[Finding]:
    path = tuple(error.absolute_path)
    keyword = str(error.validator)
    instance: Any = error.instance
    limit: Any = error.validator_value
    shown = shorten(instance)
    match keyword:
        case "additionalProperties":
            yield from _unknown_keys(error, path)
        case "required":
            # jsonschema makes one error for each missing key, and names it only in its message.
            schema: Any = error.schema
            for key in limit:
                if key not in instance:
                    hint = schema.get("properties", {}).get(key, {}).get("description", "")
                    yield Finding(path, f"the key '{key}' is missing", hint, "missing-key")
        case "type":
            names = limit if isinstance(limit, list) else [limit]
            expected = " or ".join(_TYPE_NAMES[name] for name in names if name != "null")
            yield Finding(path, f"must be {expected}, is {shown}", rule="wrong-type")
        case "enum":
            choices = [str(choice) for choice in limit if choice is not None]
            hint = did_you_mean(str(instance), choices)
            message = f"{shown} is not one of {', '.join(choices)}"
            yield Finding(path, message, hint, "wrong-value")
        case "not":  # the one `not` with a message of its own: `shuffle_choices: true`
            message = f"{instance!r} is not allowed here"
            yield Finding(path, message, "give a seed, such as 42", "unseeded-shuffle")
        case "minLength" | "minItems" | "minProperties":
            message = f"must have at least {_counted(limit, keyword)}"
            message = "must not be empty" if limit == 1 else message
            yield Finding(path, message, rule="wrong-value")
        case "maxLength" | "maxItems" | "maxProperties":
            hint = "write one operation per item" if keyword == "maxProperties" else ""
            message = f"must have at most {_counted(limit, keyword)}, is {shown}"
            yield Finding(path, message, hint, "wrong-value")
        case _:
            template = _MESSAGES.get(keyword)
            message = template.format(limit=limit, shown=shown) if template else error.message
            yield Finding(path, message, rule="wrong-value")


def _counted(limit: int, keyword: str) -> str:
    nouns = {"Length": "character", "Items": "item", "Properties": "key"}
    return f"{limit} {nouns[keyword[3:]]}{'s' if limit > 1 else ''}"


def _unknown_keys(error: ValidationError, path: DataPath) -> Iterator[Finding]:
    invalid = _invalid_names(error)
    for key in invalid:
        hint = "use lower-case letters, digits, '.', '-' and '_'"
        yield Finding((*path, key), f"'{key}' is not a valid dataset name", hint, "bad-name")
    schema: Any = error.schema
    instance: Any = error.instance
    known = schema.get("properties", {})
    for key in instance if not invalid else ():
        if key not in known:
            hint = did_you_mean(key, known) or f"known keys: {', '.join(known)}"
            yield Finding((*path, key), f"unknown key '{key}'", hint, "unknown-key")


def _invalid_names(error: ValidationError) -> list[str]:
    """Return the keys that fit no pattern, of a mapping whose keys are names."""
    if error.validator != "additionalProperties":
        return []
    schema: Any = error.schema
    instance: Any = error.instance
    patterns = schema.get("patternProperties", ())
    return [
        key for key in instance if patterns and not any(re.search(one, key) for one in patterns)
    ]

"""Validate documents against the JSON Schemas, and word what is wrong."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from registry.errors import did_you_mean, shorten
from registry.manifest.schema_compiler import Fits, compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

    from registry.errors import Problem
    from registry.yamldoc.reader import DataPath, Document

__all__ = ["SCHEMAS", "SchemaName", "field_faults", "read_schema", "schema_text", "validate"]

SchemaName = Literal["index", "lock", "manifest"]
SCHEMAS: tuple[SchemaName, ...] = ("manifest", "index", "lock")

# jsonschema makes up to 25 calls a level. Where they fill the stack, a part of it that is written
# in Rust may panic, which is no RecursionError and ends the program.
_MOST_LEVELS = 32

_TYPE_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def read_schema(name: SchemaName) -> dict[str, Any]:
    """Return a schema as JSON data."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def schema_text(name: SchemaName) -> str:
    """Return the text of a schema as it ships."""
    package = Path(__file__).parents[1]
    shipped = package / "schemas"
    folder = shipped if shipped.is_dir() else package.parents[1] / "schemas"
    return (folder / f"{name}.schema.json").read_text(encoding="utf-8")


@functools.cache
def _validator(name: SchemaName) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry, Resource

    # To JSON Schema 10.0 is a whole number; to a reader of YAML it is not.
    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    extend: Any = validators.extend  # it has no types
    validator: type[Draft202012Validator] = extend(Draft202012Validator, type_checker=checker)
    schemas = {known: read_schema(known) for known in SCHEMAS}
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    )
    return validator(schemas[name], registry=registry)


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@functools.cache
def _fits(name: SchemaName, pointer: str = "") -> Fits:
    return compile_schema(name, {known: read_schema(known) for known in SCHEMAS}, pointer)


def validate(document: Document, name: SchemaName) -> list[Problem]:
    """Return all problems of a document, in the order of the file."""
    # jsonschema takes ten times as long, and its import is slow; most files are right.
    if _fits(name)(document.value):
        return []
    if _levels(document.value) > _MOST_LEVELS:
        return [document.problem((), "nested too deeply to be checked", rule="yaml-limit")]
    try:
        problems = [
            document.problem(path, message, hint, rule=rule)
            for error in _errors(name, document.value)
            for path, message, hint, rule in _reports(error)
        ]
    except RecursionError:
        return [document.problem((), "nested too deeply to be checked", rule="yaml-limit")]
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column))


_NAMED = {"lock": "pin", "manifest": "dataset"}
"""What has a name in the documents of a schema."""


def _errors(name: SchemaName, value: Any) -> Iterator[ValidationError]:
    """Yield the errors of a document, those of datasets with a bad name too."""
    validator: Any = _validator(name)
    kind: SchemaName = "lock" if name == "lock" else "manifest"
    schema = {"$ref": f"{read_schema(kind)['$id']}#/$defs/{_NAMED[kind]}"}
    for error in validator.iter_errors(value):
        yield error
        for key in _bad_names(error):
            for inner in validator.evolve(schema=schema).iter_errors(error.instance[key]):
                inner.relative_path.extendleft(reversed([*error.absolute_path, key]))
                yield inner


def _bad_names(error: ValidationError) -> list[str]:
    """Return the keys of a mapping from names that are none."""
    if error.validator != "additionalProperties":
        return []
    node: Any = error.schema
    patterns = node.get("patternProperties", {})
    instance: Any = error.instance
    return [
        key for key in instance if patterns and not any(re.search(one, key) for one in patterns)
    ]


def _levels(value: Any) -> int:
    """Return how deep mappings and lists are nested."""
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_levels, items), default=0) if isinstance(value, dict | list) else 0


def field_faults(fields: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the `fields` of a dataset that stands in no file: path, message."""
    if _fits("manifest", "/$defs/fields")(fields):
        return
    if _levels(fields) > _MOST_LEVELS:
        yield "", "nested too deeply to be checked"
        return
    validator: Any = _validator("manifest")
    schema = {"$ref": f"{validator.schema['$id']}#/$defs/fields"}
    for error in validator.evolve(schema=schema).iter_errors(fields):
        for path, message, hint, _ in _reports(error):
            yield ".".join(map(str, path)), f"{message} ({hint})" if hint else message


_Report = tuple["DataPath", str, str, str]
"""Path, message, hint, and the id of the rule."""


def _reports(error: ValidationError) -> Iterator[_Report]:
    path = tuple(error.absolute_path)
    word = _WORDINGS.get(str(error.validator))
    if word is None:
        yield path, error.message, "", "wrong-value"
        return
    yield from word(error, path)


def _unknown_keys(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    bad = _bad_names(error)
    for key in bad:
        hint = "use lower-case letters, digits, '.', '-' and '_'"
        yield (*path, key), f"'{key}' is no name for a dataset", hint, "bad-name"
    schema: Any = error.schema
    instance: Any = error.instance
    known = schema.get("properties", {})
    for key in instance if not bad else ():
        if key not in known:
            hint = did_you_mean(key, known) or f"known keys: {', '.join(known)}"
            yield (*path, key), f"unknown key '{key}'", hint, "unknown-key"


def _missing(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    # jsonschema makes one error a missing key; the key is the first word it quotes.
    key = error.message.split("'")[1]
    yield path, f"the key '{key}' is missing", _descriptions().get(key, ""), "missing-key"


@functools.cache
def _descriptions() -> dict[str, str]:
    """Return what the schemas say of each key, the first that says something."""
    found: dict[str, str] = {}
    for name in SCHEMAS:
        schema = read_schema(name)
        for node in [schema, *schema.get("$defs", {}).values()]:
            for key, item in node.get("properties", {}).items():
                target = schema["$defs"].get(str(item.get("$ref", "")).rpartition("/")[2], {})
                text = item.get("description") or target.get("description")
                if text:
                    found.setdefault(key, text)
    return found


def _wrong_type(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    expected: Any = error.validator_value
    names = expected if isinstance(expected, list) else [expected]
    wanted = " or ".join(_TYPE_WORDS[name] for name in names if name != "null")
    yield path, f"must be {wanted}, is {shorten(error.instance)}", "", "wrong-type"


def _not_one_of(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    allowed: Any = error.validator_value
    choices = [choice for choice in allowed if choice is not None]
    hint = did_you_mean(str(error.instance), [str(choice) for choice in choices])
    listed = ", ".join(map(str, choices))
    yield path, f"{shorten(error.instance)} is not one of {listed}", hint, "wrong-value"


def _constant(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    message = f"must be {error.validator_value!r}, is {shorten(error.instance)}"
    yield path, message, "", "wrong-value"


def _forbidden(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    # The one `not` of the schemas: `shuffle_choices: true`.
    message = f"{error.instance!r} is not allowed here"
    yield path, message, "give a seed, such as 42", "unseeded-shuffle"


def _pattern(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    wanted = error.validator_value
    yield path, f"{shorten(error.instance)} does not match {wanted}", "", "wrong-value"


def _empty(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    bound = error.validator_value
    message = "must not be empty" if bound == 1 else f"must have {bound} at least"
    yield path, message, "", "wrong-value"


def _below(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    yield path, f"must be {error.validator_value} or more, is {error.instance}", "", "wrong-value"


def _too_many(error: ValidationError, path: DataPath) -> Iterator[_Report]:
    hint = "write one operation an item" if error.validator == "maxProperties" else ""
    message = f"must have {error.validator_value} at most, is {shorten(error.instance)}"
    yield path, message, hint, "wrong-value"


_WORDINGS = {
    "additionalProperties": _unknown_keys,
    "required": _missing,
    "type": _wrong_type,
    "enum": _not_one_of,
    "const": _constant,
    "not": _forbidden,
    "pattern": _pattern,
    "minLength": _empty,
    "minItems": _empty,
    "minProperties": _empty,
    "maxLength": _too_many,
    "maxItems": _too_many,
    "maxProperties": _too_many,
    "minimum": _below,
}

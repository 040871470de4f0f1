"""Validate documents and values from Python against a schema, and explain each violation."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

import msgspec

from registry.base.conversion import convert
from registry.base.digest import canonical_json
from registry.base.escape import start_of
from registry.base.local_files import name_fault
from registry.boundary.secrets import redact
from registry.errors import Problem, count_text, did_you_mean, near_or_known, shorten
from registry.manifest.schema import (
    SchemaName,
    Violation,
    as_json,
    is_surely_valid,
    read_schema,
    violations,
)
from registry.manifest.source import SourceModel
from registry.rules import Finding
from registry.yamldoc.reader import DataPath, Document

__all__ = ["check_fields", "schema_errors", "source_from_arguments", "validate"]

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
    "exclusiveMinimum": "must be more than {limit}, is {shown}",
}
_MOST_ERRORS = 1_000
_MOST_REPEATED = 5
"""Repeated items of one list that are reported."""
Model = TypeVar("Model", bound=SourceModel)


def validate(document: Document, name: SchemaName, *, most: int | None = None) -> list[Problem]:
    """Return all violations of a schema in a document, or at most `most`, sorted by position."""
    problems = [error.at(document) for error in schema_errors(document.value, name, most=most)]
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def schema_errors(
    value: Any, name: SchemaName, definition: str = "", *, most: int | None = None
) -> list[Finding]:
    """Return the violations of a schema, or of one definition under its `$defs`, by a value."""
    if is_surely_valid(value, name, definition):
        return []
    try:
        errors = chain.from_iterable(map(_report, violations(value, name, definition)))
        # A key may violate two parts of a schema in the same way; report it once.
        found = list(islice(_distinct(errors), _MOST_ERRORS + 1 if most is None else most))
    except TypeError as error:
        return [Finding(_not_yaml(value), str(error), rule="wrong-type")]
    except RecursionError:
        return [Finding((), "nested too deeply to be checked", rule="yaml-limit")]
    if len(found) > _MOST_ERRORS and most is None:
        message = f"more than {_MOST_ERRORS:,} problems, of which these are the first"
        last = Finding((), message, "fix these first", "check-limit")
        return [*found[:_MOST_ERRORS], last]
    return found


def _not_yaml(value: Any) -> DataPath:
    """Return the path of the first value that YAML does not have."""
    items = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else items:
        try:
            as_json({key: item})
        except TypeError:
            return (key, *_not_yaml(item))
    return ()


def _distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    seen = set()
    for finding in findings:
        if finding not in seen:
            seen.add(finding)
            yield finding


def _report(error: Violation) -> Iterator[Finding]:
    path, keyword, limit, instance = error.path, error.keyword, error.limit, error.instance
    shown = _shown(instance)
    match keyword:
        case "additionalProperties":
            yield from _unknown_keys(error, path)
        case "required":
            yield from _missing_keys(error, path)
        case "type":
            names = limit if isinstance(limit, list) else [limit]
            expected = " or ".join(_TYPE_NAMES[name] for name in names if name != "null")
            message = (
                f"must be {expected}, is {shown}" if expected else f"takes no value, is {shown}"
            )
            hint = _usage(path) if path or instance is not None else "the file is empty"
            yield Finding(path, message, hint, "wrong-type")
        case "enum":
            choices = [str(choice) for choice in limit if choice is not None]
            hint = did_you_mean(str(instance), choices)
            message = f"{shown} is not one of {', '.join(choices)}"
            yield Finding(path, message, hint or _usage(path), "wrong-value")
        case "not":  # only for `shuffle_choices: true`
            message = f"{instance!r} is not allowed here"
            yield Finding(path, message, "write a seed, such as 42", "unseeded-shuffle")
        case "minLength" | "minItems" | "minProperties":
            message = f"must have at least {_counted(limit, keyword)}"
            message = "must not be empty" if limit == 1 else message
            hint = "name its members, or remove the group" if path[:1] == ("groups",) else ""
            yield Finding(path, message, hint, rule="wrong-value")
        case "uniqueItems":
            yield from islice(_repeated_items(instance, path), _MOST_REPEATED)
        case "maxLength" | "maxItems" | "maxProperties":
            hint = "write one operation per item" if keyword == "maxProperties" else ""
            message = f"must have at most {_counted(limit, keyword)}, is {shown}"
            yield Finding(path, message, hint, "wrong-value")
        case _:
            template, hint = _MESSAGES.get(keyword), ""
            if keyword == "pattern" and (about := error.schema.get("description")):
                examples = [f"such as `{one}`" for one in error.schema.get("examples", [])[:1]]
                hint = ", ".join([about.rstrip("."), *examples])
                template = "{shown} has the wrong form"
            message = template.format(limit=limit, shown=shown) if template else error.message
            yield Finding(path, message, hint, rule="wrong-value")


def _shown(value: Any) -> str:
    """Return a value for a message, without the secrets of URLs in it."""
    text = shorten(value, width=sys.maxsize)
    return shorten(value) if redact(text) == text else start_of(redact(text), 80)


def _usage(path: DataPath) -> str:
    """Return how an operation is written, for its argument; empty for any other value."""
    if path[-1:] == ("do",):
        return "such as `do: [strip]`"
    if path == ("datasets",):
        return "each below its name: `NAME: {source: …}`"
    if "do" not in path[:-2] or isinstance(path[-1], int):
        return ""
    operations = read_schema("manifest")["$defs"]["operation"]["properties"]
    schema = operations.get(path[-1], {}) if isinstance(path[-2], int) else {}
    if schema.get("type") == "null":
        return f"write `{path[-1]}`, without a value"
    example = schema.get("examples", [None])[0]
    text = re.sub(r'"([a-z][a-z_]*)": ', r"\1: ", json.dumps(example))
    return "" if example is None else f"such as `{{{path[-1]}: {text}}}`"


def _repeated_items(items: Any, path: DataPath) -> Iterator[Finding]:
    seen: set[bytes] = set()
    for place, item in enumerate(items):
        if (key := canonical_json(item)) in seen:
            message = f"{_shown(item)} is listed twice"
            yield Finding((*path, place), message, "remove one of them", "wrong-value")
        seen.add(key)
    if len(seen) == len(items):  # to JSON Schema 1 and 1.0 are equal
        yield Finding(path, f"must not contain equal items, is {_shown(items)}", "", "wrong-value")


def _missing_keys(error: Violation, path: DataPath) -> Iterator[Finding]:
    for key in error.limit:
        if key not in error.instance:
            hint = error.schema.get("properties", {}).get(key, {}).get("description", "")
            if key == "from" and [*error.instance.values()] == [None]:
                hint = f"a column is written without braces: `{next(iter(error.instance))}`"
            yield Finding(path, f"the key '{key}' is missing", hint, "missing-key")


def _counted(limit: int, keyword: str) -> str:
    nouns = {"Length": "character", "Items": "item", "Properties": "key"}
    return count_text(limit, nouns[keyword[3:]])


def _unknown_keys(error: Violation, path: DataPath) -> Iterator[Finding]:
    known = error.schema.get("properties", {})
    for key in error.unknown:
        if "patternProperties" in error.schema:  # a mapping whose keys are names
            what = "group" if path[-1:] == ("groups",) else "dataset"
            message = f"{shorten(key)} is not a valid {what} name"
            yield Finding((*path, key), message, name_fault(key), "bad-name")
        else:
            hint = near_or_known(key, known, "known keys")
            yield Finding((*path, key), f"unknown key '{key}'", hint, "unknown-key")


def check_fields(fields: Mapping[str, Any]) -> None:
    """Check a mapping from field to expression, as under `fields:` in a manifest.

    Raises:
        ValueError: an expression is invalid; the message describes the first problem.
    """
    for error in schema_errors(fields, "manifest", "fields"):
        raise ValueError(f"field {error}" if error.path else f"fields: {error}")


def source_from_arguments(model: type[Model], keys: Mapping[str, Any]) -> Model:
    """Return a source with the keys that are not None.

    Raises:
        ValueError: a key is invalid; the message has all problems that the schema reports.
    """
    given = {key: value for key, value in keys.items() if value is not None}
    try:
        return convert(given, model)
    except msgspec.ValidationError as error:
        source = {"type": model.type, **given}
        # In Python, `fs_options` may contain any objects, which the schema can't describe.
        if isinstance(source.get("fs_options"), dict):
            del source["fs_options"]
        errors = schema_errors(source, "manifest", "completeSource")
        if not errors:
            raise  # a bug: the model rejects what the schema accepts
        raise ValueError("; ".join(map(str, errors))) from error

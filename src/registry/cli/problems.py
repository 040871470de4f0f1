"""The output formats of problems: a table of functions, each problems → lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from registry.base.escape import escape_control, escape_lines
from registry.cli.output import json_text
from registry.errors import Problem
from registry.installation import installed_release
from registry.rules import RULES

__all__ = ["FORMATS", "sarif_log"]


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_RULE_INDEX = {rule: index for index, rule in enumerate(RULES)}


def _concise(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        severity = "warning: " if problem.severity == "warning" else ""
        rule = f" [{problem.rule}]" if problem.rule else ""
        yield escape_control(f"{problem.place}: {severity}{problem.text}{rule}")


def _github(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield workflow commands, which GitHub Actions shows on the lines of a pull request."""
    for problem in problems:
        place = {"line": problem.line, "col": problem.column} if problem.line else {}
        given = {"file": problem.file, **place, "title": problem.rule}
        properties = ",".join(
            f"{key}={_escaped(str(value), _PROPERTY_ESCAPES)}"
            for key, value in given.items()
            if value
        )
        message = _escaped(f"{problem.path}: {problem.text}" if problem.path else problem.text)
        yield f"::{problem.severity} {properties}::{message}"


# The runner unescapes these in reverse, so `%` must be escaped first.
_ESCAPES = (("%", "%25"), ("\n", "%0A"))
_PROPERTY_ESCAPES = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def _escaped(text: str, escapes: Sequence[tuple[str, str]] = _ESCAPES) -> str:
    text = escape_lines(text, starts_line=False)
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text


FORMATS: dict[str, Callable[[Iterable[Problem]], Iterable[str]]] = {
    "concise": _concise,
    "json": lambda problems: [json_text([problem.to_dict() for problem in problems])],
    "github": _github,
    "sarif": lambda problems: [json_text(sarif_log(problems))],
}
"""By the name that `--format` takes."""


def sarif_log(problems: Iterable[Problem]) -> dict[str, Any]:
    """Return a log with one run; files in the working directory have relative URIs."""
    rules = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.reason},
            "defaultConfiguration": {"level": rule.severity, "enabled": rule.default},
            "properties": {"tags": [rule.family]},
        }
        for rule in RULES.values()
    ]
    driver = {"name": "registry", "version": installed_release(), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",  # the default, UTF-16 units, counts an emoji twice
        "results": [_result(problem) for problem in problems],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem) -> dict[str, Any]:
    path = Path(problem.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if problem.line:
        physical["region"] = {"startLine": problem.line, "startColumn": problem.column}
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.path:
        location["logicalLocations"] = [{"fullyQualifiedName": problem.path}]
    rule = {"ruleId": problem.rule, "ruleIndex": _RULE_INDEX[problem.rule]} if problem.rule else {}
    return {
        **rule,
        "level": problem.severity,
        "message": {"text": problem.text},
        "locations": [location],
    }

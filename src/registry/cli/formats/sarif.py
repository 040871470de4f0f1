"""Problems as a SARIF 2.1.0 log, which code hosts and editors read."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from registry.errors import Problem
from registry.rules import RULES, Rule

__all__ = ["sarif_log"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_PLACES = {rule: place for place, rule in enumerate(RULES)}


def sarif_log(problems: Iterable[Problem]) -> dict[str, Any]:
    """Return a log of one run; files below the working directory have relative URIs."""
    driver = {
        "name": "registry",
        "version": version("eval-registry"),
        "rules": [_descriptor(rule) for rule in RULES.values()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem) for problem in problems],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.reason},
        "defaultConfiguration": {"level": rule.severity, "enabled": rule.default},
        "properties": {"tags": [rule.family]},
    }


def _result(problem: Problem) -> dict[str, Any]:
    rule = {"ruleId": problem.rule, "ruleIndex": _PLACES[problem.rule]} if problem.rule else {}
    return {
        **rule,
        "level": problem.severity,
        "message": {"text": problem.text},
        "locations": [_location(problem)],
    }


def _location(problem: Problem) -> dict[str, Any]:
    artifact: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
    if problem.line:
        artifact["region"] = {"startLine": problem.line, "startColumn": problem.column}
    named = {"logicalLocations": [{"fullyQualifiedName": problem.path}]} if problem.path else {}
    return {"physicalLocation": artifact, **named}


def _uri(file: str) -> str:
    """Return a file's URI, relative as its name is."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())

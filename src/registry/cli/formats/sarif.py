"""Problems as a SARIF 2.1.0 log, for code hosts and editors."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from registry.errors import Problem
from registry.rules import RULES

__all__ = ["sarif_log"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_RULE_INDEX = {rule: index for index, rule in enumerate(RULES)}


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
    driver = {"name": "registry", "version": version("eval-registry"), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",  # the default, UTF-16 units, counts an emoji twice
        "results": [_result(problem) for problem in problems],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem) -> dict[str, Any]:
    path = Path(problem.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
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

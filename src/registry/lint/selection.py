"""Select the rules to report and their severities, from the index and the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from msgspec import structs

from registry.base.conversion import convert
from registry.errors import Problem, Severity, did_you_mean
from registry.manifest.models import Validation
from registry.rules import ALL, RULE_FAMILIES, RULES, Finding
from registry.yamldoc.reader import DataPath, Document

__all__ = ["Selection", "configured", "invalid_name", "selected"]

# A file with such a problem is not read any further, so hiding it would make the file look valid.
_ALWAYS = frozenset(rule.id for name in ("yaml", "schema", "rules") for rule in RULE_FAMILIES[name])
_DEFAULT = frozenset(rule.id for rule in RULES.values() if rule.default)
_BLOCKING = frozenset(rule.id for rule in RULES.values() if rule.blocking)


@dataclass(frozen=True)
class Selection:
    """The rules to report, and the severities that replace the rules' own."""

    rules: frozenset[str] = _DEFAULT
    severity: Mapping[str, Severity] | None = None

    def __contains__(self, rule: object) -> bool:
        return rule in self.rules

    def with_error(self, rule: str) -> Selection:
        """Return the selection with an additional rule, reported as an error."""
        severity: dict[str, Severity] = {**(self.severity or {}), rule: "error"}
        return Selection(self.rules | {rule}, severity)

    def without(self, rules: Collection[str]) -> Selection:
        """Return the selection without some rules."""
        return replace(self, rules=self.rules.difference(rules))

    def apply(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the selected problems with the configured severities."""
        severities = self.severity or {}
        for problem in problems:
            if problem.rule in self.rules:
                severity = severities.get(problem.rule, problem.severity)
                same = severity == problem.severity
                yield problem if same else structs.replace(problem, severity=severity)


def invalid_name(
    name: str, *, ignoring: bool, families: bool = True, path: DataPath = ()
) -> Finding | None:
    """Check the name of a rule or a family; None if it is valid.

    Args:
        name: The name as written.
        ignoring: Whether it is ignored or made a warning, which is invalid for a blocking rule.
        families: Whether families and `all` are allowed.
        path: Where it was written.
    """
    known = (*RULES, *RULE_FAMILIES, ALL) if families else tuple(RULES)
    if name not in known:
        hint = did_you_mean(name, known) or "`validate --rules` lists them"
        return Finding(path, f"no rule '{name}'", hint, "unknown-rule")
    if ignoring and not _rules_named([name]) - _BLOCKING:
        hint = "fix the problem: it makes the dataset unusable"
        return Finding(path, f"'{name}' can't be ignored", hint, "rule-not-ignorable")
    return None


def selected(base: Selection, *, select: Iterable[str], ignore: Iterable[str]) -> Selection:
    """Return a selection narrowed by the command line, whose `select` replaces the index's.

    Raises:
        KeyError: a name is neither a rule nor a family.
    """
    wanted, unwanted = _rules_named(select), _rules_named(ignore) - _BLOCKING
    rules = wanted | _ALWAYS if wanted else base.rules
    return replace(base, rules=rules - unwanted)


def configured(index: Document, *, invalid: Iterable[str] = ()) -> tuple[Selection, list[Problem]]:
    """Return the selection under `validate` in an index, and its problems.

    If there are problems, or one of the paths that are known to be `invalid` is in it, the
    selection is the default.
    """
    if any(path == "$" or path.startswith("$.validate") for path in invalid):
        return Selection(), []
    given = index.value.get("validate") or {}
    problems = [
        found.at(index)
        for path, name, ignoring in _configured_names(given)
        if (found := invalid_name(name, ignoring=ignoring, path=("validate", *path)))
    ]
    if problems:
        return Selection(), problems
    config = convert(given, Validation)
    wanted = _DEFAULT if config.select is None else _rules_named(config.select) | _BLOCKING
    rules = wanted - (_rules_named(config.ignore) - _BLOCKING)
    severities = {
        rule: severity
        for name, severity in config.severity.items()
        for rule in _rules_named([name]) - _BLOCKING
    }
    return Selection(rules, severities), []


def _configured_names(given: Mapping[str, object]) -> Iterator[tuple[DataPath, str, bool]]:
    """Yield each name in the configuration: path, name, whether it is ignored or weakened."""
    for key in ("select", "ignore"):
        names = given.get(key) or ()
        for number, name in enumerate(names if isinstance(names, list) else ()):
            yield (key, number), name, key == "ignore"
    severities = given.get("severity")
    for name, severity in severities.items() if isinstance(severities, dict) else ():
        yield ("severity", name), name, severity == "warning"


def _rules_named(names: Iterable[str]) -> frozenset[str]:
    """Return the ids of the rules for names of rules and families."""
    found: set[str] = set()
    for name in names:
        if name == ALL:
            found.update(RULES)
        elif name in RULE_FAMILIES:
            found.update(rule.id for rule in RULE_FAMILIES[name])
        else:
            found.add(RULES[name].id)
    return frozenset(found)

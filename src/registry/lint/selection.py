"""Which rules are reported, and how severely: what the index says, and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec
from msgspec import structs

from registry.errors import Problem, Severity, did_you_mean
from registry.manifest.models import Validation
from registry.rules import ALL, FAMILIES, RULES
from registry.yamldoc.reader import DataPath, Document

__all__ = ["Selection", "WordFault", "configured", "selected", "word_fault"]

# Without these a file is not read at all, so leaving them out would show a clean result.
_ALWAYS = frozenset(rule.id for name in ("yaml", "schema", "rules") for rule in FAMILIES[name])
_DEFAULT = frozenset(rule.id for rule in RULES.values() if rule.default)
_STOPPING = frozenset(rule.id for rule in RULES.values() if rule.stops)

WordFault = tuple[str, str, str]
"""Message, hint, and id of the rule."""


@dataclass(frozen=True)
class Selection:
    """The rules that are reported, and the severities that differ from their own."""

    rules: frozenset[str] = _DEFAULT
    severity: Mapping[str, Severity] | None = None

    def __contains__(self, rule: object) -> bool:
        return rule in self.rules

    def with_error(self, rule: str) -> Selection:
        """Return the selection with a rule that is reported, as an error."""
        severity: dict[str, Severity] = {**(self.severity or {}), rule: "error"}
        return Selection(self.rules | {rule}, severity)

    def apply(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems that are selected, with the severities that were asked for."""
        severities = self.severity or {}
        for problem in problems:
            if problem.rule in self.rules:
                severity = severities.get(problem.rule, problem.severity)
                same = severity == problem.severity
                yield problem if same else structs.replace(problem, severity=severity)


def word_fault(word: str, *, ignoring: bool, families: bool = True) -> WordFault | None:
    """Say what is wrong with the name of a rule or a family; None where nothing is.

    Args:
        word: As it was written.
        ignoring: Whether it shall not be reported, or less severely: not all rules can be.
        families: Whether families and `all` are names here.
    """
    known = (*RULES, *FAMILIES, ALL) if families else tuple(RULES)
    if word not in known:
        hint = did_you_mean(word, known) or "`validate --rules` lists them"
        return f"no rule '{word}'", hint, "unknown-rule"
    if ignoring and not _words_rules([word]) - _STOPPING:
        message = f"'{word}' can't be ignored"
        return message, "what stops a dataset from being used is mended", "rule-not-ignorable"
    return None


def selected(base: Selection, *, select: Iterable[str], ignore: Iterable[str]) -> Selection:
    """Return a selection narrowed by the command line, whose `select` wins over the index.

    Raises:
        KeyError: a word is neither a rule nor a family.
    """
    wanted, unwanted = _words_rules(select), _words_rules(ignore) - _STOPPING
    rules = wanted | _ALWAYS if wanted else base.rules
    return replace(base, rules=rules - unwanted)


def configured(index: Document) -> tuple[Selection, list[Problem]]:
    """Return what an index says under `validate`, and what is wrong with that."""
    given = index.value.get("validate") or {}
    problems = list(_config_problems(index, given))
    if problems:
        return Selection(), problems
    config = msgspec.convert(given, Validation)
    wanted = _DEFAULT if config.select is None else _words_rules(config.select) | _STOPPING
    rules = wanted - (_words_rules(config.ignore) - _STOPPING)
    severities = {
        rule: severity
        for word, severity in config.severity.items()
        for rule in _words_rules([word]) - _STOPPING
    }
    return Selection(rules, severities), []


def _config_problems(index: Document, given: Mapping[str, object]) -> Iterator[Problem]:
    for path, word, ignoring in _config_words(given):
        fault = word_fault(word, ignoring=ignoring)
        if fault is not None:
            message, hint, rule = fault
            yield index.problem(("validate", *path), message, hint, rule=rule)


def _config_words(given: Mapping[str, object]) -> Iterator[tuple[DataPath, str, bool]]:
    """Yield each word of the configuration: its path, itself, whether it takes a rule back."""
    for key in ("select", "ignore"):
        words = given.get(key) or ()
        for number, word in enumerate(words if isinstance(words, list) else ()):
            yield (key, number), word, key == "ignore"
    severities = given.get("severity")
    for word, severity in severities.items() if isinstance(severities, dict) else ():
        yield ("severity", word), word, severity == "warning"


def _words_rules(words: Iterable[str]) -> frozenset[str]:
    """Return the ids of the rules that words stand for."""
    found: set[str] = set()
    for word in words:
        if word == ALL:
            found.update(RULES)
        elif word in FAMILIES:
            found.update(rule.id for rule in FAMILIES[word])
        else:
            found.add(RULES[word].id)
    return frozenset(found)

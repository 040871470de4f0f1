"""The table of rules: what manifests must satisfy, why, and which check finds violations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from registry.errors import Problem, Severity

__all__ = [
    "ALL",
    "RULES",
    "RULE_FAMILIES",
    "Check",
    "Finding",
    "Positioned",
    "Rule",
    "Stage",
    "run_checks",
]

ALL = "all"
"""The word that selects every rule, including those that are off by default."""

Stage = Literal["read", "text", "document", "merged", "spec", "lock"]
"""When a check runs. From "text" on, each stage passes its own type to checks: ManifestFile,
Document, Merged, DatasetSpec, PinnedDataset. At "read" no check runs: the module that reads the
file reports the problem itself.
"""


class Positioned(Protocol):
    """Something with positions in a file: a document, a dataset's merged keys, a comment."""

    def problem(
        self, path: tuple[str | int, ...], message: str, hint: str = "", *, rule: str
    ) -> Problem:
        """Return a problem at a path."""


class Finding(Struct, frozen=True):
    """One violation of a rule."""

    path: tuple[str | int, ...]
    """Keys and list indexes, relative to the checked value."""
    message: str
    """What is wrong, in one line."""
    hint: str = ""
    """What to do next."""
    rule: str = ""
    """Id of the rule; empty in the result of a rule's own function, as `run_checks` sets it."""

    def __str__(self) -> str:
        message = f"{self.message} ({self.hint})" if self.hint else self.message
        return ": ".join(part for part in (".".join(map(str, self.path)), message) if part)

    def at(self, place: Positioned) -> Problem:
        """Return the finding as a problem in `place`."""
        return place.problem(self.path, self.message, self.hint, rule=self.rule)


class Check(Struct, frozen=True):
    """The function that finds violations of a rule."""

    stage: Stage
    module: str
    """Below `registry`. A name, not a function: every stage imports this table, and a warm open
    must not import the checks that only `validate` runs."""
    function: str = ""
    """Empty if the function has the name of the rule."""


class Rule(Struct, frozen=True, kw_only=True):
    """One requirement on manifests."""

    id: str
    """Stable: ignore comments, indexes and reports contain it. With `_` for `-` it is also the
    name of the function that checks it."""
    family: str
    """The name that selects it together with related rules."""
    reason: str
    """Why it matters, in one line."""
    severity: Severity = "warning"
    """Used unless the index configures another."""
    blocking: bool = False
    """Whether a violation makes the dataset unusable, so that the rule can't be ignored."""
    default: bool = True
    """Whether it is reported without being selected."""
    fixable: bool = False
    """Whether `validate --fix` fixes it where that is safe."""
    checks: tuple[Check, ...]
    """At most one per stage; several if a later stage finds violations that an earlier one can't."""

    def function_of(self, check: Check) -> str:
        """Return the name of a check's function."""
        return check.function or self.id.replace("-", "_")

    @property
    def notes(self) -> list[str]:
        """Remarks for a list of rules."""
        notes = {"can't be ignored": self.blocking, "off": not self.default, "--fix": self.fixable}
        return [note for note, applies in notes.items() if applies]


def _blocking(family: str, id: str, reason: str, *checks: Check) -> Rule:
    return Rule(id=id, family=family, reason=reason, severity="error", blocking=True, checks=checks)


def _advisory(family: str, id: str, reason: str, *checks: Check, **options: Any) -> Rule:
    return Rule(id=id, family=family, reason=reason, checks=checks, **options)


_READER = Check("read", "yamldoc.reader")
_PARSER = Check("read", "yamldoc.parser")
_SCHEMA = Check("read", "manifest.validation")
_CATALOG = Check("read", "catalog.reader")
_RESOLVE = Check("read", "manifest.resolve")
_TRUST = Check("read", "catalog.catalog")
_LOCKFILE = Check("read", "lint.dataset_checks")
_SELECTION = Check("read", "lint.selection")
_COMMENTS = Check("read", "lint.selection")
_NAMES = Check("read", "lint.dataset_checks")
_GROUPS = Check("read", "catalog.groups")
_CODE = Check("read", "lint.stray_files")
_NESTED = Check("read", "lint.stray_files")
_CHECKS = Check("read", "lint.dataset_checks")
_TEXT = Check("text", "lint.layout")
_DOCUMENT = Check("document", "lint.layout")
_KEYS = Check("merged", "manifest.checks")
_SPLITS = Check("merged", "manifest.derived")
_PATHS = Check("merged", "manifest.paths")
_SOURCES = Check("merged", "manifest.source_checks")
_MISSING_DATA = Check("spec", "lint.data_checks")
_CORRECTIONS = Check("read", "corrections.file")
_COLUMNS = Check("spec", "lint.data_checks")
_PINNED_COLUMNS = Check("lock", "lint.data_checks", "unknown_pinned_column")
_COMPILED = Check("spec", "lint.data_checks", "uncompilable_expression")
_PINS = Check("lock", "lint.dataset_checks")

# fmt: off
_TABLE = (
    _blocking("yaml", "unreadable-file", "A file that can't be opened or is not UTF-8 can't be checked.", _READER),
    _blocking("yaml", "yaml-syntax", "The file is not valid YAML, so nothing in it can be read.", _PARSER),
    _blocking("yaml", "yaml-limit", "Sizes are limited, so that no file can exhaust a machine.", _PARSER),
    _blocking("yaml", "yaml-tag", "Tags construct objects of a program; manifests are plain data.", _PARSER),
    _blocking("yaml", "yaml-key", "Tools read a key that is not a string in different ways.", _PARSER),
    _blocking("yaml", "yaml-number", "JSON, Arrow and other readers have no such number.", _PARSER),
    _blocking("yaml", "duplicate-key", "Only one of the values counts, and a reviewer may see the other.", _PARSER),
    _blocking("schema", "unknown-key", "A misspelt key would be ignored without notice.", _SCHEMA),
    _blocking("schema", "missing-key", "The dataset is not defined without this key.", _SCHEMA, _KEYS),
    _blocking("schema", "wrong-type", "The value is not of the type that the key takes.", _SCHEMA),
    _blocking("schema", "wrong-value", "The value is not one that the key allows.", _SCHEMA),
    _blocking("schema", "bad-name", "Names are used in commands, paths and URLs.", _SCHEMA),
    _blocking("catalog", "include-nothing", "A pattern that matches no file is usually a misspelt folder.", _CATALOG),
    _blocking("catalog", "include-limit", "A pattern must not keep a reviewer's machine busy.", _CATALOG),
    _blocking("catalog", "duplicate-name", "One name must not mean two datasets.", _CATALOG),
    _blocking("catalog", "override-nothing", "The name may be misspelt, and the package's dataset is still what its name means.", _CATALOG),
    _blocking("catalog", "unknown-parent", "`extends` names a dataset that is not in the catalog.", _RESOLVE),
    _blocking("catalog", "extends-cycle", "Datasets that extend each other can't be resolved.", _RESOLVE),
    _blocking("catalog", "extends-depth", "Nobody follows a long chain, and resolving all of them takes too long.", _RESOLVE),
    _advisory("catalog", "unknown-replacement", "Whoever follows a name that has changed must arrive at a dataset.", _RESOLVE, severity="error"),
    _blocking("catalog", "rename-cycle", "Names that are renamed to each other mean no dataset.", _RESOLVE),
    _advisory("catalog", "deprecated-parent", "The dataset that is extended will go, or is called otherwise now.", _NAMES),
    _blocking("catalog", "unknown-split", "Which samples the name alone means must be said once, in the manifest.", _SPLITS),
    _advisory("groups", "unknown-member", "A group without one of its members would report another mean under the same name.", _GROUPS, severity="error"),
    _advisory("groups", "group-cycle", "A group that contains itself has no members.", _GROUPS, severity="error"),
    _advisory("groups", "repeated-member", "The same samples would count twice in the mean.", _GROUPS, severity="error"),
    _advisory("groups", "deprecated-member", "The dataset will go, or is called otherwise now.", _GROUPS),
    _advisory("catalog", "nested-index", "In its folder it replaces the catalog and its permissions.", _NESTED),
    _blocking("catalog", "check-limit", "A catalog must not keep a reviewer's machine busy.", _CHECKS),
    _blocking("code", "python-in-catalog", "Python would import it in place of another module, where somebody only reviews.", _CODE),
    _blocking("order", "unseeded-shuffle", "Without a seed the order is different on every run.", _SCHEMA, _KEYS),
    _blocking("order", "seed-without-shuffle", "The seed has no effect, although its author expects one.", _KEYS),
    _blocking("secrets", "literal-secret", "Everyone who can read the manifest can read the secret.", _SOURCES),
    _blocking("secrets", "secret-in-url", "A password or signature in a URL is in every copy and log.", _SOURCES),
    _blocking("boundary", "outside-path", "A manifest that a stranger wrote must not read the files of whoever reviews it.", _CATALOG, _PATHS, _PINS),
    _blocking("boundary", "refused-protocol", "Other file systems can run code, or reach what no reviewer expects.", _SOURCES),
    _blocking("boundary", "refused-option", "An option can send credentials, or open files, anywhere.", _SOURCES),
    _blocking("boundary", "unlisted-host", "A host inside a network, or without encryption, needs the word of the index.", _SOURCES),
    _blocking("boundary", "unlisted-secret", "Whoever writes a manifest must not choose who receives a secret.", _SOURCES),
    # `manifest` may not import the operations of `mapping`, so only `spec` compiles them.
    _blocking("fields", "bad-expression", "An expression or condition that can't be compiled maps no record.", _KEYS, _COMPILED),
    _blocking("fields", "mapper-and-fields", "Both define how a record becomes a sample.", _KEYS),
    _blocking("fields", "bad-fewshot", "Without a companion, a number and a seed, nobody knows which examples are meant.", _RESOLVE, _KEYS),
    _blocking("fields", "untrusted-mapper", "A function runs only if the root index lists it under `trust`.", _TRUST),
    _advisory("fields", "unknown-column", "Without the column a field is silently empty, and a condition compares nothing.", _COLUMNS, _PINNED_COLUMNS, severity="error"),
    _blocking("fields", "bad-correction", "A row that fits no sample would correct nothing, or the wrong value.", _CORRECTIONS),
    _advisory("sources", "missing-data", "A dataset without its files can't be opened.", _MISSING_DATA, severity="error"),
    _blocking("sources", "bad-location", "No file can have this location, at least on some systems.", _SOURCES),
    _advisory("sources", "plain-http", "Anyone on the network path can read and change the data.", _SOURCES),
    _advisory("sources", "unpinned-revision", "The next commit may change the samples at any time.", _SOURCES, fixable=True),
    _advisory("description", "missing-license", "Nobody can tell whether the data may be used.", _KEYS),
    _advisory("description", "bad-license", "Programs compare licenses by the names that SPDX gives them.", _KEYS, severity="error"),
    _advisory("description", "missing-description", "`list` and reviewers see only the name.", _KEYS),
    _advisory("style", "schema-line", "It lets editors complete keys and mark mistakes as you type.", _TEXT, default=False, fixable=True),
    _advisory("style", "key-order", "Manifests with the same layout are quicker to review.", _DOCUMENT, default=False, fixable=True),
    _blocking("lock", "bad-lock", "None of its pins can be used, so no dataset of the catalog opens.", _LOCKFILE),
    _advisory("lock", "stale-lock", "The pinned samples may not be those of the manifest.", _PINS),
    _blocking("rules", "unknown-rule", "A misspelt id would ignore or select nothing.", _SELECTION),
    _blocking("rules", "rule-not-ignorable", "A problem that makes a dataset unusable must be fixed.", _SELECTION),
    _blocking("rules", "ignore-without-reason", "The next reader must know why; without it nothing is ignored.", _COMMENTS),
    _advisory("rules", "unused-ignore", "If the problem comes back, the comment would hide it.", _COMMENTS),
)
# fmt: on

RULES = {rule.id: rule for rule in _TABLE}
"""The rules by id, in the order of the page about them."""

RULE_FAMILIES = {
    name: tuple(rule for rule in _TABLE if rule.family == name)
    for name in dict.fromkeys(rule.family for rule in _TABLE)
}
"""The rules of each family."""


def run_checks(
    stage: Stage,
    subject: object,
    place: Positioned,
    *,
    blocking_only: bool = False,
    unchecked_keys: Collection[str] | None = None,
) -> Iterator[Problem]:
    """Yield the problems that the checks of a stage find in a subject.

    Args:
        stage: Which checks to run.
        subject: The argument of the checks; see `Stage`.
        place: The object that the paths of findings are relative to.
        blocking_only: Skip advisory rules.
        unchecked_keys: Top-level keys that are known to be invalid: findings in them, and findings
            about the subject as a whole, are dropped. None means that all keys are valid.
    """
    for rule, check in _checks_of(stage):
        if blocking_only and not rule.blocking:
            continue
        for found in check(subject):
            if unchecked_keys is None or (found.path and found.path[0] not in unchecked_keys):
                yield replace(found, rule=rule.id).at(place)


@functools.cache
def _checks_of(stage: Stage) -> tuple[tuple[Rule, Callable[[Any], Iterator[Finding]]], ...]:
    return tuple(
        (rule, getattr(import_module(f"registry.{check.module}"), rule.function_of(check)))
        for rule in _TABLE
        for check in rule.checks
        if check.stage == stage
    )

"""The rules of manifests: the table of what can be wrong with them, and why that matters."""

from __future__ import annotations

from msgspec import Struct

from registry.errors import Severity

__all__ = ["ALL", "FAMILIES", "RULES", "Rule"]

ALL = "all"
"""The word that stands for every rule, those that are off by default too."""


class Rule(Struct, frozen=True, kw_only=True):
    """One thing that manifests are held to."""

    id: str
    """Stable: it stands in ignore comments, indexes and reports."""
    family: str
    """The word that selects it together with its like."""
    reason: str
    """Why it matters, in one line."""
    severity: Severity = "warning"
    """As it is where the index does not say otherwise."""
    stops: bool = False
    """A dataset with this problem is refused wherever it is used, so it can't be ignored."""
    default: bool = True
    """False is only reported where it is selected."""
    fixable: bool = False
    """`validate --fix` mends it, where that is safe."""


def _stop(family: str, id: str, reason: str) -> Rule:
    return Rule(id=id, family=family, reason=reason, severity="error", stops=True)


def _warning(family: str, id: str, reason: str) -> Rule:
    return Rule(id=id, family=family, reason=reason)


def _style(id: str, reason: str) -> Rule:
    return Rule(id=id, family="style", reason=reason, default=False, fixable=True)


_TABLE = (
    _stop("yaml", "unreadable-file", "What can't be opened, or is not UTF-8, can't be checked."),
    _stop("yaml", "yaml-syntax", "The file is not YAML, so nothing in it is known."),
    _stop("yaml", "yaml-limit", "Sizes are bounded, so that no file can use up a machine."),
    _stop("yaml", "yaml-tag", "Tags build objects of a program; manifests are plain data."),
    _stop("yaml", "yaml-key", "A key that is no text reads otherwise in other tools."),
    _stop("yaml", "yaml-number", "JSON, Arrow and other readers have no such number."),
    _stop("yaml", "duplicate-key", "Of two values only one counts, and readers see the other."),
    _stop("schema", "unknown-key", "A misspelt key would be passed over in silence."),
    _stop("schema", "missing-key", "Without it nobody can say what the dataset is."),
    _stop("schema", "wrong-type", "The value is not of the kind that the key takes."),
    _stop("schema", "wrong-value", "The value is outside of what the key allows."),
    _stop("schema", "bad-name", "Names stand in commands, paths and URLs."),
    _stop("catalog", "include-nothing", "A pattern without a file is mostly a misspelt folder."),
    _stop("catalog", "duplicate-name", "One name must not mean two datasets."),
    _stop("catalog", "unknown-parent", "`extends` names a dataset that is not in the catalog."),
    _stop("catalog", "extends-cycle", "Datasets that extend each other have no beginning."),
    _stop("order", "unseeded-shuffle", "Without a seed the order is another on every machine."),
    _stop("order", "seed-without-shuffle", "It has no effect, which whoever wrote it expects."),
    _stop("secrets", "literal-secret", "What stands in a manifest is read by all who see it."),
    _stop("secrets", "secret-in-url", "A password or signature in a URL is in every copy and log."),
    _stop("fields", "bad-expression", "An expression or a condition that can't be compiled."),
    _stop("fields", "mapper-and-fields", "Both say how a record becomes a sample."),
    _stop("fields", "untrusted-mapper", "Code of a package runs only where the index trusts it."),
    Rule(
        id="unknown-column",
        family="fields",
        reason="The manifest names the columns of its file, and this is none of them.",
        severity="error",
    ),
    _warning("sources", "plain-http", "On the way anybody can read the data, and change it."),
    Rule(
        id="unpinned-revision",
        family="sources",
        reason="Another commit may bring other samples any day.",
        fixable=True,
    ),
    _warning("description", "missing-license", "Nobody can tell whether the data may be used."),
    _warning("description", "missing-description", "`list` and reviewers have only the name."),
    _style("schema-line", "With it editors complete keys and show mistakes while one writes."),
    _style("key-order", "Manifests that are all laid out alike are quicker to review."),
    _stop("lock", "bad-lock", "No pin of it can be used, so no dataset of the catalog opens."),
    _warning("lock", "stale-lock", "A pin of another manifest no longer says what is meant."),
    _stop("rules", "unknown-rule", "A misspelt id would ignore or select nothing."),
    _stop("rules", "rule-not-ignorable", "What stops a dataset from being used must be mended."),
    _stop("rules", "ignore-without-reason", "The next reader must know why; it ignores nothing."),
    _warning("rules", "unused-ignore", "It hides the problem when that comes back."),
)

RULES = {rule.id: rule for rule in _TABLE}
"""The rules by id, in the order of the page about them."""

FAMILIES = {
    name: tuple(rule for rule in _TABLE if rule.family == name)
    for name in dict.fromkeys(rule.family for rule in _TABLE)
}
"""The rules of each family."""

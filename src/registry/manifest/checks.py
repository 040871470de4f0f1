"""Judge a dataset by its merged keys: a table of checks, one a rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from registry.errors import Problem
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.merge import Merged
from registry.manifest.source_checks import (
    Finding,
    literal_secrets,
    plain_http,
    secrets_in_urls,
    unpinned_revisions,
)
from registry.rules import RULES

__all__ = ["advice", "faults"]

Check = Callable[[Merged], Iterator[Finding]]


Unsure = Collection[str] | None
"""Keys of which nothing can be said, as they are at fault already; None where all is known."""


def faults(merged: Merged, *, unsure: Unsure = None) -> Iterator[Problem]:
    """Yield what stops the dataset from being used."""
    return _run(merged, unsure, stops=True)


def advice(merged: Merged, *, unsure: Unsure = None) -> Iterator[Problem]:
    """Yield what does not stop it, and only `validate` reports."""
    return _run(merged, unsure, stops=False)


def _run(merged: Merged, unsure: Unsure, *, stops: bool) -> Iterator[Problem]:
    for rule, check in _CHECKS.items():
        if RULES[rule].stops is not stops:
            continue
        for path, message, hint in check(merged):
            if unsure is None or (path and path[0] not in unsure):
                yield merged.problem(path, message, hint, rule=rule)


def _unseeded_shuffle(merged: Merged) -> Iterator[Finding]:
    value = merged.value
    if value.get("shuffle") and "seed" not in value:
        message = "`shuffle` without `seed` gives another order on every machine"
        yield ("shuffle",), message, "add `seed: 42`"
    if value.get("shuffle_choices") is True:
        message = "`shuffle_choices: true` gives another order on every machine"
        yield ("shuffle_choices",), message, "give the seed: `shuffle_choices: 42`"


def _seed_without_shuffle(merged: Merged) -> Iterator[Finding]:
    if "seed" in merged.value and not merged.value.get("shuffle"):
        yield ("seed",), "`seed` without `shuffle` does nothing", "add `shuffle: true`"


def _bad_expressions(merged: Merged) -> Iterator[Finding]:
    for key, raw in merged.value.get("fields", {}).items():
        expressions = {key: raw}
        if key == "metadata" and isinstance(raw, dict):
            expressions = {f"metadata.{name}": item for name, item in raw.items()}
        for name, expression in expressions.items():
            if expression is None:
                continue
            try:
                parse_expression(expression)
            except ValueError as error:
                yield ("fields", *name.split(".", 1)), str(error), ""
    if "where" in merged.value:
        try:
            parse_condition(merged.value["where"])
        except ValueError as error:
            yield ("where",), str(error), ""


def _mapper_and_fields(merged: Merged) -> Iterator[Finding]:
    if "mapper" in merged.value and "fields" in merged.value:
        message = "`mapper` and `fields` exclude each other"
        yield ("mapper",), message, "keep one; null takes an inherited one away"


def _missing_source(merged: Merged) -> Iterator[Finding]:
    if "source" not in merged.value:
        yield (), "the dataset has no source", "add `source: {type: …, path: …}`"


def _missing_license(merged: Merged) -> Iterator[Finding]:
    return _missing(merged, "license", "no licence", "as the data's page says: `license: mit`")


def _missing_description(merged: Merged) -> Iterator[Finding]:
    return _missing(merged, "description", "no description", "add one plain sentence")


def _missing(merged: Merged, key: str, message: str, hint: str) -> Iterator[Finding]:
    """Yield that a key is missing; what a dataset only inherits is said of its parent."""
    if key not in merged.value and (not merged.has_parent or (key,) in merged.layers):
        yield (key,), message, hint


_CHECKS: dict[str, Check] = {
    "unseeded-shuffle": _unseeded_shuffle,
    "seed-without-shuffle": _seed_without_shuffle,
    "literal-secret": literal_secrets,
    "secret-in-url": secrets_in_urls,
    "bad-expression": _bad_expressions,
    "mapper-and-fields": _mapper_and_fields,
    "missing-key": _missing_source,
    "plain-http": plain_http,
    "unpinned-revision": unpinned_revisions,
    "missing-license": _missing_license,
    "missing-description": _missing_description,
}
"""What finds the problems of a rule; a rule more is a function and a row."""

"""The reference pages of the operations and the rules, made of their tables by `make docs`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from registry.mapping.operations import FAMILIES
from registry.rules import FAMILIES as RULE_FAMILIES
from registry.rules import Rule

if TYPE_CHECKING:
    from registry.mapping.operations.base import Operation

__all__ = ["operations_page", "rules_page"]

_HEAD = """# Operations

What `do:` may list, in `{from: expression, do: [operations]}`. Made of the table in
`src/registry/mapping/operations/` by `make docs`; a test runs every example.

An operation that can't work on a value is an error that names dataset, record, field, operation
and value. Comparisons, for `test`, `keep` and `letters_where`, are `equals not_equals in not_in
less at_most greater at_least regex empty`.
"""

_RULES_HEAD = """# Rules

What `python -m registry validate` holds manifests to. Made of the table in
`src/registry/rules.py` by `make docs`. Ids are stable.

An *error* makes `validate` end with 1, a *warning* only with `--strict`. What *can't be ignored*
stops a dataset from being used, wherever it is used; it can't be made a warning either. A rule
marked *off* is only reported where it, its family or `all` is selected. What `--fix` mends is
marked so.

## Ignoring a problem

    # registry: ignore unpinned-revision -- this one is meant to follow the branch
    revision: main
    path: http://10.0.0.7/qa.csv  # registry: ignore plain-http -- the lab's own net

A comment at the end of a line, or on lines of its own directly above it, ignores the problems of
that line; several rules are parted by commas. The reason behind `--` is required: without it
nothing is ignored. A comment that ignores nothing is reported.

## Choosing rules

On the command line `--select` and `--ignore` take ids and families (the headings below), `all` is
every rule. `--select` wins over the index. Problems of form (`yaml`, `schema`) and of these choices
(`rules`) are reported with every selection. In the root index:

    validate:
      select: [all]
      ignore: [missing-license]
      severity: {unpinned-revision: error}

## The lockfile

`stale-lock` compares the digest of each manifest with the one beside its pin; no file of data is
read (`python -m registry lock --check` reads local ones). It is a warning, as `get_dataset` then
takes the pinned bytes where it can; with `--locked` or `REGISTRY_LOCKED=1`, where such a dataset is
refused, it is an error, whatever is selected.

## Mending

`validate --fix` adds the line that names the schema, and puts the keys of datasets and sources in
order: lines move whole, with their comments, and what a file says stays the same. What can't be
moved so is named and left. A source of the Hub without a commit gets the one that `datasets.lock`
pins, unless a comment ignores `unpinned-revision` there; `registry lock` then pins the manifest as
it is now, to the same bytes. Files of other catalogs (`package:`) are not touched.

## In CI

    python -m registry validate --strict --format github

An action for GitHub and a hook of pre-commit do it: see [review.md](review.md#in-ci).

## Formats

`--format text` is for people; `json` is a list of the problems; `github` prints workflow commands,
which GitHub Actions shows at the lines of a pull request; `sarif` is a SARIF 2.1.0 log for code
scanning.
"""


def operations_page() -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(
        line for title, family in FAMILIES.items() for line in _family(title, family.OPERATIONS)
    )


def _family(title: str, operations: tuple[Operation, ...]) -> Iterator[str]:
    yield f"\n## {title}\n\n| operation | what it does | example | of | gives |\n"
    yield "|---|---|---|---|---|\n"
    for operation in operations:
        example = operation.example
        record = f", in the record {_value(example.record)}" if example.record else ""
        cells = (
            f"`{operation.name}`",
            operation.summary,
            _step(example.step),
            _value(example.value) + record,
            _value(example.result),
        )
        yield f"| {' | '.join(cells)} |\n"


def _step(step: Any) -> str:
    text = yaml.safe_dump(step, default_flow_style=True, width=10_000, sort_keys=False)
    return _code(text.removesuffix("\n").removesuffix("\n..."))


def _value(value: Any) -> str:
    """Return a value as JSON; what JSON does not have, as Python."""
    try:
        return _code(json.dumps(value, ensure_ascii=False))
    except TypeError:
        return _code(repr(value))


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def rules_page() -> str:
    """Return the page of the rules as Markdown."""
    tables = (line for name, family in RULE_FAMILIES.items() for line in _rules(name, family))
    return _RULES_HEAD + "".join(tables)


def _rules(name: str, family: tuple[Rule, ...]) -> Iterator[str]:
    yield f"\n## {name}\n\n| rule | severity | | why |\n|---|---|---|---|\n"
    for rule in family:
        words = {"can't be ignored": rule.stops, "off": not rule.default, "`--fix`": rule.fixable}
        notes = ", ".join(word for word, applies in words.items() if applies)
        yield f"| `{rule.id}` | {rule.severity} | {notes} | {rule.reason} |\n"


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "docs"
    for page, text in (("operations", operations_page()), ("rules", rules_page())):
        (folder / f"{page}.md").write_text(text, encoding="utf-8")

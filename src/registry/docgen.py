"""Generate the reference pages of operations and rules from their tables, for `make docs`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from registry.mapping.operations import FAMILIES
from registry.rules import RULE_FAMILIES

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

What `python -m registry validate` checks. Generated from the table in `src/registry/rules.py` by
`make docs`. Ids are stable.

With an *error* `validate` exits with 1, with a *warning* only under `--strict`. A rule that *can't
be ignored* reports what makes a dataset unusable, so it can't be made a warning either. A rule
marked *off* is only reported if it, its family or `all` is selected. Problems of a rule marked
`--fix` can be fixed automatically.

## Ignoring a problem

    # registry: ignore unpinned-revision -- this one is meant to follow the branch
    revision: main
    path: http://10.0.0.7/qa.csv  # registry: ignore plain-http -- inside the lab's own network

A comment at the end of a line, or on lines of its own directly above it, ignores the problems of
that line. Separate several rules with commas. The reason after `--` is required: without it the
comment ignores nothing. A comment that ignores nothing is reported.

## Choosing rules

On the command line `--select` and `--ignore` take ids and families (the headings below); `all` is
every rule. `--select` takes precedence over the index. The families `yaml`, `schema` and `rules`
are always reported. In the root index:

    validate:
      select: [all]
      ignore: [missing-license]
      severity: {unpinned-revision: error}

## The lockfile

`stale-lock` compares the digest of each manifest with the one in its pin; no data file is read
(`python -m registry lock --check` reads the local ones). It is a warning, because `get_dataset`
then uses the pinned bytes where it can. With `--locked` or `REGISTRY_LOCKED=1`, which refuse such a
dataset, it is an error whatever is selected.

## Fixing

`validate --fix` adds the line that names the schema, and puts the keys of datasets and sources in
order: full lines move with their comments, and the data of the file stays the same. Keys that can't
be moved this way are reported and left alone. A Hub source without a commit gets the commit that
`datasets.lock` pins, unless a comment ignores `unpinned-revision` there; `registry lock` then pins
the changed manifest to the same bytes. Files of other catalogs (`package:`) are not changed.

## In CI

    python -m registry validate --strict --format github

There is a GitHub Action and a pre-commit hook: see [review.md](review.md#in-ci).

## Formats

`--format text` is for people, `json` is a list of the problems, `github` prints workflow commands
that GitHub Actions shows on the lines of a pull request, and `sarif` is a SARIF 2.1.0 log for code
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
    """Return a value as JSON, or as Python where JSON has no such value."""
    try:
        return _code(json.dumps(value, ensure_ascii=False))
    except TypeError:
        return _code(repr(value))


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def rules_page() -> str:
    """Return the page of the rules as Markdown."""
    lines = [_RULES_HEAD]
    for name, family in RULE_FAMILIES.items():
        lines.append(f"\n## {name}\n\n| rule | severity | | why |\n|---|---|---|---|\n")
        for rule in family:
            notes = ", ".join(rule.notes).replace("--fix", "`--fix`")
            lines.append(f"| `{rule.id}` | {rule.severity} | {notes} | {rule.reason} |\n")
    return "".join(lines)


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "docs"
    for page, text in (("operations", operations_page()), ("rules", rules_page())):
        (folder / f"{page}.md").write_text(text, encoding="utf-8")

"""The reference page of the operations, made of their table: `make docs` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from registry.mapping.operations import FAMILIES

if TYPE_CHECKING:
    from registry.mapping.operations.operation import Operation

__all__ = ["operations_page"]

_HEAD = """# Operations

What `do:` may list, in `{from: expression, do: [operations]}`. Made of the table in
`src/registry/mapping/operations/` by `make docs`; a test runs every example.

An operation that can't work on a value is an error that names dataset, record, field, operation
and value. Comparisons, for `test`, `keep` and `letters_where`, are `equals not_equals in not_in
less at_most greater at_least regex empty`.
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


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "operations.md"
    page.write_text(operations_page(), encoding="utf-8")

"""What `validate` finds in fields whose columns the manifest names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.catalog import Catalog
from registry.check import check

Problems = Callable[[str], list[str]]

KNOWN = "source: {type: csv, path: x.csv, fieldnames: [question, hint, A, B]}"


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    """Check a catalog of one dataset; give path and message of each problem."""

    def found(keys: str) -> list[str]:
        text = f"version: 1\ndatasets:\n  d: {{{keys}}}\n"
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
        return [
            f"{one.path}: {one.message}"
            for one in check(Catalog.open(tmp_path), ignore=["description"])
        ]

    return found


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            "{input: {template: '{questoin}'}}",
            ["$.datasets.d.fields.input: no column 'questoin' (did you mean 'question'?)"],
        ),
        (
            "{input: question, choices: [A, B, C]}",
            ["$.datasets.d.fields.choices: no column 'C' (columns: A, B, hint, question)"],
        ),
        (
            "{input: question, metadata: {h: {from: hnt, do: [strip]}}}",
            ["$.datasets.d.fields.metadata: no column 'hnt' (did you mean 'hint'?)"],
        ),
        ("{input: question, choices: [A, B], metadata: {h: hint}, id: {hash: [question]}}", []),
        ("{input: question, target: nowhere}", []),
    ],
)
def test_columns_that_the_manifest_does_not_name_are_reported(
    problems: Problems, fields: str, expected: list[str]
) -> None:
    assert problems(f"{KNOWN}, fields: {fields}") == expected


def test_columns_are_not_known_where_the_file_names_them(problems: Problems) -> None:
    source = "source: {type: csv, path: x.csv}"
    assert problems(f"{source}, fields: {{input: {{template: '{{questoin}}'}}}}") == []

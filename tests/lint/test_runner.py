"""What `validate` finds in fields whose columns the manifest names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.runner import check

Problems = Callable[[str], list[str]]

KNOWN = "source: {type: csv, path: x.csv, fieldnames: [question, hint, A, B]}"


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    """Check a catalog of one dataset; give path and message of each problem."""

    def found(keys: str) -> list[str]:
        text = f"version: 1\ndatasets:\n  d: {{{keys}}}\n"
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
        return [
            f"{one.path}: {one.text}"
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


# --- problems of form do not hide those of meaning ---


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("source: data.csv", ["source: must be a mapping, is 'data.csv'"]),
        ("fields: question", ["fields: must be a mapping, is 'question'"]),
        ("join: side.csv", ["join: must be a mapping, is 'side.csv'"]),
        ("extends: [a]", ["extends: must be a string, is ['a']"]),
        ("source: {type: [csv], path: x}", ["source.type: "]),
        ("source: {type: csv, path: x}, shuffle: true", ["shuffle: `shuffle` without `seed` "]),
    ],
)
def test_a_name_that_is_none_hides_nothing(tmp_path: Path, keys: str, expected: list[str]) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m/*.yaml]\n", encoding="utf-8")
    (tmp_path / "m").mkdir()
    (tmp_path / "m/a.yaml").write_text(f"datasets:\n  MMLU: {{{keys}}}\n", encoding="utf-8")
    found = check(Catalog.open(tmp_path), ignore=["description"])
    places = [f"{one.path.removeprefix('$.datasets.MMLU')}: {one.message}" for one in found]
    assert places[0] == ": 'MMLU' is not a valid dataset name"
    for wanted in expected:
        assert any(place.startswith(f".{wanted}") for place in places), places


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            "source: {type: csv, path: x}, limitt: 1, shuffle: true",
            ["limitt: unknown key 'limitt'", "shuffle: `shuffle` without `seed` gives a different order on every run"],
        ),
        (
            "source: {type: csv, pth: x}, seed: 1",
            ["source: the key 'path' is missing", "source.pth: unknown key 'pth'", "seed: `seed` without `shuffle` does nothing"],
        ),
        ("source: {type: csv, path: x}, seed: few, shuffle: true", ["seed: must be an integer, is 'few'"]),
        ("source: text, concat: [{split: a}]", ["source: must be a mapping, is 'text'"]),
        ("extends: [a], limit: 1", ["extends: must be a string, is ['a']"]),
        ("source: {type: hf, path: 5, split: t}, fields: [a]", ["source.path: must be a string, is 5", "fields: must be a mapping, is ['a']"]),
        ("limit: 3", [": the key 'source' is missing"]),
    ],
)  # fmt: skip
def test_what_is_right_in_form_is_judged_beside_what_is_not(
    tmp_path: Path, keys: str, expected: list[str]
) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    text = (
        f"datasets:\n  d: {{{keys}}}\n  kid: {{extends: d, license: mit}}\n"
        "  other: {source: {type: csv, path: x}, seed: 2}\n"
    )
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    found = check(Catalog.open(tmp_path), ignore=["description"])
    said = [f"{one.path.removeprefix('$.datasets.')}: {one.message}" for one in found]
    assert said == [
        *(f"d{'.' if not line.startswith(':') else ''}{line}" for line in expected),
        "other.seed: `seed` without `shuffle` does nothing",
    ]

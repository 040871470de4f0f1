"""Names of imported datasets, and what was left out."""

from __future__ import annotations

import pytest

from registry.base.local_files import name_fault
from registry.plugins.importers.models import (
    ImportedDataset,
    LeftOut,
    dataset_name,
    distinct,
    imported_text,
    unmapped_dataset,
)
from registry.yamldoc.reader import parse_yaml

KEYS = {
    "tags": ["a"],
    "source": {"type": "hf", "path": "a/b", "split": "no"},
    "fields": {"input": {"template": "a:\n{b}\u2028\n"}, "choices": None},
}
LEFT_OUT = (
    LeftOut("code", "bad\nline", line=3),
    LeftOut("metrics", "scores", "evaluation"),
    LeftOut("shots", "examples", "evaluation"),
)


def test_number_of_a_name_is_one_that_no_other_dataset_has() -> None:
    given = [ImportedDataset(name, {}) for name in ("a", "a--2", "a", "a--2", "b")]
    assert [one.name for one in distinct(given)] == ["a", "a--2", "a--3", "a--2--2", "b"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arc_easy", "arc_easy"),
        ("MMLU (Pro)", "mmlu-pro"),
        ("../../etc", "etc"),
        ("con", "dataset-con"),
        ("Größe", "gr-e"),
        ("", "dataset"),
        ("x" * 200, "x" * 128),
    ],
)
def test_names_are_valid_and_similar(text: str, name: str) -> None:
    assert dataset_name(text) == name
    assert name_fault(name) == ""


def test_columns_are_shown() -> None:
    source = {"type": "csv", "path": "a.csv"}
    columns = [f"c{number}" for number in range(42)]
    found = unmapped_dataset(
        "d", source, about={"license": "mit", "homepage": None}, columns=columns
    )
    assert found.keys == {"license": "mit", "source": {"type": "csv", "path": "a.csv"}}
    (fields,) = found.left_out
    assert fields.why.endswith("c38, c39 and 2 more")
    assert not found.is_whole


def test_the_text_is_read_back_unchanged() -> None:
    text = imported_text([ImportedDataset("d", KEYS, LEFT_OUT)], schema="s.json")
    assert parse_yaml(text, file="x").value == {"datasets": {"d": KEYS}}
    assert text.splitlines()[:4] == [
        "# yaml-language-server: $schema=s.json",
        "datasets:",
        "  # left out: code: bad line (line 3)",
        "  # left out: how it is run and scored: metrics, shots",
    ]
    assert '      input: {template: "a:\\n{b}\\L\\n"}' in text

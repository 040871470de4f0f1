"""The order of keys: full lines move with their comments, and the data stays the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.lint.fixes.key_order import DATASET_KEYS, SOURCE_KEYS, misplaced_keys, order_keys
from registry.lint.fixes.source_file import ManifestFile
from registry.manifest.schema import read_schema
from registry.manifest.source_models import CsvSource, HfSource, JsonSource, ParquetSource
from registry.yamldoc.reader import json_path, parse_yaml

ROOT = Path(__file__).parents[3]


def file_of(text: str) -> ManifestFile:
    return ManifestFile(Path("m.yaml"), text, parse_yaml(text, file="m.yaml"), Path())


def ordered(text: str) -> tuple[str, list[str]]:
    """Put the keys of a text in order; return it and the keys that could not be moved."""
    file, done, left = order_keys(file_of(text))
    again, more, still = order_keys(file)
    assert (again.text, more, still) == (file.text, [], left), "a second run changes nothing"
    assert parse_yaml(file.text, file="").value == parse_yaml(text, file="").value
    assert sorted("".join(file.text.split())) == sorted("".join(text.split())), "nothing is lost"
    assert bool(done) == (file.text != text)
    return file.text, left


BLOCK = """\
# At the top.
datasets:
  d:  # the dataset
    # About the fields.
    # Two lines of it.
    fields:
      input: q  # the question

      target: a
    limit: 3
    # About the source.
    source:
      path: x.csv  # the file
      # The kind.
      type: csv

    description: |  # long
      # no comment
      Words.

  # About e.
  e: {extends: d}
"""
BLOCK_ORDERED = """\
# At the top.
datasets:
  d:  # the dataset
    description: |  # long
      # no comment
      Words.
    # About the source.
    source:
      # The kind.
      type: csv
      path: x.csv  # the file

    # About the fields.
    # Two lines of it.
    fields:
      input: q  # the question

      target: a
    limit: 3

  # About e.
  e: {extends: d}
"""


def test_lines_move_with_their_comments() -> None:
    assert ordered(BLOCK) == (BLOCK_ORDERED, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "datasets: {d: {limit: 1, source: {path: x, type: csv}}}\n",
            "datasets: {d: {source: {type: csv, path: x}, limit: 1}}\n",
        ),
        (
            "datasets:\n  d: {limit: 1,\n      source: {type: csv, path: 'é, {x}'}}\n",
            "datasets:\n  d: {source: {type: csv, path: 'é, {x}'},\n      limit: 1}\n",
        ),
        (
            "datasets:\n  d:\n    limit: 1\n    source: {type: csv, path: x}",
            "datasets:\n  d:\n    source: {type: csv, path: x}\n    limit: 1",
        ),
        (
            "datasets:\r\n  d:\r\n    limit: 1\r\n    source: {type: csv, path: x}",
            "datasets:\r\n  d:\r\n    source: {type: csv, path: x}\r\n    limit: 1",
        ),
        (
            ("datasets:\n  d:\n    source: {type: hf, path: x, split: t}\n"
            "    concat:\n      - {split: a, name: b}\n      -\n        split: c\n        name: d\n"),
            ("datasets:\n  d:\n    source: {type: hf, path: x, split: t}\n"
            "    concat:\n      - {name: b, split: a}\n      -\n        name: d\n        split: c\n"),
        ),
        (
            ("datasets:\n  d:\n    source: {type: csv, path: x}\n"
            "    join:\n      on: a\n      source:\n        path: y\n        type: csv\n      into: b\n"),
            ("datasets:\n  d:\n    source: {type: csv, path: x}\n"
            "    join:\n      on: a\n      source:\n        type: csv\n        path: y\n      into: b\n"),
        ),
        (
            "datasets:\n  a: &a {source: {type: csv, path: x}}\n  d:\n    limit: 1\n    <<: *a\n    tags: [t]\n",
            "datasets:\n  a: &a {source: {type: csv, path: x}}\n  d:\n    <<: *a\n    tags: [t]\n    limit: 1\n",
        ),
        (
            "datasets:\n  d:\n    limit: 1\n    # Last words of the limit.\n\n\n    source: {type: csv, path: x}\n    # The end of d.\n# The end.\n",
            "datasets:\n  d:\n    source: {type: csv, path: x}\n    # The end of d.\n    limit: 1\n    # Last words of the limit.\n\n\n# The end.\n",
        ),
    ],
)  # fmt: skip
def test_block_and_flow_mappings_are_put_in_order(text: str, expected: str) -> None:
    assert ordered(text) == (expected, [])


@pytest.mark.parametrize(
    "text",
    [
        # Behind a dash, the first key shares its line.
        "datasets:\n  d:\n    source: {type: hf, path: x, split: t}\n    concat:\n      - split: a\n        name: b\n",
        # An alias must stay below its anchor.
        "datasets:\n  d:\n    limit: &n 1\n    source: {type: csv, path: x, skip_rows: *n}\n",
        # A comment within braces belongs to no key.
        "datasets:\n  d: {limit: 1,  # few\n      source: {type: csv, path: x}}\n",
        # An alias has the position of its anchor.
        "datasets:\n  c: {source: &s {type: csv, path: x}}\n  d: {limit: 1, source: *s}\n",
        # Mixed line endings.
        "datasets:\n  d:\r\n    limit: 1\n    source: {type: csv, path: x}\n",
    ],
)
def test_immovable_keys_are_left_and_reported(text: str) -> None:
    changed, left = ordered(text)
    assert changed == text
    assert len(left) == 1
    assert left[0].startswith("the keys of $.datasets.d")


def test_unsorted_mapping_does_not_prevent_sorting_of_others() -> None:
    text = (
        "datasets:\n  a:\n    limit: &n 1\n    source: {type: csv, path: x, skip_rows: *n}\n"
        "  b: {limit: 1, source: {type: csv, path: x}}\n"
    )
    changed, left = ordered(text)
    assert changed.endswith("b: {source: {type: csv, path: x}, limit: 1}\n")
    assert len(left) == 1


def test_first_key_out_of_order_is_reported() -> None:
    text = "datasets:\n  d:\n    limit: 1\n    tags: [a]\n    license: mit\n    source: {path: x, type: csv}\n"
    found = [(json_path(path), before) for path, before in misplaced_keys(file_of(text).document)]
    assert found == [
        ("$.datasets.d.tags", "limit"),
        ("$.datasets.d.source.type", "path"),
    ]


def test_merged_keys_are_not_ordered() -> None:
    text = (
        "datasets:\n  a: &a {source: {type: csv, path: x}, limit: 1}\n"
        "  b:\n    <<: *a\n    tags: [t]\n    seed: 1\n"
    )
    assert list(misplaced_keys(file_of(text).document)) == []


# --- the order ---


def test_key_order_lists_every_key() -> None:
    defs = read_schema("manifest")["$defs"]
    assert sorted(DATASET_KEYS) == sorted(defs["dataset"]["properties"])
    models = (CsvSource, JsonSource, ParquetSource, HfSource)
    keys = {key for model in models for key in model.__struct_fields__}
    assert set(SOURCE_KEYS) == {"type", *keys}
    assert len(SOURCE_KEYS) == len(set(SOURCE_KEYS))


def test_manual_lists_keys_in_this_order() -> None:
    page = (ROOT / "docs" / "manifests.md").read_text(encoding="utf-8")
    table = page.partition("## A dataset")[2].partition("\n\n`validate --fix` puts keys")[0]
    words = [
        word.strip("`,") for row in table.splitlines()[4:] for word in row.split("|")[1].split()
    ]
    assert words == sorted(words, key=DATASET_KEYS.index)
    assert len(words) > 10
    for row in page.partition("## Sources")[2].splitlines()[4:8]:
        keys = row.split("`")[3].split()
        assert keys == sorted(keys, key=SOURCE_KEYS.index), row

"""The text of a new manifest: every value is YAML, and every inference has its reason."""

from __future__ import annotations

from typing import Any

from registry.scaffold.fields import infer_fields
from registry.scaffold.new_manifest import About, manifest_text
from registry.yamldoc.reader import parse_yaml


def text_of(name: str, *records: dict[str, Any]) -> str:
    mapping = infer_fields(name, records)
    about = About("Questions.")
    source = {"type": "csv", "path": "q.csv"}
    return manifest_text(name, source, mapping, about=about, samples=len(records), schema="s.json")


def test_manifest_has_expressions_and_reasons() -> None:
    text = text_of("1e3", {"question": "?", "why": "x" * 70}, {"question": "?", "why": "y" * 70})
    assert (
        text
        == """\
# yaml-language-server: $schema=s.json
datasets:
  # registry: ignore missing-license -- not known yet: say it, such as `license: mit`
  '1e3':
    description: Questions.
    source:
      type: csv
      path: q.csv
    fields:
      input: question  # known column name
      target: why  # the only other column: please check
      id: {hash: [question], prefix: '1e3', length: 8}  # no column looks like unique ids, so they are derived
      choices: null  # nothing found
    expect: {samples: 2}
"""
    )


def test_columns_that_no_field_reads_are_named() -> None:
    record = {"question": "?", "answer": "!", **{f"c{n}\n": "x" * 61 for n in range(12)}}
    lines = text_of("d", record).splitlines()
    (line,) = [line for line in lines if "no field reads" in line]
    assert line.startswith('      # no field reads ["c0\\n", "c1\\n"')
    assert line.endswith('"c9\\n"], and 2 more')


def test_choices_of_which_the_first_is_correct_are_shuffled() -> None:
    record = {"question": "?", "correct_answer": "a", "distractor1": "b", "distractor2": "c"}
    data = parse_yaml(text_of("d", record), file="x").value["datasets"]["d"]
    assert data["shuffle_choices"] == 42
    assert data["fields"]["choices"] == ["correct_answer", "distractor1", "distractor2"]
    assert data["fields"]["target"] == {"const": "A"}


def test_records_without_input_are_left_out_visibly() -> None:
    records = [{"question": "?"}, {"question": ""}, {"question": "!"}]
    text = text_of("d", *records)
    assert "    where: {value: question, empty: false}  # without input: 1\n" in text


def test_what_the_user_says_comes_before_the_card() -> None:
    about = About("Of the card.", license="mit")
    assert about.updated("Mine.", None) == About("Mine.", license="mit")
    assert about.updated(None, "cc0-1.0") == About("Of the card.", license="cc0-1.0")

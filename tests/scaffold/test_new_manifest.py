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
    rest = {"answer": "!", **{f"c{n}\n": "x" * 61 for n in range(12)}}
    text = text_of("1e3", *({"question": question, **rest} for question in ("?", "", "?")))
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
    where: {value: question, empty: false}  # without input: 1
    fields:
      input: question  # known column name
      target: answer  # known column name
      id: {hash: [question], prefix: '1e3', length: 8}  # no column looks like unique ids, so they are derived
      choices: null  # nothing found
      # no field reads ["c0\\n", "c1\\n", "c2\\n", "c3\\n", "c4\\n", "c5\\n", "c6\\n", "c7\\n", "c8\\n", "c9\\n"], and 2 more
    expect: {samples: 3}
"""
    )


def test_choices_of_which_the_first_is_correct_are_shuffled() -> None:
    record = {"question": "?", "correct_answer": "a", "distractor1": "b", "distractor2": "c"}
    data = parse_yaml(text_of("d", record), file="x").value["datasets"]["d"]
    assert data["shuffle_choices"] == 42
    assert data["fields"]["choices"] == ["correct_answer", "distractor1", "distractor2"]
    assert data["fields"]["target"] == {"const": "A"}


def test_what_the_user_says_comes_before_the_card() -> None:
    about = About("Of the card.", license="mit")
    assert about.updated("Mine.", None) == About("Mine.", license="mit")
    assert about.updated(None, "cc0-1.0") == About("Of the card.", license="cc0-1.0")

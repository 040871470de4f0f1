"""Infer the manifest of a dataset from its records: what `registry add` writes.

Every inference is visible to a reviewer: the manifest has its reason as a comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from registry.errors import DecodeError, ManifestError
from registry.yamldoc.reader import parse_yaml

__all__ = ["Inference", "InferredMapping", "flow_text", "infer_fields", "manifest_text"]

# Names of columns, the most specific first: `text` is an input only where there is no `question`.
_INPUTS = (
    *("input", "question", "prompt", "query", "problem", "messages", "instruction", "goal"),
    *("task", "text", "sentence", "premise", "context", "story"),
)
_TARGETS = (
    *("target", "answer", "answerkey", "answer_key", "label", "gold", "correct_answer", "correct"),
    *("solution", "canonical_solution", "expected", "output", "response", "answer_index"),
    "answers",
)
_CHOICES = ("choices", "options", "endings", "candidates", "answers", "answer_choices")
_IDS = ("id", "uid", "task_id", "question_id", "sample_id", "example_id", "idx", "qid", "index")
_CHOICE_LETTERS = (("A", "B", "C", "D", "E"), ("a", "b", "c", "d", "e"))
_CHOICE_STEMS = ("option", "choice", "answer", "opt", "sol", "ending")
# Longer values are content rather than labels, such as a rationale.
_MAX_METADATA_LENGTH = 60
_MAX_METADATA_COLUMNS = 6


@dataclass(frozen=True)
class Inference:
    """An expression for a field, and the reason for it."""

    expression: Any
    reason: str


@dataclass(frozen=True)
class InferredMapping:
    """Expressions for the fields of a sample."""

    fields: Mapping[str, Inference]
    """In the order of a manifest."""
    repeated: bool = False
    """Whether several records get the same id."""


@dataclass(frozen=True)
class _Columns:
    """The columns of records; each is used for at most one field."""

    records: Sequence[Mapping[str, Any]]
    used: set[str] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        return list(self.records[0])

    def find(self, names: Iterable[str]) -> str | None:
        """Return the unused column with the first of the names, ignoring case."""
        folded = {column.casefold(): column for column in reversed(self.names)}
        found = (folded[name] for name in names if name in folded)
        return next((column for column in found if column not in self.used), None)

    def values(self, column: str) -> list[Any]:
        return [record.get(column) for record in self.records]


def infer_fields(name: str, records: Sequence[Mapping[str, Any]]) -> InferredMapping:
    """Infer the fields of a dataset.

    Args:
        name: The dataset's name; the prefix of derived ids.
        records: All records of the source, or the first of them.

    Raises:
        DecodeError: there are no records.
    """
    if not records:
        raise DecodeError("the source has no records", file=name)
    columns = _Columns(records)
    # In this order: a column that two fields could use belongs to the first of them.
    column, reason = columns.find(_INPUTS), "known column name"
    if column is None:
        column = max(columns.names, key=lambda one: len(str(records[0].get(one))))
        reason = "the longest value of the first record: please check"
    columns.used.add(column)
    question = Inference(column, reason)
    choices = _infer_choices(columns)
    target = _infer_target(columns, choices)
    identifier = _infer_id(name, columns, question, choices)
    metadata = _infer_metadata(columns)
    fields = {
        "input": question,
        "choices": choices,
        "target": target,
        "id": identifier,
        "metadata": metadata,
    }
    repeated = False
    if isinstance(identifier.expression, dict):  # a column is only taken if its values are unique
        hashed = [one.partition(".")[0] for one in identifier.expression["hash"]]
        distinct = {repr([record.get(one) for one in hashed]) for record in records}
        repeated = len(distinct) < len(records)
    inferred = {key: one for key, one in fields.items() if one is not None}
    return InferredMapping(inferred, repeated)


def _infer_choices(columns: _Columns) -> Inference | None:
    column = columns.find(_CHOICES)
    if column is not None:
        first = columns.records[0].get(column)
        if isinstance(first, dict) and isinstance(first.get("text"), list):
            columns.used.add(column)
            return Inference(f"{column}.text", "the texts of its labels")
        if isinstance(first, list) and all(isinstance(item, str) for item in first):
            columns.used.add(column)
            return Inference(column, "a list of strings")
    # One column per choice: `A`, `B`, … or `option1`, `option_2`, …
    groups = [[one for one in letters if one in columns.names] for letters in _CHOICE_LETTERS]
    groups = [group for group in groups if [one.upper() for one in group[:2]] == ["A", "B"]]
    for stem in _CHOICE_STEMS:
        numbered = re.compile(rf"{stem}_?(\d+|[a-e])")
        found = sorted(name for name in columns.names if numbered.fullmatch(name.casefold()))
        groups += [found] if len(found) > 1 else []
    if not groups:
        return None
    columns.used.update(groups[0])
    return Inference(groups[0], "one column per choice")


def _infer_target(columns: _Columns, choices: Inference | None) -> Inference | None:
    column = columns.find(_TARGETS)
    if column is None:
        return None
    columns.used.add(column)
    values = columns.values(column)
    if choices is None:
        if all(isinstance(value, str) and "####" in value for value in values):  # as in GSM8K
            operations: list[Any] = [{"split": "####"}, {"index": -1}, "strip"]
            return Inference({"from": column, "do": operations}, "the text after ####")
        return Inference(column, "known column name")
    if isinstance(choices.expression, str) and choices.expression.endswith(".text"):
        labels = choices.expression.removesuffix(".text") + ".label"
        operations = [{"letter_in": labels}]
        return Inference({"from": column, "do": operations}, "its position among the labels")
    numbers = [
        int(value)
        for value in values
        # Not every str of digits: `int` refuses some that are not ASCII, such as "²".
        if (value.isascii() and value.isdigit() if isinstance(value, str) else type(value) is int)
    ]
    if len(numbers) == len(values):
        # Only a 0 proves base 0; a column of ones says nothing.
        base = 1 if min(numbers) == 1 and max(numbers) > 1 else 0
        operations = [{"letter": {"base": 1}}] if base else ["letter"]
        reason = f"indexes from {min(numbers)} to {max(numbers)}, so the first choice is {base}"
        return Inference({"from": column, "do": operations}, reason)
    if all(isinstance(value, str) and re.fullmatch("[A-Z]", value) for value in values):
        return Inference(column, "letters of choices")
    operations = [{"letter_in": choices.expression}]
    return Inference({"from": column, "do": operations}, "its position among the choices")


def _infer_id(
    name: str, columns: _Columns, question: Inference, choices: Inference | None
) -> Inference:
    column = columns.find(_IDS)
    if column is not None:
        values = columns.values(column)
        usable = all(isinstance(value, int | str) and value != "" for value in values)
        if usable and len(set(values)) == len(values):
            columns.used.add(column)
            return Inference(column, f"unique in all {len(values):,} records")
    found = [] if choices is None else choices.expression
    hashed = [question.expression, *(found if isinstance(found, list) else [found])]
    expression = {"hash": hashed, "prefix": name, "length": 8}
    return Inference(expression, "no column has unique ids, so they are derived")


def _infer_metadata(columns: _Columns) -> Inference | None:
    found = []
    for column in columns.names:
        first = (record.get(column) for record in columns.records[:100])
        values = [value for value in first if value is not None]
        is_short = all(
            isinstance(value, str | int | float) and len(str(value)) <= _MAX_METADATA_LENGTH
            for value in values
        )
        if values and is_short and column not in columns.used:
            found.append(column)
    if not found:
        return None
    return Inference(found[:_MAX_METADATA_COLUMNS], "short values; remove what nobody needs")


def manifest_text(
    name: str, source: Mapping[str, Any], mapping: InferredMapping, *, samples: int, schema: str
) -> str:
    """Return the commented manifest of an inferred mapping.

    Args:
        name: The dataset's name.
        source: Keys of the source, in order.
        mapping: The mapping.
        samples: Number of samples to expect.
        schema: The schema for editors, as the manifest refers to it.
    """
    lines = [
        f"# yaml-language-server: $schema={schema}",
        "datasets:",
        f"  {flow_text(name)}:",
        "    description: # one plain sentence: what is asked, of whom, how it is scored",
        "    # license: from the dataset's page; omit it if the page names none",
        "    source:",
        *(f"      {key}: {flow_text(value)}" for key, value in source.items()),
        "    fields:",
        *(
            f"      {key}: {flow_text(one.expression)}  # {one.reason}"
            for key, one in mapping.fields.items()
        ),
        # Written out, as a field that is left out reads the column of its name.
        *(
            f"      {key}: null  # nothing found"
            for key in ("choices", "target")
            if key not in mapping.fields
        ),
        *(
            ["    on_duplicate: suffix  # some records ask the same; `drop` keeps the first"]
            if mapping.repeated
            else []
        ),
        f"    expect: {{samples: {samples}}}",
    ]
    return "\n".join(lines) + "\n"


class _OneLineDumper(yaml.SafeDumper):
    """Writes a str of several lines on one line, and each value in full, without aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_str(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if len(value.splitlines()) > 1 or value.endswith("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_OneLineDumper.add_representer(str, _represent_str)


def flow_text(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.dump(
        value,
        Dumper=_OneLineDumper,
        default_flow_style=True,
        allow_unicode=True,
        width=1 << 30,
        sort_keys=False,
    )
    text = text.removesuffix("\n").removesuffix("\n...").strip()
    # PyYAML writes YAML 1.1, which leaves quotes off what YAML 1.2 reads as a number.
    try:
        if parse_yaml(text, file="").value == value:
            return text
    except ManifestError:
        pass
    return json.dumps(value, ensure_ascii=False)

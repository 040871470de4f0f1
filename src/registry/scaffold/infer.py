"""Propose the manifest of a dataset from its records: what `registry add` writes.

Every guess is one a reviewer can see: it stands in the manifest with the reason as a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from registry.errors import DecodeError, ManifestError
from registry.samples.letters import index_of
from registry.yamldoc.reader import parse_yaml

__all__ = ["Proposal", "manifest_text", "propose"]

_INPUTS = ("input", "question", "prompt", "query", "problem", "messages", "instruction", "goal")
_MORE_INPUTS = ("task", "text", "sentence", "premise", "context", "story")
_TARGETS = ("target", "answer", "answerkey", "answer_key", "label", "gold", "correct_answer")
_MORE_TARGETS = (
    "correct",
    "solution",
    "canonical_solution",
    "expected",
    "output",
    "response",
    "answer_index",
    "answers",
)
_CHOICES = ("choices", "options", "endings", "candidates", "answers", "answer_choices")
_IDS = ("id", "uid", "task_id", "question_id", "sample_id", "example_id", "idx", "qid", "index")
_LETTERED = (("A", "B", "C", "D", "E"), ("a", "b", "c", "d", "e"))
_NUMBERED = ("option", "choice", "answer", "opt", "sol", "ending")
_SHORT = 60
_MOST_METADATA = 6


@dataclass(frozen=True)
class Guess:
    """An expression for a field, and why."""

    expression: Any
    reason: str


@dataclass(frozen=True)
class Proposal:
    """Expressions for the fields of a sample."""

    fields: Mapping[str, Guess]
    """Field → guess, in the order of a manifest."""
    repeated: bool = False
    """Whether several records get the same id."""


def propose(name: str, records: Sequence[Mapping[str, Any]]) -> Proposal:
    """Propose the mapping of a dataset.

    Args:
        name: Name of the dataset; the prefix of ids that are made.
        records: Records of the source, all of them or the first many.

    Raises:
        DecodeError: there are no records.
    """
    if not records:
        raise DecodeError("the source has no records to look at", file=name)
    columns = list(records[0])
    taken: set[str] = set()
    question = _input(columns, records, taken)
    choices = _choices(columns, records, taken)
    guesses = {
        "input": question,
        "choices": choices,
        "target": _target(columns, records, taken, choices),
        "id": _id(name, columns, records, taken, [question, choices]),
        "metadata": _metadata(columns, records, taken),
    }
    found = {field: guess for field, guess in guesses.items() if guess is not None}
    return Proposal(found, repeated=_has_repeats(found["id"].expression, records))


def _has_repeats(expression: Any, records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a hash of columns is the same for several records; a column is not."""
    if isinstance(expression, str):
        return False
    columns = [column.partition(".")[0] for column in expression["hash"]]
    seen = {repr([record.get(column) for column in columns]) for record in records}
    return len(seen) < len(records)


def _named(columns: Iterable[str], names: Iterable[str], taken: set[str]) -> str | None:
    """Return the first free column with one of the names, in the order of the names."""
    folded = {column.casefold(): column for column in reversed(list(columns))}
    found = (folded[name] for name in names if name in folded)
    return next((column for column in found if column not in taken), None)


def _values(records: Sequence[Mapping[str, Any]], column: str) -> list[Any]:
    return [record.get(column) for record in records]


def _input(columns: list[str], records: Sequence[Mapping[str, Any]], taken: set[str]) -> Guess:
    column = _named(columns, (*_INPUTS, *_MORE_INPUTS), taken)
    reason = "by its name"
    if column is None:
        column = max(columns, key=lambda name: len(str(records[0].get(name))))
        reason = "the longest text of the first record: please check"
    taken.add(column)
    return Guess(column, reason)


def _choices(
    columns: list[str], records: Sequence[Mapping[str, Any]], taken: set[str]
) -> Guess | None:
    column = _named(columns, _CHOICES, taken)
    if column is not None:
        first = records[0].get(column)
        if isinstance(first, dict) and isinstance(first.get("text"), list):
            taken.add(column)
            return Guess(f"{column}.text", "the texts of its labels")
        if isinstance(first, list) and all(isinstance(item, str) for item in first):
            taken.add(column)
            return Guess(column, "a list of texts")
    return _choice_columns(columns, taken)


def _choice_columns(columns: list[str], taken: set[str]) -> Guess | None:
    for letters in _LETTERED:
        found = [letter for letter in letters if letter in columns]
        if found[:2] == list(letters[:2]):
            taken.update(found)
            return Guess(found, "a column a choice")
    for stem in _NUMBERED:
        found = [column for column in columns if _is_numbered(column, stem)]
        if len(found) > 1:
            taken.update(found)
            return Guess(sorted(found), "a column a choice")
    return None


def _is_numbered(column: str, stem: str) -> bool:
    rest = column.casefold().removeprefix(stem).removeprefix("_")
    return column.casefold().startswith(stem) and (rest.isdigit() or rest in tuple("abcde"))


def _target(
    columns: list[str],
    records: Sequence[Mapping[str, Any]],
    taken: set[str],
    choices: Guess | None,
) -> Guess | None:
    column = _named(columns, (*_TARGETS, *_MORE_TARGETS), taken)
    if column is None:
        return None
    taken.add(column)
    values = _values(records, column)
    if choices is None:
        return _open_target(column, values)
    return _choice_target(column, values, choices, records)


def _open_target(column: str, values: list[Any]) -> Guess:
    if all(isinstance(value, str) and "####" in value for value in values):
        steps = [{"split": "####"}, {"index": -1}, "strip"]
        return Guess({"from": column, "do": steps}, "what stands behind ####")
    return Guess(column, "by its name")


def _choice_target(
    column: str, values: list[Any], choices: Guess, records: Sequence[Mapping[str, Any]]
) -> Guess:
    if isinstance(choices.expression, str) and choices.expression.endswith(".text"):
        labels = choices.expression.removesuffix(".text") + ".label"
        operation = {"letter_in": labels}
        return Guess({"from": column, "do": [operation]}, "its place among the labels")
    numbers = [_number(value) for value in values]
    found = [number for number in numbers if number is not None]
    if len(found) == len(values):
        base = 1 if min(found) == 1 and max(found) > 1 else 0
        step: Any = {"letter": {"base": 1}} if base else "letter"
        seen = f"indexes from {min(found)} to {max(found)}"
        return Guess({"from": column, "do": [step]}, f"{seen}, so the first choice is {base}")
    if all(isinstance(value, str) and _is_letter(value) for value in values):
        return Guess(column, "letters already")
    operation = {"letter_in": choices.expression}
    return Guess({"from": column, "do": [operation]}, "its place among the choices")


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


def _is_letter(value: str) -> bool:
    try:
        return index_of(value) < 26 and value.isupper()
    except ValueError:
        return False


def _id(
    name: str,
    columns: list[str],
    records: Sequence[Mapping[str, Any]],
    taken: set[str],
    hashed: list[Guess | None],
) -> Guess:
    column = _named(columns, _IDS, taken)
    if column is not None:
        values = _values(records, column)
        usable = all(isinstance(value, int | str) and value != "" for value in values)
        if usable and len(set(values)) == len(values):
            taken.add(column)
            return Guess(column, f"different in all {len(values):,} records")
    parts = [guess.expression for guess in hashed if guess is not None]
    fields = [part for guess in parts for part in (guess if isinstance(guess, list) else [guess])]
    return Guess(
        {"hash": fields, "prefix": name, "length": 8}, "no column is an id, so one is made"
    )


def _metadata(
    columns: list[str], records: Sequence[Mapping[str, Any]], taken: set[str]
) -> Guess | None:
    found = [column for column in columns if column not in taken and _is_short(records, column)]
    if not found:
        return None
    return Guess(found[:_MOST_METADATA], "short values; take out what nobody needs")


def _is_short(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    values = _values(records[:100], column)
    return any(value is not None for value in values) and all(
        value is None or (isinstance(value, str | int | float) and len(str(value)) <= _SHORT)
        for value in values
    )


def manifest_text(
    name: str, source: Mapping[str, Any], proposal: Proposal, *, samples: int, schema: str
) -> str:
    """Return the commented manifest of a proposal.

    Args:
        name: Name of the dataset.
        source: Keys of the source, in order.
        proposal: The mapping.
        samples: How many samples there are.
        schema: The schema for editors, as the manifest names it.
    """
    lines = [
        f"# yaml-language-server: $schema={schema}",
        "datasets:",
        f"  {_flow(name)}:",
        "    description: # one plain sentence: what is asked, of whom, judged how",
        "    # license: as the dataset's page says; leave it out where that says nothing",
        "    source:",
        *(f"      {key}: {_flow(value)}" for key, value in source.items()),
        "    fields:",
        *(
            f"      {field}: {_flow(guess.expression)}  # {guess.reason}"
            for field, guess in proposal.fields.items()
        ),
        *(
            f"      {field}: null  # nothing found"
            for field in ("choices", "target")
            if field not in proposal.fields
        ),
        *(
            ["    on_duplicate: suffix  # some records ask the same; `drop` keeps the first"]
            if proposal.repeated
            else []
        ),
        f"    expect: {{samples: {samples}}}",
    ]
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, width=10_000, sort_keys=False
    )
    text = text.removesuffix("\n").removesuffix("\n...").strip()
    # PyYAML writes YAML 1.1, which leaves quotes off what YAML 1.2 reads as a number.
    return text if _reads_as(text, value) else json.dumps(value, ensure_ascii=False)


def _reads_as(text: str, value: Any) -> bool:
    try:
        return bool(parse_yaml(text, file="").value == value)
    except ManifestError:
        return False

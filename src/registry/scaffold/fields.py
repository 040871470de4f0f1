"""Infer the fields of a dataset from its records.

Every inference is visible to a reviewer: the manifest has its reason as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.errors import DecodeError, RegistryError
from registry.mapping.conditions import is_empty
from registry.scaffold.choices import infer_choices, siblings
from registry.scaffold.columns import (
    FEW_RECORDS,
    IDS,
    INPUTS,
    Columns,
    Inference,
    counts_up,
    infer_frame,
    is_blank,
)
from registry.scaffold.messages import TOOLS, infer_conversation, with_pictures
from registry.scaffold.target import infer_target

__all__ = ["InferredMapping", "infer_fields"]

_PASSAGES = (
    *("passage", "context", "article", "document", "contract", "paragraph", "background"),
    *("body", "premise", "sentence1"),
)
# Longer values are content rather than labels, such as a rationale.
_MAX_METADATA_LENGTH = 60
_MAX_METADATA_COLUMNS = 6
# Keeps a hundred million records apart.
_LONG_HASH = 16
_LONGEST_ID = 64
# Enough of them to compare how long texts are.
_FIRST_RECORDS = 1_000
_URL = re.compile(r"\w+://\S*")
_NUMBERED = re.compile(r"[^\s\d]*\d[^\s]*")
_ID_NAME = re.compile(
    r"(?:.*[\W_])?(?:id|uid|uuid|guid|key|ref|nr|no|num|number|nummer|code|hash|index|idx|name)[.#]?"
    r"|.*(?:Id|ID)"
)
_ID_VALUE = re.compile(r"(?=.*[A-Za-z])[\w.]+(?:[-:#/][\w.]+)+|[0-9a-f]{8,}", re.ASCII)
_FILE_VALUE = re.compile(r".*\.[A-Za-z]\w{1,4}")


@dataclass(frozen=True)
class InferredMapping:
    """Expressions for the fields of a sample."""

    fields: Mapping[str, Inference]
    """In the order of a manifest."""
    repeated: bool = False
    """Whether a build has shown that several records get the same id."""
    shuffle_choices: int | None = None
    """Seed to shuffle the choices with, if the correct one always comes first."""
    unused: tuple[str, ...] = ()
    """Columns with values that no field reads."""
    without_input: int = 0
    """Number of records in which the column of the input is empty, so that they give no sample."""

    @property
    def has_derived_ids(self) -> bool:
        """Whether ids are hashes, so that equal records have equal ones."""
        return isinstance(self.fields["id"].expression, dict)


def infer_fields(
    name: str,
    records: Sequence[Mapping[str, Any]],
    *,
    given: Mapping[str, str] | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    is_all: bool = True,
    joined: str = "",
    base: int | None = None,
) -> InferredMapping:
    """Infer the fields of a dataset.

    Args:
        name: The dataset's name; the prefix of derived ids.
        records: All records of the source, or the first of them.
        given: The user's columns for `input`, `target`, `choices` and `id`.
        labels: Names of the numbers in a column, if they are known.
        is_all: Whether the source has no more records.
        joined: What the columns of a lookup table start with.
        base: The user's number of the first choice.

    Raises:
        DecodeError: there are no records.
        RegistryError: a given column does not exist, or can't be used.
    """
    if not records:
        raise DecodeError("the source has no records", file=name)
    columns = Columns(records, given or {}, labels or {}, joined=joined, base=base)
    if not any(columns.names):
        raise DecodeError("the records have no columns with a name", file=name)
    if (exported := infer_frame(columns)) is not None:
        return InferredMapping(exported, unused=tuple(columns.free()))
    # In this order: a column that two fields could use belongs to the first of them.
    conversation = infer_conversation(columns)
    question = conversation[0] if conversation else _infer_input(columns)
    choices = infer_choices(columns)
    target = (conversation and conversation[1]) or infer_target(columns, choices)
    chosen = None if choices is None else choices.inference
    shown = question if conversation else with_pictures(question, columns)
    identifier = _infer_id(name, columns, shown, chosen, is_all=is_all)
    metadata = _infer_metadata(columns, has_tools=conversation is not None)
    fields = {
        "input": shown,
        "choices": chosen,
        "target": target,
        "id": identifier,
        "metadata": metadata,
    }
    inferred = {key: one for key, one in fields.items() if one is not None}
    return InferredMapping(
        inferred,
        shuffle_choices=None if choices is None else choices.seed,
        unused=tuple(columns.free()),
        without_input=_without_input(question, columns),
    )


def _without_input(question: Inference, columns: Columns) -> int:
    """Return how many records have no input; 0 if they are so many that the column is in doubt."""
    match question.expression:
        case str(column) | {"from": str(column)}:
            values = columns.values(column)
        case _:
            return 0
    empty = sum(map(is_empty, values))
    return empty if empty * 2 < len(values) else 0


def _infer_input(columns: Columns) -> Inference:
    instruction = None if "input" in columns.given else columns.find(("instruction",))
    text = None if instruction is None else columns.find(("input",))
    if instruction is not None and text is not None:  # as in Alpaca: what to do, and what with
        columns.use(instruction)
        columns.use(text)
        below = f"\n\n{{{text}}}"
        if any(map(is_blank, columns.values(text))):
            below = f"{{?{text}}}{below}{{/}}"
        return Inference(
            {"template": f"{{{instruction}}}{below}"}, "the instruction above its input"
        )
    column = columns.find(INPUTS, "input")
    if column is None:
        free = columns.free() or [one for one in columns.names if one]
        named = [one for one in free if _has_name_of_input(one, columns)]
        column = max(named or free, key=lambda one: _length(one, columns))
        columns.use(column)
        reason = f"{'part of its name is known' if named else 'the longest texts'}: please check"
        return Inference(_as_text(column, columns), reason)
    columns.use(column)
    if "input" in columns.given:
        return Inference(_as_text(column, columns), "your choice")
    passage = columns.find(_PASSAGES)
    if (
        passage is None
        or set(f"{passage}{column}") & set("{}|?")
        or not all(isinstance(one, str) for one in columns.filled(passage))
    ):
        return Inference(_as_text(column, columns), "known column name")
    columns.use(passage)
    text = f"{{{passage}}}\n\n"
    if any(map(is_blank, columns.values(passage))):
        text = f"{{?{passage}}}{text}{{/}}"
    return Inference({"template": f"{text}{{{column}}}"}, f"the {column} below its {passage}")


def _has_name_of_input(column: str, columns: Columns) -> bool:
    """Return whether a part of a name is known, and the values are not those of a key or label."""
    parts = set(re.split(r"[\W_]+", column.casefold()))
    if parts.isdisjoint(INPUTS) or _ID_NAME.fullmatch(column.casefold()):
        return False
    values = columns.filled(column)
    return len({str(one) for one in values}) * 2 > len(values)


def _length(column: str, columns: Columns) -> tuple[int, int]:
    """Return how long the texts of a column are; as numbers have none, the length of the first."""
    values = columns.values(column)[:_FIRST_RECORDS]
    texts = [one for one in values if isinstance(one, str) and not _URL.fullmatch(one)]
    return sum(map(len, texts)), len(str(values[0]))


def _as_text(column: str, columns: Columns) -> Any:
    """Return an expression for a column of an input, which may be a number in the records."""
    are_numbers = any(isinstance(one, int | float) for one in columns.filled(column))
    return {"from": column, "do": ["str"]} if are_numbers else column


def _infer_id(
    name: str, columns: Columns, question: Inference, choices: Inference | None, *, is_all: bool
) -> Inference:
    free = columns.free()
    own = [one for one in free if one.casefold().endswith("_id")]
    alike = {one for group in siblings(columns.names) for one in group}
    others = [one for one in free if one not in alike and _may_be_id(one, columns.values(one))]
    for column in (columns.find(IDS, "id"), *own, *others):
        if column is None:
            continue
        values = columns.values(column)
        usable = all(isinstance(value, int | str) and value != "" for value in values)
        if usable and len(set(values)) == len(values):
            columns.use(column)
            count = f"{len(values):,} " if is_all else ""  # the build compares all others
            return Inference(column, f"unique in all {count}records")
        if "id" in columns.given:
            raise RegistryError(f"the values of '{column}' are not unique, so they can't be ids")
    read = [question] if choices is None else [question, choices]
    hashed = [path for one in read for path in _paths(one.expression, columns.names)]
    length = _LONG_HASH
    if is_all:
        # Of n records, two collide with a probability of about n² / 2 / 16^length: here 1 / 2,000.
        most = len(columns.records) ** 2 * 1000
        length = next(one for one in range(8, 65, 2) if most <= 16**one)
    expression = {"hash": hashed, "prefix": name, "length": length}
    return Inference(expression, "no column looks like unique ids, so they are derived")


def _may_be_id(name: str, values: Sequence[Any]) -> bool:
    """Return whether values of a column that has no usual name may be ids.

    They are numbers in order, or words with numbers: any such words if the name is that of a key,
    else only words of several parts, such as `HumanEval/1`. Whether they are unique is not looked
    at.
    """
    if len(values) < FEW_RECORDS:
        return False
    if counts_up(values):
        return True
    texts = [value for value in values if isinstance(value, str) and 0 < len(value) <= _LONGEST_ID]
    numbered = sum(_NUMBERED.fullmatch(text) is not None for text in texts)
    if len(texts) < len(values) or numbered * 10 < len(values) * 9:
        return False
    bare = name.strip()
    if _ID_NAME.fullmatch(bare) or _ID_NAME.fullmatch(bare.casefold()):
        return True
    return all(_ID_VALUE.fullmatch(one) and not _FILE_VALUE.fullmatch(one) for one in texts)


def _paths(expression: Any, names: Sequence[str]) -> list[Any]:
    """Return the columns, or paths in them, that an expression reads; of pictures, their bytes."""
    match expression:
        case str():
            return [expression]
        case list():
            return [path for one in expression for path in _paths(one, names)]
        case {"template": str(template)}:
            return [name for name in names if f"{{{name}}}" in template]
        case {"messages": [{"content": [*parts]}]}:
            return [path for part in parts for one in part.values() for path in _paths(one, names)]
        case {"from": _, "do": ["data_uri"]}:
            return [expression]
        case {"image": str(column)} | {"audio": str(column)}:  # a path
            return [column]
        case {"from": _, "do": [{"each": ["data_uri"]}]}:
            return [{**expression, "do": [*expression["do"], {"join": " "}]}]
        case {"if": _}:  # a picture that some records lack
            return []
        case _:
            return _paths(expression["from"], names)


def _infer_metadata(columns: Columns, *, has_tools: bool) -> Inference | None:
    column = columns.find(("metadata",))
    if column is not None and all(isinstance(one, dict) for one in columns.filled(column)):
        columns.use(column)
        return Inference(column, "an object")
    found = []
    for name in columns.free():
        values = [value for value in columns.values(name)[:100] if value is not None]
        if all(
            isinstance(value, str | int | float) and len(str(value)) <= _MAX_METADATA_LENGTH
            for value in values
        ):
            found.append(name)
    found = found[:_MAX_METADATA_COLUMNS]
    found += [name for name in columns.free() if has_tools and name in TOOLS]
    columns.use(*found)
    if found:
        return Inference(found, "short values; remove what nobody needs")
    # Left out, it would be the column of that name.
    return Inference(None, "no objects") if "metadata" in columns.names else None

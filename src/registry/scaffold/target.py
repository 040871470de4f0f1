"""Infer the target: a text, the letter of a choice, or several acceptable answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from registry.errors import MappingError
from registry.mapping.operations.letters import to_index
from registry.samples.letters import letter_of
from registry.scaffold.choices import (
    Choices,
    Reader,
    are_lists_of_texts,
    in_order,
    is_mask_of,
    may_select,
    parser_of,
    reader_of,
)
from registry.scaffold.columns import (
    FEW_RECORDS,
    IDS,
    TARGETS,
    Columns,
    Inference,
    Question,
    counts_up,
)

__all__ = ["infer_target"]

_ANSWERS = re.compile(r"(?:answer|ans|target|solution|alias)_?(\d+)")
_LABELS = ("subject", "category", "topic", "level", "difficulty", "source", "split", "language")


def infer_target(columns: Columns, choices: Choices | None) -> Inference | None:
    """Return the target, or None if no column looks like it."""
    if choices is not None and choices.target is not None and "target" not in columns.given:
        return choices.target
    is_short = choices is None and "q" in map(str.casefold, columns.used)
    column = columns.find(("a", *TARGETS) if is_short else TARGETS, "target")
    reason = "your choice" if "target" in columns.given else "known column name"
    if column is None:
        if choices is None and (several := _several_columns(columns)):
            return several
        column, reason = _only_other(columns), "the only other column: please check"
        if choices is not None and (found := _only_selector(columns, choices)):
            columns.use(found)
            inference = _letter(columns, found, choices)
            why = f"{inference.reason}, and no other column selects one: please check"
            return replace(inference, reason=why)
    if column is None:
        return None
    columns.use(column)
    return _open(columns, column, reason) if choices is None else _letter(columns, column, choices)


def _several_columns(columns: Columns) -> Inference | None:
    found = [name for name in columns.free() if _ANSWERS.fullmatch(name.casefold())]
    if len(found) < 2:
        return None
    columns.use(*found)
    return Inference(
        sorted(found, key=in_order), "each is an acceptable answer; blank ones are left out"
    )


def _only_selector(columns: Columns, choices: Choices) -> str | None:
    """Return the only column whose values may select choices, if its name says nothing."""
    free = [name for name in columns.free() if not _describes(name.casefold())]
    found = [name for name in free if may_select(columns, name, choices.texts)]
    return found[0] if len(found) == 1 else None


def _only_other(columns: Columns) -> str | None:
    """Return the column that is left, unless it is an id or describes the question."""
    free = [name for name in columns.free() if not _describes(name.casefold())]
    if len(free) != 1 or any(isinstance(value, list | dict) for value in columns.values(free[0])):
        return None
    values = columns.values(free[0])
    is_constant = len(values) > 1 and len(set(values)) == 1
    is_number_of_row = len(values) >= FEW_RECORDS and counts_up(values)
    return None if is_constant or is_number_of_row else free[0]


def _describes(name: str) -> bool:
    return name in {*IDS, *_LABELS, ""} or name.endswith("_id")


def _open(columns: Columns, column: str, reason: str) -> Inference:
    """Return the target of a question without choices."""
    values = columns.filled(column)
    for kind, infer in _OPEN.items():
        if values and all(isinstance(value, kind) for value in values):
            found = infer(column, values)
            if found is not None:
                return found
    if names := columns.labels.get(column):
        table = {str(number): label for number, label in enumerate(names)}
        return Inference({"from": column, "do": [{"map": table}]}, "names of the dataset's card")
    if column.casefold() == "label" and _numbers(values):
        return Inference(column, "numbers without names: `do: [{map: {'0': …}}]` gives them some")
    return Inference(column, reason)


def _open_text(column: str, values: Sequence[str]) -> Inference | None:
    if all("####" in value for value in values):  # as in GSM8K
        operations: list[Any] = [{"split": "####"}, {"index": -1}, "strip"]
        return Inference({"from": column, "do": operations}, "the text after ####")
    if (parse := parser_of(values)) is not None and are_lists_of_texts(map(parse[1], values)):
        reason = "a list, written as text, of which each is an acceptable answer"
        return Inference({"from": column, "do": [parse[0]]}, reason)
    # One answer may have a semicolon.
    is_plural = column.casefold().endswith("s")
    for sign in ("||", "|", *([";"] if is_plural else [])):
        several = [value for value in values if sign in value]
        parts = [part.strip() for value in several for part in value.split(sign)]
        if several and len(several) * 4 >= len(values) and all(parts):
            has_space = any(f" {sign}" in one or f"{sign} " in one for one in several)
            operations = [{"split": sign}, *([{"each": ["strip"]}] if has_space else [])]
            return Inference(
                {"from": column, "do": operations}, f"each between {sign} is acceptable"
            )
    return None


def _open_dict(column: str, values: Sequence[dict[str, Any]]) -> Inference:
    if all(isinstance(value.get("text"), list) for value in values):  # as in SQuAD
        return Inference(f"{column}.text", "each is an acceptable answer")
    if all(isinstance(value.get("aliases"), list) for value in values):  # as in TriviaQA
        paths = [f"{column}.value"] * all("value" in value for value in values)
        return Inference([*paths, f"{column}.aliases"], "each is an acceptable answer")
    for key in TARGETS:
        if all(isinstance(value.get(key), str | int | float) for value in values):
            return Inference(f"{column}.{key}", f"the {key} in it: please check")
    return Inference({"from": column, "do": ["dump"]}, "an object, as JSON: please check")


def _open_list(column: str, values: Sequence[list[Any]]) -> Inference:
    items = [item for value in values for item in value]
    if any(isinstance(item, dict | list) for item in items):
        return Inference({"from": column, "do": ["dump"]}, "a list, as JSON: please check")
    operations = ["drop_null"] if None in items else []
    expression = {"from": column, "do": operations} if operations else column
    return Inference(expression, "each is an acceptable answer")


_OPEN: dict[type, Callable[[str, Any], Inference | None]] = {
    str: _open_text,
    dict: _open_dict,
    list: _open_list,
}
"""Type of all values → what infers the target from them."""


def _letter(columns: Columns, column: str, choices: Choices) -> Inference:
    """Return the letter of a choice, or the letters of several."""
    both = zip(columns.values(column), columns.records, strict=True)
    pairs = [(value, record) for value, record in both if value is not None]
    values = [value for value, _ in pairs]
    if choices.lettered and _are_among(pairs, reader_of(choices.lettered)):
        return Inference({"from": column, "do": [{"regex": "[A-Z]"}]}, "the letter of a choice")
    if (parse := parser_of(values)) is not None:
        read = [(parse[1](value), record) for value, record in pairs]
        if all(isinstance(value, list) for value, _ in read):
            found = _letters(columns, column, choices, read)
            then = found.expression["do"] if isinstance(found.expression, dict) else []
            return replace(found, expression={"from": column, "do": [parse[0], *then]})
    if values and all(isinstance(value, list) for value in values):
        return _letters(columns, column, choices, pairs)
    if choices.labels and _are_among(pairs, reader_of(choices.labels)):
        return _position(column, choices.labels, "its position among the labels")
    return _one_letter(columns, column, choices, pairs)


def _one_letter(
    columns: Columns,
    column: str,
    choices: Choices,
    pairs: Sequence[tuple[Any, Mapping[str, Any]]],
) -> Inference:
    """Return the letter of a choice that a number, a letter, a text or a name says."""
    values = [value for value, _ in pairs]
    if _numbers(values):
        return _indexes(columns, column, choices, pairs, lambda letter: [letter])
    if _are_letters(values):
        return Inference(column, "letters of choices")
    among = choices.inference.expression
    if all(isinstance(one, str) for one in values) and _are_among(pairs, choices.texts):
        return _position(column, among, "its position among the choices")
    if pairs and isinstance(among, list) and all(one in among for one in values):
        return _position(column, [{"const": name} for name in among], "the name of its column")
    for pattern, operations, reason in _WRITTEN:
        if pairs and all(isinstance(one, str) and re.fullmatch(pattern, one) for one in values):
            return Inference({"from": column, "do": [*operations]}, reason)
    if pairs and all(_FLOAT.fullmatch(str(one)) for one in values):  # of pandas
        whole = [(int(float(one)), record) for one, record in pairs]
        return _indexes(columns, column, choices, whole, lambda letter: ["float", "int", letter])
    if pairs and all(isinstance(one, str) and _SEVERAL_NUMBERS.fullmatch(one) for one in values):
        every = {"regex": {"pattern": "[0-9]+", "all": True}}
        several = [(re.findall(r"[0-9]+", one), record) for one, record in pairs]
        return _indexes(
            columns, column, choices, several, lambda letter: [every, {"each": [letter]}]
        )
    return Inference(column, "neither a letter nor a choice in every record: please check")


_FLOAT = re.compile(r"[0-9]{1,9}\.0")
_SEVERAL_NUMBERS = re.compile(r"\[?[0-9]{1,9}(?:[ ,;|/]+[0-9]{1,9})*\]?")
_WRITTEN: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("[a-z]", ("upper",), "letters of choices"),
    (r"\s*\(?[a-z][).:]?\s*", ({"regex": "[a-z]"}, "upper"), "letters of choices"),
    (r"(?:[Oo]ption|[Cc]hoice|[Aa]nswer) ?[A-Z]", ({"regex": "[A-Z]$"},), "letters of choices"),
    (r"(?s)\(?[A-Z][).:]\s.+", ({"regex": "[A-Z]"},), "the letters before the texts"),
    (r"\s*\(?[A-Z][).:]?\s*", ({"regex": "[A-Z]"},), "letters of choices"),
    (
        r"[A-Z](?:[ ,;|/]*[A-Z])*",
        ({"regex": {"pattern": "[A-Z]", "all": True}},),
        "letters of choices, of which several may be right",
    ),
)
"""How letters are written, the operations that find them, and the reason."""


def _letters(
    columns: Columns,
    column: str,
    choices: Choices,
    pairs: Sequence[tuple[list[Any], Mapping[str, Any]]],
) -> Inference:
    """Return the letters of several choices."""
    items = [item for value, _ in pairs for item in value]
    if all(is_mask_of(value, choices.texts(record)) for value, record in pairs):
        return Inference({"from": column, "do": ["letters_where"]}, "marks beside the choices")
    if _numbers(items):
        return _indexes(columns, column, choices, pairs, lambda letter: [{"each": [letter]}])
    if _are_letters(items):
        return Inference(column, "letters of choices")
    each = [(item, record) for value, record in pairs for item in value]
    for among, name in ((choices.labels, "labels"), (choices.inference.expression, "choices")):
        if among is not None and _are_among(each, reader_of(among)):
            operation = {"letter_in": among}
            reason = f"their positions among the {name}"
            return Inference({"from": column, "do": [{"each": [operation]}]}, reason)
    return Inference(column, "neither letters nor choices in every record: please check")


def _indexes(
    columns: Columns,
    column: str,
    choices: Choices,
    pairs: Sequence[tuple[Any, Mapping[str, Any]]],
    operations: Callable[[Any], list[Any]],
) -> Inference:
    """Return the letters of indexes, with a question if both 0 and 1 may be the first choice."""
    found = [
        (int(item), len(choices.texts(record)))
        for value, record in pairs
        for item in (value if isinstance(value, list) else [value])
    ]
    numbers = [number for number, _ in found]
    is_open = min(numbers) > 0 and all(number < count for number, count in found)
    base = columns.base
    if base is None:
        base = 1 if min(numbers) == 1 and max(numbers) > 1 else 0  # only a 0 proves base 0
    first, count = found[0]
    question = None
    if columns.base is None and is_open:
        shown = {
            f"--base {one}": f"the letter {letter_of(first - one)} of {count} for the first {first}"
            for one in (0, 1)
        }
        question = Question("", "number of the first choice", shown)
    reason = f"indexes from {min(numbers)} to {max(numbers)}, so the first choice is {base}"
    if columns.base is not None:
        reason = "indexes, with your number of the first choice"
    letter = {"letter": {"base": 1}} if base else "letter"
    expression = {"from": column, "do": operations(letter)}
    return Inference(expression, reason, question, is_index=True)


def _are_among(pairs: Sequence[tuple[Any, Mapping[str, Any]]], texts: Reader) -> bool:
    """Return whether each value is one of the texts of its record."""
    return bool(pairs) and all(str(value) in texts(record) for value, record in pairs)


def _are_letters(values: Sequence[Any]) -> bool:
    return all(isinstance(one, str) and re.fullmatch("[A-Z]", one) for one in values)


def _position(column: str, among: Any, reason: str) -> Inference:
    return Inference({"from": column, "do": [{"letter_in": among}]}, reason)


def _numbers(values: Sequence[Any]) -> list[int]:
    """Return the values as indexes, as `letter` reads them, or nothing if one is none."""
    try:
        return [to_index(value) for value in values]
    except MappingError:
        return []

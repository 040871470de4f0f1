"""Infer the choices of a question, and what in them says which is correct."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product, takewhile
from string import ascii_uppercase
from typing import Any

from registry.base.process_state import cached_property
from registry.errors import MappingError
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.operations.numbers import parse_json, parse_literal
from registry.mapping.row import Row
from registry.scaffold.columns import CHOICES, TARGETS, Columns, Inference, folded_name, is_blank

__all__ = [
    "Choices",
    "are_lists_of_texts",
    "in_order",
    "infer_choices",
    "is_mask_of",
    "may_select",
    "parser_of",
    "reader_of",
    "siblings",
]

_LETTERS = ("ABCDEFGHIJ", "abcdefghij")
_STEMS = ("option", "choice", "answer", "opt", "sol", "ending", "ans")
_CORRECT = ("correct_answer", "best_answer", "correct")
_WRONG = re.compile(r"(?:distractor|(?:incorrect|wrong)_answer)_?\d*|wrong_?\d")
_WRONG_LISTS = re.compile(r"distractors|(?:incorrect|wrong)_(?:answer|option|choice)s")
_SIBLING = re.compile(r"(.*?\D)[_ ]?(\d+|[a-j])", re.IGNORECASE)
_FEWEST_SIBLINGS = 3
_TEXT_KEYS = ("text", "content", "value", "option", "choice", "answer", "option_text")
_LABEL_KEYS = ("label", "key", "letter", "id", "option_label")
_TRUTH_KEYS = ("is_correct", "isCorrect", "correct", "is_answer")
_MARKED_KEYS = "the keys of a map"
_LETTER = re.compile(r"\(?[A-Z] ?[).:]\s*")


@dataclass(frozen=True)
class Choices:
    """The choices, and how a target selects one of them."""

    inference: Inference
    labels: Any = None
    """Expression for the labels, in the order of the choices."""
    target: Inference | None = None
    """The target, if the choices themselves say which is correct."""
    lettered: Any = None
    """Expression for the choices with their letters, if they have any in the records."""
    seed: int | None = None
    """Set if the correct choice always comes first, so that they must be shuffled."""

    @cached_property
    def texts(self) -> Reader:
        """Returns the choices of a record."""
        return reader_of(self.inference.expression)


Reader = Callable[[Mapping[str, Any]], list[str]]
"""Returns the texts that a record has; none where it lacks them."""


def reader_of(expression: Any) -> Reader:
    """Return what evaluates an expression for a list, once per record."""
    evaluate = compile_expression(parse_expression(expression))
    known: dict[int, tuple[Any, list[str]]] = {}
    """By the id of a record, which is kept, as another one may get its id."""

    def read(record: Mapping[str, Any]) -> list[str]:
        if id(record) not in known:
            found = None
            with suppress(MappingError):
                found = evaluate(Row(dict(record)))
            known[id(record)] = record, list(map(str, found)) if isinstance(found, list) else []
        return known[id(record)][1]

    return read


def infer_choices(columns: Columns) -> Choices | None:
    """Return the choices: a column of them, or one column for each."""
    if len(group := columns.chosen("choices")) > 1:
        return _of_group(group, "your choice")
    if "choices" in columns.given:
        given = columns.given["choices"]
        return _of_column(columns, given) or Choices(Inference(given, "your choice"))
    for name in CHOICES:
        column = columns.find((name,))
        # Without another target, `answers` are what counts as correct.
        if column is None or (name == "answers" and not _has_target(columns, {column})):
            continue
        if found := _of_column(columns, column):
            columns.use(column)
            return found
    for column in columns.free():
        if (found := _of_column(columns, column)) and found.target is not None:
            # A map of numbers may say anything, unless nothing else is the target.
            if found.inference.reason == _MARKED_KEYS and _has_target(columns, {column}):
                continue
            columns.use(column)
            return found
    return _from_columns(columns)


def _has_target(columns: Columns, without: set[str]) -> bool:
    if "target" in columns.given:
        return True
    free = {name.casefold() for name in columns.free() if name not in without}
    return not free.isdisjoint(TARGETS)


def _of_column(columns: Columns, column: str) -> Choices | None:
    """Return the choices in a column, by the form of its values."""
    values = columns.filled(column)
    if parse := parser_of(values):
        operation, read = parse
        return _of_values(column, list(map(read, values)), [operation])
    if (sign := _separator(values)) is not None:
        lists = [value.split(sign) for value in values]
        return _of_values(column, lists, [{"split": sign}, {"each": ["strip"]}])
    return _of_values(column, values, [])


def _separator(values: Sequence[Any]) -> str | None:
    """Return what separates several texts in each value."""
    if not values or not all(isinstance(value, str) for value in values):
        return None
    return next(
        (
            sign
            for sign in ("\n", "||", "|", ";")
            if all(sign in value and all(map(str.strip, value.split(sign))) for value in values)
        ),
        None,
    )


def parser_of(values: Sequence[Any]) -> tuple[Any, Callable[[str], Any]] | None:
    """Return the operation that parses strings of lists or objects, and its function."""
    starts = ("[", "{")
    if not values or not all(isinstance(one, str) and one.strip()[:1] in starts for one in values):
        return None
    readers: tuple[tuple[Any, Callable[[str], Any]], ...] = (
        ("parse", parse_json),
        ({"parse": "literal"}, parse_literal),
    )
    for operation, read in readers:
        with suppress(MappingError):
            if all(isinstance(read(value), list | dict) for value in values):
                return operation, read
    return None


def _of_values(column: str, values: Sequence[Any], first: list[Any]) -> Choices | None:
    if values and all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        if all(isinstance(item, str) for item in items):
            return _of_lists(column, values, first)
        if all(isinstance(item, dict) for item in items):
            return _of_objects(column, items, first)
    if values and all(isinstance(value, dict) for value in values):
        return _of_dicts(column, values, first)
    return None


def _of_lists(column: str, values: Sequence[list[str]], first: list[Any]) -> Choices:
    whole = {"from": column, "do": first} if first else column
    if not all(map(_starts_with_letters, values)):
        return Choices(Inference(whole, "a list of strings"))
    pattern = {"sub": {"pattern": f"^{_LETTER.pattern}", "to": ""}}
    expression = {"from": column, "do": [*first, {"each": [pattern]}]}
    reason = "a list of strings, without their letters"
    return Choices(Inference(expression, reason), lettered=whole)


def _starts_with_letters(texts: list[str]) -> bool:
    """Return whether texts start as `(A) …`, `(B) …`, in this order."""
    letters = [text[1] if text[:1] == "(" else text[:1] for text in texts if _LETTER.match(text)]
    return letters == list(ascii_uppercase[: len(texts)])


def _of_objects(column: str, items: Sequence[dict[str, Any]], first: list[Any]) -> Choices | None:
    """Return choices that are objects with a text, and perhaps a label or the truth."""
    text = _common(items, _TEXT_KEYS, str)
    if text is None:
        return None
    inference = Inference({"from": column, "do": [*first, {"pluck": text}]}, "a text of each")
    label = _common(items, [key for key in _LABEL_KEYS if key != text], str)
    truth = _common(items, _TRUTH_KEYS, bool)
    target = None
    if truth is not None:
        operations = [*first, {"pluck": truth}, {"letters_where": {"equals": True}}]
        target = Inference({"from": column, "do": operations}, f"those that are {truth}")
    labels = None if label is None else {"from": column, "do": [*first, {"pluck": label}]}
    return Choices(inference, labels, target)


def _common(items: Sequence[dict[str, Any]], keys: Sequence[str], kind: type) -> str | None:
    return next((key for key in keys if all(type(one.get(key)) is kind for one in items)), None)


def _of_dicts(column: str, values: Sequence[dict[str, Any]], first: list[Any]) -> Choices | None:
    """Return choices as columns within a column, or as a map from label to text."""
    texts = ("text", "texts", *CHOICES)
    for text, label in product(texts, ("label", "labels", *_TRUTH_KEYS)):
        if text != label and all(
            isinstance(one.get(text), list) and isinstance(one.get(label), list) for one in values
        ):
            return _of_parallel_lists(column, values, text, label, first)
    held = [one for value in values for one in value.values() if one is not None]
    # In a table, each record has all keys, and null where it has fewer choices.
    drop = ["drop_null"] if any(None in value.values() for value in values) else []
    marks = [[one for one in value.values() if one is not None] for value in values]
    if all(len(one) > 1 and is_mask_of(one, one) for one in marks):
        marked = {"from": column, "do": [*first, *drop, "items", "letters_where"]}
        return Choices(
            Inference({"from": column, "do": [*first, *drop, "keys"]}, _MARKED_KEYS),
            target=Inference(marked, "the keys whose value is 1 or true"),
        )
    if not held or not all(isinstance(one, str) for one in held):
        return None
    return Choices(
        Inference({"from": column, "do": [*first, *drop, "items"]}, "the values of a map"),
        {"from": column, "do": [*first, *drop, "keys"]},
    )


def _of_parallel_lists(
    column: str, values: Sequence[dict[str, Any]], text: str, label: str, first: list[Any]
) -> Choices:
    is_mask = all(map(is_mask_of, (one[label] for one in values), (one[text] for one in values)))

    def at(key: str, *then: str) -> Any:
        if first:
            return {"from": column, "do": [*first, {"index": {"const": key}}, *then]}
        return {"from": f"{column}.{key}", "do": [*then]} if then else f"{column}.{key}"

    if is_mask:
        target = Inference(at(label, "letters_where"), "the labels that are 1")
        return Choices(Inference(at(text), "the texts beside the labels"), target=target)
    return Choices(Inference(at(text), "the texts of its labels"), at(label))


def is_mask_of(value: Any, texts: Sequence[Any]) -> bool:
    """Return whether a value has a mark for each text: 1 or true if it is correct."""
    if not isinstance(value, list) or len(value) != len(texts) or not value:
        return False
    return all(type(mark) in (int, bool) and mark in (0, 1) for mark in value)


def _from_columns(columns: Columns) -> Choices | None:
    """Return choices with a column for each: `A`, `B`, … or `option1`, … or correct and wrong."""
    free = columns.free()
    wrong = [name for name in free if _WRONG.fullmatch(folded_name(name))]
    lists = [name for name in free if _WRONG_LISTS.fullmatch(folded_name(name))]
    wrong = wrong or [name for name in lists if are_lists_of_texts(columns.filled(name))][:1]
    correct = columns.find(_CORRECT)
    if wrong and correct is not None and "target" not in columns.given:
        return _correct_first(columns, correct, wrong)
    groups = [list(takewhile(free.__contains__, letters)) for letters in _LETTERS]
    groups = [group for group in groups if len(group) > 1]
    for stem in _STEMS:
        numbered = re.compile(rf"{stem}_?(\d+|[a-j])")
        found = [name for name in free if numbered.fullmatch(folded_name(name))]
        # Several answers and nothing that selects one of them are targets.
        is_choice = stem not in ("answer", "ans", "sol") or _has_target(columns, set(found))
        groups += [sorted(found, key=in_order)] if len(found) > 1 and is_choice else []
    if groups:
        choices = _of_group(groups[0], "one column per choice")
        if correct is not None and "target" not in columns.given:
            offered = map(choices.texts, columns.records)
            are_wrong = not any(map(operator.contains, offered, columns.values(correct)))
            if are_wrong and not may_select(columns, correct, choices.texts):
                return _correct_first(columns, correct, groups[0])
        columns.use(*groups[0])
        return choices
    for group in siblings(free):
        texts = _of_group(group, "").texts
        if _are_alike(map(texts, columns.records)):
            continue
        named = columns.find(TARGETS, "target")
        others = [named] if named else [name for name in free if name not in group]
        if found := [name for name in others if may_select(columns, name, texts)]:
            columns.use(*group)
            reason = f"one column per choice, as {found[0]} selects one: please check"
            return _of_group(group, reason)
    return None


def _are_alike(groups: Iterable[Sequence[str]]) -> bool:
    """Return whether most records have a text twice: what several people say, not choices."""
    repeated = [len(set(texts)) < len(texts) for texts in groups]
    return sum(repeated) * 2 > len(repeated)


def are_lists_of_texts(values: Iterable[Any]) -> bool:
    """Return whether all values are lists of texts, none of them empty."""
    return all(
        isinstance(one, list) and one and all(isinstance(item, str) for item in one)
        for one in values
    )


def in_order(name: str) -> tuple[int, str]:
    """Return what sorts names by their last number, then by their text."""
    number = re.search(r"\d{1,9}$", name)
    return int(number[0]) if number else 0, name


def siblings(names: Sequence[str]) -> list[list[str]]:
    """Return names that differ only in a last number from 0 or 1 on, or a letter from a on."""
    groups: dict[str, dict[str, str]] = {}
    for name in names:
        if found := _SIBLING.fullmatch(name):
            kind = "number" if found[2].isdigit() else "letter"
            stem = f"{kind} {(found[1] or '').casefold()}"
            groups.setdefault(stem, {})[found[2].casefold()] = name
    found_groups = []
    for group in groups.values():
        ends = sorted(group, key=in_order)
        size = len(ends)
        runs = [[str(n + start) for n in range(size)] for start in (0, 1)]
        if size >= _FEWEST_SIBLINGS and ends in (*runs, list(_LETTERS[1][:size])):
            found_groups.append([group[end] for end in ends])
    return found_groups


def may_select(columns: Columns, column: str, texts: Reader) -> bool:
    """Return whether each value is a choice, or the letter or the number of one or several."""
    values = columns.values(column)
    for value, record in zip(values, columns.records, strict=True):
        choices = texts(record)
        if is_blank(value) or value in choices:
            continue
        # 0 or 1 may be the first.
        ends = {*map(str, range(len(choices) + 1)), *ascii_uppercase[: len(choices)]}
        labels = set(re.findall(r"\w+", str(value).upper()))
        # Also ABD, for three of them.
        labels = {one for label in labels for one in (label if _in_order(label) else [label])}
        if not labels or labels - ends:
            return False
    return len({str(value) for value in values}) > 1 or len(values) == 1


def _in_order(label: str) -> bool:
    return label.isalpha() and list(label) == sorted(set(label))


def _of_group(group: Sequence[str], reason: str) -> Choices:
    return Choices(Inference(list(group), reason))


def _correct_first(columns: Columns, correct: str, wrong: list[str]) -> Choices:
    columns.use(correct, *wrong)
    return Choices(
        Inference([correct, *wrong], "the correct answer, then the wrong ones"),
        target=Inference({"const": "A"}, "always the first, until they are shuffled"),
        seed=42,
    )

"""What is inferred of records, with its reason or a question, and the columns that it is of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from shlex import quote
from typing import Any

from registry.base.process_state import cached_property
from registry.errors import DecodeError, RegistryError, did_you_mean, list_names, shorten
from registry.mapping.conditions import is_empty
from registry.mapping.row import get_column, or_none, path_splits
from registry.samples.fields import FIELDS

__all__ = [
    "CHOICES",
    "FEW_RECORDS",
    "FRAME_COLUMNS",
    "FRAME_FIELDS",
    "IDS",
    "INPUTS",
    "KNOWN",
    "MESSAGES",
    "TARGETS",
    "Ask",
    "Columns",
    "Guess",
    "Inference",
    "Question",
    "counts_up",
    "explode_of",
    "folded_name",
    "infer_frame",
    "is_blank",
    "option_text",
    "refuse",
    "value_of",
]

# The most specific first: `text` is an input only where there is no `question`.
INPUTS = (
    *("input", "question", "q", "prompt", "query", "problem", "messages", "instruction", "goal"),
    *("task", "claim", "hypothesis", "sentence2", "text", "sentence", "premise", "context"),
    *("story", "frage", "aufgabe", "pregunta", "domanda", "pergunta", "vraag", "вопрос", "问题"),
    *("質問", "問題", "問題文", "質問文", "題目", "题目", "질문", "문제", "سؤال", "câu hỏi"),
    *("pytanie", "otázka", "fråga", "spørgsmål", "soru", "soal", "pertanyaan"),
)
TARGETS = (
    *("target", "answer", "answerkey", "answer_key", "label", "gold", "correct_answer", "correct"),
    *("solution", "canonical_solution", "expected", "output", "response", "answer_index"),
    *("answers", "ideal", "completion", "ground_truth", "reference_answer", "gold_answer"),
    *("ans", "correct_option", "correct_choice", "answer_idx"),
    *("antwort", "lösung", "respuesta", "réponse", "reponse", "risposta", "resposta", "antwoord"),
    *("loesung", "correcta", "respuesta_correcta", "correta", "resposta_correta"),
    *("corretta", "risposta_corretta", "odpowiedź", "odpověď", "svar", "cevap", "doğru cevap"),
    *("jawaban", "đáp án", "đáp án đúng", "ответ", "答案", "回答", "正解", "解答", "정답", "답"),
)
CHOICES = ("choices", "options", "endings", "candidates", "answers", "answer_choices")
IDS = ("id", "uid", "task_id", "question_id", "sample_id", "example_id", "idx", "qid", "index")
MESSAGES = ("messages", "conversations", "conversation", "chat", "dialog", "dialogue", "turns")
KNOWN = frozenset({*INPUTS, *TARGETS, *CHOICES, *IDS, *MESSAGES, "subject", "category", "topic"})

FEW_RECORDS = 5
"""With fewer records, the values of any column may be unique by chance."""
_LOOKED_AT = 1_000
_MOST_NAMES = 20
_ROW = re.compile(r"[0-9]{1,9}")

FRAME_COLUMNS = frozenset(name for field in FIELDS for name, kind in field.columns if kind != "int")
"""Those of `registry.samples.frames.layout`."""

FRAME_FIELDS: dict[str, Any] = {
    "input": {"if": {"value": "messages", "equals": None}, "then": "input", "else": "messages"},
    "choices": "choices",
    "target": {"if": {"value": "targets", "equals": None}, "then": "target", "else": "targets"},
    "id": "id",
    "metadata": "metadata",
    "description": "description",
}
"""The fields of any export to Parquet."""

# Field → its column, and the one that has its values where that one is null.
_PAIRS = {"input": ("input", "messages"), "target": ("target", "targets")}
_LISTS = ("messages", "choices", "targets")
_EXPORTED = "a column of `registry export`"


@dataclass(frozen=True)
class Guess:
    """A key of a source, its value and why; the user sees it as one line."""

    key: str
    value: Any
    reason: str
    is_default: bool = False
    """Whether the key can be left out of the manifest."""

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return f"{self.key}: {str(self.value).lower()} ({self.reason})"
        is_word = isinstance(self.value, str) and re.fullmatch(r"[\w.*-]+", self.value)
        return f"{self.key} {self.value if is_word else shorten(self.value)} ({self.reason})"


@dataclass(frozen=True)
class Question:
    """Several readings of which none is better than the others."""

    file: str
    what: str
    """What to decide, such as `delimiter`."""
    choices: Mapping[str, str]
    """How to say each reading on the command line → what it gives."""
    hint: str = ""
    """What else to do, where nobody can be asked."""


def option_text(option: str, value: str) -> str:
    """Return an option with its value as it is written in a shell: `--target 'right answer'`."""
    return f"{option} {quote(value)}"


Ask = Callable[[Question], str]
"""Returns one of the choices of a question, or raises an error."""


def refuse(question: Question) -> str:
    """Raise the error for a question that nobody can be asked.

    Raises:
        DecodeError: always; it names each reading and the option that selects it.
    """
    readings = "; ".join(f"{option} gives {result}" for option, result in question.choices.items())
    message = f"the {question.what} is not clear, so say it: {readings}"
    hint = f" ({question.hint})" if question.hint else ""
    raise DecodeError(f"{message}{hint}", file=question.file)


@dataclass(frozen=True)
class Inference:
    """An expression for a field, and the reason for it."""

    expression: Any
    reason: str
    question: Question | None = None
    """What a person has to say, where the records fit several expressions."""
    note: str = ""
    """What the records show that a person may not expect."""
    is_index: bool = False
    """Whether it counts choices, so that the number of the first one matters."""


def is_blank(value: Any) -> bool:
    """Return whether a value is empty, as in a manifest, or nothing but whitespace."""
    return is_empty(value) or (isinstance(value, str) and value.isspace())


def counts_up(values: Sequence[Any]) -> bool:
    """Return whether values are numbers in order, as integers or as text: those of the rows."""
    if not all(
        type(one) is int or (isinstance(one, str) and _ROW.fullmatch(one)) for one in values
    ):
        return False
    return all(int(after) - int(before) == 1 for before, after in pairwise(values))


def folded_name(column: str) -> str:
    """Return a name without what spreadsheets change in it: capital letters, and `_` for spaces."""
    return column.strip().casefold().replace(" ", "_")


def value_of(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column, else at a dotted path, as in a manifest; None if missing."""
    return or_none(get_column(record, column))


@dataclass
class Columns:
    """The columns of records."""

    records: Sequence[Mapping[str, Any]]
    given: Mapping[str, str] = field(default_factory=dict)
    """The user's own choice of a column, by field."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the numbers in a column, which a card on the Hub has."""
    used: set[str] = field(default_factory=set)
    joined: str = ""
    """What the columns of a lookup table start with."""
    base: int | None = None
    """The user's number of the first choice."""
    _values: dict[str, list[Any]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, column in ((key, one) for key in self.given for one in self.chosen(key)):
            if column not in self.names and all(map(is_blank, self.values(column))):
                hint = did_you_mean(column, self.names)
                known = f"columns: {list_names(self.names, _MOST_NAMES)}"
                raise RegistryError(f"no column '{column}' for {name} ({hint or known})")

    def chosen(self, name: str) -> list[str]:
        """Return the user's columns for a field: of choices, several separated by commas."""
        given = self.given.get(name)
        if given is None:
            return []
        is_one = name != "choices" or given in self.names or "," not in given
        return [given] if is_one else [one.strip() for one in given.split(",")]

    @cached_property
    def names(self) -> list[str]:
        """All names, in order; records of JSON may differ in theirs."""
        return list(dict.fromkeys(key for one in self.records[:_LOOKED_AT] for key in one))

    @cached_property
    def _with_values(self) -> list[str]:
        # A manifest can't name a column without a name: mostly the row numbers of pandas or R.
        return [name for name in self.names if name and not all(map(is_blank, self.values(name)))]

    def values(self, column: str) -> list[Any]:
        """Return the value of each record, None where it is missing."""
        if column not in self._values:
            self._values[column] = [value_of(record, column) for record in self.records]
        return self._values[column]

    def filled(self, column: str) -> list[Any]:
        """Return the values that are not blank."""
        return [value for value in self.values(column) if not is_blank(value)]

    def free(self) -> list[str]:
        """Return the columns that have values and are not used."""
        own = [column for name in self.given for column in self.chosen(name)]
        reserved = {*self.used, *own, *(head for one in own for head, _ in path_splits(one))}
        return [name for name in self._with_values if name not in reserved]

    def find(self, names: Iterable[str], name: str = "") -> str | None:
        """Return the user's column for a field, else the free one with the first of the names."""
        if name in self.given:
            return self.given[name]
        # Of columns that differ only in case, the first.
        folded = {
            folded_name(column.removeprefix(self.joined)): column
            for column in reversed(self.free())
        }
        return next((folded[one] for one in map(folded_name, names) if one in folded), None)

    def use(self, *columns: str) -> None:
        """Keep columns from being used for another field."""
        self.used.update(columns)


def infer_frame(columns: Columns) -> dict[str, Inference] | None:
    """Return the fields of an export; None if the columns are others, or the user names some."""
    if set(columns.names) != FRAME_COLUMNS or columns.given:
        return None
    fields = {}
    for name in FRAME_FIELDS:
        found = [
            one
            for one in _PAIRS.get(name, (name,))
            if any(value not in (None, "") for value in columns.values(one))
        ]
        if name == "metadata" and "" in columns.values(name):
            # A field that is left out reads the column of its name, and "" is no JSON.
            why = "some cells are empty" if found else "no values"
            fields[name] = Inference(None, why)
        elif found:
            columns.use(*found)
            lost = "messages" in found and _has_rest(columns)
            reason = f"{_EXPORTED}, without `rest` of its messages" if lost else _EXPORTED
            fields[name] = Inference(_either(found, columns), reason)
        elif name == "id":
            fields[name] = Inference(None, "no values")
    return fields


def _either(names: list[str], columns: Columns) -> Any:
    """Return the expression of a column, or of the second where it has a value."""
    *others, last = names
    texts = [one for one in columns.values(last) if isinstance(one, str)]
    # Cells of CSV: lists are JSON, and an empty one is a null.
    value: Any = {"from": last, "do": ["parse"]} if any(texts) and last in _LISTS else last
    if not others and not ("" in texts and last in _LISTS):
        return value
    empty = {"value": last, "equals": "" if "" in texts else None}
    return {"if": empty, "then": others[0] if others else None, "else": value}


def _has_rest(columns: Columns) -> bool:
    """Return whether messages have more than text, such as parts or tool calls."""
    for value in columns.values("messages"):
        if isinstance(value, str) and '"rest":"' in value:
            return True
        if isinstance(value, list) and any(one.get("rest") for one in value):
            return True
    return False


def explode_of(column: str, value: Any, depth: int = 1) -> Any:
    """Return `explode` for a list of objects, and for the list in each, as in SQuAD; else None."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return None
    item = "item" if depth == 1 else f"item{depth}"
    below = [
        explode_of(f"{item}.{key}", one, depth + 1)
        for key, one in value[0].items()
        if key not in TARGETS
    ]
    match [one for one in below if one]:
        case [inner]:
            return {"column": column, "item": item, "then": inner}
    return column if depth == 1 else {"column": column, "item": item}

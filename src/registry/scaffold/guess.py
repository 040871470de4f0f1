"""What sniffing results in: a guess with its reason, or a question where two readings are equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from registry.errors import DecodeError, shorten

__all__ = [
    "CHOICES",
    "IDS",
    "INPUTS",
    "KNOWN",
    "MESSAGES",
    "TARGETS",
    "Ask",
    "Guess",
    "Question",
    "option_text",
    "refuse",
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

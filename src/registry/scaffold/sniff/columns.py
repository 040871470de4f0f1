"""Names that columns of evaluation datasets have: they tell a header, and what a column is for."""

from __future__ import annotations

__all__ = ["CHOICES", "IDS", "INPUTS", "KNOWN", "MESSAGES", "TARGETS"]

# The most specific first: `text` is an input only where there is no `question`.
INPUTS = (
    *("input", "question", "prompt", "query", "problem", "messages", "instruction", "goal"),
    *("task", "text", "sentence", "premise", "context", "story"),
)
TARGETS = (
    *("target", "answer", "answerkey", "answer_key", "label", "gold", "correct_answer", "correct"),
    *("solution", "canonical_solution", "expected", "output", "response", "answer_index"),
    *("answers", "ideal"),
)
CHOICES = ("choices", "options", "endings", "candidates", "answers", "answer_choices")
IDS = ("id", "uid", "task_id", "question_id", "sample_id", "example_id", "idx", "qid", "index")
MESSAGES = ("messages", "conversations", "conversation", "chat", "dialog", "dialogue", "turns")
KNOWN = frozenset({*INPUTS, *TARGETS, *CHOICES, *IDS, *MESSAGES, "subject", "category", "topic"})

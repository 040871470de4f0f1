"""Records of the tasks of lm-evaluation-harness, from real files in other public repositories.

These have the records of the repositories that the tasks read in other forms; each function returns
them with the columns of the task.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

from tests.evidence.conversions import BY_FILE, CONVERSIONS
from tests.evidence.lm_eval_peers import questions_of_exams

__all__ = ["RECORDS_OF"]

Records = list[dict[str, Any]]


def lines(text: str) -> Records:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def letters(count: int) -> list[str]:
    return list("ABCDE"[:count])


def anli(text: str) -> Records:
    return [
        {"premise": row["context"], "hypothesis": row["statement"], "label": "enc".index(code)}
        for row in csv.DictReader(io.StringIO(text))
        for code in row["gold_label"][:1]
    ]


def arc(text: str) -> Records:
    return [
        {
            "question": row["query"].removeprefix("Question: "),
            "choices": {"text": row["choices"], "label": letters(len(row["choices"]))},
            "answerKey": letters(5)[row["gold"]],
        }
        for row in lines(text)
    ]


def boolq(text: str) -> Records:
    return [
        {
            "passage": row["passage"],
            "question": row["question"],
            "label": int(row["answer"] == "True"),
        }
        for row in lines(text)
    ]


def copa(text: str) -> Records:
    kinds = {"because": "cause", "therefore": "effect"}
    records = []
    for row in lines(text):
        premise, connector = row["query"].rsplit(", ", 1)
        first, second = (choice[:1].upper() + choice[1:] for choice in row["choices"])
        choices = {"choice1": first, "choice2": second, "label": row["gold"]}
        records.append({"premise": f"{premise}.", "question": kinds[connector], **choices})
    return records


def ethics(text: str) -> Records:
    rows = csv.reader(io.StringIO(text))
    return [{"activity": better, "baseline": worse} for better, worse in rows]


def hellaswag(text: str) -> Records:
    return [{**row, "label": str(row["label"])} for row in lines(text)]


def logiqa(text: str) -> Records:
    records = []
    for block in text.strip().split("\n\n"):
        label, context, question, *options = block.strip().split("\n")
        given = [re.sub(r"^[A-D]\.\s*", "", option).strip() for option in options]
        row = {"label": label, "context": context.strip(), "question": question.strip()}
        records.append({**row, "options": given})
    return records


def mmlu(text: str) -> Records:
    file = {"high_school_physics_test.csv": [*csv.DictReader(io.StringIO(text))]}
    return [*BY_FILE["mmlu"](file)]


def openbookqa(text: str) -> Records:
    return [
        {
            "question_stem": row["Question Stem"],
            "choices": {
                "text": [part.strip() for part in re.split(r"\([A-D]\) ", row["Choices"])[1:]],
                "label": letters(4),
            },
            "answerKey": row["Answer Key"],
        }
        for row in csv.DictReader(io.StringIO(text), delimiter="\t")
    ]


def piqa(text: str) -> Records:
    return [
        {
            "goal": row["question"],
            "sol1": row["A"],
            "sol2": row["B"],
            "label": "AB".index(row["answer"]),
        }
        for row in lines(text)
    ]


def race(text: str) -> Records:
    records = []
    for row in lines(text):
        keys = ("question", "answer", "options")
        columns = zip(row["questions"], row["answers"], row["options"], strict=True)
        problems = [dict(zip(keys, values, strict=True)) for values in columns]
        records.append({"article": row["article"], "problems": str(problems)})
    return records


def swag(text: str) -> Records:
    return [{**row, "startphrase": f"{row['sent1']} {row['sent2']}"} for row in lines(text)]


def winogrande(text: str) -> Records:
    records = []
    for row in lines(text):
        contexts = row["context_options"]
        pairs = enumerate(zip(*contexts, strict=False))
        ends = (index for index, (one, other) in pairs if one != other)
        differs = next(ends, min(map(len, contexts)))
        start = contexts[0].rfind(" ", 0, differs) + 1
        first, second = (context[start:] for context in contexts)
        sentence = f"{contexts[0][:start]}_ {row['continuation']}"
        options = {"option1": first, "option2": second, "answer": str(row["gold"] + 1)}
        records.append({"sentence": sentence, **options})
    return records


def wsc273(text: str) -> Records:
    return [_schema(schema) for schema in list(ET.fromstring(text.encode("latin-1")))[:273]]


def _schema(schema: ET.Element) -> dict[str, Any]:
    def clean(path: str) -> str:
        return " ".join((schema.findtext(path) or "").split())

    before, pronoun, after = (clean(f"text/{part}") for part in ("txt1", "pron", "txt2"))
    return {
        "text": f"{before} {pronoun} {after}".strip(),
        "pronoun": pronoun,
        "pronoun_loc": len(before) + 1 if before else 0,
        "options": [" ".join((one.text or "").split()) for one in schema.iter("answer")],
        "label": int(clean("correctAnswer").strip(". ") == "B"),
    }


RECORDS_OF: dict[str, Callable[[str], Records]] = {
    "lm-eval-anli-r1": anli,
    "lm-eval-arc-easy": arc,
    "lm-eval-boolq": boolq,
    "lm-eval-commonsense-qa": lambda text: [*CONVERSIONS["stem"](lines(text))],
    "lm-eval-copa": copa,
    "lm-eval-ethics-utilitarianism": ethics,
    "lm-eval-gsm8k": lines,
    "lm-eval-headqa-en": lambda text: [*questions_of_exams([json.loads(text)])],
    "lm-eval-hellaswag": hellaswag,
    "lm-eval-lambada-openai": lines,
    "lm-eval-logiqa": logiqa,
    "lm-eval-mathqa": lambda text: [*CONVERSIONS["mathqa"](lines(text))],
    "lm-eval-mmlu": mmlu,
    "lm-eval-openbookqa": openbookqa,
    "lm-eval-piqa": piqa,
    "lm-eval-pubmedqa": lambda text: list(json.loads(text).values()),
    "lm-eval-race": race,
    "lm-eval-social-iqa": lambda text: [*CONVERSIONS["siqa"](lines(text))],
    "lm-eval-swag": swag,
    **dict.fromkeys(
        ("lm-eval-truthfulqa-mc1", "lm-eval-truthfulqa-mc2"),
        lambda text: [*CONVERSIONS["truthfulqa_choices"](json.loads(text))],
    ),
    "lm-eval-winogrande": winogrande,
    "lm-eval-wsc273": wsc273,
}
"""Dataset → the function that returns the records in its file."""

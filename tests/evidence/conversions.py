"""Give a real file the columns that a manifest reads: renamed, selected, flattened; not made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.evidence.regrouped import REGROUPED

__all__ = ["BY_FILE", "CONVERSIONS"]

Records = Iterable[dict[str, Any]]
Conversion = Callable[[list[dict[str, Any]]], Records]


def aime_2026(records: list[dict[str, Any]]) -> Records:
    for record in records:
        yield {
            "id": record["unique_id"],
            "problem": record["question"],
            "answer": record["ground_truth"],
        }


def drop(records: list[dict[str, Any]]) -> Records:
    """Flatten the passages; the Hub has a list for each field of the validated answers."""
    for section, passage in ((key, value) for record in records for key, value in record.items()):
        for one in passage["qa_pairs"]:
            validated = one.get("validated_answers", [])
            yield {
                "section_id": section,
                "passage": passage["passage"],
                "question": one["question"],
                "query_id": one["query_id"],
                "answer": one["answer"],
                "validated_answers": {
                    field: [answer[field] for answer in validated]
                    for field in ("number", "date", "spans")
                },
            }


def mathqa(records: list[dict[str, Any]]) -> Records:
    for record in records:
        yield {
            "Problem": record["problem"],
            "Rationale": record["rationale"],
            "options": record["options"],
            "correct": record["correct"],
            "category": record["type"],
        }


def mbpp_prompt(records: list[dict[str, Any]]) -> Records:
    """Select the split `prompt`."""
    return [record for record in records if record["task_id"] <= 10]


def mbpp_test(records: list[dict[str, Any]]) -> Records:
    """Select the split `test`."""
    return [record for record in records if 10 < record["task_id"] <= 510]


def musr(records: list[dict[str, Any]]) -> Records:
    for record in records:
        for one in record["questions"]:
            yield {
                "narrative": record["context"],
                "question": one["question"],
                "choices": str(one["choices"]),
                "answer_index": one["answer"],
            }


def paws(records: list[dict[str, Any]]) -> Records:
    for record in records:
        yield {**record, "id": int(record["id"]), "label": int(record["label"])}


def pubmedqa(records: list[dict[str, Any]]) -> Records:
    for number, record in records[0].items():
        yield {
            "pubid": int(number),
            "question": record["QUESTION"],
            "context": {
                "contexts": record["CONTEXTS"],
                "labels": record["LABELS"],
                "meshes": record["MESHES"],
            },
            "long_answer": record["LONG_ANSWER"],
            "final_decision": record["final_decision"],
        }


def race_high(records: list[dict[str, Any]]) -> Records:
    """Read a bundle of one file per article, as the script of the Hub does."""
    for article in (json.loads(record["text"]) for record in records):
        for number, question in enumerate(article["questions"]):
            yield {
                "example_id": article["id"],
                "article": article["article"],
                "answer": article["answers"][number],
                "question": question,
                "options": article["options"][number],
            }


def squad(records: list[dict[str, Any]]) -> Records:
    """Flatten the articles, as the script of the Hub does."""
    for article in records:
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                answers = {
                    field: [answer[field] for answer in one["answers"]]
                    for field in ("text", "answer_start")
                }
                yield {
                    "id": one["id"],
                    "title": article["title"],
                    "context": paragraph["context"],
                    "question": one["question"],
                    "answers": answers,
                }


def truthfulqa_choices(records: list[dict[str, Any]]) -> Records:
    for record in records:
        targets = {name: record[name] for name in ("mc1_targets", "mc2_targets")}
        yield {
            "question": record["question"],
            **{
                name: {"choices": list(target), "labels": list(target.values())}
                for name, target in targets.items()
            },
        }


def truthfulqa_generation(records: list[dict[str, Any]]) -> Records:
    for record in records:
        yield {
            "type": record["Type"],
            "category": record["Category"],
            "question": record["Question"],
            "best_answer": record["Best Answer"],
            "correct_answers": [one.strip() for one in record["Correct Answers"].split(";")],
            "incorrect_answers": [one.strip() for one in record["Incorrect Answers"].split(";")],
            "source": record["Source"],
        }


def unchanged(records: list[dict[str, Any]]) -> Records:
    """Put the records of several files into one."""
    return records


def xquad(files: Mapping[str, list[dict[str, Any]]]) -> Records:
    """Flatten the articles of each language, as the Hub has them."""
    for name, articles in files.items():
        for paragraph in (one for article in articles for one in article["paragraphs"]):
            for one in paragraph["qas"]:
                answers = {
                    key: [answer[key] for answer in one["answers"]]
                    for key in ("text", "answer_start")
                }
                yield {
                    "language": name.split(".")[1],
                    "id": one["id"],
                    "context": paragraph["context"],
                    "question": one["question"],
                    "answers": answers,
                }


CONVERSIONS: Mapping[str, Conversion] = REGROUPED | {
    one.__name__: one
    for one in (
        aime_2026,
        drop,
        mathqa,
        mbpp_prompt,
        mbpp_test,
        musr,
        paws,
        pubmedqa,
        race_high,
        squad,
        truthfulqa_choices,
        truthfulqa_generation,
        unchanged,
    )
}


def figqa(files: Mapping[str, list[dict[str, Any]]]) -> Records:
    """Select the questions on the figures that are there, and put these into a column."""
    questions, *figures = files.values()
    by_name = {figure["path"]: figure for (figure,) in figures}
    for record in questions:
        name = record["figure-path"].removeprefix("figs/")
        if name in by_name:
            yield {**record, "figure": by_name[name]}


def mmlu(files: Mapping[str, list[dict[str, Any]]]) -> Records:
    """Give the questions the name of their file as the subject, in its order."""
    for name, records in sorted(files.items()):
        for record in records:
            yield {
                "question": record["question"],
                "subject": name.rpartition("_")[0],
                "choices": [record[f"choice{number}"] for number in range(4)],
                "answer": int(record["answer"]),
            }


def swe_bench_verified(files: Mapping[str, list[dict[str, Any]]]) -> Records:
    """Select the records of the first file whose ids the second one has."""
    records, verified = files.values()
    ids = {record.get("instance_id") or record["text"] for record in verified}
    return [record for record in records if record["instance_id"] in ids]


BY_FILE: Mapping[str, Callable[[Mapping[str, list[dict[str, Any]]]], Records]] = {
    one.__name__: one for one in (figqa, mmlu, swe_bench_verified, xquad)
}
"""Conversions that read the names of the files."""

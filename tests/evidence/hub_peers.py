"""Peers of datasets of the Hub of which only the commit is known: tasks of lm_eval, and readings.

A task reads one language; the records of a dataset are given to the tasks of their languages.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml

from tests.evidence.lm_eval_peers import documents
from tests.parity.cases import PROMPT, Case, Why

__all__ = ["HUB_CASES"]

Record = dict[str, Any]

FIXTURES = Path(__file__).parents[1] / "fixtures" / "records.json"
NO_ID = Why("the task has no ids")
NOT_KEPT = Why("the task keeps no metadata", lambda ours, theirs: theirs is None)
LETTERS = Why(
    "the task puts the choices into the prompt",
    lambda ours, theirs: theirs is None or theirs == list("ABCD"),
)
FIRST = Why("the task takes the first answer only", lambda ours, theirs: theirs == ours[0])


def _sample(**fields: Any) -> Any:
    absent = {"id": None, "metadata": None, "choices": None, "sandbox": None, "files": None}
    return SimpleNamespace(**{**absent, "setup": None, **fields})


def _by(column: str, file: str, names: Mapping[str, str]) -> Callable[[Iterable[Record]], Any]:
    """Return what gives records to the task of their language, one after the other."""

    def read(records: Iterable[Record]) -> Iterator[Record]:
        for value, group in groupby(records, lambda one: str(one[column]).split("-")[0]):
            name = names.get(value, value)
            yield from documents(file.format(name, name.lower()))(group)

    return read


def _task(
    dataset: str,
    file: str,
    differs: Mapping[str, Why],
    *,
    by: str = "language",
    names: Mapping[str, str] | None = None,
    metadata: tuple[str, ...] = ("language",),
    has_id: bool = True,
) -> Case:
    kept = {f"metadata.{name}": NOT_KEPT for name in metadata}
    ids = {"id": NO_ID} if has_id else {}
    before = _by(by, file, names or {})
    task = file.format("*", "*")
    return Case(
        dataset,
        lambda: lambda document: _sample(**document),
        {**ids, **kept, **differs},
        before=before,
        against=f"lm_eval.tasks:{task}",
    )


QUESTION = {"input": PROMPT, "choices": LETTERS}
GOLDP = {
    "arabic": "ar",
    "bengali": "bn",
    "english": "en",
    "finnish": "fi",
    "indonesian": "id",
    "korean": "ko",
    "russian": "ru",
    "swahili": "sw",
    "telugu": "te",
}


def _xquad(record: Record) -> Any:
    """Render the prompt of the task, whose scorer needs packages that nothing else here needs."""
    jinja2: Any = importlib.import_module("jinja2")
    tasks = Path(importlib.import_module("lm_eval.tasks").__file__ or "").parent
    task = yaml.safe_load((tasks / f"xquad/xquad_{record['language']}.yaml").read_bytes())
    prompt = jinja2.Template(task["doc_to_text"], keep_trailing_newline=True).render(record)
    return _sample(input=prompt, target=record["answers"]["text"][0])


def _wikitext(record: Record) -> Any:
    module: Any = importlib.import_module("lm_eval.tasks.wikitext.preprocess_wikitext")
    return _sample(input="", target=module.wikitext_detokenizer(record))


def _record(record: Record) -> Any:
    names = sorted(set(record["entities"]))
    text, *points = record["passage"].strip().split("\n@highlight\n")
    letters = ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[names.index(one)] for one in set(record["answers"])]
    return _sample(
        input="\n\n- ".join([text, *points]) + f"\n\n{record['query']}",
        choices=names,
        target=sorted(letters),
        id=f"{record['idx']['passage']}-{record['idx']['query']}",
    )


def _qasc(record: Record) -> Any:
    return _sample(
        input=record["question"],
        choices=record["choices"]["text"],
        target="ABCDEFGH"[record["choices"]["label"].index(record["answerKey"])],
        id=record["id"],
        metadata={key: record[key] for key in ("fact1", "fact2", "combinedfact")},
    )


def _musique(record: Record) -> Any:
    texts = [f"{one['title']}\n{one['paragraph_text']}" for one in record["paragraphs"]]
    return _sample(
        input="\n\n".join([*texts, f"Question: {record['question']}"]),
        target=list(dict.fromkeys([record["answer"], *record["answer_aliases"]])),
        id=record["id"],
        metadata={"steps": len(record["question_decomposition"])},
    )


def _frames(record: Record) -> Any:
    articles = json.loads(record["wiki_links"].replace("'", '"'))
    return _sample(
        input=record["Prompt"],
        target=record["Answer"],
        metadata={"reasoning_types": record["reasoning_types"], "articles": articles},
    )


def _supergpqa(record: Record) -> Any:
    return _sample(
        input=record["question"],
        choices=record["options"],
        target=record["answer_letter"],
        id=record["uuid"],
        metadata={key: record[key] for key in ("discipline", "field", "subfield", "difficulty")},
    )


HUB_CASES = (
    _task(
        "global-mmlu",
        "global_mmlu/full/{0}/_{0}_template_yaml",
        QUESTION,
        metadata=("language", "subject", "subject_category", "cultural_sensitivity_label"),
    ),
    _task(
        "belebele",
        "belebele/belebele_{}.yaml",
        QUESTION,
        metadata=("language", "link", "question_number"),
    ),
    _task(
        "paws-x",
        "paws-x/paws_{}.yaml",
        {},
        metadata=("language", "sentence1", "sentence2"),
    ),
    _task("ceval", "ceval/ceval-valid_{}.yaml", QUESTION, by="subject", metadata=("subject",)),
    Case(
        "xquad",
        lambda: _xquad,
        {"id": NO_ID, "metadata.language": NOT_KEPT, "target": FIRST},
        against="lm_eval.tasks:xquad/xquad_*.yaml",
    ),
    _task("tydiqa-goldp", "tydiqa/tydiqa_goldp_{}.yaml", {"target": FIRST}, by="id", names=GOLDP),
    _task(
        "include-base-44",
        "include/default/{0}/_{1}_template_yaml",
        QUESTION,
        metadata=("language", "domain"),
    ),
    _task(
        "mmlu-prox",
        "mmlu_prox/{0}/_{0}_template_yaml",
        QUESTION,
        metadata=("language", "category"),
    ),
    _task(
        "superglue-wsc",
        "super_glue/wsc/default.yaml",
        {"input": PROMPT},
        by="text",
        metadata=("span1_text", "span2_text", "span1_index", "span2_index"),
    ),
    Case(
        "wikitext-2-pages",
        lambda: _wikitext,
        {"id": NO_ID, "metadata.page": NOT_KEPT},
        against="lm_eval.tasks.wikitext.preprocess_wikitext:wikitext_detokenizer",
    ),
    Case("superglue-record", lambda: _record),
    Case("qasc", lambda: _qasc),
    Case("musique", lambda: _musique),
    Case("frames", lambda: _frames, {"id": NO_ID}),
    Case("supergpqa", lambda: _supergpqa),
)

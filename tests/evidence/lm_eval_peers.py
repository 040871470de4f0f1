"""The tasks of lm-evaluation-harness, for datasets that inspect_evals has no evaluation of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from registry.samples.letters import letter_of
from tests.parity.cases import PROMPT, Case, Why

__all__ = ["LM_EVAL_CASES", "questions_of_exams"]

Record = dict[str, Any]

NO_ID = Why("the task has no ids")
NOT_KEPT = Why("the task keeps no metadata", lambda ours, theirs: theirs is None)
BLANK = Why("the task puts a blank before it", lambda ours, theirs: f" {ours}" == theirs)
WORDED = Why("the task words the answers", lambda ours, theirs: len(ours) == len(theirs))


def documents(file: str) -> Callable[[Iterable[Record]], Iterator[Record]]:
    """Return what makes the requests of a task out of records, with what its scorer accepts."""

    def read(records: Iterable[Record]) -> Iterator[Record]:
        # Importing it needs lm_eval.
        from tests.parity.test_lm_eval import theirs

        for one in theirs(file, list(records)):
            if isinstance(one.correct, str) or not one.texts[0][1]:
                yield {"input": one.texts[0][0], "choices": None, "target": one.correct}
                continue
            letters = [letter_of(index) for index in one.correct]
            yield {
                "input": one.texts[0][0],
                "choices": [text.strip() for _, text in one.texts],
                "target": letters[0] if len(letters) == 1 else letters,
            }

    return read


def _sample(document: Record) -> Any:
    return SimpleNamespace(**document, id=None, metadata=None, sandbox=None, files=None, setup=None)


def lm_eval(
    dataset: str,
    file: str,
    differs: Mapping[str, Why],
    before: Callable[[Iterable[Record]], Iterable[Record]] = lambda records: records,
) -> Case:
    """Return the case of a task, which is named by its file."""
    read = documents(file)
    return Case(
        dataset,
        lambda: _sample,
        {"id": NO_ID, **differs},
        before=lambda records: read(before(records)),
        against=f"lm_eval.tasks:{file}",
    )


def questions_of_exams(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the questions of all examinations, as the script of the Hub does."""
    for record in records:
        for exam in record["exams"].values():
            for one in exam["data"]:
                yield {**one, "ra": int(one["ra"]), "category": exam["category"]}


BARE = {"input": Why("the task has no prompt"), "metadata.bias_type": NOT_KEPT}

LM_EVAL_CASES = (
    lm_eval("headqa-en", "headqa/headqa_en.yaml", {"input": PROMPT}, questions_of_exams),
    lm_eval("crows-pairs-english", "crows_pairs/crows_pairs_english.yaml", BARE),
    lm_eval(
        "mathqa",
        "mathqa/mathqa.yaml",
        {
            "input": PROMPT,
            "choices": Why(
                "the task cuts choices at commas, and leaves the quotes of a Python list",
                lambda ours, theirs: all(
                    own.startswith(their.rstrip("']"))
                    for own, their in zip(ours, theirs, strict=True)
                ),
            ),
            "metadata.category": NOT_KEPT,
        },
    ),
    lm_eval("sciq", "sciq/sciq.yaml", {"input": PROMPT, "metadata.support": NOT_KEPT}),
    lm_eval(
        "anli-r1",
        "anli/anli_r1.yaml",
        {"input": PROMPT, "choices": WORDED, "metadata.reason": NOT_KEPT},
    ),
    lm_eval(
        "medmcqa",
        "medmcqa/medmcqa.yaml",
        {
            "input": PROMPT,
            "choices": WORDED,
            **{
                f"metadata.{name}": NOT_KEPT
                for name in ("subject_name", "topic_name", "choice_type")
            },
        },
    ),
    lm_eval("openbookqa-main", "openbookqa/openbookqa.yaml", {}),
    lm_eval(
        "kmmlu",
        "kmmlu/direct/kmmlu_direct_criminal_law.yaml",
        {
            "input": PROMPT,
            "choices": Why("the prompt has them", lambda ours, theirs: theirs is None),
        },
    ),
    lm_eval("lambada-openai", "lambada/lambada_openai.yaml", {"target": BLANK}),
    lm_eval("lambada-standard", "lambada/lambada_standard.yaml", {"target": BLANK}),
    lm_eval("nq-open", "nq_open/nq_open.yaml", {"input": PROMPT}),
    lm_eval(
        "triviaqa-rc-nocontext",
        "triviaqa/default.yaml",
        {"input": PROMPT, "metadata.value": NOT_KEPT},
    ),
)

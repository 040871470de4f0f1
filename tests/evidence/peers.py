"""The code of others that gives the samples of each dataset, for all records of a real file."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.evidence.hub_peers import HUB_CASES
from tests.evidence.lm_eval_peers import LM_EVAL_CASES
from tests.evidence.package_peers import PACKAGED
from tests.evidence.plain_peers import PLAIN
from tests.evidence.task_peers import WITHIN_TASKS
from tests.parity.cases import (
    CASES,
    LAB_BENCH,
    NULL,
    PROMPT,
    RENUMBERED,
    Case,
    RecordFunction,
    Records,
    Why,
    attribute,
    bbh,
    bbq,
    case,
    given_to,
    mgsm,
    not_removed,
    sciknoweval_tasks,
    where,
)

__all__ = ["PEERS"]

# One block per file of manifests.

Block = tuple[Case, ...]

# agieval

AGIEVAL: Block = tuple(
    case(f"agieval-{name}", "agieval.utils:record_to_sample")
    for name in (
        "lsat-lr",
        "lsat-rc",
        "sat-en",
        "sat-en-without-passage",
        "aqua-rat",
        "logiqa-en",
    )
)

# bbh

# The task numbers the samples of all subsets anew, so that equal ids are no problem to it.
NUMBERED = Why(
    "ids that recur get a suffix", lambda ours, theirs: ours.rpartition("-")[0] == theirs
)
_CUT_NAMES = {100, 145}
"""Records of ruin_names whose choices the copy on the Hub cut at commas; the manifest leaves them out."""


def _bbh(name: str) -> Case:
    def before(records: Records) -> Records:
        left_out = _CUT_NAMES if name == "ruin_names" else set()
        return (one for number, one in enumerate(records, 1) if number not in left_out)

    dataset = f"bbh-{name.replace('_', '-')}"
    return Case(dataset, partial(bbh, name), {"id": NUMBERED}, before)


BBH: Block = tuple(
    _bbh(name)
    for name in (
        "boolean_expressions",
        "date_understanding",
        "dyck_languages",
        "formal_fallacies",
        "object_counting",
        "causal_judgement",
        "disambiguation_qa",
        "geometric_shapes",
        "hyperbaton",
        "logical_deduction_five_objects",
        "logical_deduction_seven_objects",
        "logical_deduction_three_objects",
        "movie_recommendation",
        "multistep_arithmetic_two",
        "navigate",
        "penguins_in_a_table",
        "reasoning_about_colored_objects",
        "ruin_names",
        "salient_translation_error_detection",
        "snarks",
        "sports_understanding",
        "temporal_sequences",
        "tracking_shuffled_objects_five_objects",
        "tracking_shuffled_objects_seven_objects",
        "tracking_shuffled_objects_three_objects",
        "web_of_lies",
        "word_sorting",
    )
)


# bbq

BBQ: Block = tuple(
    map(
        bbq,
        (
            "Age",
            "Disability_status",
            "Nationality",
            "Physical_appearance",
            "Religion",
            "Sexual_orientation",
        ),
    )
)


# bias


def _bold() -> RecordFunction:
    """Return the task of BOLD as a function of all records, which it numbers."""
    module: Any = importlib.import_module("inspect_evals.bold.bold")

    def read(file: dict[str, Any]) -> list[Any]:
        caught: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "load_dataset", lambda *_, **__: file["records"])
            patch.setattr(module, "Task", lambda dataset, **_: caught.extend(dataset))
            for name in (
                "_configure_torch",
                "toxicity_scorer",
                "sentiment_scorer",
                "regard_scorer",
            ):
                patch.setattr(module, name, lambda: None)
            module.bold.__wrapped__()
        return caught

    return read


BIAS: Block = (
    Case(
        "bold",
        _bold,
        before=lambda records: [{"records": list(records)}],
        # Five prompts are empty, which the loaders of Inspect refuse, and so do ours.
        after=lambda samples: (one for one in samples if one.input),
        against="inspect_evals.bold.bold:bold",
    ),
    case(
        "stereoset-intrasentence",
        "stereoset.stereoset:record_to_sample",
        task_type="intrasentence",
    ),
)


# chembench

CHEMBENCH: Block = tuple(
    case(
        f"chembench-{name.replace('_', '-')}",
        "chembench.chembench:record_to_sample",
        differs={"metadata.tolerance": NULL, "metadata.relative": NULL},
        subset_name=name,
    )
    for name in (
        "chemical_preference",
        "general_chemistry",
        "inorganic_chemistry",
        "materials_science",
        "organic_chemistry",
        "physical_chemistry",
        "technical_chemistry",
        "toxicity_and_safety",
    )
)


# coding


def _kernelbench() -> RecordFunction:
    """Return the record function of KernelBench without the package that words its prompt."""
    name = "kernelbench.prompt_constructor_toml"
    module: Any = types.ModuleType(name)
    module.get_prompt_for_backend = lambda ref_arch_src, **_: ref_arch_src
    read = attribute("kernelbench.dataset:record_to_sample")

    def with_prompt(record: dict[str, Any]) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "kernelbench", types.ModuleType("kernelbench"))
            patch.setitem(sys.modules, name, module)
            patch.setattr(sys.modules["kernelbench"], "prompt_constructor_toml", module, False)
            options = dict.fromkeys(("backend", "option", "precision", "gpu_name"))
            return read(record=record, include_hardware=False, **options)

    return with_prompt


CODING: Block = (
    case(
        "compute-eval-default",
        "compute_eval.compute_eval:record_to_sample",
        differs={"input": PROMPT},
    ),
    Case(
        "kernelbench-level-1",
        _kernelbench,
        against="inspect_evals.kernelbench.dataset:record_to_sample",
    ),
    case(
        "scicode",
        "scicode.dataset:record_to_sample",
        differs={"files": Why("the task adds a file that it fetches itself")},
    ),
)


# commonsense


def _with_labels(records: Records) -> Records:
    """Put the labels, which the authors have in a file of their own, where the Hub has them."""
    return ({**record, "label": int(record["answer"]["label"])} for record in records)


COMMONSENSE: Block = (
    case("winogrande-xl-train", "winogrande.winogrande:record_to_sample"),
    case("piqa", "piqa.piqa:record_to_sample", differs={"id": RENUMBERED}, before=_with_labels),
)


# cyberseceval

CYBERSECEVAL: Block = (
    case("cyse4-autocomplete", "cyberseceval_4.instruct_or_autocomplete.dataset:record_to_sample"),
)


# gpqa

GPQA: Block = tuple(
    case(name, "gpqa.gpqa:record_to_sample") for name in ("gpqa-diamond-hf", "gpqa-extended")
)


# gsm8k

GSM8K: Block = (
    case("gsm8k-main", "gsm8k.gsm8k:record_to_sample"),
    case("gsm8k-main-train", "gsm8k.gsm8k:record_to_sample"),
)


# infinite_bench


# instructions
INSTRUCTIONS = (case("novelty-bench-wildchat", "novelty_bench.novelty_bench:record_to_sample"),)


# lab_bench
LAB = tuple(
    case(f"lab-bench-{dataset}", LAB_BENCH + "base")
    for dataset in ("dbqa", "seqqa", "cloningscenarios")
)


# livebench
LIVEBENCH = tuple(
    case(f"livebench-{dataset}", "livebench.utils:record_to_sample", after=not_removed)
    for dataset in ("reasoning", "data-analysis")
)


# math
MATH = (case("math-lighteval-train", "math.utils:record_to_sample"),)


# medicine


# mgsm
MGSM = tuple(
    Case(
        f"mgsm-{language}",
        partial(mgsm, language),
        against="inspect_evals.mgsm.mgsm:load_mgsm_dataset",
    )
    for language in ("bn", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh")
)


# mmlu


# mmlu_pro
MMLU_PRO = (case("mmlu-pro-validation", "mmlu_pro.mmlu_pro:record_to_sample"),)


# mmmlu


# reading
READING = (
    case(
        "drop-train",
        "drop.drop:record_to_sample",
        differs=next(one.differs for one in CASES if one.dataset == "drop"),
    ),
)


# reasoning
MUSR = tuple(
    case(f"musr-{dataset}", "musr.musr:record_to_sample")
    for dataset in ("object-placements", "team-allocation")
)


# safety
def agentharm(name: str) -> RecordFunction:
    """Return the FieldSpec that the task gives to its loader, which looks for the file first."""
    module: Any = importlib.import_module("inspect_evals.agentharm.utils")
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AGENTHARM_DATASET_LOCATION", Path(folder))
        file = Path(folder) / "benchmark" / f"{name}_behaviors_test_public.json"
        file.parent.mkdir()
        file.write_text('{"behaviors": []}')
        return given_to(
            "load_json_dataset",
            "agentharm.utils:load_dataset",
            name=name,
            split="test_public",
            force_redownload=False,
        )


SAFETY = (
    *(
        Case(
            f"agentharm-{name}-test-public",
            partial(agentharm, name),
            against="inspect_evals.agentharm.utils:load_dataset",
        )
        for name in ("harmful", "benign")
    ),
    case("xstest-unsafe", "xstest.xstest:record_to_sample", after=where(label="unsafe")),
)


# science
SCIENCE = (
    case(
        "frontierscience",
        "frontierscience.frontierscience:record_to_sample",
        differs={
            "id": Why(
                "the second of two equal problems ends in -2; theirs ends in _1",
                lambda ours, theirs: ours.rpartition("-")[0] == theirs.rpartition("_")[0],
            )
        },
    ),
    case(
        "sciknoweval-v1",
        "sciknoweval.sciknoweval:record_to_sample",
        after=sciknoweval_tasks,
        differs={
            "choices": Why(
                "an empty choice at the end is left out",
                lambda ours, theirs: [*ours, ""] == theirs,
            )
        },
    ),
)


# security
SECURITY = (
    *(
        case(f"cybermetric-{number}", "cybermetric.cybermetric:record_to_sample")
        for number in (500, 2000, 10000)
    ),
    case(
        "sevenllm-mcq-zh",
        "sevenllm.sevenllm:record_to_sample",
        after=where(language="zh", format="mcq"),
    ),
    case(
        "sevenllm-qa-en",
        "sevenllm.sevenllm:record_to_sample",
        after=where(language="en", format="qa"),
    ),
)


# swe_bench


# truthfulqa
TRUTHFULQA = (
    Case(
        "truthfulqa",
        lambda: given_to("hf_dataset", "truthfulqa.truthfulqa:truthfulqa", target="mc1"),
    ),
)


# vision


# wmdp
WMDP = tuple(case(f"wmdp-{part}", "wmdp.wmdp:record_to_sample") for part in ("chem", "cyber"))


MORE: Block = (
    *AGIEVAL,
    *BBQ,
    *BBH,
    *BIAS,
    *CHEMBENCH,
    *CODING,
    *COMMONSENSE,
    *CYBERSECEVAL,
    *GPQA,
    *GSM8K,
    *HUB_CASES,
    *PACKAGED,
    *WITHIN_TASKS,
    *INSTRUCTIONS,
    *LAB,
    *LIVEBENCH,
    *LM_EVAL_CASES,
    *MATH,
    *MGSM,
    *MMLU_PRO,
    *MUSR,
    *READING,
    *SAFETY,
    *SCIENCE,
    *SECURITY,
    *TRUTHFULQA,
    *WMDP,
    *PLAIN,
)

PEERS: Mapping[str, Case] = {one.dataset: one for one in (*CASES, *MORE)}

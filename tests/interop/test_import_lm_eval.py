"""Tasks that lm-evaluation-harness ships give its requests and correct answers as manifests.

`make interop` runs this with the harness. Records are made up, as the harness ships none; a task
whose samples need code, such as `process_docs`, is imported in part and not compared.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("lm_eval", reason="`make interop` installs it")

from registry.plugins.importers.lm_eval import read
from registry.plugins.importers.models import ImportedDataset, ImportOptions
from tests.interop.lm_eval_tasks import compare, compare_filter, signature_of, tasks_folder

pytestmark = pytest.mark.filterwarnings("ignore")

# Folders with many shapes of templates; `python -m tests.interop.counts` compares all of them.
FOLDERS = (
    *("arc", "anli", "belebele", "ceval", "glue", "gpqa", "hendrycks_ethics", "kobest", "lambada"),
    *("medmcqa", "mgsm", "mmlu", "openbookqa", "piqa", "sciq", "super_glue", "truthfulqa", "xnli"),
)


@cache
def whole_tasks() -> dict[str, tuple[Path, ImportedDataset]]:
    """Return a task of each signature in the folders."""
    return {
        signature_of(dataset): (file, dataset)
        for folder in FOLDERS
        for file in sorted((tasks_folder() / folder).rglob("*.yaml"))
        for dataset in read(file, ImportOptions()).datasets
        if dataset.is_whole
    }


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def test_requests_and_answers_are_equal() -> None:
    found = [compare(file, dataset) for file, dataset in list(whole_tasks().values())[::4]]
    assert [one for one in found if one.outcome != "equal"] == []
    assert len(found) > 20


# One of each way to define the functions: a comprehension, `partial`, and a plain function.
FILTERED = (
    "global_mmlu/default/ar/global_mmlu_ar_social_sciences.yaml",
    "global_mmlu/full/am/global_mmlu_full_am_anatomy.yaml",
    "include/default/Albanian/include_base_44_albanian_arts_humanities.yaml",
    "llama3/instruct/mmlu_de/mmlu_de_anatomy.yaml",
    "bigbench/multiple_choice/anachronisms.yaml",
)


@pytest.mark.parametrize("name", FILTERED)
def test_filters_keep_the_same_records(name: str) -> None:
    file = tasks_folder() / name
    (dataset,) = read(file, ImportOptions()).datasets
    assert dataset.is_whole
    assert compare_filter(file, dataset).outcome == "equal"

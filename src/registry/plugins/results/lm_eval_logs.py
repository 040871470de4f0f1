"""Logs of lm-evaluation-harness: `results_….json`, and `samples_….jsonl` for each task."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeGuard

from registry.api import LogError, display_path, letter_of
from registry.plugins.results.runs import (
    Run,
    RunSample,
    index_in,
    read_object,
    read_rows,
    score_of,
    stated_provenance,
    text_or_texts,
)

__all__ = ["is_log", "read"]

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_RESULTS = re.compile(r".+_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.json")


def is_log(file: Path, keys: frozenset[str], *, is_named: bool) -> bool:
    """Return whether a file is of lm-eval; in a folder, results stand for their samples."""
    if file.suffix == ".jsonl":
        is_samples = {"doc_id", "doc", "target", "arguments"} <= keys
        return is_samples and (is_named or _results_of(file) is None)
    return {"results", "configs", "n-shot"} <= keys


def _results_of(samples: Path) -> Path | None:
    """Return the results of the run that wrote samples, if they are beside them."""
    found = _SAMPLES.fullmatch(samples.name)
    date = found and found["date"]
    beside = samples.parent.glob(f"*_{date}.json") if date else ()
    return next((one for one in beside if _RESULTS.fullmatch(one.name)), None)


def read(file: Path) -> Iterator[Run]:
    """Yield the run of each task in results, or of the task of a samples file.

    Raises:
        LogError: a file is damaged.
    """
    is_samples = file.suffix == ".jsonl"
    found = _SAMPLES.fullmatch(file.name) if is_samples else _RESULTS.fullmatch(file.name)
    results_file = _results_of(file) if is_samples else file
    results = read_object(results_file) if results_file else {}
    if is_samples:
        samples_of = {found["task"] if found else file.stem: file}
    else:
        date = found["date"] if found else ""
        samples_of = {
            task: file.with_name(f"samples_{task}_{date}.jsonl") for task in results["configs"]
        }
    for task, samples_file in samples_of.items():
        config = results.get("configs", {}).get(task, {})
        metadata = config.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        provenance, problem = stated_provenance(metadata.get("registry"))
        yield Run(
            file=display_path(samples_file if is_samples else file),
            tool="lm_eval",
            model=_model_of(results),
            task=task,
            dataset=_dataset_of(config) or task,
            location=config.get("dataset_path"),
            fingerprint=metadata.get("fingerprint"),
            provenance=provenance,
            problem=problem,
            samples=tuple(_samples(samples_file)) if os.path.exists(samples_file) else (),
        )


def _model_of(results: dict[str, Any]) -> str | None:
    found = results.get("model_name") or results.get("config", {}).get("model")
    return None if found is None else str(found)


def _dataset_of(config: dict[str, Any]) -> str | None:
    """Return the path and the name of a dataset on the Hub; None for loaded files."""
    path, name = config.get("dataset_path"), config.get("dataset_name")
    return " ".join(filter(None, [path, name])) if path and "/" in path else None


def _samples(file: Path) -> Iterator[RunSample]:
    """Yield each sample once: a task with several filters has a row for each."""
    rows = sorted(read_rows(file), key=lambda row: _number(row, file))
    for number, same in groupby(rows, itemgetter("doc_id")):
        group = list(same)
        first = group[0]
        doc = first["doc"] if isinstance(first.get("doc"), dict) else {}
        requests = _requests(first.get("arguments"))
        choices = _choices(doc, requests)
        identifier = doc.get("id")
        yield RunSample(
            id=number if identifier is None else identifier,
            input=_prompt(requests) if (own := _own_input(doc)) is None else own,
            choices=choices,
            target=_target(first.get("target"), choices),
            metadata=doc,
            scores={name: score for row in group for name, score in _scores(row)},
        )


def _number(row: dict[str, Any], file: Path) -> int:
    number = row.get("doc_id")
    if not isinstance(number, int):
        raise LogError(f"{display_path(file)}: a row has no `doc_id`, so lm-eval did not write it")
    return number


def _requests(arguments: Any) -> list[list[Any]]:
    """Return what was sent to the model; older releases write lists rather than names."""
    if isinstance(arguments, dict):
        return [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    return [list(one) for one in arguments or () if isinstance(one, list)]


def _own_input(doc: dict[str, Any]) -> str | list[dict[str, Any]] | None:
    """Return the input of a record that is a sample of our own export."""
    own = doc.get("input") if "target" in doc else None
    return own if isinstance(own, str) or _are_messages(own) else None


def _prompt(requests: list[list[Any]]) -> str | list[dict[str, Any]]:
    """Return the prompt; a chat template gives messages as JSON."""
    text = str(requests[0][0]) if requests and requests[0] else ""
    try:
        messages = json.loads(text) if text.startswith("[{") else None
    except (ValueError, RecursionError):
        messages = None
    return messages if _are_messages(messages) else text


def _are_messages(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, dict) and "role" in one for one in value)


def _choices(doc: dict[str, Any], requests: list[list[Any]]) -> list[str] | None:
    """Return the choices: those of the record, or the continuations that were compared."""
    own = doc.get("choices")
    if isinstance(own, list) and all(isinstance(one, str) for one in own):
        return own
    texts = [one[1] for one in requests if len(one) > 1 and isinstance(one[1], str)]
    return [text.strip() for text in texts] if len(texts) > 1 else None


def _target(value: Any, choices: list[str] | None) -> str | list[str]:
    """Return a target; the index of a choice as its letter."""
    if choices and isinstance(value, list):
        return [str(_target(one, choices)) for one in value]
    text = text_or_texts(value)
    index = index_in(choices, text) if choices and isinstance(text, str) else None
    return text if index is None else letter_of(index)


def _scores(row: dict[str, Any]) -> Iterator[tuple[str, float | str]]:
    """Yield the scores of a row, named as in lm-eval's results."""
    filtered = row.get("filter", "none")
    for name in row.get("metrics") or ():
        if isinstance(row.get(name), bool | int | float | str):
            yield name if filtered == "none" else f"{name},{filtered}", score_of(row[name])

"""Records of Every Eval Ever: a result as `….json`, and its samples as `…_samples.jsonl`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.api import convert, display_path, file_sha256
from registry.plugins.results.runs import (
    Run,
    RunSample,
    read_object,
    read_rows,
    score_of,
    stated_provenance,
)

__all__ = ["is_log", "read"]

_END = "_samples.jsonl"


def is_log(file: Path, keys: frozenset[str], *, is_named: bool) -> bool:
    """Return whether a file is a record; in a folder, a result stands for its samples."""
    if file.suffix == ".jsonl":
        is_samples = {"evaluation_id", "sample_id", "interaction_type"} <= keys
        return is_samples and (is_named or _result_of(file) is None)
    return {"schema_version", "evaluation_id", "evaluation_results"} <= keys


def _result_of(samples: Path) -> Path | None:
    result = samples.with_name(f"{samples.name.removesuffix(_END)}.json")
    return result if samples.name.endswith(_END) and os.path.exists(result) else None


def read(file: Path) -> Iterator[Run]:
    """Yield the run of a result, or of a file of samples.

    Raises:
        LogError: a file is damaged.
    """
    is_samples = file.suffix == ".jsonl"
    result_file = _result_of(file) if is_samples else file
    result = read_object(result_file) if result_file else {}
    samples_file = file if is_samples else file.with_name(f"{file.stem}{_END}")
    rows = list(read_rows(samples_file)) if os.path.exists(samples_file) else []
    evaluations = result.get("evaluation_results") or [{}]
    source = evaluations[0].get("source_data") or {}
    details = source.get("additional_details") or {}
    first = rows[0] if rows else {}
    provenance, problem = stated_provenance(details.get("registry"))
    yield Run(
        file=display_path(file),
        tool="eee",
        model=(result.get("model_info") or {}).get("id") or first.get("model_id"),
        task=evaluations[0].get("evaluation_name") or first.get("evaluation_name"),
        dataset=details.get("inspect_dataset_name") or source.get("dataset_name"),
        location=details.get("inspect_dataset_location") or source.get("hf_repo"),
        provenance=provenance,
        problem=problem or _changed(result, samples_file),
        samples=tuple(_samples(rows)),
    )


def _changed(result: dict[str, Any], samples_file: Path) -> str | None:
    """Return that the samples are not those of the result, by its digest of their file."""
    stated = result.get("detailed_evaluation_results") or {}
    algorithm, checksum = stated.get("hash_algorithm"), stated.get("checksum")
    if not (checksum and algorithm == "sha256" and os.path.exists(samples_file)):
        return None
    if file_sha256(samples_file) == checksum:
        return None
    return f"{samples_file.name} was changed: the record has another digest of it"


def _samples(rows: list[dict[str, Any]]) -> Iterator[RunSample]:
    """Yield each sample once: it has a row for each metric."""
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((str(row.get("sample_id")), _epoch(row)), []).append(row)
    for (identifier, epoch), group in groups.items():
        given = group[0].get("input") or {}
        reference = [str(one) for one in given.get("reference") or ()]
        data = {
            "id": identifier,
            "epoch": epoch,
            "input": str(given.get("raw", "")),
            "choices": given.get("choices"),
            "target": reference[0] if len(reference) == 1 else reference,
            "metadata": group[0].get("metadata") or {},
            "scores": {
                str(row.get("evaluation_result_id") or row.get("evaluation_name")): score_of(
                    (row.get("evaluation") or {}).get("score", "")
                )
                for row in group
            },
        }
        yield convert(data, RunSample)


def _epoch(row: dict[str, Any]) -> int:
    text = str((row.get("metadata") or {}).get("epoch", 1))
    return int(text) if text.isdecimal() else 1

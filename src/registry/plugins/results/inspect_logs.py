"""Logs of Inspect AI, `.eval` and `.json`, read by Inspect's own reader."""

from __future__ import annotations

import inspect
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.api import (
    HARMLESS_BYTES,
    Boundary,
    LogError,
    MissingDependencyError,
    display_path,
    install_advice,
)
from registry.plugins.results.runs import (
    Run,
    RunSample,
    score_of,
    stated_provenance,
)

__all__ = ["is_log", "read"]

_UNUSED = {"messages", "events", "store", "output", "timelines"}
"""Fields of a sample that take most of the time and the memory, and say nothing about the data."""

_INCOMPLETE = {
    "error": "the evaluation ended with an error, so samples may be missing",
    "cancelled": "the evaluation was cancelled, so samples may be missing",
}

_OF_THE_RUN = {"id", "source"}
"""Fields of a message that the run added."""


def is_log(file: Path, keys: frozenset[str], *, is_named: bool) -> bool:
    """Return whether a file is a log of Inspect."""
    return file.suffix == ".eval" or {"version", "status", "eval"} <= keys


def read(file: Path) -> Iterator[Run]:
    """Yield the run of a log.

    Raises:
        LogError: the log is damaged, or of a release of Inspect that this one can't read.
        MissingDependencyError: Inspect is not installed.
    """
    log = _read_log(file)
    spec = log.eval
    provenance, problem = stated_provenance((spec.metadata or {}).get("registry"))
    if problem is None and log.status == "started":
        problem = "the evaluation was still running, or its log is incomplete"
    yield Run(
        file=display_path(file),
        tool="inspect",
        model=spec.model,
        task=spec.task,
        dataset=spec.dataset.name,
        location=spec.dataset.location,
        provenance=provenance,
        problem=problem,
        incomplete=_INCOMPLETE.get(log.status),
        samples=tuple(map(_sample, log.samples or ())),
    )


def _read_log(file: Path) -> Any:
    try:
        import inspect_ai
        from inspect_ai.log import read_eval_log
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "inspect_ai":
            raise
        message = f"{display_path(file)}: its reader is Inspect AI's"
        raise MissingDependencyError(f"{message}: {install_advice(error)}") from error
    options: dict[str, Any] = {"resolve_attachments": True}
    if "exclude_fields" in inspect.signature(read_eval_log).parameters:
        options["exclude_fields"] = _UNUSED
    try:
        _check_content(file)
        return read_eval_log(str(file), **options)
    except LogError:
        raise
    except Exception as error:  # damage shows in zip, zstd, ijson, json or pydantic
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise LogError(
            f"{display_path(file)}: Inspect can't read this log ({reason}): it is truncated or"
            f" damaged, or of a newer release than {inspect_ai.__version__}"
        ) from error


def _check_content(file: Path) -> None:
    """Refuse a log that unpacks to much more than it has, or has another checksum than its bytes.

    Inspect reads each sample whole, whatever size the archive states, and compares no checksum.
    """
    if not zipfile.is_zipfile(file):  # JSON, or damage, which Inspect names
        return
    most = max(HARMLESS_BYTES, Boundary().limits.ratio * file.stat().st_size)
    size = 0
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            entry.file_size = sys.maxsize  # so that all is read, and its checksum compared
            with archive.open(entry) as member:
                while size <= most and (chunk := member.read(1 << 20)):
                    size += len(chunk)
    if size > most:
        message = f"would unpack to more than {most:,} bytes, so it is not read"
        raise LogError(f"{display_path(file)}: {message}")


def _sample(sample: Any) -> RunSample:
    """Return a sample of Inspect's class as ours."""
    messages = sample.input
    return RunSample(
        id=sample.id,
        epoch=sample.epoch,
        input=messages
        if isinstance(messages, str)
        else [
            one.model_dump(mode="json", exclude=_OF_THE_RUN, exclude_none=True) for one in messages
        ],
        choices=sample.choices,
        target=sample.target,
        metadata=sample.metadata or {},
        scores=dict(_scores(sample.scores or {})),
    )


def _scores(scores: dict[str, Any]) -> Iterator[tuple[str, float | str]]:
    """Yield each score; a scorer that gives several has a name for each."""
    for name, score in scores.items():
        if isinstance(score.value, dict):
            for key, value in score.value.items():
                yield f"{name}/{key}", score_of(value)
        else:
            yield name, score_of(score.value)

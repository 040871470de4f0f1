"""What logs of evaluations say about their samples, whichever tool wrote them, in JSON with NaN."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError

from registry.api import LogError, Provenance, display_path, read_provenance

__all__ = [
    "FORMATS",
    "Run",
    "RunSample",
    "index_in",
    "read_object",
    "read_rows",
    "read_runs",
    "score_of",
    "stated_provenance",
    "text_or_texts",
]


class RunSample(Struct, frozen=True, kw_only=True):
    """One sample as a model got it, with its scores."""

    id: str | int | None
    """As the log has it; lm-eval has the number of the record unless that has an `id`."""
    epoch: int = 1
    """Which repetition of the sample this is, from 1."""
    input: str | list[dict[str, Any]]
    """The text, or the messages as data."""
    choices: list[str] | None = None
    target: str | list[str] = ""
    """The right answer; of a sample with choices usually a letter."""
    metadata: Mapping[str, Any] = {}
    """What the log has beside these; of lm-eval the record."""
    scores: Mapping[str, float | str] = {}
    """By the name of the scorer or metric; a text if the score is no number."""


class Run(Struct, frozen=True, kw_only=True):
    """One evaluation of one task."""

    file: str
    """The log, as messages name it."""
    tool: str
    """`inspect`, `lm_eval` or `eee`."""
    model: str | None = None
    task: str | None = None
    dataset: str | None = None
    """Name of the dataset as the log states it."""
    location: str | None = None
    """Origin of the data as the log states it."""
    fingerprint: str | None = None
    """What an exported task of lm-eval says of its samples."""
    provenance: Provenance | None = None
    """Which data it was, if the log says so and that was not edited."""
    problem: str | None = None
    """Why what the log says can't be trusted, such as a provenance that was edited by hand."""
    incomplete: str | None = None
    """Why samples may be missing, such as an evaluation that ended with an error."""
    samples: tuple[RunSample, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no text: msgspec checks what it decodes, and not a call."""
        for name in ("model", "task", "dataset", "location", "fingerprint"):
            if not isinstance(found := getattr(self, name), str | None):
                raise TypeError(f"{name} is no text but {type(found).__name__}")

    @property
    def ordered(self) -> str | None:
        """Digest of all samples of the dataset in their order, if the log has it."""
        if self.provenance is not None:
            return self.provenance.ordered
        found = (self.location or "").rpartition("#")[2]
        return found if found.startswith("sha256:") else None

    def repetitions(self) -> list[list[RunSample]]:
        """Return each sample once, in a list with its repetitions."""
        found: dict[str, list[RunSample]] = {}
        for one in self.samples:
            found.setdefault(repr((one.id, one.input, one.target)), []).append(one)
        return list(found.values())


FORMATS = {
    "inspect": "inspect_logs",
    "lm_eval": "lm_eval_logs",
    "eee": "eee_records",
}
"""Tool → module beside this one. Its `is_log` says by the name of a file and the keys of its JSON
whether it can read it, and its `read` yields the runs in it."""


def read_runs(path: str | Path) -> list[Run]:
    """Read a log, or all logs of a folder: which tool wrote them follows from their content.

    Raises:
        LogError: a file is missing or damaged, or no tool that is known wrote it.
        MissingDependencyError: it is a log of Inspect, which is not installed.
    """
    if not os.fspath(path):  # which would be the working directory
        raise LogError("'': no such file or folder")
    path = Path(path)
    if os.path.isdir(path):
        files = sorted(one for one in path.rglob("*") if one.is_file())
        runs = [run for file in files for run in _runs_in(file, is_named=False)]
    else:
        runs = list(_runs_in(path, is_named=True))
    if not runs:
        where = "in this folder" if os.path.isdir(path) else "of a known tool"
        raise LogError(f"{display_path(path)}: no log {where} (known: {_KNOWN})")
    return runs


_NOT_WRITTEN_SO = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    ValidationError,
)
_KNOWN = (
    "`.eval` and `.json` of Inspect, what lm-eval writes with `--log_samples`, records of Every"
    " Eval Ever"
)


def _runs_in(file: Path, *, is_named: bool) -> Iterator[Run]:
    """Yield the runs of a file; none if no known tool wrote it."""
    keys = _keys_of(file)
    for tool, name in FORMATS.items():
        module = import_module(f"registry.plugins.results.{name}")
        if module.is_log(file, keys, is_named=is_named):
            try:
                yield from module.read(file)
            except _NOT_WRITTEN_SO as error:
                message = f"{display_path(file)}: not as {tool} writes it"
                raise LogError(f"{message} ({type(error).__name__}: {error})") from error
            return


def _keys_of(file: Path) -> frozenset[str]:
    """Return the keys of a file's JSON; of JSON Lines those of the first line.

    Raises:
        LogError: it is missing, or JSON that can't be read.
    """
    if not os.path.exists(file):  # unlike that of a Path, False for a name that is too long
        raise LogError(f"{display_path(file)}: no such file or folder")
    if file.suffix == ".json":
        return frozenset(read_object(file))
    if file.suffix == ".jsonl":
        return frozenset(next(read_rows(file), {}))
    return frozenset()


def stated_provenance(data: Any) -> tuple[Provenance | None, str | None]:
    """Return the provenance in a log, and what is wrong with it; two times None without one."""
    if data is None:
        return None, None
    try:
        return read_provenance(data), None
    except ValueError as error:
        return None, f"the provenance in this log: {error}"


_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What Inspect's scorers give: correct, partial, incorrect, no answer."""


def score_of(value: Any) -> float | str:
    """Return a score as a number if it is one; the letters of Inspect are numbers."""
    if isinstance(value, bool | int | float):
        return float(value)
    text = str(value)
    return _LETTERS.get(text, text)


_DIGITS = 6
"""From so many digits on, a target is no index of a choice; Python refuses to parse thousands."""


def index_in(choices: Sequence[str], target: str) -> int | None:
    """Return the index that a target is, as records of lm-eval have it; None for anything else."""
    is_number = target.isdecimal() and len(target) < _DIGITS
    return int(target) if is_number and int(target) < len(choices) else None


def text_or_texts(value: Any) -> str | list[str]:
    """Return a target as a sample has it."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return [str(one) for one in value] if is_list else str(value)


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a file; an empty one if there is another value.

    Raises:
        LogError: the file can't be read, or is no JSON.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, error) from error
    return found if isinstance(found, dict) else {}


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the object of each line; an empty one for another value.

    Raises:
        LogError: as for `read_object`; lines before the fault have been yielded.
    """
    number = 0
    try:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                number += 1
                found = json.loads(line) if line.strip() else None
                if found is not None:
                    yield found if isinstance(found, dict) else {}
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, error, line=number) from error


def _unreadable(file: Path, error: Exception, *, line: int | None = None) -> LogError:
    place = display_path(file) if line is None else f"{display_path(file)}:{line}"
    if isinstance(error, json.JSONDecodeError) and (
        error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip())
    ):
        return LogError(f"{place}: it is truncated: the JSON ends too early (copy it again)")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return LogError(f"{place}: no valid JSON: {reason or type(error).__name__}")

"""What an importer returns: keys of manifests, and the parts of a file that they leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from registry import ManifestError
from registry.api import Problem, dataset_lines, list_names, name_fault

__all__ = [
    "ImportOptions",
    "Imported",
    "ImportedDataset",
    "Importer",
    "LeftOut",
    "NotImported",
    "UnsupportedError",
    "dataset_name",
    "distinct",
    "imported_text",
    "left_out_lines",
    "mappings_in",
    "problem_at",
    "unmapped_dataset",
]


@dataclass(frozen=True)
class LeftOut:
    """A part of a file that the manifest does not carry over."""

    what: str
    """Its key in the file."""
    why: str
    """The reason, without a full stop."""
    about: Literal["samples", "evaluation"] = "samples"
    """Whether the samples differ without it, or only how they are run and scored."""
    line: int | None = None
    """Its line in the file, if the file has lines."""


@dataclass(frozen=True)
class ImportedDataset:
    """A dataset for a manifest."""

    name: str
    keys: dict[str, Any]
    """Its keys, in the order of a manifest."""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing that the samples depend on was left out."""
        return all(one.about == "evaluation" for one in self.left_out)


@dataclass(frozen=True)
class NotImported:
    """A dataset of a file that no manifest can describe."""

    name: str
    why: str
    where: str = ""
    """File and line of the key that it is about; empty if it is about the whole file."""


@dataclass(frozen=True)
class Imported:
    """What a file gave."""

    datasets: tuple[ImportedDataset, ...] = ()
    refused: tuple[NotImported, ...] = ()


@dataclass(frozen=True)
class Importer:
    """Reads files of one kind; what an entry point `eval_registry.importers` must be."""

    detects: Callable[[Path], bool]
    """Whether a file is of this kind, which no importer of this package recognises."""
    read: Callable[[Path, ImportOptions], Imported]
    """Returns what a file gives; raises ManifestError."""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What the user says about the files."""

    name: str | None = None
    """Name of the dataset, if the file has only one."""
    repository: str | None = None
    """The repository, or folder, that a file of a repository belongs to."""
    revision: str | None = None
    """Its commit."""


def dataset_name(text: str) -> str:
    """Return a valid name of a dataset that resembles a text."""
    lower = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:128].rstrip(".")
    return lower if lower and not name_fault(lower) else f"dataset-{lower}".rstrip("-")[:128]


def distinct(datasets: Iterable[ImportedDataset]) -> tuple[ImportedDataset, ...]:
    """Return the datasets of a file; those whose name another one has already are numbered."""
    found: dict[str, ImportedDataset] = {}
    counts: Counter[str] = Counter()
    for one in datasets:
        name = one.name
        while name in found:
            counts[one.name] += 1
            name = f"{one.name}--{counts[one.name] + 1}"
        found[name] = replace(one, name=name)
    return tuple(found.values())


def mappings_in(value: Any) -> list[dict[str, Any]]:
    """Return the mappings of a list, or a mapping that is given in place of a list of one."""
    items = value if isinstance(value, list) else [value] if value else []
    return [one for one in items if isinstance(one, dict)]


def problem_at(
    file: Path, message: str, hint: str = "", *, line: int | None = None
) -> ManifestError:
    """Return the error for a file that can't be imported."""
    where = f"{file}:{line}" if line else str(file)
    return ManifestError([Problem(message=message, file=where, path="", hint=hint)])


class UnsupportedError(Exception):
    """An entry that no source of a manifest reads; the message says why."""


def unmapped_dataset(
    name: str,
    source: dict[str, Any],
    *,
    about: dict[str, Any] | None = None,
    columns: Sequence[str] = (),
    left_out: Sequence[LeftOut] = (),
) -> ImportedDataset:
    """Return a dataset without `fields`, which are listed as left out.

    Args:
        name: Its name.
        source: The keys of its source.
        about: Description, homepage and license, as far as the file has them.
        columns: The columns of the data, if the file names them.
        left_out: What else was left out.
    """
    known = f"; columns: {list_names(columns)}" if columns else ""
    why = f"the file does not say which columns are input and target{known}"
    given = {key: value for key, value in (about or {}).items() if value}
    keys = {**given, "source": source}
    return ImportedDataset(name, keys, (LeftOut("fields", why), *left_out))


def imported_text(datasets: Iterable[ImportedDataset], *, schema: str) -> str:
    """Return the manifest of imported datasets.

    Args:
        datasets: The datasets, whose names differ.
        schema: The schema for editors, as the manifest refers to it.
    """
    lines = [f"# yaml-language-server: $schema={schema}", "datasets:"]
    for dataset in datasets:
        above = [f"left out: {line}" for line in left_out_lines(dataset.left_out)]
        lines += dataset_lines(dataset.name, dataset.keys, above)
    return "\n".join(lines) + "\n"


def left_out_lines(left_out: Iterable[LeftOut]) -> Iterator[str]:
    """Yield a line for each part that the samples need, and one for all others."""
    evaluation = []
    for one in left_out:
        if one.about == "samples":
            yield f"{one.what}: {one.why}" + ("" if one.line is None else f" (line {one.line})")
        else:
            evaluation.append(one.what)
    if evaluation:
        yield f"how it is run and scored: {', '.join(evaluation)}"

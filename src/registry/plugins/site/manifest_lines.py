"""The YAML of a dataset, line by line: what each line does to a sample, and where it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from registry import Sample
from registry.api import Entry, file_stem, open_regular, paths_in, shown_data
from registry.plugins.site.environment import html_size, start_of

__all__ = ["ManifestLine", "ManifestPart", "manifest_part"]

_MOST_BYTES = 1 << 20
_SIZE, _LINE_SIZE = 20_000, 250
"""Bytes of HTML that the lines take at most, and that the markup of one takes."""
_VALUE = 60
_EFFECTS = {
    "source": "where the records are read",
    "splits": "which parts there are",
    "default_split": "which part it is",
    "concat": "which sources are joined, one after the other",
    "join": "columns of another file, added to records",
    "explode": "makes several records of one",
    "where": "leaves records out",
    "fields": "makes a sample of each record",
    "mapper": "makes a sample of each record, in Python",
    "on_duplicate": "what happens to equal ids",
    "corrections": "reviewed changes of samples",
    "fewshot": "examples before the input, if they are asked for",
    "sample": "which samples are selected",
    "only": "which samples are selected",
    "shuffle": "the order of the samples",
    "seed": "the order of the samples",
    "limit": "how many samples there are",
    "shuffle_choices": "the order of the choices, and the letter of the target",
    "auto_id": "sample.id: the number of the record",
    "expect": "must hold, or the build fails",
    "accept": "what is not warned of",
    "eval": "how answers are scored",
}


@dataclass(frozen=True, kw_only=True)
class ManifestLine:
    """A line of a manifest."""

    number: int
    text: str
    effect: str = ""
    """What it does to a sample."""
    link: str = ""
    """Where that is seen."""


@dataclass(frozen=True, kw_only=True)
class ManifestPart:
    """The lines of a dataset, or of one that it extends."""

    name: str
    file: str
    lines: tuple[ManifestLine, ...]
    more: int
    """How many lines are left out."""
    is_own: bool = True
    """Whether it is in the folder of the index, and in no installed package."""
    path: str = ""
    """The path on this machine, if an editor may open it."""


def manifest_part(
    entry: Entry, file: str, sample: Sample | None, size: int = _SIZE
) -> ManifestPart:
    """Return the lines that define a dataset; none if its file can't be read.

    Args:
        entry: The dataset.
        file: Its file, as the page names it.
        sample: The first sample, whose values are named beside the lines.
        size: Bytes of HTML that they take at most.
    """
    document, path = entry.document, ("datasets", entry.written)
    try:
        with open_regular(Path(document.file)) as stream:
            texts = stream.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        texts = []
    first = document.position(path).line
    texts = list(_block(texts[first - 1 :]))
    keys = _keys_by_line(entry)
    lines = []
    for number, text in enumerate(texts, first):
        effect, link = _effect(keys.get(number, ()), entry.value, sample)
        size -= _LINE_SIZE + html_size(text) + html_size(effect)
        if size < 0:
            break
        lines.append(ManifestLine(number=number, text=text, effect=effect, link=link))
    more = len(texts) - len(lines)
    return ManifestPart(name=entry.name, file=file, lines=tuple(lines), more=more)


def _block(texts: list[str]) -> Iterator[str]:
    """Yield the lines of the first key: up to the next that is not deeper, comments aside."""
    indent = _indent(texts[0]) if texts else 0
    kept: list[str] = []
    for number, text in enumerate(texts):
        is_inside = not number or _indent(text) > indent
        if not is_inside and text.strip() and not text.lstrip().startswith("#"):
            return
        kept.append(text)
        if is_inside and text.strip():  # blank lines at the end belong to none
            yield from kept
            kept = []


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _keys_by_line(entry: Entry) -> dict[int, tuple[str | int, ...]]:
    """Return the outermost key that begins on each line."""
    found: dict[int, tuple[str | int, ...]] = {}
    base = ("datasets", entry.written)
    for path in islice(paths_in(entry.value), 1, None):
        found.setdefault(entry.document.position((*base, *path)).line, path)
    return found


def _effect(
    path: tuple[str | int, ...], value: Mapping[str, Any], sample: Sample | None
) -> tuple[str, str]:
    """Return what a key does to a sample, and where that is seen."""
    match path:
        case ("extends",):
            return (
                f"takes the keys of {value['extends']}",
                f"{file_stem(str(value['extends']))}.html",
            )
        case ("fields", "metadata", str(key)):
            return _value(f"metadata.{key}", sample and (sample.metadata or {}).get(key))
        case ("fields", str(field)):
            found = getattr(sample, field, None)
            return _value(field, found if found is None else shown_data(field, found))
        case (str(key),):
            return _EFFECTS.get(key, ""), ""
    return "", ""


def _value(name: str, value: object) -> tuple[str, str]:
    """Return what a field is in the first sample."""
    if value is None or isinstance(value, (list, dict)):
        return f"sample.{name}", "#sample-1" if value is not None else ""
    return f"sample.{name}: {start_of(' '.join(str(value).split()), _VALUE)}", "#sample-1"

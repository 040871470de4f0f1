"""Why datasets failed: each cause once, with how many datasets it stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from registry.cli.output import print_error, print_line
from registry.errors import SourceError, count_text, list_names

__all__ = ["print_failures"]

_FEW = 5
"""So many failures of one cause are printed one by one, if their locations differ."""
_NAMED = 12
"""Datasets that are named for each cause on a terminal; a pipe gets all names."""


def print_failures(failures: Iterable[tuple[str, object]]) -> None:
    """Print the errors of datasets by cause, for people, to stderr; the most frequent last."""
    groups: dict[str, list[tuple[str, object]]] = {}
    for name, error in failures:
        groups.setdefault(_cause(name, error), []).append((name, error))
    for cause, group in sorted(groups.items(), key=lambda one: len(one[1])):
        texts = {_text(name, error) for name, error in group}
        # A broken file stops each of its datasets with the same problems at the same location.
        is_one_text = len(group) > 1 and len(texts) == 1
        if len(group) <= _FEW and not is_one_text:
            for name, error in group:
                print_error(name, error)
            continue
        for line in (texts.pop() if is_one_text else cause).splitlines():
            print_line(f"error: {count_text(len(group), 'dataset')}: {line}", err=True)
        _print_names([name for name, _ in group])


def _text(name: str, error: object) -> str:
    """Return a message without the dataset."""
    return str(error).removeprefix(f"{name}: ")


def _cause(name: str, error: object) -> str:
    """Return a message without the dataset, and without the location that it had to read."""
    text = _text(name, error)
    location, colon, rest = text.partition(": ")
    # Offline, every dataset has the same cause at another location.
    is_located = isinstance(error, SourceError) and colon and " " not in location
    return rest if is_located else text


def _print_names(names: Sequence[str]) -> None:
    most = _NAMED if sys.stderr.isatty() else len(names)
    print_line(f"  {list_names(names, most)}", err=True)

"""Import the real files of other packages, and count what becomes of them.

    python -m tests.interop.counts lm-eval inspect croissant=FOLDER

Without a folder, the installed package is taken. Prints the tables of docs/reference/interop.md.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import ManifestError
from registry.plugins.importers.command import detect_kind, files_of, import_files
from registry.plugins.importers.models import ImportOptions
from tests.interop.lm_eval_tasks import compare, compare_filter, signature_of

__all__ = ["Counts", "count", "main"]

PACKAGES = {"lm-eval": "lm_eval", "inspect": "inspect_evals"}


@dataclass
class Counts:
    """What became of the files of a kind."""

    files: int = 0
    errors: int = 0
    whole: int = 0
    partly: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why datasets were imported in part, or not."""
    compared: Counter[str] = field(default_factory=Counter)
    """Outcomes for distinct mappings, on made-up records."""
    filters: Counter[str] = field(default_factory=Counter)
    """Outcomes for tasks with `where`, on made-up records."""


def count(kind: str, folder: Path, *, compares: bool = False) -> Counts:
    """Import all files of a kind in a folder."""
    counts, seen = Counts(), set[str]()
    options = ImportOptions(
        repository="owner/name" if kind in ("eval.yaml", "hub-readme") else None
    )
    for file in files_of(folder):
        try:
            if detect_kind(file) != kind:
                continue
            counts.files += 1
            (found,) = import_files([file], options, kind=kind)
        except ManifestError:
            counts.errors += 1
            continue
        counts.refused += len(found.imported.refused)
        counts.reasons.update(f"not: {_short(one.why)}" for one in found.imported.refused)
        for one in found.imported.datasets:
            counts.whole += one.is_whole
            counts.partly += not one.is_whole
            left = {left.what for left in one.left_out if left.about == "samples"}
            counts.reasons.update(f"partly: {what}" for what in left)
            if compares and one.is_whole and signature_of(one) not in seen:
                seen.add(signature_of(one))
                counts.compared[compare(file, one).outcome] += 1
            if compares and "where" in one.keys:
                counts.filters[compare_filter(file, one).outcome] += 1
    return counts


def _short(why: str) -> str:
    """Return a reason without what differs from file to file."""
    return re.sub(r"\s+", " ", re.sub(r"`[^`]*`?", "…", why)).partition(" (")[0][:60]


def _folder(kind: str) -> Path:
    spec = importlib.util.find_spec(PACKAGES[kind])
    if spec is None or spec.origin is None:
        sys.exit(f"{PACKAGES[kind]} is not installed (`make interop` installs it)")
    return Path(spec.origin).parent


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> None:
    """Print the counts of the kinds that are named."""
    logging.disable(logging.WARNING)
    _say("| kind | files | datasets: whole | partly | not imported | unreadable files |")
    _say("|---|--:|--:|--:|--:|--:|")
    results = {}
    for argument in arguments:
        kind, _, path = argument.partition("=")
        folder = Path(path) if path else _folder(kind)
        one = results[kind] = count(kind, folder, compares=kind == "lm-eval")
        _say(
            f"| `{kind}` | {one.files:,} | {one.whole:,} | {one.partly:,} | {one.refused:,} | {one.errors} |"
        )
    for kind, one in results.items():
        if one.compared:
            total = sum(one.compared.values())
            _say(f"\n{kind}: {total:,} distinct mappings: {dict(one.compared)}")
            _say(f"{sum(one.filters.values()):,} filters: {dict(one.filters)}")
        _say(f"\n| `{kind}` | datasets |\n|---|--:|")
        for reason, number in one.reasons.most_common(8):
            _say(f"| {reason} | {number:,} |")


if __name__ == "__main__":
    main(sys.argv[1:])

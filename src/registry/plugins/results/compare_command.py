"""`compare`: whether two logs or datasets have the same samples, and what their scores tell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import click
from msgspec import structs, to_builtins

from registry import RegistryError
from registry.api import (
    CLEAN,
    FORMATS,
    PROBLEMS,
    UNREADABLE,
    CatalogDiff,
    CorrectionChange,
    DatasetChange,
    LogError,
    Overrides,
    Samples,
    corrections_between,
    corrections_of,
    count_text,
    list_names,
    options,
    print_diff,
    print_json,
    print_line,
)
from registry.plugins.results.compare import (
    Comparison,
    Mean,
    ScoreChange,
    Side,
    compare,
    side_of_run,
)
from registry.plugins.results.here import Here
from registry.plugins.results.runs import read_runs

__all__ = ["as_diff", "command", "side_of"]

_EXAMPLES = 3
_LOGS = (".eval", ".json", ".jsonl")
_NAMED = 5


@click.command(
    "compare",
    epilog="\b\nExample: registry compare demo-mcq demo-mcq-small\n"
    "registry compare logs/monday.eval logs/tuesday.eval --format markdown",
)
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", required=False)
@click.option(
    "--corrections",
    "is_corrected",
    is_flag=True,
    help="Compare the dataset A as its source has it with the corrected one, in place of B.",
)
@click.option(
    "-n",
    "examples",
    metavar="N",
    type=click.IntRange(min=0, max=1000),
    default=_EXAMPLES,
    show_default=True,
    help="Number of examples each of changed, added and removed samples.",
)
@click.option(
    "--format",
    "form",
    metavar="FORMAT",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help=f"Output format: {', '.join(FORMATS)}.",
)
@options.as_json
@options.offline
@options.root
def command(
    old: str,
    new: str | None,
    is_corrected: bool,
    examples: int,
    form: str,
    as_json: bool,
    offline: bool | None,
    root: str | None,
) -> int:
    """Say whether two logs or datasets have the same samples, and compare their scores.

    A and B are each a log (of Inspect AI, of lm-eval with --log_samples, a record of Every Eval
    Ever) or the name of a dataset. Scores are compared over all samples, and sample by sample over
    those that both sides have unchanged. The exit code is 1 if the samples are not the same, and 4
    if a side can't be read.
    """
    if is_corrected == (new is not None):
        raise click.UsageError("name A and B; or A alone with --corrections")
    here = Here(*options.open_catalog(root, offline=offline))
    rows: tuple[CorrectionChange, ...] = ()
    try:
        if new is None:
            sides, rows = _corrected_sides(old, here, offline=offline)
        else:
            sides = [side_of(one, here, offline=offline) for one in (old, new)]
    except RegistryError as error:
        print_line(f"error: {error}", err=True)
        return UNREADABLE
    found = compare(*sides, examples=examples)
    found = structs.replace(found, samples=replace(found.samples, corrections=rows))
    if as_json or form == "json":
        shown = structs.replace(found, samples=found.samples.without_samples())
        print_json({"comparable": found.is_comparable, **to_builtins(shown)})
    else:
        print_diff(as_diff(found), form)
    return CLEAN if found.is_comparable else PROBLEMS


def _corrected_sides(
    name: str, here: Here, *, offline: bool | None
) -> tuple[list[Side], tuple[CorrectionChange, ...]]:
    """Return a dataset without and with its corrections, and these."""
    spec = here.catalog.resolve(name)
    if spec.corrections is None:
        raise LogError(f"{name} has no corrections: its manifest has no key `corrections`")
    sides = [
        _dataset_side(name, here, label=f"{name} ({label})", offline=offline, corrections=is_new)
        for label, is_new in (("original", False), ("corrected", True))
    ]
    found = corrections_of(spec, here.catalog.boundary)
    return sides, corrections_between(None, found)


def _dataset_side(
    name: str, here: Here, *, label: str, offline: bool | None, **overrides: Unpack[Overrides]
) -> Side:
    dataset = here.open(name, offline=offline, **overrides)
    auto_id = here.catalog.resolve(name).view.auto_id
    return Side(
        label=label,
        dataset=name,
        samples=Samples(here.as_stored(dataset), auto_id=auto_id),
        provenance=dataset.provenance,
    )


def side_of(text: str, here: Here, *, offline: bool | None) -> Side:
    """Return a log, or a dataset that is built if it is not cached.

    Raises:
        LogError: the log can't be read, or is a folder with several.
        RegistryError: the dataset can't be opened.
    """
    path = Path(text)
    is_named = path.suffix in _LOGS or os.sep in text
    # A member of a group has a slash, too; a folder may have the name of a dataset.
    is_dataset = not is_named and text in here.catalog
    is_log = is_named and text.partition("/")[0] not in here.catalog.groups
    if not is_dataset and (is_log or os.path.exists(text)):
        runs = read_runs(text)
        if len(runs) > 1:
            files = list(dict.fromkeys(one.file for one in runs))
            raise LogError(
                f"{text}: {count_text(len(runs), 'log')}, and one is compared (name one:"
                f" {list_names(files, _NAMED)})"
            )
        return side_of_run(runs[0])
    return _dataset_side(text, here, label=text, offline=offline)


def as_diff(found: Comparison) -> CatalogDiff:
    """Return a comparison as a diff of one dataset, which has a writer for each format."""
    change = DatasetChange(
        name="samples", status="changed", kinds=found.kinds, samples=found.samples
    )
    same = f"comparable: the same {count_text(found.common, 'sample')}"
    return CatalogDiff(
        base=found.old,
        head=found.new,
        verdict=f"not comparable: {'; '.join(found.reasons)}" if found.reasons else same,
        notes=(*(line for one in found.scores for line in _score_lines(one)), *found.notes),
        changes=() if found.samples.is_same else (change,),
    )


def _score_lines(score: ScoreChange) -> Iterator[str]:
    """Yield a score over all samples, and over those that both sides have unchanged."""
    yield (
        f"{score.name}: {_mean(score.old)} of {score.old.samples:,} →"
        f" {_mean(score.new)} of {score.new.samples:,}"
    )
    if score.common_old and score.common_new and score.difference:
        yield (
            f"{score.name}, over the {score.difference.samples:,} in common:"
            f" {_mean(score.common_old)} → {_mean(score.common_new)},"
            f" difference {_mean(score.difference, sign='+')} (paired)"
        )


def _mean(mean: Mean, *, sign: str = "") -> str:
    error = "" if mean.error is None else f" ± {mean.error:.4f}"
    return f"{mean.value:{sign}.4f}{error}"

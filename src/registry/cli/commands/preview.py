"""`preview`: show samples of a dataset, and the records that they were made of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from registry.base.local_files import display_path
from registry.cli import CLEAN, options
from registry.cli.datasets import open_dataset
from registry.cli.output import json_text, print_line, print_warnings
from registry.cli.samples import print_sample
from registry.corrections.file import report_rows
from registry.manifest.models import as_mapped
from registry.pipeline.expectations import quality_warnings
from registry.pipeline.preview import preview_records
from registry.settings import Settings

if TYPE_CHECKING:
    from registry.diff.checkout import Rules
    from registry.load.call import DatasetCall, OpenCatalog
    from registry.samples.dataset import Dataset
    from registry.samples.sample import Sample
    from registry.store.arrow_dataset import ArrowDataset

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry preview demo-chat -n 2
registry preview demo-mcq --random --seed 7
registry preview demo-mcq --id demo-012 --raw
registry preview demo-mcq --from registry/data/demo-mcq.csv
"""


class _Choice(Struct, frozen=True):
    """Which samples are shown."""

    count: int
    offset: int
    ids: tuple[str, ...]
    seed: int | None
    """Seed of a random choice; None for the samples in order."""


@click.command("preview", epilog=_EXAMPLES)
@options.name
@options.split
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="How many samples to show.",
)
@click.option(
    "--offset",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="How many samples to skip at the start.",
)
@click.option(
    "--id",
    "ids",
    multiple=True,
    metavar="ID",
    help="Show the sample with this id; repeat it for several.",
)
@click.option("--random", "is_random", is_flag=True, help="Show samples from anywhere.")
@click.option("--seed", type=int, metavar="N", help="Choose the same ones as --random did before.")
@click.option(
    "--raw",
    is_flag=True,
    help="Show the record of the source beside each sample. The source is read up to that record.",
)
@click.option(
    "--report",
    is_flag=True,
    help="Print the row that reports a fault of each sample, with what the source has, to be"
    " completed and put into the file of `corrections`.",
)
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Map the records of this local file (csv, json, jsonl, parquet) instead of the dataset's"
    " source; makes no network request.",
)
@options.fewshot
@options.no_corrections
@options.config_from
@options.run_changed_code
@options.offline
@options.locked
@options.frozen
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@options.root
def command(
    name: str,
    count: int,
    offset: int,
    ids: tuple[str, ...],
    is_random: bool,
    seed: int | None,
    raw: bool,
    report: bool,
    file: str | None,
    fewshot: int | None,
    no_corrections: bool,
    config_from: str | None,
    run_changed_code: bool,
    offline: bool | None,
    locked: bool | None,
    frozen: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Show samples of a dataset, by default the first ones; if it isn't cached, it is built first.

    Questionable samples, such as blank targets, are reported as warnings. With --raw, each line of
    --json has `sample`, `record` and `record_number`.
    """
    if report and (file is not None or as_json):
        raise click.UsageError("--report is not for --from and --json")
    _check(ids=ids, is_random=is_random, seed=seed, offset=offset, file=file)
    if is_random and seed is None:
        seed = random.randrange(1 << 16)
        print_line(f"--seed {seed} shows these again", err=True)
    choice = _Choice(count, offset, ids, seed)
    others = {"--fewshot": fewshot is not None, "--locked": locked, "--frozen": frozen}
    if file is not None and (other := next((one for one in others if others[one]), "")):
        raise click.UsageError(f"{other} is not for --from, which maps only the first records")
    with options.rules_of(config_from, Settings.from_environment(root=root).index) as rules:
        if file is not None:
            locked = frozen = False  # it has no pin, whatever the environment asks for
        opened = options.open_catalog(
            root, offline=offline, locked=locked, frozen=frozen, rules=rules
        )
        obeyed = None if run_changed_code else rules
        overrides = options.overrides_of(fewshot=fewshot, no_corrections=no_corrections)
        if file is not None:
            _preview_file(name, file, choice, opened, obeyed, overrides, raw=raw, as_json=as_json)
            return CLEAN
        asked, result = open_dataset(
            name,
            opened,
            as_json=as_json,
            rules=obeyed,
            overrides=overrides,
        )
    dataset, offline = result.dataset, opened.settings.offline
    positions = _positions(dataset, choice)
    numbers = dataset.records_at(positions) if raw and positions else []
    records = asked.records(numbers, result.pins, offline=offline) if numbers else {}
    samples = zip(positions, dataset.samples_at(positions) if positions else (), strict=True)
    for row, (position, sample) in enumerate(samples):
        record = (numbers[row], records[numbers[row]]) if raw else None
        _print(sample, position + 1, record, as_json=as_json)
    if report and positions:
        _print_reports(asked, dataset, positions)
    print_warnings([(name, quality_warnings(asked.spec, result.entry.meta))])
    return CLEAN


def _print_reports(asked: DatasetCall, dataset: ArrowDataset, positions: Sequence[int]) -> None:
    """Print a row for each sample, with the values of the source: not corrected, not shuffled."""
    spec = asked.spec
    original = asked.made_of_it(as_mapped(spec)).load().dataset
    shown = zip(dataset.samples_at(positions), dataset.records_at(positions), strict=True)
    place = "the file of `corrections`"
    if spec.corrections is not None:
        place = display_path(Path(spec.corrections.location))
    print(f"# complete and put into {place}:\ncorrections:")
    for row in report_rows(shown, original, auto_id=spec.view.auto_id):
        print(row, end="")


def _check(
    *, ids: tuple[str, ...], is_random: bool, seed: int | None, offset: int, file: str | None
) -> None:
    """Raise a UsageError for options that exclude each other."""
    ways = {"--id": bool(ids), "--random": is_random, "--offset": bool(offset)}
    way = options.refuse_several(ways)
    if seed is not None and not is_random:
        raise click.UsageError("--seed is for --random")
    if file is not None and (ids or is_random):
        raise click.UsageError(f"{way} is not for --from, which maps only the first records")


def _positions(dataset: Dataset, choice: _Choice) -> Sequence[int]:
    if choice.ids:
        return [dataset.position_of(one) for one in choice.ids]
    everything = range(len(dataset))
    _check_offset(choice, len(dataset))
    if choice.seed is None:
        return everything[choice.offset : choice.offset + choice.count]
    return random.Random(choice.seed).sample(everything, min(choice.count, len(everything)))


def _check_offset(choice: _Choice, number: int) -> None:
    """Say that all samples are skipped, if so."""
    if choice.offset and choice.offset >= number:
        print_line(f"no sample from --offset {choice.offset} on: there are {number:,}", err=True)


def _preview_file(
    name: str,
    file: str,
    choice: _Choice,
    opened: OpenCatalog,
    rules: Rules | None,
    overrides: Mapping[str, Any],
    *,
    raw: bool,
    as_json: bool,
) -> None:
    """Print samples of a local file."""
    asked = options.call_of(opened, name, overrides, source=file, rules=rules)
    if asked.spec.view.only is not None:
        hint = f"name its dataset {asked.spec.name}"
        raise click.UsageError(f"--from is not for a member of a group ({hint})")
    if asked.spec.corrections is not None:
        print_line(f"warning: {name}: --from shows samples without `corrections`", err=True)
    with opened.catalog.locating(asked.spec.name):
        stop = choice.offset + choice.count
        pairs, meta = preview_records(asked.spec, opened.cache, stop, boundary=asked.boundary)
    _check_offset(choice, len(pairs))
    shown = pairs[choice.offset :]
    records = asked.records([number for number, _ in shown]) if raw else {}
    for position, (number, sample) in enumerate(shown, choice.offset + 1):
        record = (number, records[number]) if raw else None
        _print(sample, position, record, as_json=as_json)
    print_warnings([(name, quality_warnings(asked.spec, meta))])


def _print(
    sample: Sample, number: int, record: tuple[int, Mapping[str, Any]] | None, *, as_json: bool
) -> None:
    if not as_json:
        print_sample(sample, number, record)
        return
    data = sample.model_dump(mode="json", exclude_none=True)
    if record is not None:
        data = {"sample": data, "record": record[1], "record_number": record[0]}
    print(json_text(data, indent=None))

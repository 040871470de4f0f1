"""`receipt`: which data a log was made from, and whether that is what is pinned now."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from registry import RegistryError
from registry.api import (
    CLEAN,
    PROBLEMS,
    UNREADABLE,
    count_text,
    escape_control,
    options,
    paint,
    print_json,
    print_line,
    print_styled,
)
from registry.plugins.results.here import Here
from registry.plugins.results.receipt import Receipt, receipt_of
from registry.plugins.results.runs import read_runs

__all__ = ["command"]

_VERDICTS = {
    "same": ("the same data as now", "green"),
    "different": ("other data than now", "red"),
    "unknown": ("unknown data", "yellow"),
}


@click.command("receipt", epilog="Example: registry receipt logs/ --rebuild")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path())
@click.option(
    "--rebuild",
    is_flag=True,
    help="Open exactly the samples of each log, building them if necessary, and compare their"
    " digest with that of the log; or say which part is missing.",
)
@options.as_json
@options.root
def command(logs: tuple[str, ...], rebuild: bool, as_json: bool, root: str | None) -> int:
    """Say which data logs of evaluations were made from, and whether it is what is pinned now.

    A LOG is a file or a folder: logs of Inspect AI (.eval and .json), what lm-eval writes with
    --log_samples, and records of Every Eval Ever. A log that doesn't say which data it has is
    compared by its samples with the datasets that open without a request. The exit code is 1 if
    the data of a log isn't what is pinned now, or isn't known, and 4 if a log can't be read.
    """
    here: Here | None = None
    receipts: list[Receipt] = []
    errors: list[dict[str, Any]] = []
    for log in logs:
        try:
            runs = read_runs(log)
        except RegistryError as error:
            errors.append({"file": log, "error": error.to_dict()})
            print_line(f"error: {error}", err=True)
            continue
        here = here or Here(*options.open_catalog(root))
        for run in runs:
            receipts.append(receipt_of(run, here, rebuild=rebuild))
            if not as_json:
                _print(receipts[-1])
    if as_json:
        print_json([*map(_data, receipts), *errors])
    elif len(receipts) > 1:
        same = sum(one.verdict == "same" for one in receipts)
        print_line(
            f"{count_text(len(receipts), 'log')}: {same:,} with the same data as now", err=True
        )
    if errors:
        return UNREADABLE
    return CLEAN if all(map(_is_clean, receipts)) else PROBLEMS


def _is_clean(receipt: Receipt) -> bool:
    is_rebuilt = receipt.rebuilt is None or receipt.rebuilt.equal
    return receipt.verdict == "same" and is_rebuilt


def _data(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON data; the provenance as the log has it."""
    stated = None if receipt.stated is None else receipt.stated.as_data()
    return {**to_builtins(replace(receipt, stated=None)), "stated": stated}


def _print(receipt: Receipt) -> None:
    text, color = _VERDICTS[receipt.verdict]
    answer = paint(text, sys.stdout, fg=color, bold=True)
    print_styled(f"{escape_control(receipt.file)}: {answer}", sys.stdout)
    for name, line in _lines(receipt):
        print_line(f"  {name:<10} {line}")


def _lines(receipt: Receipt) -> Iterator[tuple[str, str]]:
    """Yield the lines of a receipt, each with what it is about."""
    run = ", ".join(filter(None, [receipt.tool, receipt.task, receipt.model]))
    yield "run", f"{run}, {count_text(receipt.samples, 'sample')}"
    for number, reason in enumerate(receipt.reasons):
        yield "" if number else "data", reason
    if receipt.match is not None and receipt.match.also:
        yield "also", f"the same samples: {', '.join(receipt.match.also)}"
    yield from _stated(receipt)
    if receipt.needed is not None:
        yield "rebuild", _NEEDED[receipt.needed.state].format(parts="; ".join(receipt.needed.parts))
    if receipt.rebuilt is not None:
        yield "rebuilt", receipt.rebuilt.text


_NEEDED = {
    "here": "all that it needs is here",
    "download": "needs a download: {parts}",
    "missing": "a part is missing: {parts}",
}


def _stated(receipt: Receipt) -> Iterator[tuple[str, str]]:
    """Yield what the log says about its data."""
    stated = receipt.stated
    if stated is None:
        return
    version = f" {stated.version}" if stated.version else ""
    yield (
        "dataset",
        f"{stated.name}{version}, {count_text(stated.samples, 'sample')}, {stated.state}",
    )
    if stated.ordered:
        yield "digest", stated.ordered
    for one in stated.pins:
        yield "source", f"{one.location} {one.revision or f'sha256:{one.sha256}'}"
        if one.parts is not None:
            counted = count_text(one.parts.size, "byte")
            yield "verified", f"at least the {counted} that are read: sha256:{one.parts.sha256}"
    if stated.view:
        yield "view", ", ".join(f"{key} {value}" for key, value in stated.view.items())
    if stated.fewshot:
        how = stated.fewshot
        yield "examples", f"{how.get('n', len(how.get('ids', ())))} of {how.get('companion')}"
    if stated.corrections is not None:
        made = stated.corrections
        counted = f"{made.changed:,} changed, {made.dropped:,} left out"
        yield "corrected", f"{made.file} sha256:{made.sha256}, {counted}"
    elif stated.original:
        yield "corrected", "no: the samples are as their sources have them"
    if stated.license:
        yield "license", stated.license
    if (catalog := stated.catalog) is not None:
        place = catalog.repository or catalog.package or "a repository without a remote"
        changed = ", with changes that are in no commit" if catalog.changed else ""
        yield "catalog", f"{place} {catalog.commit or ''}".rstrip() + changed
    yield "release", stated.release

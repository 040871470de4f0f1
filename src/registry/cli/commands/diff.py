"""`diff`: what a change does to datasets and to their samples, in several formats."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from registry.base.cells import cell_len, fold
from registry.base.escape import escape_control
from registry.cache.cache import Cache
from registry.cli import CLEAN, PROBLEMS, UNREADABLE, options
from registry.cli.markdown import as_markdown
from registry.cli.output import json_text, print_line
from registry.cli.terminal import columns_of, is_styled, paint, print_styled
from registry.diff.compare import compare
from registry.diff.edits import Fact, correction_lines, edits, facts
from registry.diff.models import CatalogDiff, DatasetChange, Example, FieldChange, KeyChange
from registry.diff.review import (
    POLICY_CLASSES,
    parse_classes,
    reviewed_state,
    violations,
    write_state,
)
from registry.diff.sampling import MAX_NEW_BUILDS, SamplingOptions, with_samples
from registry.diff.snapshot import open_snapshots
from registry.diff.summary import (
    MAX_NAMES,
    counts,
    display_value,
    effect,
    headline,
    inherited_keys,
    left_out,
    reach_remark,
    row_of,
    sample_line,
    users_text,
    verdict,
)
from registry.diff.words import excerpt
from registry.errors import RevisionError, list_names
from registry.installation import our_own
from registry.settings import Settings

__all__ = ["FORMATS", "as_text", "command", "field_lines", "print_diff", "wrapped"]

_EXAMPLES = """\b
Example: registry diff
registry diff main
registry diff v1.0 v1.1 --build -n 5
registry diff ../old-catalog . --format json
registry diff origin/main --format markdown > comment.md
registry diff origin/main --build --format html > review.html
registry diff origin/main --build --fail-on targets,inputs,removed,reach
"""
_EXAMPLE_COUNT, _PAGE_COUNT = 3, 50
_COLORS = {"-": "red", "+": "green", "~": "yellow"}
_MARKS = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_CELLS = 20
_BAR = {"removed": "-", "changed": "~", "added": "+", "moved": ">", "same": "."}
_SIGNS = {"changed": "~", "added": "+", "removed": "-", "renamed": "→"}


def _html(diff: CatalogDiff) -> Iterator[str]:
    page: str = our_own("diff_page")(diff)
    # It says that it is UTF-8. Elsewhere it is ASCII with references, which is UTF-8 too.
    is_utf8 = (sys.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8"
    yield page if is_utf8 else page.encode("ascii", "xmlcharrefreplace").decode()


def _json(diff: CatalogDiff) -> Iterator[str]:
    data: dict[str, Any] = {
        "headline": headline(diff),
        "counts": counts(diff),
        **asdict(replace(diff, changes=())),
        "changes": [
            {
                "effect": effect(one),
                **asdict(replace(one, samples=one.samples and one.samples.without_samples())),
            }
            for one in diff.changes
        ],
        "base_problems": [problem.to_dict() for problem in diff.base_problems],
        "head_problems": [problem.to_dict() for problem in diff.head_problems],
    }
    del data["verdict"]  # which a diff of catalogs doesn't have
    yield json_text(data)


def as_text(diff: CatalogDiff) -> Iterator[str]:
    """Yield the lines of a diff for `print_styled`: what comes from the catalogs is escaped."""
    yield from (_bold(line) for line in wrapped(escape_control(headline(diff)), 0))
    yield from wrapped(escape_control(f"{diff.base} → {diff.head}"), 0)
    if diff.says_reach:
        yield from wrapped(_reach(diff), 0)
    for label, problem in diff.problems:
        yield from wrapped(escape_control(f"problem in {label}: {problem}"), 0, "-")
    if diff.not_compared:
        yield from wrapped(f"not compared: {_names(diff.not_compared)}", 0)
    for note in diff.notes:
        yield from wrapped(escape_control(note), 0)
    if diff.shared:
        yield from ("", _bold("index"))
        yield from _keys(diff.shared)
    for change in diff.changes:
        yield ""
        yield from _change(change)


FORMATS: dict[str, Callable[[CatalogDiff], Iterable[str]]] = {
    "text": as_text,
    "json": _json,
    "markdown": lambda diff: [as_markdown(diff)],
    "html": _html,
}
"""Name for `--format` → function from a diff to lines for stdout."""


@click.command("diff", epilog=_EXAMPLES)
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option(
    "--build",
    is_flag=True,
    help="Build datasets that are not cached, to compare samples: changed ones, and new ones if"
    f" there are at most {MAX_NEW_BUILDS}.",
)
@options.run_changed_code
@click.option(
    "-n",
    "examples",
    metavar="N",
    type=click.IntRange(min=0, max=1000),
    help="Number of examples each of changed, added and removed samples, by default"
    f" {_EXAMPLE_COUNT}, or {_PAGE_COUNT} for html.",
)
@click.option(
    "--format",
    "form",
    # A short metavar: the list of values would leave half of a terminal for all other texts.
    metavar="FORMAT",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help=f"Output format: {', '.join(FORMATS)}; markdown fits into one comment of a pull request,"
    " html is a page for a browser.",
)
@click.option(
    "--fail-on",
    "classes",
    metavar="CLASSES",
    callback=options.parsed(parse_classes),
    help="Exit with 1 only for changes of these classes, separated by commas:"
    f" {', '.join(POLICY_CLASSES)}.",
)
@click.option(
    "--reviewed",
    "state_file",
    metavar="FILE",
    type=options.OutFile(dir_okay=False, path_type=Path),
    help="Write the reviewed state, which `registry sync --reviewed FILE` accepts alone.",
)
@options.jobs
@options.as_json
@options.offline
@options.root
def command(
    base: str | None,
    head: str | None,
    build: bool,
    run_changed_code: bool,
    examples: int | None,
    form: str,
    classes: frozenset[str] | None,
    state_file: Path | None,
    jobs: int,
    as_json: bool,
    offline: bool | None,
    root: str | None,
) -> int:
    """Show the differences between two versions of the catalog.

    BASE and HEAD are git revisions or folders with a datasets.yaml. BASE defaults to the commit
    where the current branch left the main branch, HEAD to the files of the catalog, committed or
    not. The exit code is 0 if nothing differs, 1 if something differs, and 4 if a part of a side
    could not be read.
    """
    settings = Settings.from_environment(root=root, offline=offline)
    form = "json" if as_json else form
    if examples is None:
        examples = _PAGE_COUNT if form == "html" else _EXAMPLE_COUNT
    words = ["registry", "diff", *filter(None, (base, head))]
    sampling = SamplingOptions(
        cache=Cache(settings.cache_dir),
        build=build,
        runs_changed_code=run_changed_code,
        command=shlex.join([*words, *(["--root", root] if root else [])]),
        offline=settings.offline,
        examples=examples,
        jobs=jobs,
        announce=lambda text: print_line(text, err=True),
    )
    try:
        opening = open_snapshots(base, head, settings.index, runs_changed_code=run_changed_code)
        with opening as (old, new):
            keys = compare(old.snapshot, new.snapshot)
            diff = with_samples(keys, old, new, sampling)
            state = None if state_file is None else reviewed_state(old, new, sampling.cache)
    except RevisionError as error:
        print_line(f"error: {error}", err=True)
        return UNREADABLE
    print_diff(diff, form)
    if state_file is not None and state is not None:
        if diff.is_complete:
            written = write_state(state_file, state)
            print_line(f"wrote the reviewed state {written.digest} to {state_file}", err=True)
        else:
            why = "not written, as a part of a side could not be read"
            print_line(f"error: {state_file}: {why}", err=True)
    return _exit_code(diff, classes)


def _exit_code(diff: CatalogDiff, classes: frozenset[str] | None) -> int:
    """Return the exit code; say which of the classes that must not change did."""
    if not diff.is_complete:
        return UNREADABLE
    if classes is None:
        return CLEAN if diff.is_clean else PROBLEMS
    found = violations(diff, classes)
    for word, names in found.items():
        print_line(f"error: --fail-on {word}: {list_names(names, MAX_NAMES)}", err=True)
    return PROBLEMS if found else CLEAN


def print_diff(diff: CatalogDiff, form: str) -> None:
    """Print a diff in the format of this name."""
    for line in FORMATS[form](diff):
        print_styled(line, sys.stdout)


def _reach(diff: CatalogDiff) -> str:
    found = (f"{one.kind} {display_value(one.name)} ({users_text(one)})" for one in diff.reach)
    return " ".join(filter(None, ["new reach:", "; ".join(found), reach_remark(diff)]))


def _change(change: DatasetChange) -> Iterator[str]:
    sign = _SIGNS[change.status]
    title = f"{_colored(sign, sign)} {_bold(escape_control(change.name))}"
    rest = escape_control(f": {verdict(change)}  {change.place}".rstrip())
    if _is_wide(f"{sign} {change.name}{rest}"):
        yield title
        yield from wrapped(rest.removeprefix(": "), 2)
    else:
        yield title + rest
    if (what := effect(change)) != change.status:
        row = row_of(change.samples, _CELLS)
        bar = "".join(_BAR[word] * count for word, count in row.items())
        shown = "".join(_colored(_BAR[word] * count, _BAR[word]) for word, count in row.items())
        lines = wrapped(f"[{bar}] {what}" if bar else what, 2)
        yield from (line.replace(f"[{bar}]", f"[{shown}]") for line in lines)
    yield from _keys(change.keys)
    for keys, dataset in inherited_keys(change):
        yield from wrapped(escape_control(f"{keys}: same change as in {dataset}"), 2)
    for fact in facts(change):
        yield from _fact(fact)
    if change.used_by:
        yield from wrapped(f"used by: {_names(change.used_by)}", 2)
    if change.samples is not None:
        if line := sample_line(change.samples):
            yield from wrapped(escape_control(f"samples: {line}"), 2)
        for warning in change.samples.warnings:
            yield from wrapped(escape_control(f"warning: {warning}"), 2, "-")
        for line in correction_lines(change.samples.corrections):
            yield from wrapped(escape_control(f"correction {line}"), 2)
        for example in change.samples.examples:
            yield from _example(example)
        if rest := left_out(change.samples):
            yield from wrapped(rest, 4)


def _fact(fact: Fact) -> Iterator[str]:
    key = escape_control(fact.key)
    yield from wrapped(f"{key}:" if fact.lines else f"{key}: {fact.text}", 2)
    for line in fact.lines:
        yield from wrapped(escape_control(line), 4)


def _keys(changes: Iterable[KeyChange]) -> Iterator[str]:
    for edit in edits(changes):
        key, where = escape_control(edit.key), edit.places
        old, new = edit.pair or ("", "")
        if edit.pair and not _is_wide(f"  {key}: {old} → {new}  {where}"):
            painted = f"{_colored(old, '-')} → {_colored(new, '+')}"
            yield f"  {key}: {painted}  {where}"
        else:
            yield from wrapped(f"{key}:  {where}", 2)
            for sign, text in edit.lines:
                yield from wrapped(f"{sign if sign != '=' else ' '} {text}", 4, sign)
        if edit.inherited_by:
            yield from wrapped(f"inherited by {_names(edit.inherited_by)}", 4)


def _names(names: Sequence[str]) -> str:
    return escape_control(list_names(names, MAX_NAMES))


def _example(example: Example) -> Iterator[str]:
    sign = _SIGNS[example.status]
    yield from wrapped(f"{sign} {escape_control(example.label)}", 4, sign)
    for change in example.fields:
        yield from field_lines(change, 8, marked=example.status == "changed")


def field_lines(change: FieldChange, indent: int, *, marked: bool) -> Iterator[str]:
    """Yield how a field differs, around the changed words, which are marked on request."""
    marks = _MARKS if marked else {}
    chunks = [(*marks.get(one.sign, ("", "")), one.text) for one in excerpt(change.chunks)]
    text = "".join(f"{start}{escape_control(text)}{end}" for start, end, text in chunks)
    text = f"{change.field}: {text}"
    # What does not fit on one line of a terminal has the lines of the sample.
    is_long = sys.stdout.isatty() and _is_wide(" " * indent + text)
    for part in re.findall("[^⏎]*⏎|[^⏎]+", text) if is_long else [text]:
        for line in wrapped(part, indent if part.startswith(change.field) else indent + 2):
            yield _paint_marks(line) if marked and is_styled(sys.stdout) else line


def _paint_marks(line: str) -> str:
    """Color the marked text; the marks stay for readers who can't tell the colors apart."""
    for sign, (start, end) in _MARKS.items():
        line = line.replace(start, click.style(start, fg=_COLORS[sign], reset=False))
        line = line.replace(end, end + click.style("", reset=True))
    return line + click.style("", reset=True)  # a change may continue in the next line


def wrapped(text: str, indent: int, sign: str = "") -> Iterator[str]:
    """Yield an escaped text in the color of a sign, in lines that fit the width of a terminal.

    In a pipe it is one line, so that `grep` finds complete lines.
    """
    if not sys.stdout.isatty():
        yield " " * indent + _colored(text, sign)
        return
    width = max(columns_of(sys.stdout) - indent, 20)
    margin = re.match(r"[-+ ]* ", text)  # of a line of YAML
    for line in fold(text, width, " " * len(margin[0]) if margin else ""):
        yield " " * indent + _colored(line, sign)


def _bold(text: str) -> str:
    return paint(text, sys.stdout, bold=True)


def _colored(text: str, sign: str) -> str:
    return paint(text, sys.stdout, fg=_COLORS[sign]) if sign in _COLORS else text


def _is_wide(line: str) -> bool:
    return cell_len(line) > columns_of(sys.stdout)

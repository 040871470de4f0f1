"""`diff`: what a change does to datasets and to their samples."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from registry.cache.cache import Cache
from registry.cli import CLEAN, PROBLEMS, UNREADABLE, options
from registry.cli.diff import FORMATS, print_diff
from registry.cli.output import print_line
from registry.diff.compare import compare
from registry.diff.models import CatalogDiff
from registry.diff.review import (
    POLICY_CLASSES,
    parse_classes,
    reviewed_state,
    violations,
    write_state,
)
from registry.diff.sampling import MAX_NEW_BUILDS, SamplingOptions, with_samples
from registry.diff.snapshot import open_snapshots
from registry.diff.summary import MAX_NAMES
from registry.errors import RevisionError, list_names
from registry.settings import Settings

__all__ = ["command"]

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

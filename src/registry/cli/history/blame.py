"""`blame`: which commit made a sample what it is, and who reviewed that commit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from registry.base.escape import escape_control
from registry.cache.cache import Cache
from registry.cli import CLEAN, UNREADABLE, options
from registry.cli.diff import field_lines, wrapped
from registry.cli.history.commits import commit_data, commit_line, progress_lines, reviews
from registry.cli.output import print_json, print_line
from registry.cli.terminal import paint, print_styled
from registry.diff.history.blame import FIELDS, Blame, Opener, blame
from registry.diff.history.commits import Commits
from registry.diff.history.states import open_history
from registry.diff.models import FieldChange
from registry.errors import RevisionError, near_or_known
from registry.settings import Settings

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry blame demo-mcq demo-012
registry blame demo-mcq demo-012 --field target
registry blame demo-mcq demo-012 --json
"""


def _fields(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    for value in values:
        if value not in FIELDS:
            hint = near_or_known(value, FIELDS, "fields")
            raise click.BadParameter(f"a sample has no field '{value}' ({hint})", ctx, option)
    return values


@click.command("blame", epilog=_EXAMPLES)
@options.name
@click.argument("identifier", metavar="ID")
@click.option(
    "--field",
    "fields",
    metavar="FIELD",
    multiple=True,
    callback=_fields,
    help="Only this field of the sample, such as target; repeat it for several.",
)
@options.config_from
@options.run_changed_code
@options.as_json
@options.root
def command(
    name: str,
    identifier: str,
    fields: tuple[str, ...],
    config_from: str | None,
    run_changed_code: bool,
    as_json: bool,
    root: str | None,
) -> int:
    """Show which commit last changed each field of a sample, and its value before.

    Old samples are built from what the repository and the cache have; no request is made. Where
    old bytes are not here, the answer is "unknown", with the reason, and the exit code is 4.
    """
    settings = Settings.from_environment(root=root)
    try:
        with open_history(settings.index, config_from or None) as history:
            opener = Opener(history, Cache(settings.cache_dir), run_changed_code)
            state = history.work_tree(name)
            answers = blame(opener, state, identifier, fields or FIELDS, progress_lines())
            # A field that the sample never had needs no line, unless it was asked for.
            found = [one for one in answers if fields or one.after or one.before]
            found.sort(key=lambda one: FIELDS.index(one.field))
            if as_json:
                print_json([_data(one, history.commits) for one in found])
            else:
                _print(found, history.commits)
    except RevisionError as error:
        print_line(f"error: {error}", err=True)
        return UNREADABLE
    return UNREADABLE if any(one.unknown for one in found) else CLEAN


def _print(found: Sequence[Blame], commits: Commits) -> None:
    # Fields that one commit changed share its lines; the first of them says where those are.
    groups: dict[tuple[str, str], list[Blame]] = {}
    for one in found:
        groups.setdefault((one.commit.id if one.commit else "", one.unknown), []).append(one)
    for group in groups.values():
        for line in (*_title(group[0], commits), *_changes(group)):
            print_styled(line, sys.stdout)


def _title(one: Blame, commits: Commits) -> Iterator[str]:
    """Yield the commit and who reviewed it, or why it is not known."""
    if one.unknown:
        since = f" ({one.commit.short} or before)" if one.commit else ""
        yield from wrapped(escape_control(f"unknown{since}: {one.unknown}"), 0, "~")
        return
    subject = f"  {one.commit.subject}" if one.commit else ""
    yield paint(escape_control(commit_line(one.commit) + subject), sys.stdout, bold=True)
    if one.commit is not None:
        for text in reviews(one.commit, commits):
            yield from wrapped(escape_control(text), 2)


def _changes(group: Sequence[Blame]) -> Iterator[str]:
    """Yield what became of each field; a field that was added is shown as it is."""
    for one in group:
        if one.unknown:
            yield from wrapped(one.field, 2)
            continue
        for file in one.files:
            yield from wrapped(escape_control(f"{one.field}: other bytes in {file}"), 2)
        if one.files and not one.chunks:
            continue
        is_new = one.before is None
        name = f"{one.field} (new)" if is_new else one.field
        yield from field_lines(FieldChange(name, one.chunks), 2, marked=not is_new)


def _data(one: Blame, commits: Commits) -> dict[str, Any]:
    return {
        "field": one.field,
        "commit": commit_data(one.commit, commits),
        "dataset": one.dataset,
        "version": one.version,
        "before": one.before,
        "after": one.after,
        "files": list(one.files),
        "diff": [[chunk.sign, chunk.text] for chunk in one.chunks],
        "unknown": one.unknown or None,
    }

"""`log` and `blame`: which commits changed a dataset or a sample, and who reviewed them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import click

from registry.base.escape import escape_control
from registry.cache.cache import Cache
from registry.cli import CLEAN, UNREADABLE, options
from registry.cli.commands.diff import field_lines, wrapped
from registry.cli.output import print_json, print_line
from registry.cli.terminal import paint, print_styled
from registry.diff.history.blame import FIELDS, Blame, Opener, blame
from registry.diff.history.commits import Commit, Commits
from registry.diff.history.states import Change, changes_of, open_history
from registry.diff.models import FieldChange
from registry.diff.summary import display_value, verdict
from registry.errors import RevisionError, count_text, list_names, near_or_known
from registry.settings import Settings

__all__ = ["blame_command", "log_command"]

_MAX_KEYS = 5
"""Of a line of `log`."""
_INSTALLED = "a part of its manifest is of an installed package, whose history is not here"
_PATIENCE = 1.0
_PAUSE = 5.0
_REVIEWS = frozenset(
    f"{word}-by"
    for word in ("reviewed", "acked", "approved", "signed-off", "co-authored", "tested")
)

_LOG_EXAMPLES = """\b
Example: registry log demo-mcq
registry log demo-mcq -n 5
registry log demo-mcq --json
"""
_BLAME_EXAMPLES = """\b
Example: registry blame demo-mcq demo-012
registry blame demo-mcq demo-012 --field target
registry blame demo-mcq demo-012 --json
"""


@click.command("log", epilog=_LOG_EXAMPLES)
@options.name
@click.option(
    "-n",
    "most",
    metavar="N",
    type=click.IntRange(min=1),
    help="At most so many commits, the newest; by default all.",
)
@options.config_from
@options.as_json
@options.root
def log_command(
    name: str, most: int | None, config_from: str | None, as_json: bool, root: str | None
) -> int:
    """List the commits that changed what a dataset is, the newest first.

    A line has the commit, its date and author, the classes of the change in the words of `registry
    diff`, the keys that changed, and what the lockfile pinned after it. Samples are not read. The
    exit code is 4 if a part of the history could not be read.
    """
    opened = options.open_catalog(root)
    options.check_members([name], opened)
    found = []
    try:
        with open_history(opened.settings.index, config_from or None) as history:
            commits = history.commits
            state = history.work_tree(name)
            if state.is_installed:
                print_line(f"note: {name}: {_INSTALLED}", err=True)
            for one in islice(changes_of(history, state, _progress_lines()), most):
                found.append(one)
                if not as_json:
                    print_line(f"{_commit_line(one.commit)}  {_what(one)}")
            if as_json:
                print_json([_change_data(one, commits) for one in found])
    except RevisionError as error:
        print_line(f"error: {error}", err=True)
        return UNREADABLE
    return UNREADABLE if any(one.unknown for one in found) else CLEAN


def _what(one: Change) -> str:
    if one.change is None:
        return f"unknown: {one.unknown}"
    keys = list_names([key.key for key in one.keys], _MAX_KEYS)
    if one.change.status == "added":
        keys = f"as {one.name}"
    parts = [": ".join(filter(None, (verdict(one.change), keys))), _pin(one)]
    return "; ".join(filter(None, parts))


def _pin(one: Change) -> str:
    """Return what is pinned after a commit: digests as `registry diff` shows them."""
    if one.pin is None:
        return "not pinned"
    samples, ordered, version = (one.pin[key] for key in ("samples", "ordered", "version"))
    parts = [
        f"version {display_value(version)}" if version else "",
        "" if samples is None else count_text(samples, "sample"),
        display_value(ordered) if ordered else "",
    ]
    return f"pin: {', '.join(filter(None, parts))}"


def _change_data(one: Change, commits: Commits) -> dict[str, Any]:
    change = one.change
    return {
        "commit": _commit_data(one.commit, commits),
        "dataset": one.name,
        "status": change.status if change else None,
        "renamed_from": (change.old_name or None) if change else None,
        "classes": list(change.kinds) if change else [],
        "keys": [
            {
                "key": key.key,
                "class": key.kind,
                "old": key.old and key.old.value,
                "new": key.new and key.new.value,
            }
            for key in one.keys
        ],
        "pin": one.pin,
        "unknown": one.unknown or None,
    }


def _fields(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    for value in values:
        if value not in FIELDS:
            hint = near_or_known(value, FIELDS, "fields")
            raise click.BadParameter(f"a sample has no field '{value}' ({hint})", ctx, option)
    return values


@click.command("blame", epilog=_BLAME_EXAMPLES)
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
def blame_command(
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
            answers = blame(opener, state, identifier, fields or FIELDS, _progress_lines())
            # A field that the sample never had needs no line, unless it was asked for.
            found = [one for one in answers if fields or one.after or one.before]
            found.sort(key=lambda one: FIELDS.index(one.field))
            if as_json:
                print_json([_blame_data(one, history.commits) for one in found])
            else:
                _print_blame(found, history.commits)
    except RevisionError as error:
        print_line(f"error: {error}", err=True)
        return UNREADABLE
    return UNREADABLE if any(one.unknown for one in found) else CLEAN


def _print_blame(found: Sequence[Blame], commits: Commits) -> None:
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
    yield paint(escape_control(_commit_line(one.commit) + subject), sys.stdout, bold=True)
    if one.commit is not None:
        for text in _reviews(one.commit, commits):
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


def _blame_data(one: Blame, commits: Commits) -> dict[str, Any]:
    return {
        "field": one.field,
        "commit": _commit_data(one.commit, commits),
        "dataset": one.dataset,
        "version": one.version,
        "before": one.before,
        "after": one.after,
        "files": list(one.files),
        "diff": [[chunk.sign, chunk.text] for chunk in one.chunks],
        "unknown": one.unknown or None,
    }


def _commit_line(commit: Commit | None) -> str:
    """Return hash, date and author of a commit."""
    if commit is None:
        return "not committed"
    return f"{commit.short}  {commit.date:%Y-%m-%d}  {commit.author.rpartition(' <')[0]}"


def _reviews(commit: Commit, commits: Commits) -> Iterator[str]:
    """Yield who else had a part in a commit, as the repository says."""
    if commit.committer != commit.author:
        yield f"Committer: {commit.committer}"
    for key, value in commit.trailers:
        if key.casefold() in _REVIEWS:
            yield f"{key}: {value}"
    if merge := commits.merge_of(commit.id):
        yield f"merged in {merge.id[:7]} by {merge.author}: {merge.subject}"
    elif commit.request:
        yield f"pull request: #{commit.request}"


def _commit_data(commit: Commit | None, commits: Commits) -> dict[str, Any] | None:
    """Return a commit as JSON data; None for what is not committed."""
    if commit is None:
        return None
    merge = commits.merge_of(commit.id)
    return {
        "id": commit.id,
        "date": commit.date.isoformat(),
        "author": commit.author,
        "committer": commit.committer,
        "subject": commit.subject,
        "trailers": [{"key": key, "value": value} for key, value in commit.trailers],
        "request": commit.request or (merge.request if merge else ""),
        "merge": merge and {"id": merge.id, "subject": merge.subject, "author": merge.author},
    }


def _progress_lines() -> Callable[[str], None]:
    """Return a function that prints messages to stderr once a walk takes more than a second."""
    shown = time.monotonic() + _PATIENCE - _PAUSE

    def announce(text: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= _PAUSE:
            shown = time.monotonic()
            print_line(text, err=True)

    return announce

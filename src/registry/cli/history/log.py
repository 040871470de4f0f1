"""`log`: which commits changed a dataset, and how."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from registry.cli import CLEAN, UNREADABLE, options
from registry.cli.history.commits import commit_data, commit_line, progress_lines
from registry.cli.output import print_json, print_line
from registry.diff.history.commits import Commits
from registry.diff.history.states import Change, changes_of, open_history
from registry.diff.summary import display_value, verdict
from registry.errors import RevisionError, count_text, list_names

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry log demo-mcq
registry log demo-mcq -n 5
registry log demo-mcq --json
"""
_MAX_KEYS = 5
_INSTALLED = "a part of its manifest is of an installed package, whose history is not here"


@click.command("log", epilog=_EXAMPLES)
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
def command(
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
            for one in islice(changes_of(history, state, progress_lines()), most):
                found.append(one)
                if not as_json:
                    print_line(f"{commit_line(one.commit)}  {_what(one)}")
            if as_json:
                print_json([_data(one, commits) for one in found])
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


def _data(one: Change, commits: Commits) -> dict[str, Any]:
    change = one.change
    return {
        "commit": commit_data(one.commit, commits),
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

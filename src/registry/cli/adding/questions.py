"""Ask the person at the terminal, where there is one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from registry.base.escape import escape_control
from registry.scaffold.sniff.guess import Question

__all__ = ["FIELDS", "ask", "ask_about", "ask_what_next", "is_interactive"]

FIELDS = ("input", "target", "choices", "id")
"""Fields for which the user may choose a column."""


def is_interactive() -> bool:
    """Return whether a person can answer: neither end is a pipe or a file."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: Question) -> str:
    """Return the reading that the user chooses by its number."""
    options = list(question.choices)
    click.echo(f"{escape_control(question.file)}: the {question.what} is not clear:")
    for number, option in enumerate(options, 1):
        click.echo(escape_control(f"  {number}. {option}: {question.choices[option]}"))
    number = click.prompt("Which one", type=click.IntRange(1, len(options)))
    return options[number - 1]


def ask_what_next(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return a field and the column that it shall read, or None to write the manifest.

    Raises:
        click.Abort: the user wants no manifest.
    """
    text = f"Write it? [Y]es, [n]o, or a field to change ({', '.join(FIELDS)})"
    while True:
        answer = str(click.prompt(text, default="yes", show_default=False)).strip().casefold()
        if answer in ("", "y", "yes"):
            return None
        if answer in ("n", "no", "q", "quit"):
            raise click.Abort
        if answer in FIELDS:
            shown = escape_control(", ".join(columns))
            column = click.prompt(
                f"Column for {answer} ({shown})", type=click.Choice(columns), show_choices=False
            )
            return answer, column
        click.echo(f"'{escape_control(answer)}' is neither yes, no, nor one of these fields")


def ask_about(description: str, license_: str | None) -> tuple[str, str | None]:
    """Return the description and the license that the user gives."""
    description = click.prompt("Description", default=description).strip() or description
    if license_ is None:
        license_ = click.prompt(
            "License, such as mit (empty if unknown)", default="", show_default=False
        )
    return description, (license_ or "").strip() or None

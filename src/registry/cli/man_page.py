"""The page for `man registry`, made from the commands by `make docs`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import click

__all__ = ["man_page"]

Rows = Sequence[tuple[str, str]]
"""Names with what they mean."""

_DATE = "2026-11-22"
"""When the form of the page was last changed: a page of today would differ each day."""
_WIDTH = 72
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_ABOUT = """\
Registry describes evaluation datasets in YAML manifests that are reviewed like code, pins their \
bytes in a lockfile, and gives the same samples on every machine."""


def man_page(command: click.Group, *, exit_codes: Rows, variables: Rows) -> str:
    """Return the page in the macros of man(7).

    Args:
        command: The command line.
        exit_codes: The exit codes.
        variables: The environment variables, as Markdown.
    """
    return "\n".join([*_lines(command, exit_codes, variables), ""])


def _lines(command: click.Group, exit_codes: Rows, variables: Rows) -> Iterator[str]:
    root = click.Context(command, info_name="registry", **command.context_settings)
    yield r".\" Generated from the commands by `make docs`."
    yield f'.TH REGISTRY 1 {_DATE} registry "User Commands"'
    yield from (".SH NAME", r"registry \- evaluation datasets as reviewed code")
    yield from (".SH SYNOPSIS", ".B registry", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_text(_ABOUT), ".SH COMMANDS")
    for name in command.list_commands(root):
        if verb := command.get_command(root, name):
            yield from _verb(verb, root)
    yield ".SH EXIT STATUS"
    yield from _rows(exit_codes)
    yield ".SH ENVIRONMENT"
    yield from _rows(variables)
    yield ".SH FILES"
    yield from _rows(
        [
            ("datasets.yaml", "The index of a catalog: which manifests it has, and what they may."),
            ("datasets.lock", "The pins of its datasets."),
            ("~/.cache/registry", "The cache on Linux; `registry cache dir` prints its folder."),
        ]
    )


def _verb(verb: click.Command, parent: click.Context) -> Iterator[str]:
    """Yield the section of a command, and of those below it."""
    context = click.Context(verb, info_name=verb.name, parent=parent)
    _, *usage = verb.get_usage(context).split()
    yield f".SS {_escape(' '.join(usage))}"
    paragraphs = inspect.cleandoc(verb.help or "").split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        yield from ([".PP"] if number else [])
        yield from _text(paragraph)
    if isinstance(verb, click.Group):
        for name in verb.list_commands(context):
            if inner := verb.get_command(context, name):
                yield from _verb(inner, context)
        return
    records = (one.get_help_record(context) for one in verb.params if isinstance(one, click.Option))
    yield from _rows([(names, " ".join(text.split())) for names, text in filter(None, records)])
    yield from _epilog((verb.epilog or "").replace("\b\n", "").strip())


def _epilog(text: str) -> Iterator[str]:
    """Yield the examples, line by line, and the notes below them."""
    examples, *notes = re.split(r"\n\n+", text)
    yield from (".PP", "Examples:", ".PP", ".RS 4", ".nf")
    yield from map(_escape, examples.removeprefix("Example: ").splitlines())
    yield from (".fi", ".RE")
    for note in notes:
        yield from (".PP", *_text(note))


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in rows:
        yield from (".TP", rf"\fB{_inline(_plain(name))}\fR", *_text(_plain(meaning)))


def _plain(markdown: str) -> str:
    """Return Markdown without links and code marks."""
    return _LINK.sub(r"\1", markdown).replace("`", "").strip()


def _text(text: str) -> list[str]:
    """Return text in lines of a source, which the reader joins."""
    lines = textwrap.wrap(text, _WIDTH, break_on_hyphens=False, break_long_words=False)
    return list(map(_escape, lines))


def _escape(text: str) -> str:
    """Return text as a line of its own; a dot or an apostrophe at its start is no macro."""
    inline = _inline(text.replace("`", ""))
    return rf"\&{inline}" if inline.startswith((".", "'")) else inline


def _inline(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return "".join(one if one.isascii() else rf"\[u{ord(one):04X}]" for one in escaped)

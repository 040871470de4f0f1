"""What people get who ask for help: `--help`, whose examples stay whole commands, or a hint."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import click

from registry.errors import near_or_known

__all__ = ["HelpContext", "SuggestingGroup", "with_help_text"]

_VERBATIM = "\b"
"""The line that begins a paragraph whose lines click leaves as they are."""
_COMMAND = re.compile(r"(Example: )?(?:[A-Z_]+=\S+ )*registry ")
_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")


class _Formatter(click.HelpFormatter):
    """Folds the lines of verbatim paragraphs that are wider than the terminal."""

    def write_text(self, text: str) -> None:
        paragraphs = (self._fitting(one) for one in text.split("\n\n"))
        super().write_text("\n\n".join(paragraphs))

    def _fitting(self, paragraph: str) -> str:
        first, *lines = paragraph.split("\n")
        if first.strip() != _VERBATIM:
            return paragraph
        width = max(self.width - self.current_indent, 11)
        return "\n".join([first, *(part for line in lines for part in _fold(line, width))])


def _fold(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
    elif _COMMAND.match(line):
        yield from _fold_command(line, width)
    else:
        indent = len(line) - len(line.lstrip())
        yield from textwrap.wrap(
            line, width, subsequent_indent=" " * (indent + 2), break_on_hyphens=False
        )


def _fold_command(line: str, width: int) -> Iterator[str]:
    """Yield a command in lines that a shell takes for one: all but the last end in a backslash."""
    part = ""
    for word in _WORD.findall(line):
        joined = f"{part} {word}" if part else word
        if len(joined) + 2 > width and part.strip():
            yield f"{part} \\"
            part = f"    {word}"
        else:
            part = joined
    yield part


class HelpContext(click.Context):
    """A context whose help is formatted so."""

    formatter_class = _Formatter


class SuggestingGroup(click.Group):
    """A group that suggests the command that was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return what click does; an unknown name is an error with a similar one, or all."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            hint = near_or_known(args[0], known, "commands")
            name = " ".join([*ctx.command_path.split()[1:], args[0]])
            raise click.UsageError(f"no command '{name}' ({hint})", ctx)
        return super().resolve_command(ctx, args)


def with_help_text(command: click.Command) -> click.Command:
    """Return a command, and those below it, with help that is formatted so."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_help_text(one)
    return command

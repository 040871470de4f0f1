"""What the command line says of itself: `--help`, hints for misspelt names, and completion."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress

import click

from registry.errors import RegistryError, near_or_known

__all__ = [
    "VARIABLE",
    "SuggestingGroup",
    "completion_command",
    "dataset_names",
    "tag_names",
    "with_help_text",
]

VARIABLE = "_REGISTRY_COMPLETE"
"""The variable by which a shell asks for completions, as click's scripts set it."""

_PLAIN = re.compile(r"[\w.:+/][\w.:+/-]*")
"""Values that no shell has to quote: its script inserts them into the command line as they are."""
_SHELLS = {"bash": "BashComplete", "zsh": "ZshComplete", "fish": "FishComplete"}
"""Shell → click's class for it."""
_EXAMPLES = """\b
Example: registry completion bash > ~/.local/share/bash-completion/completions/registry
registry completion zsh > ~/.zfunc/_registry
registry completion fish > ~/.config/fish/completions/registry.fish

Start a new shell after that. For zsh, ~/.zshrc must have `fpath+=~/.zfunc` before `compinit`.
Bash 4.4 or newer is needed.

\b
For the current shell alone (zsh: after `compinit`):
  source <(registry completion bash)
  source <(registry completion zsh)
  registry completion fish | source
"""

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


class _HelpContext(click.Context):
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
    command.context_class = _HelpContext
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_help_text(one)
    return command


@click.command("completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def completion_command(shell: str) -> None:
    """Print the script that completes commands, options, names of datasets and tags in a shell."""
    from click import shell_completion  # slow to import; no other command needs it

    script = getattr(shell_completion, _SHELLS[shell])
    group = click.get_current_context().find_root().command
    print(script(group, {}, "registry", VARIABLE).source(), end="")


def dataset_names(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the names that begin so, of members after `GROUP/`; none without a catalog.

    The members of a group by values are known if these are declared.
    """
    from registry.catalog.catalog import Catalog  # commands and options need no catalog

    with suppress(RegistryError, OSError):
        catalog = Catalog.open(context.params.get("root"))
        names, group = [*catalog, *sorted(catalog.groups)], start.rpartition("/")[0]
        if catalog.is_group(group):
            members = catalog.group(group).members
            names = [f"{group}/{one.name}" for one in members if not one.by]
        return _starting(names, start, _given(context, parameter))
    return []


def tag_names(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the tags that begin so; none if the catalog can't be read."""
    from registry.catalog.catalog import Catalog

    with suppress(RegistryError, OSError):
        catalog = Catalog.open(context.params.get("root"))
        known = sorted({tag for name in catalog for tag in catalog.tags_of(name)})
        return _starting(known, start, _given(context, parameter))
    return []


def _given(context: click.Context, parameter: click.Parameter) -> tuple[str, ...]:
    """Return what was typed for a parameter that takes several values."""
    given = context.params.get(parameter.name or "")
    return given if isinstance(given, tuple) else ()


def _starting(values: Iterable[str], start: str, given: tuple[str, ...]) -> list[str]:
    return [
        value
        for value in values
        if value.startswith(start) and value not in given and _PLAIN.fullmatch(value)
    ]

"""`completion`, the script that lets a shell complete, and what it asks for: names and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

import click

__all__ = ["VARIABLE", "completion_command", "dataset_names", "tag_names"]

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
    from registry.errors import RegistryError

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
    from registry.errors import RegistryError

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

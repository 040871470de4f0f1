"""`completion`: print the script that lets a shell complete."""

from __future__ import annotations

import click

from registry.cli import CLEAN
from registry.cli.completion_scripts import SCRIPTS

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry completion bash > ~/.local/share/bash-completion/completions/registry
registry completion zsh > ~/.zfunc/_registry
registry completion fish > ~/.config/fish/completions/registry.fish

Start a new shell after that. For zsh, ~/.zshrc must have `fpath+=~/.zfunc` before `compinit`.

\b
For the current shell alone:
  source <(registry completion bash)
  source <(registry completion zsh)
  registry completion fish | source
"""


@click.command("completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def command(shell: str) -> int:
    """Print the script that completes commands, options, names of datasets and tags in a shell."""
    print(SCRIPTS[shell], end="")
    return CLEAN

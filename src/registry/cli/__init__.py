"""The command line: one module a verb, imported when it is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from registry.errors import RegistryError

__all__ = ["main"]

CLEAN, PROBLEMS, USAGE, UNEXPECTED, INTERRUPTED = 0, 1, 2, 3, 130

_VERBS = {
    "sync": "build datasets into the cache",
    "lock": "pin datasets, so that every machine gets the same bytes",
    "list": "list the datasets of the catalog",
    "show": "show a dataset with nothing left open",
    "preview": "show samples of a dataset",
    "validate": "check manifests",
    "diff": "show what differs between two states of the catalog",
    "add": "write a manifest after a look at its source",
    "schema": "print the JSON Schema of a manifest, an index or a lockfile, for editors",
    "cache": "look at the cache, or clear it",
}


class _Verbs(click.Group):
    """A group whose commands are modules of this package, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module = importlib.import_module(f"registry.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from registry.errors import did_you_mean

        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], _VERBS) or f"commands: {', '.join(_VERBS)}"
            raise click.UsageError(f"no command '{args[0]}' ({hint})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: python -m registry sync --tag demo",
)
@click.version_option(package_name="eval-registry", prog_name="registry")
def command() -> None:
    """Datasets as reviewed code: the same samples on every machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3 or 130."""
    _prepare_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return _leave_broken_pipe()
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = command.main(arguments, prog_name="python -m registry", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.UsageError as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        print("\ninterrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit:  # click's way to leave a broken pipe; mappers can't leave (mapping.hook)
        raise BrokenPipeError from None
    except RegistryError as error:
        _print_error(error)
        return PROBLEMS
    except Exception as error:
        return _print_unexpected(error)
    return result if isinstance(result, int) else CLEAN


def _prepare_streams() -> None:
    """Make streams that are closed, or lack letters, take what is printed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _print_error(error: RegistryError) -> None:
    problems: Any = getattr(error, "problems", None)
    for line in problems or [error]:
        print(f"error: {line}", file=sys.stderr)


def _print_unexpected(error: Exception) -> int:
    if os.environ.get("REGISTRY_TRACEBACK"):
        traceback.print_exception(error)
    print(
        f"unexpected {type(error).__name__}: {error}\n"
        "This is a fault of registry; REGISTRY_TRACEBACK=1 shows where.",
        file=sys.stderr,
    )
    return UNEXPECTED


def _leave_broken_pipe() -> int:
    """Leave quietly when a reader such as `head` has gone; Python would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLEAN

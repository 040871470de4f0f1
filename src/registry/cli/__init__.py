"""The command line: one module per verb, imported when the verb is used."""

from __future__ import annotations

import importlib
import keyword
import os
import sys
import traceback
from collections.abc import Sequence

import click

from registry.base.escape import escape_control
from registry.cli.streams import escaped_output
from registry.errors import RegistryError, did_you_mean

__all__ = ["main"]

CLEAN, PROBLEMS, USAGE, UNEXPECTED, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_VERBS = {
    "sync": "Build datasets into the cache.",
    "lock": "Pin datasets, so that every machine gets the same bytes.",
    "list": "List the datasets of the catalog.",
    "show": "Show a dataset with `extends` and defaults applied.",
    "preview": "Show the first samples of a dataset.",
    "validate": "Check manifests.",
    "verify": "Ask the sources whether the catalog still describes them.",
    "diff": "Show the differences between two versions of the catalog.",
    "add": "Infer a manifest from a source.",
    "export": "Write datasets as files of other tools.",
    "import": "Write a manifest for datasets that another tool's file defines.",
    "schema": "Print a JSON Schema for editors.",
    "bundle": "Write datasets into one file for a machine without a network.",
    "unbundle": "Verify a bundle, and take its datasets.",
    "cache": "Inspect or clear the cache.",
}


class _Verbs(click.Group):
    """A group whose commands are modules of `cli.commands`, each imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        # `import` is a keyword, which can't name a module.
        file = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"registry.cli.commands.{file}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], _VERBS) or f"commands: {', '.join(_VERBS)}"
            raise click.UsageError(f"no command '{args[0]}' ({hint})", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # From the table: click would import every command for its help.
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: registry sync --tag demo",
)
@click.version_option(package_name="eval-registry", prog_name="registry")
def command() -> None:
    """Datasets as reviewed code: the same samples on every machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3, 4 or 130."""
    try:
        with escaped_output():
            code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has exited. Python flushes stdout once more at exit and would
        # report the broken pipe, so that flush goes to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    if code == INTERRUPTED:
        _leave_jobs()
    return code


def _leave_jobs() -> None:
    """End now if jobs still run: Python would wait for them, a minute if a server is silent."""
    from registry.base.threads import are_jobs_left  # slow to import

    if are_jobs_left():
        sys.stderr.flush()
        os._exit(INTERRUPTED)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = command.main(arguments, prog_name="registry", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.UsageError as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort) as error:
        # click raises Abort from Ctrl-C, and without a cause where a confirmation is refused.
        is_refusal = isinstance(error, click.Abort) and error.__cause__ is None
        message = "aborted" if is_refusal else "interrupted; what was finished before stays"
        # click has ended the line of a Ctrl-C.
        print(f"\n{message}" if is_refusal else message, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit:
        # click calls `sys.exit` on a broken pipe; a custom mapper's exit is caught earlier.
        raise BrokenPipeError from None
    except RegistryError as error:
        # Some errors report several problems, each with its place.
        for line in getattr(error, "problems", None) or [error]:
            print(f"error: {escape_control(str(line))}", file=sys.stderr)
        return PROBLEMS
    except Exception as error:
        if os.environ.get("REGISTRY_TRACEBACK"):
            traceback.print_exception(error)
        print(
            f"unexpected {type(error).__name__}: {escape_control(str(error))}\n"
            "This is a bug in registry; set REGISTRY_TRACEBACK=1 to see the traceback.",
            file=sys.stderr,
        )
        return UNEXPECTED
    return result if isinstance(result, int) else CLEAN

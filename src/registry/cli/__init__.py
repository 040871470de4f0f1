"""The command line: one module per command, imported when the command is used."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from registry.base.escape import escape_control
from registry.cli.help import VARIABLE, SuggestingGroup, with_help_text
from registry.cli.output import print_failure, print_line
from registry.cli.terminal import escaped_output
from registry.errors import ExtensionError, RegistryError
from registry.installation import DISTRIBUTION, extension, extensions, install_advice
from registry.settings import SWITCH, working_folder

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["main"]

CLEAN, PROBLEMS, USAGE, UNEXPECTED, UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
"""Why the system opens no file, or does not even say whether it is there."""

_NO_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")
"""What the system says, in other errors than MemoryError, of a process that gets no more."""

_GROUPS = {
    "Write and check manifests": {
        "init": "Create a catalog with an example.",
        "add": "Infer a manifest from a source.",
        "import": "Write a manifest for datasets that another tool's file defines.",
        "correct": "Write the corrections that a corrected copy of a dataset contains.",
        "validate": "Check manifests.",
        "schema": "Print a JSON Schema for editors.",
    },
    "Look at datasets": {
        "list": "List the datasets of the catalog.",
        "show": "Show a dataset with `extends` and defaults applied.",
        "preview": "Show samples of a dataset, and their records.",
        "describe": "Count what a dataset contains, with plots.",
        "stats": "Count what the catalog has, by source, license, tag and operation.",
        "licenses": "List the licenses of datasets, and fail where one is denied.",
        "site": "Write the catalog as pages for a browser.",
        "browse": "Show the catalog in a browser while it is edited.",
        "diff": "Show the differences between two versions of the catalog.",
        "log": "List the commits that changed a dataset.",
        "blame": "Show which commit changed a sample, and who reviewed it.",
    },
    "Look at results": {
        "receipt": "Say which data logs were made from, and whether it is pinned now.",
        "compare": "Say whether two logs or datasets have the same samples, and compare scores.",
    },
    "Build, pin and move datasets": {
        "sync": "Build datasets into the cache.",
        "lock": "Pin datasets, so that every machine gets the same bytes.",
        "verify": "Ask the sources whether the catalog still describes them.",
        "export": "Write datasets as files of other tools.",
        "mirror": "Copy pinned files to a folder or bucket, where licenses allow it.",
        "bundle": "Write datasets into one file for a machine without a network.",
        "unbundle": "Verify a bundle, and take its datasets.",
        "cache": "Inspect or clear the cache.",
        "doctor": "Check this machine, and say what to do next.",
        "completion": "Print the script for completion in a shell.",
    },
}
"""Section of the help → its commands with their summaries, in the order of the help."""
_PLUGINS = {
    "import": "importers.command",
    "site": "site.command",
    "browse": "browse.command",
    "export": "export.command",
    "bundle": "bundle.bundle",
    "unbundle": "bundle.unbundle",
    "doctor": "doctor.command",
    "receipt": "results.receipt_command",
    "compare": "results.compare_command",
    "correct": "correct",
    "licenses": "licenses",
    "mirror": "mirror",
}
"""Command → its module in `registry.plugins`."""
_PLACES = {
    **{verb: f"cli.commands.{verb}:command" for verbs in _GROUPS.values() for verb in verbs},
    **{verb: f"plugins.{module}:command" for verb, module in _PLUGINS.items()},
    "log": "cli.history:log_command",
    "blame": "cli.history:blame_command",
    "completion": "cli.help:completion_command",
}
"""Command → its module in `registry` and its name in there."""


def _summaries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each section of the help with its commands; none is imported for it."""
    yield from _GROUPS.items()
    if others := {
        name: f"From {point.dist.name if point.dist else 'another package'}."
        for name, point in extensions("commands").items()
        if name not in _PLACES
    }:
        yield "Other packages", others


class _Verbs(SuggestingGroup):
    """A group whose commands are those of `_PLACES`, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [verb for _, verbs in _summaries() for verb in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _PLACES:
            module, _, name = _PLACES[cmd_name].partition(":")
            return with_help_text(getattr(importlib.import_module(f"registry.{module}"), name))
        found = extension("commands", cmd_name)
        if not (found is None or isinstance(found, click.Command)):
            raise ExtensionError(f"the plugin '{cmd_name}' is no click.Command")
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        # From the table: click would import every command for its help.
        items = [
            CompletionItem(verb, help=about)
            for _, verbs in _summaries()
            for verb, about in verbs.items()
            if verb.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            message = f"no option '{error.option_name}' here: options follow the command"
            raise click.UsageError(
                f"{message}, such as `registry list --root PATH`", ctx
            ) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RegistryError as error:  # here, where the context knows the `--root`
            print_failure(error)
            return PROBLEMS

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # From the table: click would import every command for its help.
        for title, verbs in _summaries():
            with formatter.section(title):
                formatter.write_dl(list(verbs.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: registry sync --tag demo",
)
@click.version_option(package_name=DISTRIBUTION, prog_name="registry")
def command() -> None:
    """Datasets as reviewed code: the same samples on every machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3, 4 or 130."""
    if asked := os.environ.get(VARIABLE):
        from click.shell_completion import shell_complete  # a shell asks; no command needs it

        return shell_complete(command, {}, "registry", VARIABLE, asked)
    try:
        with escaped_output():
            code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has exited
        _discard_stdout()
        return CLEAN
    except OSError as error:
        from registry.base.fs import is_disk_fault  # slow to import

        if not is_disk_fault(error):
            raise
        _discard_stdout()
        print(f"error: the output can't be written: {error.strerror}", file=sys.stderr)
        return PROBLEMS
    if code == INTERRUPTED:
        _leave_jobs()
    return code


def _discard_stdout() -> None:
    """Send to the null device what Python flushes once more at exit, and would fail to write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    except ModuleNotFoundError as error:
        if not (how := install_advice(error)):
            return _unexpected(error)
        print_line(f"error: this needs the package {error.name}: {how}", err=True)
        return PROBLEMS
    except Exception as error:
        from registry.base.fs import is_disk_fault

        # A stream has no file name. A file has one, and that of the cache is a CacheError.
        if is_disk_fault(error) and error.filename is None:
            raise
        if why := _lack(error):
            print(f"error: {why}", file=sys.stderr)
            return PROBLEMS
        return _unexpected(error)
    return result if isinstance(result, int) else CLEAN


def _lack(error: Exception) -> str:
    """Return what this machine lacks or denies, and what to do; "" for any other error."""
    from registry.base.fs import is_disk_fault

    what = escape_control(str(error)) or type(error).__name__
    if isinstance(error, MemoryError) or (
        isinstance(error, ImportError | OSError | RuntimeError)
        and any(words in what.casefold() for words in _NO_MEMORY)
    ):
        return f"there is not enough memory ({_memory_advice()}): {what}"
    if isinstance(error, FileNotFoundError) and "No usable temporary directory" in what:
        return f"{what} (TMPDIR sets another folder, which can be written to and has space)"
    if isinstance(error, OSError) and error.errno in _REFUSED and error.filename is not None:
        return what
    return f"{what} (is the disk full or broken?)" if is_disk_fault(error) else ""


def _memory_advice() -> str:
    import resource  # a process that lacks memory asks; no command needs it

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return "end other programs, or take a smaller dataset"
    return f"`ulimit -v` allows {limit >> 20} MiB, and a small build takes 350: raise it"


def _unexpected(error: Exception) -> int:
    try:
        working_folder()
    except RegistryError as gone:
        print_failure(gone)
        return PROBLEMS
    if SWITCH.get(os.environ.get("REGISTRY_TRACEBACK", "").lower(), True):
        traceback.print_exception(error)
    print(
        f"unexpected {type(error).__name__}: {escape_control(str(error))}\n"
        "This is a bug in registry; set REGISTRY_TRACEBACK=1 to see the traceback.",
        file=sys.stderr,
    )
    return UNEXPECTED

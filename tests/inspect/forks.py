"""Run modules as programs, each in a fork of a process that has imported Inspect AI.

Importing takes most of the time of a small evaluation.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["run_module"]

_FORKS = multiprocessing.get_context("forkserver")
# What an evaluation imports, at once or later; names that a version lacks are passed over.
_FORKS.set_forkserver_preload(
    [
        *(
            "inspect_ai._cli.main",
            "inspect_ai._display.plain.display",
            "inspect_ai.agent._acp.server",
        ),
        *("inspect_ai._control.scoring", "inspect_ai._control.disconnect", "inspect_ai.log"),
        *("fastapi", "opentelemetry.trace", "rich.markdown", "starlette.staticfiles", "uvicorn"),
        *("jsonschema_rs", "pyarrow.parquet", "registry.cli.commands.lock"),
        *("registry.inspect.evaluate", "registry.inspect.task", "registry.manifest.source_checks"),
        *("registry.pipeline.builder", "registry.pipeline.file_rows"),
        *("registry.pipeline.execute", "registry.plugins.results.receipt_command"),
        *("registry.samples.inspect_dataset", "registry.samples.provenance"),
    ]
)


def run_module(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], packages: Path
) -> tuple[int | None, str, str]:
    """Run `python -m COMMAND` in a folder; return its exit code and what it printed.

    `packages` is a folder of further installed packages.
    """
    with TemporaryDirectory(prefix="registry-tests-") as written:
        streams = [Path(written, name) for name in ("out", "err")]
        paths = [str(folder), str(packages)]
        process = _FORKS.Process(
            target=_become, args=([*command], folder, {**environment}, paths, streams)
        )
        process.start()
        process.join(timeout=900)
        process.kill()
        out, err = (one.read_text(encoding="utf-8") for one in streams)
        return process.exitcode, out, err


def _become(
    command: list[str],
    folder: Path,
    environment: dict[str, str],
    paths: list[str],
    streams: list[Path],
) -> None:
    from inspect_ai._util.error import PrerequisiteError

    for target, path in enumerate(streams, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), target)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = paths
    sys.argv = command
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except PrerequisiteError as error:
        sys.excepthook(
            type(error), error, error.__traceback__
        )  # that of Inspect, without traceback
        sys.exit(1)

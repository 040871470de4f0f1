"""`init`: create a catalog with an example."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from registry.base.local_files import display_path
from registry.cli import CLEAN, PROBLEMS
from registry.cli.output import print_line, write_new
from registry.installation import requirement
from registry.scaffold.starter import plan_starter

__all__ = ["command"]

_EXAMPLES = """\b
Example: registry init
registry init evals --pre-commit --workflow
"""
_NEXT = """
Next:
{cd}  registry preview example-qa         show the samples of the example
  registry add my-qa --file my.csv    add a dataset of your own (or --hf owner/name)
  registry validate                   check all manifests
  registry lock                       pin the bytes; commit datasets.lock\
"""


@click.command("init", epilog=_EXAMPLES)
@click.argument("folder", default=".", type=click.Path(path_type=Path), metavar="[FOLDER]")
@click.option("--pre-commit", is_flag=True, help="Also configure pre-commit to check the catalog.")
@click.option("--workflow", is_flag=True, help="Also write a GitHub workflow for pull requests.")
def command(folder: Path, pre_commit: bool, workflow: bool) -> int:
    """Create a catalog: an index, a commented manifest with data, and schemas for editors.

    No file is overwritten. In a folder that has an index, only what is missing beside the example
    is written, such as the schemas or the workflow.
    """
    # Not `resolve`: messages name the path that was given.
    folder = Path(os.path.abspath(folder))
    plan = plan_starter(
        folder,
        requirement=requirement(),
        with_pre_commit=pre_commit,
        with_workflow=workflow,
    )
    for path, text in plan.new.items():
        write_new(path, text)
        print_line(f"wrote   {display_path(path)}")
    for path in plan.existing:
        print_line(f"exists  {display_path(path)} (left as it is)")
    if not plan.new:
        print_line("error: everything is there already, so nothing was written", err=True)
        return PROBLEMS
    if folder / "registry" / "example.yaml" in plan.new:
        is_here = folder == Path.cwd()
        print(_NEXT.format(cd="" if is_here else f"  cd {shlex.quote(display_path(folder))}\n"))
    return CLEAN

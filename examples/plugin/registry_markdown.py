"""A format and a command for Registry, as another package adds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from registry import Sample, get_dataset
from registry.api import CLEAN, options, print_line
from registry.plugins.export.formats import Format

if TYPE_CHECKING:
    from registry.plugins.export.exported import Exported

MARKDOWN = Format(
    name="markdown",
    suffix=".md",
    writer="registry_markdown:write",
    summary="a table of ids, questions and targets in Markdown",
)


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a row per sample."""
    file.write(b"| id | input | target |\n|---|---|---|\n")
    for sample in exported.samples():
        cells = [str(sample.id), _input(sample), str(sample.target)]
        row = " | ".join(cell.replace("|", r"\|").replace("\n", "<br>") for cell in cells)
        file.write(f"| {row} |\n".encode())


def _input(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n".join(f"{message.role}: {message.text}" for message in sample.input)


@click.command("longest", epilog="Example: registry longest demo-mcq")
@options.name
@options.root
def longest(name: str, root: str | None) -> int:
    """Print the sample with the longest input."""
    sample = max(get_dataset(name, root=root), key=lambda one: len(_input(one)))
    print_line(f"{sample.id}: {_input(sample)}")
    return CLEAN

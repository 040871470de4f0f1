"""`export`: write datasets as files of other tools' formats."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import click

from registry import RegistryError
from registry.api import (
    CLEAN,
    PROBLEMS,
    ExportError,
    bars,
    count_text,
    dataset_names,
    file_sha256,
    file_stem,
    notice_text,
    options,
    print_error,
    print_json,
    print_line,
    quality_warnings,
    size_text,
    unescaped,
    write_atomic,
)
from registry.plugins.export.exported import Exported, open_exported, provenance_text
from registry.plugins.export.formats import FORMATS, Format, find_format, format_of_path

__all__ = [
    "NAME",
    "command",
    "provenance_path",
    "publish",
    "refuse_existing",
    "refuse_special",
    "targets_of",
]

_STDOUT = "-"
_FORMATS = "\n".join(
    f"{row.name}: {row.summary}{f' ({row.suffix})' if row.is_default else ''}"
    for row in FORMATS.values()
)
_EXAMPLES = f"""\b
Example: registry export demo-mcq --out demo-mcq.jsonl
registry export demo-mcq demo-chat --out '{{name}}.jsonl'
registry export demo-mcq --out - --format jsonl

\b
{_FORMATS}
"""
NAME = "{name}"
"""Stands for the name of the dataset in `--out`."""


@click.command("export", epilog=_EXAMPLES)
@click.argument("names", nargs=-1, required=True, metavar="NAMES...", shell_complete=dataset_names)
@options.split
@click.option(
    "--out",
    "to",
    required=True,
    type=click.Path(allow_dash=True),
    metavar="PATH",
    help="The file, or for several datasets a folder or a path with `{name}`; `-` is stdout.",
)
@click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    help="One of the formats below. Default: that of the suffix of PATH.",
)
@click.option(
    "--absolute-files",
    is_flag=True,
    help="Give files beside a local source, such as images, their absolute paths on this machine.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@options.fewshot
@options.no_corrections
@options.offline
@options.locked
@options.frozen
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    to: str,
    format_name: str | None,
    absolute_files: bool,
    force: bool,
    fewshot: int | None,
    no_corrections: bool,
    as_json: bool,
    **access: Unpack[options.Access],
) -> int:
    """Write datasets to files of other tools' formats; what is not cached is built first.

    Samples, their order and their choices are those of get_dataset. The bytes are the same on
    every machine. Where they come from (fingerprint, pin, license, digest of the manifest) is in
    the metadata of the file, or beside it in a file that ends with `.provenance.json`. Names of
    files beside a local source stay as in the source, unless `--absolute-files` is given.
    """
    opened = options.open_catalog(**access)
    chosen = options.with_members(opened, names)
    overrides = options.overrides_of(fewshot=fewshot, no_corrections=no_corrections)
    if as_json and to == _STDOUT:
        raise click.UsageError("--json and `--out -` both take stdout")
    kind, targets = _places(chosen, to, format_name)
    for target in targets.values():  # now, as nothing is built yet
        refuse_special(target)
        if not force:
            refuse_existing(target, kind)
    results: list[dict[str, Any]] = []
    _ = opened.pins  # an invalid lockfile is no error of a dataset
    with bars(as_json=as_json) as report:
        for name in chosen:
            try:
                asked = opened.call_of(name, overrides)
                exported = open_exported(
                    asked, absolute_files=absolute_files, report=partial(report, name)
                )
                if targets:
                    results.append(_export(exported, kind, targets[name]))
                else:
                    kind.write(exported, unescaped(sys.stdout).buffer)
            except RegistryError as error:
                results.append(_row(name, kind, error=error.to_dict()))
    if as_json:
        print_json(results)
    else:
        _print(results)
    return PROBLEMS if any(result["error"] for result in results) else CLEAN


def _places(names: list[str], to: str, format_name: str | None) -> tuple[Format, dict[str, Path]]:
    """Return the format and the place of each dataset, none for stdout.

    Raises:
        click.UsageError: the options contradict each other, or no format is known.
    """
    try:
        if to != _STDOUT:
            return targets_of(names, to, format_name)
        if format_name is None or len(names) > 1 or find_format(format_name).is_folder:
            raise ExportError("`--out -` takes one dataset and the `--format` of a single file")
        return find_format(format_name), {}
    except ExportError as error:
        raise click.UsageError(str(error)) from error


def _export(exported: Exported, kind: Format, target: Path) -> dict[str, Any]:
    files = publish(exported, kind, target)
    warnings = quality_warnings(exported.spec, exported.entry.meta)
    return _row(
        exported.name,
        kind,
        samples=len(exported.dataset),
        fingerprint=exported.provenance.fingerprint,
        files=[
            {"path": str(file), "bytes": file.stat().st_size, "sha256": file_sha256(file)}
            for file in files
        ],
        warnings=[warning.to_dict() for warning in warnings],
    )


def _row(name: str, kind: Format, **values: Any) -> dict[str, Any]:
    """Return a dataset as JSON data, which has the same keys whether it was written or not."""
    missing: dict[str, Any] = {"samples": None, "fingerprint": None, "error": None}
    return {"name": name, "format": kind.name, **missing, "files": [], "warnings": [], **values}


def _print(results: list[dict[str, Any]]) -> None:
    for result in results:
        name = result["name"]
        if result["error"]:
            print_error(name, result["error"]["message"])
            continue
        samples = count_text(result["samples"], "sample")
        size = size_text(sum(file["bytes"] for file in result["files"]))
        paths = ", ".join(file["path"] for file in result["files"])
        print_line(f"{name}: {samples}, {size}: {paths}")
        for warning in result["warnings"]:
            print_line(f"warning: {name}: {warning['message']} [{warning['kind']}]", err=True)


def provenance_path(target: Path) -> Path:
    """Return the file beside an export that has its provenance."""
    return target.with_name(f"{target.name}.provenance.json")


def refuse_special(target: Path) -> None:
    """Raise an error for a device or a pipe, which root could replace by a file.

    Raises:
        ExportError: it is one, or no path.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ExportError(f"can't write {target}: {reason}") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ExportError(f"{target} is a device or a pipe (`--out -` is stdout)")


def refuse_existing(target: Path, kind: Format) -> None:
    """Raise an error if an export would replace a file.

    Raises:
        ExportError: the file exists, or is a folder where the format needs a file, or the reverse.
    """
    if kind.is_folder:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ExportError(f"{target} exists and is not an empty folder (--force replaces)")
        return
    if target.is_dir():
        raise ExportError(f"{target} is a folder (name a file in it)")
    for path in (target, *(() if kind.carries_provenance else (provenance_path(target),))):
        if os.path.lexists(path):  # a link that leads nowhere is somebody's, too
            raise ExportError(f"{path} exists (--force replaces it)")


def publish(exported: Exported, kind: Format, target: Path) -> list[Path]:
    """Write an export and return its files; a reader sees each of them complete or not at all.

    Args:
        exported: The dataset.
        kind: The format.
        target: The file, or for some formats the folder.

    Raises:
        ExportError: the place can't be written to.
    """
    try:
        if kind.is_folder:
            return _publish_folder(exported, kind, target)
        write_atomic(target, partial(kind.write, exported))
        if kind.carries_provenance:
            return [target]
        # Last: what it describes is there.
        text = f"{provenance_text(exported.provenance)}\n".encode()
        write_atomic(provenance_path(target), lambda file: file.write(text))
    except OSError as error:
        raise ExportError(f"can't write {target}: {error.strerror or error}") from error
    return [target, provenance_path(target)]


def _publish_folder(exported: Exported, kind: Format, folder: Path) -> list[Path]:
    """Write all files to a temporary folder, then move them; other files in the folder stay."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # A folder that exists may be `.` or `/`, which have nothing beside them.
    parent = folder if folder.exists() else folder.parent
    # Not a temporary folder of Python's: that would be closed to all others.
    temporary = parent / f".{folder.name}.{uuid.uuid4().hex}"
    temporary.mkdir()
    try:
        kind.write(exported, temporary)
        (temporary / "NOTICE").write_text(notice_text([exported.spec]), encoding="utf-8")
        names = sorted(path.name for path in temporary.iterdir())
        if folder.exists():
            for name in names:
                (temporary / name).replace(folder / name)
        else:
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [folder / name for name in names]


def targets_of(
    names: Sequence[str], to: str, format_name: str | None
) -> tuple[Format, dict[str, Path]]:
    """Return the format, and the place of each dataset.

    Args:
        names: The datasets.
        to: A file, a folder, or a path with `{name}`.
        format_name: The format; None takes that of the suffix.

    Raises:
        ExportError: several datasets would be written to one file, or no format is known.
    """
    kind = format_of_path(to) if format_name is None else find_format(format_name)
    is_folder = to.endswith(("/", os.sep)) or (not kind.is_folder and os.path.isdir(to))
    if NAME in to:
        targets = {name: Path(to.replace(NAME, file_stem(name))) for name in names}
    elif is_folder or (len(names) > 1 and (kind.is_folder or not to.endswith(kind.suffix))):
        targets = {name: Path(to) / _file_of(name, kind) for name in names}
    else:
        targets = dict.fromkeys(names, Path(to))
    taken: dict[str, str] = {}
    for name, target in targets.items():  # the values of members may differ in a sign, or by case
        if (other := taken.setdefault(str(target).casefold(), name)) != name:
            hint = f"use {NAME} in the path, or export each to a folder of its own"
            raise ExportError(f"{other} and {name} can't be one file {target} ({hint})")
    return kind, targets


def _file_of(name: str, kind: Format) -> str:
    # The suffix of some formats is the whole name of the file, such as `eval.yaml`.
    is_name = kind.suffix and not kind.suffix.startswith(".")
    return f"{file_stem(name)}/{kind.suffix}" if is_name else f"{file_stem(name)}{kind.suffix}"

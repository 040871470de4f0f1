"""Print tables, lines and sizes: in the width of a terminal, complete in a pipe."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from datetime import date, time
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.base.cells import cell_len, pad
from registry.base.escape import escape_control, escape_json
from registry.cli.terminal import columns_of, paint, print_styled, wrap
from registry.errors import ManifestError, Problem, SourceError, count_text, list_names

if TYPE_CHECKING:
    from registry.pipeline.expectations import QualityWarning

__all__ = [
    "ROOT",
    "existing_file",
    "json_text",
    "message_lines",
    "print_error",
    "print_failure",
    "print_failures",
    "print_json",
    "print_line",
    "print_table",
    "print_warnings",
    "size_text",
    "warning_line",
    "with_root",
    "write_new",
]

ROOT = "registry.root"
"""Key of click's `meta`: the catalog that the command line names."""
_ADVISED = re.compile(
    r"`registry (?:bundle|diff|list|lock|show|sync|validate)\b(?![^`]* --root )[^`]*"
)
"""A command in a message that looks at a catalog."""
_UNITS = ("B", "kB", "MB", "GB", "TB")
_GAP = 2
_MIN_WIDE = 16
"""Columns of a terminal that the widest column of a table gets at least."""
_FEW = 5
"""So many failures of one cause are printed one by one, if their locations differ."""
_NAMED = 12
"""Datasets that are named for each cause on a terminal; a pipe gets all names."""


def size_text(size: int | None) -> str:
    """Return a number of bytes with its unit, such as `1.4 MB`; an empty str for None."""
    if size is None:
        return ""
    value = float(size)
    for unit in _UNITS:
        if round(value, 1) < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"


def print_line(text: object, *, err: bool = False) -> None:
    """Print one line, to stdout or stderr; newlines in the text become symbols.

    A message that is longer than the terminal goes on in indented lines, without a broken word.
    """
    line = escape_control(with_root(str(text)))
    if err and sys.stderr.isatty():
        line = "\n".join(message_lines(line, columns_of(sys.stderr)))
    # In one piece: `print` writes the end of a line separately, and threads print at the same time.
    print(f"{line}\n", end="", file=sys.stderr if err else sys.stdout, flush=err)


def with_root(text: str) -> str:
    """Return a message whose advised commands have the `--root` that this command was given."""
    context = click.get_current_context(silent=True)
    root = context and context.meta.get(ROOT)
    return (
        _ADVISED.sub(lambda found: f"{found[0]} --root {shlex.quote(root)}", text) if root else text
    )


def message_lines(line: str, width: int) -> list[str]:
    """Return a message in lines that fit a terminal; those after the first are indented."""
    if len(line) * 2 <= width:  # no character takes more than two columns
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    first, *more = wrap(line, width - len(indent) - 2)
    return [indent + first, *(f"{indent}  {one}" for one in more)]


def json_text(data: Any, *, indent: int | None = 2) -> str:
    """Return data as JSON; what JSON lacks is as in the JSON of a sample, else its `str`.

    Bytes are in base64, times as ISO 8601 has them, and NaN and infinity null.
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=_plain)
    if "NaN" in text or "Infinity" in text:
        finite = json.loads(text, parse_constant=lambda _: None)
        text = json.dumps(finite, indent=indent, ensure_ascii=False)
    return escape_json(text)


def _plain(value: object) -> str:
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).decode()
    return value.isoformat() if isinstance(value, date | time) else str(value)


def print_json(data: Any) -> None:
    """Print data as JSON."""
    print(json_text(data))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int = -1) -> None:
    """Print a table.

    If it is too wide for the terminal, the column `wide` wraps; if that alone does not help, all
    columns do, and if a word does not fit then, each row is printed as a list of its values. In a
    pipe no cell is wrapped or cut, so that `grep` and `awk` see complete values.
    """
    escaped = [[escape_control(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        widths = [max(map(cell_len, column)) for column in zip(headers, *escaped, strict=True)]
        for row in (headers, *escaped):
            print("  ".join(map(pad, row, widths)).rstrip())
        return
    _print_on_terminal(headers, escaped, wide % len(headers))


def _print_on_terminal(headers: Sequence[str], rows: list[list[str]], wide: int) -> None:
    columns = list(zip(headers, *rows, strict=True))
    words = [
        max((cell_len(word) for cell in one for word in cell.split()), default=0) for one in columns
    ]
    widths = [max(map(cell_len, one)) for one in columns]
    room = columns_of(sys.stdout) - _GAP * (len(headers) - 1)
    least = [*widths]
    least[wide] = min(widths[wide], max(words[wide], _MIN_WIDE))
    if sum(least) > room:
        least = words
    if sum(least) > room:
        _print_lists(headers, rows, columns_of(sys.stdout))
        return
    while sum(widths) > room:  # the column with the most space gives it
        at = max(range(len(widths)), key=lambda one: widths[one] - least[one])
        widths[at] -= 1
    for number, row in enumerate([headers, *rows]):
        cells = [
            [cell] if cell_len(cell) <= width else wrap(cell, width)
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            line = (" " * _GAP).join(map(pad, parts, widths)).rstrip()
            print_styled(line if number else paint(line, sys.stdout, bold=True), sys.stdout)


def _print_lists(headers: Sequence[str], rows: list[list[str]], width: int) -> None:
    """Print each row as lines `header  value`, below its first value."""
    left = max(map(len, headers[1:]), default=0) + 4
    for first, *rest in rows:
        for line in wrap(first, width):
            print_styled(paint(line, sys.stdout, bold=True), sys.stdout)
        for header, cell in zip(headers[1:], rest, strict=True):
            lines = wrap(cell, max(width - left, 1)) if cell else ()
            for number, line in enumerate(lines):
                print(f"{'' if number else '  ' + header:<{left}}{line}")


def warning_line(warning: QualityWarning) -> str:
    """Return a warning with the name that accepts it, such as `[blank_targets]`."""
    return escape_control(f"{warning.message} [{warning.kind}]")


def print_failure(error: Exception) -> None:
    """Print what ends a command, for people, to stderr: each problem, and what to do, on a line."""
    problems = [str(one) for one in getattr(error, "problems", ())]
    rest = str(error).removeprefix("\n".join(problems)).removeprefix("\n")
    for line in [*problems, rest] if rest else problems:
        print_line(f"error: {line}", err=True)


def print_error(name: str, error: object) -> None:
    """Print the error of a dataset, for people, to stderr; each line can be found by its name."""
    for line in str(error).removeprefix(f"{name}: ").splitlines():
        print_line(f"error: {name}: {line}", err=True)


def print_failures(failures: Iterable[tuple[str, object]]) -> None:
    """Print the errors of datasets by cause, for people, to stderr; the most frequent last."""
    groups: dict[str, list[tuple[str, object]]] = {}
    for name, error in failures:
        groups.setdefault(_cause(name, error), []).append((name, error))
    for cause, group in sorted(groups.items(), key=lambda one: len(one[1])):
        texts = {_message(name, error) for name, error in group}
        # A broken file stops each of its datasets with the same problems at the same location.
        is_one_text = len(group) > 1 and len(texts) == 1
        if len(group) <= _FEW and not is_one_text:
            for name, error in group:
                print_error(name, error)
            continue
        for line in (texts.pop() if is_one_text else cause).splitlines():
            print_line(f"error: {count_text(len(group), 'dataset')}: {line}", err=True)
        most = _NAMED if sys.stderr.isatty() else len(group)
        print_line(f"  {list_names([name for name, _ in group], most)}", err=True)


def _message(name: str, error: object) -> str:
    """Return a message without the dataset."""
    return str(error).removeprefix(f"{name}: ")


def _cause(name: str, error: object) -> str:
    """Return a message without the dataset, and without the location that it had to read."""
    # The command that a message ends with names the dataset, too.
    text = _message(name, error).replace(f"`registry lock {name}`", "`registry lock`")
    location, colon, rest = text.partition(": ")
    # Offline, every dataset has the same cause at another location.
    is_located = isinstance(error, SourceError) and colon and " " not in location
    return rest if is_located else text


def print_warnings(found: Iterable[tuple[str, Iterable[QualityWarning]]]) -> None:
    """Print the warnings about the samples of datasets, for people, to stderr.

    Variants have those of their parent: each warning is printed once, with its datasets.
    """
    groups: dict[str, list[str]] = {}
    for name, warnings in found:
        for warning in warnings:
            groups.setdefault(warning_line(warning), []).append(name)
    for line, names in groups.items():
        most = _NAMED if sys.stderr.isatty() else len(names)
        print_line(f"warning: {list_names(names, most)}: {line}", err=True)


def write_new(target: Path, text: str) -> None:
    """Write a text to a new file, and create its folder.

    Raises:
        ManifestError: the file exists, or can't be written.
    """
    from registry.base.local_files import display_path  # completion needs no catalog

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # "x" follows no link and overwrites no file that was created since anyone looked.
        with target.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except BaseException:  # such as that of a full disk: another try finds no file
                target.unlink()
                raise
    except OSError as error:
        if isinstance(error, FileExistsError) and target.parent.is_dir():
            raise existing_file(target) from error
        in_the_way = next(filter(os.path.isfile, target.parents), None)
        reason = error.strerror or str(error)
        if in_the_way is not None:
            reason = (
                f"{display_path(in_the_way)} is a file, so it can't be the folder (name another)"
            )
        message = f"can't write {display_path(target)}: {reason}"
        raise ManifestError([Problem(message=message, path="")]) from error


def existing_file(target: Path) -> ManifestError:
    """Return the error for a file that exists."""
    from registry.base.local_files import display_path

    message = f"{display_path(target)} already exists and is not overwritten"
    return ManifestError([Problem(message=message, path="")])

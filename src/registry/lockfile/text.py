"""The text of a lockfile: dump pins, split a text into chunks, and separate merge conflicts.

Each dataset is a block whose first line alone is indented by two spaces. So a large file can be
split without parsing it, branches that add datasets merge without conflicts unless the datasets
are adjacent (no line-based merge can order two insertions at one place, whatever separates the
blocks), and equal pins give equal bytes.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from registry.base.fs import write_atomic
from registry.base.local_files import open_regular
from registry.errors import LockError, Problem
from registry.settings import lock_limit
from registry.yamldoc.document import CONFLICT_MARKER

__all__ = [
    "FIX",
    "HEADER",
    "NEWER",
    "blocks",
    "chunks",
    "conflict_sides",
    "dump",
    "lock_error",
    "read_bytes",
    "write_text",
]

HEADER = """\
# yaml-language-server: $schema=schemas/lock.schema.json
# Written by `registry lock`. Review it like code; don't edit it.
version: 1
"""
_BLOCK = r"(?m)^  \S"
_WHOLE_BLOCK = r"""(?m)^  ([A-Za-z0-9_.-]+|"[A-Za-z0-9_.:-]+"):\n(?:    .*\n)+"""
# Strings that need no quotes in YAML, not even within a list.
_PLAIN = r"[A-Za-z_/][A-Za-z0-9_/.+*@-]*(://[A-Za-z0-9_/.+*@-]+|:[0-9a-f]{64})?"
# Words that are a bool or null in some version of YAML.
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# Some hex digests, such as 12e4…, are numbers in YAML; all are quoted for consistency.
_HEX = r"[0-9a-f]{40}|[0-9a-f]{64}"
# Characters that JSON does not escape, but that are invalid or line breaks in YAML.
_UNPRINTABLE = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
# The YAML reader limits the size of a document; a lockfile with thousands of pins exceeds it.
_CHUNK = 1 << 19
FIX = "fix it, or remove the file and run `registry lock`"
NEWER = "written by a newer release: upgrade eval-registry"


def dump(
    datasets: Mapping[str, Mapping[str, Any]],
    conflicts: Mapping[str, Sequence[Mapping[str, Any] | None]] | None = None,
) -> str:
    """Return the text of a lockfile, with datasets sorted and keys in their given order.

    `conflicts`, which are marked as git does, has the pins of ours, the base and theirs; None
    where the dataset has none.
    """
    conflicts = conflicts or {}
    if not datasets and not conflicts:
        return f"{HEADER}datasets: {{}}\n"
    parts = [HEADER, "datasets:\n"]
    for name in sorted({*datasets, *conflicts}):
        if name in datasets:
            parts.append(_block(name, datasets[name]))
            continue
        ours, base, theirs = (_block(name, pin) if pin else "" for pin in conflicts[name])
        parts.append(f"<<<<<<< ours\n{ours}||||||| base\n{base}=======\n{theirs}>>>>>>> theirs\n")
    return "".join(parts)


def _block(name: str, pin: Mapping[str, Any]) -> str:
    """Return the lines of one dataset."""
    lines = [f"  {_quote(name)}:\n"]
    for key, value in pin.items():
        if isinstance(value, Mapping):
            lines.append(f"    {key}:\n")
            lines += [f"      {_quote(name)}: {_flow(item)}\n" for name, item in value.items()]
        elif value and isinstance(value, list) and isinstance(value[0], Mapping):
            lines.append(f"    {key}:\n")
            for row in value:
                fields = [f"{name}: {_flow(item)}\n" for name, item in row.items()]
                lines += [f"      {' ' if n else '-'} {one}" for n, one in enumerate(fields)]
        else:
            lines.append(f"    {key}: {_flow(value)}\n")
    return "".join(lines)


def _flow(value: Any) -> str:
    """Return a value on one line, in YAML's flow style."""
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_quote(key)}: {_flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_flow, value))}]"
    return str(value)


def _quote(value: str) -> str:
    """Return a string as YAML, quoted if necessary."""
    is_plain = re.fullmatch(_PLAIN, value) and not re.fullmatch(_HEX, value)
    if is_plain and value.lower() not in _WORDS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return re.sub(_UNPRINTABLE, lambda found: f"\\u{ord(found[0]):04x}", quoted)


def chunks(text: str) -> Iterator[str]:
    """Split a text between blocks into YAML documents of limited size; only the first has a header.

    Each of the others starts with line breaks, so that its positions are those in the file.
    """
    start, line = 0, 0
    while start < len(text):
        after = re.compile(_BLOCK).search(text, start + _CHUNK)
        end = after.start() if after else len(text)
        chunk = text[start:end]
        yield "\n" * (line - 1) + f"datasets:\n{chunk}" if start else chunk
        line += chunk.count("\n")
        start = end


def blocks(text: str) -> dict[str, tuple[int, str]]:
    """Return the first line and the text of each block; none if the layout is not ours."""
    found: dict[str, tuple[int, str]] = {}
    line, end = 1, 0
    for block in re.finditer(_WHOLE_BLOCK, text):
        if found and block.start() != end:  # a comment, or something else, is between them
            return {}
        found[block[1].strip('"')] = line + text.count("\n", end, block.start()), block[0]
        line += text.count("\n", end, block.end())
        end = block.end()
    return found if end == len(text) else {}


def conflict_sides(text: str) -> tuple[str, str, str | None]:
    """Return the sides of a text with merge conflicts: ours, theirs, and the base if it is there.

    git writes the base with `merge.conflictStyle` diff3 or zdiff3.
    """
    sides: tuple[list[str], list[str], list[str]] = ([], [], [])
    current, hunks, bases = {0, 1, 2}, 0, 0
    for line in text.splitlines(keepends=True):
        if re.match(CONFLICT_MARKER, line):
            current = {"<": {0}, "|": {2}, "=": {1}, ">": {0, 1, 2}}[line[0]]
            hunks += line[0] == "<"
            bases += line[0] == "|"
            continue
        for side in current:
            sides[side].append(line)
    ours, theirs, base = map("".join, sides)
    return ours, theirs, base if bases == hunks else None


def read_bytes(path: Path, *, shown_as: str | None = None) -> bytes | None:
    """Read the bytes of a lockfile; None if the file does not exist.

    Raises:
        LockError: it can't be read, is not a regular file, or is too large.
    """
    file, most = shown_as or str(path), lock_limit()
    try:
        with open_regular(path, follow=False) as opened:
            data = opened.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        reason = "a symbolic link, which is not followed" if is_link else error.strerror
        raise lock_error([Problem(message=f"can't be read: {reason}", file=file)]) from error
    if len(data) > most:
        message = f"larger than {most >> 20} MiB"
        hint = "REGISTRY_MAX_LOCK_MIB sets another limit, if you trust it"
        raise lock_error([Problem(message=message, file=file, hint=hint)])
    return data


def write_text(path: Path, text: str) -> None:
    """Write the text of a lockfile atomically.

    Raises:
        LockError: it can't be written.
    """
    data = text.encode()
    try:
        write_atomic(path, lambda file: file.write(data))
    except OSError as error:
        raise LockError(f"{path}: can't be written: {error.strerror}") from error


def lock_error(problems: list[Problem]) -> LockError:
    """Return the error of a lockfile that is invalid, or of a newer release."""
    message = "\n".join(str(problem) for problem in problems)
    # To remove it would throw away pins that were reviewed.
    is_newer = any(NEWER in problem.hint for problem in problems)
    advice = f"The lockfile was {NEWER}" if is_newer else f"The lockfile is invalid: {FIX}"
    return LockError(f"{message}\n{advice}", problems=problems)

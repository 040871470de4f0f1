"""Read strict YAML with positions."""

from __future__ import annotations

import codecs
from pathlib import Path

from registry.base.local_files import open_beside, open_regular
from registry.errors import ManifestError
from registry.yamldoc.document import (
    DataPath,
    Document,
    ParsedText,
    Position,
    Positions,
    is_within,
    json_path,
    unparsed,
)

__all__ = [
    "MAX_BYTES",
    "DataPath",
    "Document",
    "ParsedText",
    "Position",
    "Positions",
    "is_within",
    "json_path",
    "parse_bytes",
    "parse_partially",
    "parse_yaml",
    "read_partially",
    "read_yaml",
    "unreadable",
]

MAX_BYTES = 1 << 20
"""Maximum size of a file."""


def read_yaml(path: Path, *, shown_as: str | None = None, is_index: bool = False) -> Document:
    """Read a YAML file; arguments as for `read_partially`.

    Raises:
        ManifestError: it can't be read or parsed.
    """
    return read_partially(path, shown_as=shown_as, is_index=is_index).complete()


def read_partially(
    path: Path, *, shown_as: str | None = None, is_index: bool = False
) -> ParsedText:
    """Read what can be parsed of a YAML file, in spite of problems.

    Args:
        path: The file.
        shown_as: Its name in messages.
        is_index: Whether it may not be a link that leads out of its folder.
    """
    shown = shown_as or str(path)
    try:
        with (open_beside if is_index else open_regular)(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return ParsedText(None, unreadable(shown, error).problems)
    return parse_partially(data, file=shown)


def unreadable(file: str, error: OSError) -> ManifestError:
    """Return the error for a file that can't be read."""
    return unparsed(file, f"can't read the file: {error.strerror}", rule="unreadable-file")


def parse_bytes(data: bytes, *, file: str) -> Document:
    """Parse the bytes of a file; for a file that is too large, the first MAX_BYTES + 1 suffice.

    Raises:
        ManifestError: with all problems.
    """
    return parse_partially(data, file=file).complete()


def parse_partially(data: bytes, *, file: str) -> ParsedText:
    """Parse what can be parsed of a file, in spite of problems; arguments as for `parse_bytes`."""
    from registry.yamldoc.recovery import parse_recovering  # the warm catalog parses nothing

    try:
        text = _decoded(data, file=file)
    except ManifestError as error:
        return ParsedText(None, error.problems)
    return parse_recovering(text, file=file)


def _decoded(data: bytes, *, file: str) -> str:
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES >> 20} MiB"
        raise unparsed(file, message, "split it", rule="yaml-limit")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        *above, before = data[: error.start].decode("utf-8").split("\n")
        line, column = len(above) + 1, len(before) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8"
        position = Position(line, column)
        hint = "save it as UTF-8"
        raise unparsed(file, message, hint, position, rule="unreadable-file") from error


def parse_yaml(text: str, *, file: str) -> Document:
    """Parse YAML text; `file` is its name in messages."""
    from registry.yamldoc.parser import compose  # the warm catalog parses nothing

    return compose(text, file=file)

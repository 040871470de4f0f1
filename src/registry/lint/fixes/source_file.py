"""A manifest as text and as data, for layout checks and fixes."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from registry.base.fs import write_atomic
from registry.base.local_files import open_regular
from registry.errors import ManifestError, Problem
from registry.yamldoc.reader import Document, parse_yaml

__all__ = ["ManifestFile", "read_manifest_file", "write_manifest_file"]

# YAML 1.1 parsers count these as line breaks, but editors and `str.split` don't.
_ODD_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LF = re.compile("(?<!\r)\n")


@dataclass(frozen=True)
class ManifestFile:
    """A manifest or an index."""

    path: Path
    text: str
    """Its content with the original line endings, without a byte-order mark."""
    document: Document
    """The content, parsed."""
    root: Path
    """The folder of the index."""
    is_index: bool = False

    @property
    def has_odd_breaks(self) -> bool:
        """Whether line endings are mixed, or some characters are line endings only in YAML."""
        mixed = "\r\n" in self.text and _LF.search(self.text) is not None
        return mixed or _ODD_BREAKS.search(self.text) is not None

    def with_text(self, text: str) -> ManifestFile | None:
        """Return the file with new text; None if the text's data differs."""
        try:
            document = parse_yaml(text, file=self.document.file)
        except ManifestError:
            return None
        same = document.value == self.document.value
        return replace(self, text=text, document=document) if same else None


def read_manifest_file(
    path: Path, document: Document, root: Path, *, is_index: bool
) -> ManifestFile:
    """Read the text of a file that has already been parsed."""
    with open_regular(path) as opened:
        text = opened.read().removeprefix(codecs.BOM_UTF8).decode("utf-8")
    return ManifestFile(path, text, document, root, is_index)


def write_manifest_file(file: ManifestFile) -> None:
    """Replace a file atomically; its mode and byte-order mark are preserved.

    Raises:
        ManifestError: it can't be written.
    """
    path = file.path.resolve()  # replace the target of a link, not the link
    try:
        mode = path.stat().st_mode & 0o7777
        with path.open("rb") as old:
            mark = codecs.BOM_UTF8 if old.read(3) == codecs.BOM_UTF8 else b""

        def write(new: BinaryIO) -> None:
            os.fchmod(new.fileno(), mode)
            new.write(mark + file.text.encode("utf-8"))

        write_atomic(path, write)
    except OSError as error:
        message = f"can't write the file: {error.strerror}"
        name, rule = file.document.file, "unreadable-file"
        problem = Problem(message=message, file=name, path="", rule=rule)
        raise ManifestError([problem]) from error

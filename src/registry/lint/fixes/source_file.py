"""A manifest as text and as data: what rules of layout look at, and what their fixes change."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from registry.base.fs import write_atomic
from registry.errors import ManifestError
from registry.yamldoc.reader import Document, parse_yaml

__all__ = ["ManifestFile", "read_manifest_file", "write_manifest_file"]

# YAML 1.1 and its parsers count these as line breaks; nobody else does.
_ODD_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LF = re.compile("(?<!\r)\n")


@dataclass(frozen=True)
class ManifestFile:
    """A manifest or an index, on its way through the rules of layout."""

    path: Path
    """Where it is."""
    text: str
    """What it holds, line ends as they are, without a byte-order mark."""
    document: Document
    """The same, parsed."""
    root: Path
    """The folder of the index."""
    is_index: bool = False

    @property
    def has_odd_breaks(self) -> bool:
        """Whether lines end in different ways, or where only YAML sees an end."""
        mixed = "\r\n" in self.text and _LF.search(self.text) is not None
        return mixed or _ODD_BREAKS.search(self.text) is not None

    def with_text(self, text: str) -> ManifestFile | None:
        """Return the file with another text that says the same; None where it does not."""
        try:
            document = parse_yaml(text, file=self.document.file)
        except ManifestError:
            return None
        same = document.value == self.document.value
        return replace(self, text=text, document=document) if same else None


def read_manifest_file(
    path: Path, document: Document, root: Path, *, is_index: bool
) -> ManifestFile:
    """Return a file that was parsed already, with its text."""
    text = path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("utf-8")
    return ManifestFile(path, text, document, root, is_index)


def write_manifest_file(file: ManifestFile) -> None:
    """Put a changed file in place, in one step; mode and byte-order mark stay."""
    path = file.path.resolve()  # a link stays a link
    mode = path.stat().st_mode & 0o7777
    with path.open("rb") as old:
        mark = codecs.BOM_UTF8 if old.read(3) == codecs.BOM_UTF8 else b""
    data = mark + file.text.encode("utf-8")

    def write(new: BinaryIO) -> None:
        os.fchmod(new.fileno(), mode)
        new.write(data)

    write_atomic(path, write)

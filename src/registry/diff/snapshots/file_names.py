"""Find which files a dataset may name: by texts of its manifest, or by words of its data or code.

A name is not resolved as a build does, which would need the samples of both sides: a file counts
if some text can be a path that ends in it, and where nobody can tell, it counts as well.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from registry.base.locations import is_local, local_path
from registry.boundary.boundary import Boundary
from registry.diff.checkout import Checkout
from registry.diff.reach import file_texts
from registry.diff.snapshots.contents import Contents
from registry.errors import ReachError
from registry.manifest.expressions import Hash, Messages, Pipe, RowNumber, parse_expression
from registry.manifest.models import DatasetSpec

__all__ = [
    "FileNames",
    "file_names",
    "matches",
    "may_make_files",
    "outer_globs",
    "words_in",
    "words_of",
]

_CODE_FIELDS = ("sandbox", "setup")
_FIELDS = ("files", *_CODE_FIELDS)
_MEDIA = ("image", "audio", "video", "document")
# In code without any of these words no sample gets a file; `**` may spread a record with them.
_MAKES_FILES = re.compile(rb"(?i:files|sandbox|setup|image|audio|video|document|content)|\*\*")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[\w.+@%~-]+")
# An escaped letter: no word of such a text is sure to be found.
_ESCAPED = re.compile(r"\\u00(?:2[def]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)
_CHUNK = 1 << 20


@dataclass(frozen=True)
class FileNames:
    """What may name files in one dataset of one side."""

    globs: frozenset[str] = frozenset()
    """Of the texts of its manifest."""
    code_globs: frozenset[str] = frozenset()
    """Of those that are for the sandbox: configuration and setup."""
    words: frozenset[str] | None = frozenset()
    """Those of its data; None if they can't be searched."""
    folder: str | None = None
    """Where names in its data start from; None if they don't name files of the catalog."""
    computes: bool = False
    """Whether a file may have a name that is not in the data, so that any beside it counts."""
    names_folders: bool = False
    has_code: bool = False
    """Whether what its data names may be code in the sandbox."""

    def by_text(self, path: str) -> bool:
        """Return whether a text of the manifest may name a file."""
        return matches(path, self.globs)

    def is_code(self, path: str) -> bool:
        """Return whether a file that may be named is code in the sandbox."""
        return matches(path, self.code_globs) or (self.has_code and self.by_data(path))

    def by_data(self, path: str) -> bool:
        """Return whether the data, or the mapper, may name a file."""
        if self.folder is None or path.startswith("../"):
            return False
        if self.words is None or self.computes:
            return path.startswith(self.folder) or self._has_words(path)
        return self._has_words(path)

    def _has_words(self, path: str) -> bool:
        names = path.split("/") if self.names_folders else [os.path.basename(path)]
        words = self.words or frozenset()
        return any(not name.isascii() or words_of(name) <= words for name in names)


def words_of(text: str) -> set[str]:
    """Return the words of a text, as a name of a file in it consists of them."""
    return set(_WORD.findall(text))


def words_in(path: str, boundary: Boundary, wanted: Collection[str]) -> frozenset[str] | None:
    """Return which words are in a file; None if it is no text that can be searched."""
    found = set[str]()
    try:
        with boundary.open_file(path) as file:
            while lines := file.readlines(_CHUNK):
                text = b"".join(lines).decode("utf-8")
                if "\0" in text or _ESCAPED.search(text):
                    return None
                found.update(words_of(text).intersection(wanted))
    except (OSError, ReachError, UnicodeDecodeError):
        return None
    return frozenset(found)


def matches(path: str, globs: Iterable[str]) -> bool:
    """Return whether a file, or a folder that it is in, may be meant by one of the globs."""
    return any(fnmatchcase(f"/{path}/", one) for one in globs)


def outer_globs(side: Contents) -> set[str]:
    """Return the globs of texts that lead out of the catalog's folder."""
    texts = (text for spec in side.specs.values() for _, text in _texts(spec, side.checkout))
    return {_glob(text) for text in texts if os.path.normpath(text).startswith("../")}


def file_names(
    side: Contents, name: str, makes_files: Callable[[str], bool], wanted: Collection[str]
) -> FileNames:
    """Return what may name files in a dataset.

    Args:
        side: The side of the dataset.
        name: Its name.
        makes_files: Whether the samples of a mapper may name files.
        wanted: The words that names of files consist of.
    """
    spec = side.specs[name]
    globs = [(key, _glob(text)) for key, text in _texts(spec, side.checkout)]
    code = frozenset(one for key, one in globs if key in _CODE_FIELDS)
    found = FileNames(frozenset(one for _, one in globs), code)
    base = spec.source.base_location
    if base is None or not is_local(base) or (spec.mapper and not makes_files(spec.mapper)):
        return found
    fields = _fields(spec)
    folder = os.path.dirname(side.checkout.relative(local_path(base)))
    return replace(
        found,
        words=_words(side, name, wanted),
        folder=f"{folder}/" if folder else "",
        computes=spec.mapper is not None or any(_computes(*field) for field in fields.items()),
        names_folders=spec.mapper is not None or "files" in fields,
        has_code=spec.mapper is not None or not fields.keys().isdisjoint(_CODE_FIELDS),
    )


def may_make_files(files: Iterable[Path]) -> bool:
    """Return whether the samples of a mapper with these modules may name files."""
    texts = [file.read_bytes() for file in files]
    return not texts or any(map(_MAKES_FILES.search, texts))


def _words(side: Contents, name: str, wanted: Collection[str]) -> frozenset[str] | None:
    found = set[str]()
    for file in side.files.get(name, ()):
        words = words_in(os.path.join(side.checkout.folder, file), side.boundary, wanted)
        if words is None:
            return None
        found |= words
    return frozenset(found)


def _fields(spec: DatasetSpec) -> dict[str, Any]:
    return {} if spec.mapper else {key: getattr(spec.fields, key) for key in spec.fields.named}


def _texts(spec: DatasetSpec, checkout: Checkout) -> Iterator[tuple[str, str]]:
    """Yield the texts of the manifest that name files, each with its field."""
    for key, field in _fields(spec).items():
        for text in file_texts(field, key):
            if not _PLACEHOLDER.fullmatch(text):  # a column: the data names the file
                yield key, checkout.relative(text)


def _glob(text: str) -> str:
    """Return a glob for the paths that a text may be the end, or a folder, of."""
    name = re.sub(r"^(?:\.{1,2}(?:/|$))+", "", os.path.normpath(text))
    return f"*/{'*'.join(map(glob.escape, _PLACEHOLDER.split(name))) or '*'}/*"


def _computes(field: str, raw: Any) -> bool:
    """Return whether an expression computes the names of files: neither column nor text."""
    if field not in (*_FIELDS, "input"):
        return False
    node = parse_expression(raw)
    if field in _FIELDS:
        return _has_steps(node)
    if not isinstance(node, Messages):
        return False  # messages in the data, whose names are in it
    parts = (part for _, turn in node.turns for part in turn)
    return any(_has_steps(one) for kind, one in parts if kind in _MEDIA)


def _has_steps(node: Any) -> bool:
    if isinstance(node, Pipe):
        return any(one.name != "data_uri" for one in node.operations) or _has_steps(node.start)
    if isinstance(node, Hash | RowNumber):
        return True
    parts = structs.astuple(node) if isinstance(node, Struct) else node
    return isinstance(parts, tuple) and any(map(_has_steps, parts))

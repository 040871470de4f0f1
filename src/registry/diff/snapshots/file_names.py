"""Find which files a dataset may name: by texts of its manifest, or by words of its data or code.

A name is not resolved as a build does, which would need the samples of both sides: a file counts
if some text can be a path that ends in it, and where nobody can tell, it counts as well.
"""

from __future__ import annotations

import glob
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder
from registry.diff.checkout import Checkout
from registry.diff.reach import fields_of, file_texts
from registry.diff.snapshots.contents import Contents
from registry.errors import ReachError
from registry.manifest.expressions import (
    MEDIA_KINDS,
    Hash,
    Messages,
    RowNumber,
    parse_expression,
)
from registry.manifest.models import DatasetSpec
from registry.mapping.columns_used import all_nodes, operations_in
from registry.mapping.operations import find_operation

__all__ = [
    "BUILT",
    "MARKS",
    "FileNames",
    "Listing",
    "file_names",
    "matches",
    "outer_globs",
    "words_in",
    "words_of",
    "words_of_code",
]

_CODE_FIELDS = ("sandbox", "setup")
_FIELDS = ("files", *_CODE_FIELDS)
# In code without any of these words no sample gets a file; `**` may spread a record with them.
_MAKES_FILES = re.compile(r"(?i:files|sandbox|setup|image|audio|video|document|content)|\*\*")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[\w.+@%~-]+")
# An escaped letter: no word of such a text is sure to be found.
_ESCAPED = re.compile(r"\\u00(?:2[def]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)
_CHUNK = 1 << 20
_LONGEST_PATH = 1024
BUILT = frozenset({"build", "FROM"})
"""A configuration with one of these words makes an image of the files in its folder."""
MARKS = BUILT | set(MEDIA_KINDS)
"""Words that say what the names in a file are for."""


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
    code_words: frozenset[str] = frozenset()
    """Those of the code of its mapper, which may name any file."""
    names_folders: bool = False
    has_code: bool = False
    """Whether what its data names may be code in the sandbox."""

    def names(self, path: str) -> bool:
        """Return whether a sample may name a file."""
        return matches(path, self.globs) or self._by_mapper(path) or self._by_data(path)

    def is_code(self, path: str) -> bool:
        """Return whether a file that may be named is code in the sandbox."""
        by_data = self._by_mapper(path) or (self.has_code and self._by_data(path))
        return by_data or matches(path, self.code_globs)

    def _by_mapper(self, path: str) -> bool:
        return bool(self.code_words) and words_of(os.path.basename(path)) <= self.code_words

    def _by_data(self, path: str) -> bool:
        if self.folder is None or path.startswith("../"):
            return False
        if self.words is None or self.computes:
            return path.startswith(self.folder) or self._has_words(path)
        return self._has_words(path)

    def _has_words(self, path: str) -> bool:
        names = path.split("/") if self.names_folders else [os.path.basename(path)]
        words = self.words or frozenset()
        return any(not name.isascii() or words_of(name) <= words for name in names)


class Listing:
    """All files of both sides, to be found by the names and words in their paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self.by_name = defaultdict[str, set[str]](set)
        """Name of a file or folder → the files at, or in, it."""
        self.by_word = defaultdict[str, set[str]](set)
        """Word in such a name → the same; the empty word is for names that may be escaped."""
        for path in self.paths:
            for name in path.split("/"):
                self.by_name[name].add(path)
        for name, files in self.by_name.items():
            for word in (words_of(name) if name.isascii() else None) or {""}:
                self.by_word[word] |= files

    def with_words(self, words: Iterable[str]) -> set[str]:
        """Return the files with any of some words in their paths."""
        return set[str]().union(*(self.by_word.get(word, ()) for word in {"", *words}))

    def suspects(self, names: FileNames) -> Collection[str]:
        """Return the files that a dataset may name, and more: a quick choice."""
        ends = {one.removesuffix("/*").rpartition("/")[2] for one in names.globs}
        if any(map(glob.has_magic, ends)):
            return self.paths
        if names.folder is not None and (names.computes or names.words is None):
            return self.paths
        found = self.with_words({*(names.words or ()), *names.code_words})
        return found.union(*(self.by_name.get(end, ()) for end in ends))


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
    side: Contents,
    name: str,
    code_words: Callable[[str], frozenset[str] | None],
    words_at: Callable[[str], frozenset[str] | None],
) -> FileNames:
    """Return what may name files in a dataset.

    Args:
        side: The side of the dataset.
        name: Its name.
        code_words: Returns the words in the code of a mapper; None if it names no files.
        words_at: Returns the words in a file of the side; None if it is no text.
    """
    spec, fields = side.specs[name], fields_of(side.specs[name])
    globs = [(key, _glob(text)) for key, text in _texts(spec, side.checkout)]
    code = frozenset(one for key, one in globs if key in _CODE_FIELDS)
    of_mapper = frozenset() if spec.mapper is None else code_words(spec.mapper)
    if of_mapper is None:
        return FileNames()
    found = FileNames(frozenset(one for _, one in globs), code, code_words=of_mapper)
    base = spec.source.base_location
    if base is None or not base.is_path:
        return found
    words = _words([words_at(file) for file in side.files.get(name, ())])
    parts = [part for field in fields.items() for part in _file_parts(*field)]
    if not (spec.mapper or parts or words is None or words.intersection(MEDIA_KINDS)):
        return found  # all that its data has is text
    folder = side.checkout.relative(fixed_folder(os.path.dirname(base.local_path())))
    return replace(
        found,
        words=words,
        folder="" if folder == "." else f"{folder}/",
        computes=spec.mapper is not None or any(map(_has_steps, parts)),
        names_folders=spec.mapper is not None or "files" in fields,
        has_code=spec.mapper is not None or not fields.keys().isdisjoint(_CODE_FIELDS),
    )


def _words(of_files: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    found = set[str]()
    for words in of_files:
        if words is None:
            return None
        found |= words
    return frozenset(found)


def words_of_code(files: Iterable[Path]) -> frozenset[str] | None:
    """Return the words of a mapper's modules; None if none of its samples can name a file."""
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    # Of code that is not found, nothing is known.
    if texts and not any(map(_MAKES_FILES.search, texts)):
        return None
    return frozenset(word for text in texts for word in words_of(text))


def _texts(spec: DatasetSpec, checkout: Checkout) -> Iterator[tuple[str, str]]:
    """Yield the texts of the manifest that name files, each with its field."""
    for key, field in fields_of(spec).items():
        for text in file_texts(field, key):
            # Anything longer is the content itself; and by a column the data names the file.
            is_short = len(text) <= _LONGEST_PATH and "\n" not in text
            if is_short and not _PLACEHOLDER.fullmatch(text):
                yield key, checkout.relative(text)


def _glob(text: str) -> str:
    """Return a glob for the paths that a text may be the end, or a folder, of."""
    name = re.sub(r"^(?:\.{1,2}(?:/|$))+", "", os.path.normpath(text))
    return f"*/{'*'.join(map(glob.escape, _PLACEHOLDER.split(name))) or '*'}/*"


def _file_parts(field: str, raw: Any) -> list[Any]:
    """Return the expressions in a field whose values are names of files, or may be."""
    if field not in (*_FIELDS, "input"):
        return []
    node = parse_expression(raw)
    if field in _FIELDS:
        return [node]
    if not isinstance(node, Messages):
        return []  # messages in the data say themselves what is a file
    return [one for _, turn in node.turns for kind, one in turn if kind in MEDIA_KINDS]


def _has_steps(node: Any) -> bool:
    if any(isinstance(one, Hash | RowNumber) for one in all_nodes(node)):
        return True
    return any(not find_operation(call).reads_files for call in operations_in(node))

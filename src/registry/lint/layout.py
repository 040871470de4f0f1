"""The layout of manifest files: the schema line and the order of keys, checked and written."""

from __future__ import annotations

import codecs
import functools
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from registry.base.fs import write_atomic
from registry.base.local_files import open_regular
from registry.catalog.catalog import Catalog
from registry.catalog.reader import may_hide_datasets
from registry.errors import ManifestError, Problem
from registry.manifest.schema import SchemaName, read_schema
from registry.rules import Finding
from registry.yamldoc.reader import DataPath, Document, Position, parse_yaml

__all__ = [
    "ManifestFile",
    "has_schema_line",
    "key_order",
    "layout_files",
    "misplaced_keys",
    "ranks_of",
    "read_manifest_file",
    "schema_line",
    "schema_reference",
    "write_manifest_file",
]


# YAML 1.1 parsers count these as line breaks, but editors and `str.split` don't.
_ODD_BREAKS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LF = re.compile("(?<!\r)\n")

_LINE = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S")


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
        with path.open("rb") as old:
            mark = codecs.BOM_UTF8 if old.read(3) == codecs.BOM_UTF8 else b""
        write_atomic(path, lambda new: new.write(mark + file.text.encode("utf-8")))
    except OSError as error:
        message = f"can't write the file: {error.strerror}"
        name, rule = file.document.file, "unreadable-file"
        problem = Problem(message=message, file=name, path="", rule=rule)
        raise ManifestError([problem]) from error


def has_schema_line(text: str) -> bool:
    """Return whether a comment above the content names a schema."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            return False
        if _LINE.match(line):
            return True
    return False


def schema_reference(name: SchemaName, *, root: Path, folder: Path) -> str:
    """Return the path relative to `folder` of the catalog's copy of a schema, or else its URL."""
    path = root / "schemas" / f"{name}.schema.json"
    if path.is_file():
        return Path(os.path.relpath(path, folder)).as_posix()
    return str(read_schema(name)["$id"])


def misplaced_keys(document: Document) -> Iterator[tuple[DataPath, str]]:
    """Yield the first key of each mapping that is out of order, and the key it belongs before."""
    mappings: dict[DataPath, dict[Any, Position]] = {}
    for (*parents, key), position in islice(document.positions.items(), 1, None):
        if _has_order(path := tuple(parents)):
            mappings.setdefault(path, {})[key] = position
    for path, places in mappings.items():
        ranks = ranks_of(path)
        start = document.position(path)
        # A key that `<<` merges has the position of its anchor, which is above.
        own = sorted((key for key in places if places[key] >= start), key=lambda key: places[key])
        for before, key in pairwise(own):
            if ranks.get(key, -1) < ranks.get(before, -1):
                yield (*path, key), before
                break


def _has_order(path: DataPath) -> bool:
    """Return whether a path is that of a dataset or of one of its sources."""
    inner = path[2:]
    is_source = inner in (("source",), ("join", "source")) or inner[:-1] == ("concat",)
    return path[:1] == ("datasets",) and (len(path) == 2 or is_source)


def ranks_of(path: DataPath) -> dict[str, int]:
    """Return the order of the keys of a mapping: `datasets.NAME`, or a source below that."""
    dataset, source = _ranks()
    return dataset if len(path) == 2 else source


@functools.cache
def _ranks() -> tuple[dict[str, int], dict[str, int]]:
    """Return the order of the keys of datasets and of sources, which is that of the schema."""
    known = read_schema("manifest")["$defs"]
    source = ["type", *known["inheritedSource"]["properties"]]
    keys = (known["dataset"]["properties"], source)
    dataset_ranks, source_ranks = ({key: rank for rank, key in enumerate(one)} for one in keys)
    return dataset_ranks, source_ranks


def schema_line(file: ManifestFile) -> Iterator[Finding]:
    """Report a file without a comment at the top that names the schema."""
    if not has_schema_line(file.text):
        yield Finding((), "no comment names the schema for editors", "`validate --fix` adds it")


def key_order(document: Document) -> Iterator[Finding]:
    """Report the first key that is out of order in each mapping."""
    for path, before in misplaced_keys(document):
        message = f"'{path[-1]}' belongs before '{before}'"
        yield Finding(path, message, "`validate --fix` moves it")


def layout_files(
    catalog: Catalog, index: Document, named: Collection[Path] = ()
) -> Iterator[ManifestFile]:
    """Yield the files of an index that are in its folder, including the index.

    Others, and those of a package (`package:`), which may be installed below that folder, have
    other owners, so they are skipped unless they are `named`.
    """
    root = catalog.index.parent
    places = {path.resolve() for path in named}
    documents = {entry.document.file: entry.document for entry in catalog.written}
    own = {entry.document.file for entry in catalog.written if entry.folder == root}
    malformed = {
        problem.file
        for problem in catalog.problems
        if may_hide_datasets(problem) or problem.path in ("$", "$.datasets")
    }
    for name, document in sorted({**documents, index.file: index}.items()):
        if name in malformed:
            continue
        path = Path(os.path.abspath(name))  # resolves `..`, so that `../m.yaml` is not below `root`
        is_own = name == index.file or name in own
        if (is_own and path.is_relative_to(root)) or (places and path.resolve() in places):
            yield read_manifest_file(path, document, root, is_index="version" in document.value)

"""The models of manifests: what one dataset is, with nothing left open.

They are Structs of msgspec, because each process that opens a dataset makes these classes, and one
of pydantic takes a hundred times as long. A constructor checks nothing: `msgspec.convert` does, and
`spec_misfits` words all that it refuses.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from registry.base.locations import public_location
from registry.errors import Severity

__all__ = [
    "GENERIC_BUILDERS",
    "Count",
    "CsvSource",
    "DatasetSpec",
    "Expect",
    "Explode",
    "FieldsSpec",
    "FileSource",
    "HfSource",
    "Join",
    "JsonSource",
    "ParquetSource",
    "Source",
    "Subsample",
    "Text",
    "Validation",
    "View",
    "data_file_list",
    "is_commit",
    "is_folder",
]


GENERIC_BUILDERS = frozenset({"arrow", "csv", "json", "parquet", "text", "xml"})
"""Paths of a Hub source that name a format of `datasets` and no repository."""


Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]


class _Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _SourceModel(_Model, frozen=True, kw_only=True, tag_field="type"):
    type: ClassVar[str]
    """Key of a manifest that tells one kind of source from another."""
    columns: dict[str, Any] = {}
    """Columns with a constant value that each record gets."""


class FileSource(_SourceModel, frozen=True, kw_only=True):
    """Files: one path, several, or globs; local or any fsspec URL."""

    path: Texts
    """Paths, URLs or globs, read in this order; a glob's files in order of their names."""
    fs_options: dict[str, Any] = {}
    """Options of the file system; a secret is written `{env: NAME}`."""


class CsvSource(FileSource, frozen=True, kw_only=True, tag="csv"):
    """Comma-separated values; every cell is text."""

    type = "csv"
    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""
    dialect: Literal["unix", "excel", "excel-tab"] = "unix"
    """Dialect of Python's csv module."""
    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] | None = None
    """One character between cells; the dialect's own where not given."""
    fieldnames: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """Column names of a file without a header."""
    skip_rows: Count = 0
    """Rows before the header that are passed over."""


class JsonSource(FileSource, frozen=True, kw_only=True, tag="json"):
    """JSON Lines (`.jsonl`, `.ndjson`), or JSON: an array of objects, or one object."""

    type = "json"
    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""
    records: Text | None = None
    """Key, or dotted path, of the array of objects in a JSON object."""


class ParquetSource(FileSource, frozen=True, kw_only=True, tag="parquet"):
    """Parquet files."""

    type = "parquet"


class HfSource(_SourceModel, frozen=True, kw_only=True, tag="hf"):
    """A dataset of the Hugging Face Hub, a local folder, or a generic builder with files."""

    type = "hf"
    path: Text
    """Repository `owner/name`, a local folder (`./…` or absolute), or a builder such as `json`."""
    split: Text
    """Split, such as `test`."""
    name: Text | None = None
    """Configuration of the dataset."""
    data_dir: Text | None = None
    """Folder within the repository."""
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    """Files, a list of them, or a map from split to files."""
    revision: Text | None = None
    """Commit, tag or branch; a full commit pins the dataset."""
    trust: bool = False
    """Kept for the loaders' sake: scripts of repositories are refused either way."""
    cached: bool = True
    """False builds anew each time the source is not pinned."""


_COMMIT = re.compile(r"[0-9a-f]{40}")


def is_commit(revision: str | None) -> bool:
    """Return whether a revision of the Hub is a full commit, which never moves."""
    return revision is not None and _COMMIT.fullmatch(revision) is not None


def is_folder(path: str) -> bool:
    """Return whether a path is a local folder; `owner/name` beside one of that name is not."""
    return path.startswith((".", "/", "~"))


def data_file_list(data_files: Any) -> list[str]:
    """Return the paths of `data_files`, whatever form they are given in."""
    match data_files:
        case str():
            return [data_files]
        case Mapping():
            return [path for paths in data_files.values() for path in data_file_list(paths)]
        case _:
            return list(data_files or ())


Source = CsvSource | JsonSource | ParquetSource | HfSource


class FieldsSpec(_Model, frozen=True, kw_only=True):
    """One expression a field, as the manifest writes it; None means that it is not read."""

    input: Any = "input"
    target: Any = "target"
    choices: Any = "choices"
    id: Any = "id"
    metadata: Any = "metadata"
    """A column that holds an object (spread), a list of columns, or a map of expressions."""
    sandbox: Any = "sandbox"
    files: Any = "files"
    setup: Any = "setup"


class Join(_Model, frozen=True, kw_only=True):
    """A side file: the record with the same key is added as one column."""

    source: Source
    """The side file."""
    on: Text
    """Column of the records that holds the key."""
    key: Text | None = None
    """Column of the side file that holds it; None is the same name."""
    into: Text
    """Column that the side file's record goes into, as an object."""
    missing: Literal["error", "null"] = "error"
    """What to do with a record whose key is not in the side file."""


class Explode(_Model, frozen=True, kw_only=True):
    """One record for each item of a list."""

    column: Text
    """Column, or dotted path, of the list."""
    item: Text = "item"
    """Column that the item goes into."""
    index: Text = "index"
    """Column that its place goes into, from 0."""


class Subsample(_Model, frozen=True, kw_only=True):
    """A fixed selection of the samples, in their order."""

    n: Count
    """How many."""
    seed: Count
    """Seed of the selection."""
    stratify_by: Text | None = None
    """Key of the metadata; each value keeps its share."""


class Expect(_Model, frozen=True, kw_only=True):
    """What must hold of the built samples."""

    samples: Count | None = None
    """How many there are, before the view's limit."""
    unique_ids: bool = False
    """Every sample has an id, and no two the same."""
    target_in_choices: bool = False
    """Every target is a letter of its sample's choices, or one of them."""
    nonempty_targets: bool = False
    """Every target has text."""


class View(_Model, frozen=True, kw_only=True):
    """Order, choice order and limit over samples."""

    auto_id: bool = False
    """Number the samples from 1 in the order of the source."""
    shuffle: bool = False
    """Shuffle the samples with `seed`."""
    seed: Count | None = None
    """Seed of the order."""
    shuffle_choices: Count | None = None
    """Seed of the order of choices; None keeps it."""
    limit: Count | None = None
    """Samples at most; None is all of them."""


class DatasetSpec(_Model, frozen=True, kw_only=True):
    """One dataset, resolved: extends, defaults and overrides applied."""

    name: Text
    description: Text | None = None
    """One plain sentence."""
    homepage: Text | None = None
    """Where to read more."""
    license: Text | None = None
    """Licence of the data, as an SPDX identifier where there is one."""
    tags: tuple[Text, ...] = ()
    """Words to choose datasets by."""
    source: Source
    """Where the records come from."""
    concat: tuple[Source, ...] = ()
    """Sources whose records follow each other, in place of `source` alone."""
    join: Join | None = None
    """A side file."""
    explode: Explode | None = None
    """One record becomes several."""
    where: Any = None
    """Which records are kept: a condition as the manifest writes it."""
    fields: FieldsSpec = FieldsSpec()
    """How records become samples."""
    mapper: Text | None = None
    """`package.module:function` in place of fields; the root index trusts the package."""
    on_duplicate: Literal["error", "drop", "suffix"] = "error"
    """What to do with a sample whose id was seen already."""
    sample: Subsample | None = None
    """A fixed selection of the samples."""
    expect: Expect = Expect()
    """What must hold of the built samples."""
    view: View = View()
    """Order, choice order and limit."""
    folder: Path
    """What relative paths are relative to."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources whose records follow each other."""
        return self.concat or (self.source,)

    @property
    def location(self) -> str:
        """Where the dataset comes from, without secrets."""
        path = self.source.path
        return path if isinstance(path, str) else public_location(path[0])

    @property
    def duplicate_rule(self) -> Literal["error", "drop", "suffix", "keep"]:
        """What to do with ids seen before; numbering makes those of the source irrelevant."""
        return "keep" if self.view.auto_id else self.on_duplicate


class Validation(_Model, frozen=True, kw_only=True):
    """What the root index asks of `validate`: ids of rules, or their families."""

    select: tuple[Text, ...] | None = None
    """Rules that are reported; None is those that are on by default."""
    ignore: tuple[Text, ...] = ()
    """Rules of those that are not."""
    severity: dict[Text, Severity] = {}
    """Severities that differ from the rules' own."""

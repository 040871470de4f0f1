"""The models of manifests: what one dataset is, with nothing left open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "CsvSource",
    "DatasetSpec",
    "Expect",
    "FieldsSpec",
    "FileSource",
    "HfSource",
    "JsonSource",
    "ParquetSource",
    "Source",
    "Text",
    "View",
]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple), Field(min_length=1)]


class FileSource(_Model):
    """Files: one path, several, or globs; local or any fsspec URL."""

    path: Texts
    """Paths, URLs or globs, read in this order; a glob's files in order of their names."""
    fs_options: dict[str, Any] = {}
    """Options of the file system; a secret is written `{env: NAME}`."""


class CsvSource(FileSource):
    """Comma-separated values; every cell is text."""

    type: Literal["csv"] = "csv"
    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""
    dialect: Literal["unix", "excel", "excel-tab"] = "unix"
    """Dialect of Python's csv module."""
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """One character between cells; the dialect's own where not given."""
    fieldnames: Texts | None = None
    """Column names of a file without a header."""
    skip_rows: Annotated[int, Field(ge=0)] = 0
    """Rows before the header that are passed over."""


class JsonSource(FileSource):
    """JSON Lines (`.jsonl`, `.ndjson`), or JSON: an array of objects, or one object."""

    type: Literal["json"] = "json"
    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""


class ParquetSource(FileSource):
    """Parquet files."""

    type: Literal["parquet"] = "parquet"


class HfSource(_Model):
    """A dataset of the Hugging Face Hub, a local folder, or a generic builder with files."""

    type: Literal["hf"] = "hf"
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


Source = Annotated[CsvSource | JsonSource | ParquetSource | HfSource, Field(discriminator="type")]


class FieldsSpec(_Model):
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


class Expect(_Model):
    """What must hold of the built samples."""

    samples: Annotated[int, Field(ge=0)] | None = None
    """How many there are, before the view's limit."""


class View(_Model):
    """Order, choice order and limit over samples."""

    auto_id: bool = False
    """Number the samples from 1 in the order of the source."""
    shuffle: bool = False
    """Shuffle the samples with `seed`."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """Seed of the order."""
    shuffle_choices: int | None = None
    """Seed of the order of choices; None keeps it."""
    limit: Annotated[int, Field(ge=0)] | None = None
    """Samples at most; None is all of them."""


class DatasetSpec(_Model):
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
    fields: FieldsSpec = FieldsSpec()
    """How records become samples."""
    on_duplicate: Literal["error", "drop", "suffix"] = "error"
    """What to do with a sample whose id was seen already."""
    expect: Expect = Expect()
    """What must hold of the built samples."""
    view: View = View()
    """Order, choice order and limit."""
    folder: Path
    """What relative paths are relative to."""

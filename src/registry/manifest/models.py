"""The model of a dataset: its manifest fully resolved, with a value for every key.

Structs of msgspec, because every process that opens a dataset creates these classes, and pydantic
takes a hundred times as long to create one. Constructors check nothing; `to_spec` does.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from registry.base.conversion import convert
from registry.errors import Severity
from registry.manifest.source import Source
from registry.manifest.source_models import to_source

__all__ = [
    "Count",
    "DatasetSpec",
    "Expect",
    "Explode",
    "FieldsSpec",
    "Join",
    "Subsample",
    "Text",
    "Validation",
    "View",
    "to_spec",
]

Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]


class _Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class FieldsSpec(_Model, frozen=True, kw_only=True):
    """One expression per field, as the manifest writes it; None means that it is not read."""

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
    """A lookup table: its record with the same key is added as one column."""

    source: Source
    """The lookup table."""
    on: Text
    """Column of the records that holds the key."""
    key: Text | None = None
    """Column of the lookup table that holds it; None means the same name."""
    into: Text
    """Column that the record of the table goes into, as an object."""
    missing: Literal["error", "null"] = "error"
    """What to do with a record whose key is not in the table."""


class Explode(_Model, frozen=True, kw_only=True):
    """One record for each item of a list."""

    column: Text
    """Column, or dotted path, of the list."""
    item: Text = "item"
    """Column that the item goes into."""
    index: Text = "index"
    """Column that its index goes into, from 0."""


class Subsample(_Model, frozen=True, kw_only=True):
    """A fixed selection of the samples, in their order."""

    n: Count
    """How many."""
    seed: Count
    """Seed of the selection."""
    stratify_by: Text | None = None
    """Key of the metadata; each value keeps its share."""


class Expect(_Model, frozen=True, kw_only=True):
    """What must be true of the built samples."""

    samples: Count | None = None
    """How many there are, before the view's limit."""
    unique_ids: bool = False
    """Every sample has an id, and all ids differ."""
    target_in_choices: bool = False
    """Every target is a letter of its sample's choices, or one of them."""
    nonempty_targets: bool = False
    """Every target has text that is not whitespace."""


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
    """Maximum number of samples; None means all."""


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
    """A lookup table."""
    explode: Explode | None = None
    """One record becomes several."""
    where: Any = None
    """Which records are used: a condition as the manifest writes it."""
    fields: FieldsSpec = FieldsSpec()
    """How records become samples."""
    mapper: Text | None = None
    """`package.module:function` in place of fields; the root index trusts the package."""
    on_duplicate: Literal["error", "drop", "suffix"] = "error"
    """What to do with a sample whose id is a duplicate."""
    sample: Subsample | None = None
    """A fixed selection of the samples."""
    expect: Expect = Expect()
    """What must be true of the built samples."""
    view: View = View()
    """Order, choice order and limit."""
    folder: Path
    """What relative paths are relative to."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources whose records follow each other."""
        return self.concat or (self.source,)

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """Every source that is read: `sources`, then the lookup table of `join`."""
        return self.sources if self.join is None else (*self.sources, self.join.source)

    @property
    def is_remote(self) -> bool:
        """Whether reading it may need a request."""
        return any(source.is_remote for source in self.all_sources)

    @property
    def location(self) -> str:
        """Where the dataset comes from, without secrets."""
        return self.source.location

    @property
    def duplicate_rule(self) -> Literal["error", "drop", "suffix", "keep"]:
        """What to do with duplicate ids; `auto_id` replaces those of the source."""
        return "keep" if self.view.auto_id else self.on_duplicate


def to_spec(keys: dict[str, Any]) -> DatasetSpec:
    """Return the dataset that resolved keys describe.

    Raises:
        msgspec.ValidationError: they do not fit the model; it reports the first problem only.
    """
    return convert(keys, DatasetSpec, dec_hook=to_source)


class Validation(_Model, frozen=True, kw_only=True):
    """The settings of `validate` in the root index: ids of rules, or their families."""

    select: tuple[Text, ...] | None = None
    """Rules that are reported; None means those that are on by default."""
    ignore: tuple[Text, ...] = ()
    """Rules among them that are not reported."""
    severity: dict[Text, Severity] = {}
    """Severities that differ from the rules' own."""

"""The model of a dataset: its fully resolved manifest, with a value for every key.

Every process that opens a dataset creates these classes, and pydantic takes a hundred times as
long as msgspec to create one. Constructors check nothing; `to_spec` does.
"""

from collections.abc import Hashable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from registry.base.conversion import Count, Text, convert
from registry.base.process_state import cached_property
from registry.errors import Severity
from registry.manifest.source import Source
from registry.manifest.source_models import CorrectionsFile, to_source

__all__ = [
    "NO_LICENSE",
    "Accepted",
    "Access",
    "Count",
    "DatasetSpec",
    "Evaluation",
    "Expect",
    "Explode",
    "Fewshot",
    "FieldsSpec",
    "Join",
    "License",
    "Notice",
    "OwnColumn",
    "Scorer",
    "Solver",
    "Subsample",
    "Text",
    "Validation",
    "View",
    "as_mapped",
    "to_spec",
    "without_corrections",
]

Accepted = Literal[
    "blank_inputs",
    "blank_targets",
    "targets_outside_choices",
    "missing_ids",
    "few_choices",
    "repeated_choices",
    "unused_columns",
    "unused_lookup_rows",
]
"""What is questionable in samples unless the manifest says that it is meant."""
_STEPS = ("concat", "join", "explode", "where", "mapper", "corrections", "sample")
"""Keys that do more than map each record of `source` to a sample."""


class _Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class OwnColumn(StrEnum):
    """The default of each field: the column of its own name, which records need not have.

    A member equals the same name written in a manifest, so the digest of a dataset depends only on
    what is read.
    """

    input = "input"
    target = "target"
    choices = "choices"
    id = "id"
    metadata = "metadata"


class FieldsSpec(_Model, frozen=True, kw_only=True):
    """One expression per field, as in the manifest; None means that the field is not read."""

    input: Any = OwnColumn.input
    target: Any = OwnColumn.target
    choices: Any = OwnColumn.choices
    id: Any = OwnColumn.id
    metadata: Any = OwnColumn.metadata
    """A column of objects (whose keys are spread), a list of columns, or a dict of expressions."""
    # These run code or place files, so a record gets a say only if the manifest names its column.
    sandbox: Any = None
    files: Any = None
    setup: Any = None
    checkpoint: Any = None
    description: Any = None

    def expressions(self) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        """Yield each expression with its path; of the metadata one for each column or key."""
        for name in self.__struct_fields__:
            raw = getattr(self, name)
            parts: Any = [((name,), raw)]
            if name == "metadata" and not isinstance(raw, str | None):
                pairs = raw.items() if isinstance(raw, Mapping) else enumerate(raw)
                parts = [((name, key), item) for key, item in pairs]
            for path, item in parts:
                # There `*` alone is the whole record.
                is_record = item == "*" and path in (("metadata",), ("metadata", "*"))
                if item is not None and not is_record:
                    yield path, item

    @property
    def named(self) -> frozenset[str]:
        """The fields for which the manifest has an expression: the columns in it must exist."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return frozenset(
            name
            for name, expression in fields.items()
            if expression is not None and not isinstance(expression, OwnColumn)
        )


class Join(_Model, frozen=True, kw_only=True):
    """A lookup table, whose matching record is added to each record as one column."""

    source: Source
    """The lookup table."""
    on: Text | None = None
    """Key column of the records; None, with `row_number`, for the record's own place."""
    key: Text | None = None
    """Key column of the lookup table; None means the same name as `on`."""
    row_number: Count | None = None
    """Number of the first record of the table, where numbers of records are the keys."""
    into: Text
    """New column for the matching record, as an object."""
    missing: Literal["error", "null"] = "error"
    """How to handle a record whose key is not in the table."""
    strict: bool = False
    """Whether rows of the table that no record has are an error, in place of a warning."""


class Explode(_Model, frozen=True, kw_only=True):
    """One record for each item of a list."""

    column: Text
    """Column, or dotted path, of the list."""
    parse: bool = False
    """Whether the column has the list as JSON in a string."""
    item: Text = "item"
    """New column for the item."""
    index: Text = "index"
    """New column for the item's index, from 0."""
    number: Text | None = None
    """New column for the item's number among the items of all records, from 0; None: no column."""

    then: "Explode | None" = None
    """What is done with each of these records: a list in the item, or in another column."""

    @property
    def levels(self) -> "tuple[Explode, ...]":
        """This list, and those in its items."""
        return (self,) if self.then is None else (self, *self.then.levels)

    @property
    def made(self) -> tuple[str, ...]:
        """The new columns of all levels."""
        columns = ((one.item, one.index, one.number) for one in self.levels)
        return tuple(name for names in columns for name in names if name is not None)

    @property
    def counts_items(self) -> bool:
        """Whether items have a number, so that a record depends on those before it."""
        return any(one.number is not None for one in self.levels)


class Subsample(_Model, frozen=True, kw_only=True):
    """A fixed selection of the samples, in their original order."""

    n: Count
    """Number of samples."""
    seed: Count
    """Seed of the selection."""
    stratify_by: Text | None = None
    """Metadata key; each of its values keeps its share of the samples."""


class Fewshot(_Model, frozen=True, kw_only=True):
    """Solved examples before the question of each sample, from samples of a companion dataset.

    `question`, `answer`, `choice`, `intro` and `ask` are templates, or expressions of the field
    language, over the fields of a sample; see `pipeline.fewshot.texts`.
    """

    dataset: Text | None = None
    """The companion; None means this dataset, of which `split` is another split."""
    split: Text | None = None
    """Split of the companion."""
    n: Annotated[int, Meta(ge=1)] | None = None
    """Number of examples; None means as many as there are `ids`."""
    by: Text | None = None
    """Metadata key: only samples of the companion with the same value are examples."""
    pick: Literal["first", "random"] = "first"
    """The first samples of the companion, or the first after a shuffle with `seed`."""
    seed: Count | None = None
    """Seed of `pick: random`."""
    each: bool = False
    """Whether each sample has a random choice of its own."""
    spare: Count | None = None
    """How many more `each` draws for a sample, in place of those with its content; None means 1 if
    the companion has the samples of the dataset itself, else 0."""
    ids: tuple[Text | int, ...] = ()
    """Ids of the examples, in their order, in place of `pick`."""
    into: Literal["turns", "text", "system", "metadata"] = "turns"
    """Messages of user and assistant, text before the question, one system message, or data."""
    question: Any = None
    """How the question of an example is written; None means its input and its choices."""
    answer: Any = None
    """How the answer of an example is written; None means its target."""
    choice: Any = None
    """How a choice is written; None means `A) text`."""
    intro: Any = None
    """Text before the examples."""
    ask: Any = None
    """How the sample's own question is written; None means as `question`, if that is given."""
    delimiter: str = "\nAnswer: "
    """Between question and answer of an example in a text."""
    separator: str = "\n\n"
    """Between examples in a text, and between the last one and the question."""
    overlap: Literal["error", "skip"] = "error"
    """What to do about a sample of the companion that is a sample of the dataset, too. In no case
    it is an example of that sample."""
    apply: bool = False
    """Whether the samples have the examples; if not, only those that `fewshot=` asks for."""

    @property
    def count(self) -> int:
        """Number of examples of each sample."""
        return self.n or len(self.ids)


class Expect(_Model, frozen=True, kw_only=True):
    """Requirements on the built samples."""

    samples: Count | None = None
    """Number of samples, before the view's limit."""
    unique_ids: bool = False
    """Every sample has an id, and all ids differ."""
    target_in_choices: bool = False
    """Every target is the letter or the text of one of the sample's choices."""
    nonempty_targets: bool = False
    """No target is empty or only whitespace."""
    nonempty_inputs: bool = False
    """No input is only whitespace."""
    several_choices: bool = False
    """Every sample has at least two choices."""
    distinct_choices: bool = False
    """No sample has the same choice twice."""

    @property
    def is_about_values(self) -> bool:
        """Whether it requires more than a number of samples."""
        return self != Expect(samples=self.samples)


class Solver(_Model, frozen=True, kw_only=True):
    """A solver of Inspect AI. No other code can be named: a manifest is data."""

    # The names that the Hub's `eval.yaml` may use, but `use_tools`, whose tools are code.
    name: Literal[
        "prompt_template",
        "system_message",
        "user_message",
        "chain_of_thought",
        "generate",
        "self_critique",
        "multiple_choice",
    ]
    args: dict[str, Any] = {}
    """Its arguments."""


class Scorer(_Model, frozen=True, kw_only=True):
    """A scorer of Inspect AI."""

    name: Literal[
        "includes",
        "match",
        "pattern",
        "answer",
        "exact",
        "f1",
        "model_graded_qa",
        "model_graded_fact",
        "choice",
        "math",
    ]
    args: dict[str, Any] = {}
    """Its arguments."""


class Evaluation(_Model, frozen=True, kw_only=True):
    """How `inspect eval registry/dataset` runs and scores the samples."""

    solver: tuple[Solver, ...] = ()
    """Solvers that run one after the other; none means `multiple_choice` for `choice`, else
    `generate`."""
    scorer: tuple[Scorer, ...] = ()
    """Scorers, each of which gives a score; none means `choice`, for samples with choices."""
    epochs: Annotated[int, Meta(ge=1)] | None = None
    """How often each sample is run; None means once."""
    epoch_reducer: (
        Annotated[str, Meta(pattern=r"^(pass_at_\d+|at_least_\d+|max|mode|median|mean)$(?!\n)")]
        | None
    ) = None
    """How the scores of a sample's epochs become one; None means their mean."""


NO_LICENSE = "NONE"
"""SPDX's word for a license that was looked for, and that nobody states."""


class License(_Model, frozen=True, kw_only=True):
    """What the source says of the license of its data, and where."""

    spdx: Text | None = None
    """An SPDX expression; None if no license is stated."""
    read_at: Text | None = None
    """URL of the page or file that states it."""
    none_stated: Text | None = None
    """The day on which no license was found."""
    looked_at: Text | None = None
    """URL of the page or folder that states none."""

    @property
    def url(self) -> str | None:
        """Where it can be read that this is so."""
        return self.read_at or self.looked_at

    def as_written(self) -> Any:
        """Return it as in a manifest."""
        if self.read_at is None and self.none_stated is None:
            return self.spdx
        return {key.replace("_", "-"): item for key, item in asdict(self).items() if item}

    def __str__(self) -> str:
        return self.spdx or NO_LICENSE


class Access(_Model, frozen=True, kw_only=True):
    """What somebody must do before the source gives the data; nothing if it is open."""

    gated: Text | None = None
    """URL of the page on which an account accepts the terms."""
    agreement: Text | None = None
    """URL of the agreement that the owner of the data has to be sent."""

    @property
    def url(self) -> str | None:
        """Where the terms are."""
        return self.gated or self.agreement

    def as_written(self) -> Any:
        """Return it as in a manifest."""
        return {key: item for key, item in asdict(self).items() if item} or "open"

    def __str__(self) -> str:
        return "gated" if self.gated else "agreement" if self.agreement else "open"


Value = str | int | float | bool
Values = Annotated[list[Value | None], Meta(min_length=1)]


class View(_Model, frozen=True, kw_only=True):
    """Which of the samples, their order, the order of their choices, and a limit."""

    only: Annotated[dict[str, Value | Values | None], Meta(min_length=1)] | None = None
    """Metadata key → the value, or the list of values, that a sample must have; None for all."""
    auto_id: bool = False
    """Number the samples from 1 in the order of the source, before `only`."""
    shuffle: bool = False
    """Shuffle the samples with `seed`."""
    seed: Count | None = None
    """Seed for the order of the samples."""
    shuffle_choices: Count | None = None
    """Seed for the order of choices; None keeps the order."""
    limit: Count | None = None
    """Maximum number of samples; None means all."""

    @property
    def is_part(self) -> bool:
        """Whether it may lack some of the samples."""
        return self.limit is not None or self.only is not None


class Notice(_Model, frozen=True, kw_only=True):
    """Why a name is not to be used any more, and what is used in its place."""

    since: Text | None = None
    """The date, or the version of the catalog."""
    use: Text | None = None
    """The dataset to use in its place."""
    reason: Text | None = None
    """Why, in one plain sentence."""


class DatasetSpec(_Model, frozen=True, kw_only=True, dict=True):
    """One dataset, resolved: extends, defaults and overrides applied."""

    name: Text
    description: Text | None = None
    """One plain sentence."""
    homepage: Text | None = None
    """URL of the dataset's page."""
    license: License | None = None
    """License of the data; None if nobody has looked."""
    access: Access | None = None
    """Whether the data is open to everybody; None if nobody has looked."""
    tags: tuple[Text, ...] = ()
    """Words to filter datasets by."""
    languages: tuple[Text, ...] = ()
    """BCP 47 tags of the languages of the samples; empty if nobody has said."""
    split: Text | None = None
    """Which of the splits that the manifest declares it is; None if it declares none."""
    source: Source
    """Where the records come from."""
    concat: tuple[Source, ...] = ()
    """Sources whose records are concatenated, in place of `source` alone."""
    join: Join | None = None
    """A lookup table."""
    explode: Explode | None = None
    """Turns one record into several."""
    where: Any = None
    """The condition that used records meet, as in the manifest."""
    fields: FieldsSpec = FieldsSpec()
    """How records become samples."""
    mapper: Text | None = None
    """`package.module:function` in place of fields; the root index must trust the package."""
    on_duplicate: Literal["error", "drop", "suffix"] = "error"
    """How to handle a sample with a duplicate id."""
    corrections: CorrectionsFile | None = None
    """Reviewed rows that say what is wrong in the samples."""
    sample: Subsample | None = None
    """A fixed selection of the samples."""
    fewshot: Fewshot | None = None
    """Which examples the samples can have."""
    expect: Expect = Expect()
    """Requirements on the built samples."""
    accept: tuple[Accepted, ...] = ()
    """What is meant although it looks wrong, and therefore not reported."""
    eval: Evaluation | None = None
    """How the samples are evaluated; the samples do not depend on it."""
    deprecated: Notice | None = None
    """Why it is not to be used any more; whoever extends it does not inherit that."""
    view: View = View()
    """Order, choice order and limit."""
    folder: Path
    """The folder that relative paths start from."""
    companion: "DatasetSpec | None" = None
    """The dataset with the examples, if the samples have any; `resolve` finds it."""
    is_original: bool = False
    """Whether corrections that the manifest has were left out, as a call asked for."""

    @cached_property
    def derived(self) -> dict[Hashable, Any]:
        """What was computed from this spec before, such as its compiled mapping, by its kind.

        A small build takes a few milliseconds, and a catalog that has not changed gives the same
        spec to each call of a process.
        """
        return {}

    @property
    def summary(self) -> str:
        """The description, after the word that it is deprecated if it is."""
        use = f", use {self.deprecated.use}" if self.deprecated and self.deprecated.use else ""
        parts = [f"(deprecated{use})" if self.deprecated else "", self.description or ""]
        return " ".join(filter(None, parts))

    @property
    def explodes(self) -> tuple[Explode, ...]:
        """The levels of `explode`, the outer one first."""
        return () if self.explode is None else self.explode.levels

    @property
    def steps(self) -> list[str]:
        """The keys it has that do more than map each record of `source` to a sample."""
        return [name for name in _STEPS if getattr(self, name)]

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources whose records are concatenated."""
        return self.concat or (self.source,)

    @property
    def examples(self) -> Fewshot | None:
        """Which examples the samples have."""
        return None if self.companion is None else self.fewshot

    @property
    def is_corrected(self) -> bool:
        """Whether its samples, or the examples that they have, are corrected."""
        of_examples = self.companion is not None and self.companion.is_corrected
        return self.corrections is not None or of_examples

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """All that is read: `sources`, the table of `join`, the corrections, the companion's."""
        lookup = () if self.join is None else (self.join.source,)
        corrections = () if self.corrections is None else (self.corrections,)
        examples = () if self.companion is None else self.companion.all_sources
        return (*self.sources, *lookup, *corrections, *examples)

    @property
    def is_remote(self) -> bool:
        """Whether reading it may need a request."""
        return any(source.is_remote for source in self.all_sources)

    @property
    def has_commit(self) -> bool:
        """Whether the manifest names a commit for all that is read from elsewhere.

        Files of the catalog itself are versioned with the manifest.
        """
        return self.is_remote and all(source.has_commit for source in self.all_sources)

    @property
    def location(self) -> str:
        """Where the dataset comes from, without secrets."""
        return self.source.location

    @property
    def duplicate_rule(self) -> Literal["error", "drop", "suffix", "keep"]:
        """How to handle duplicate ids; "keep" with `auto_id`, which replaces the source's ids."""
        return "keep" if self.view.auto_id else self.on_duplicate


def without_corrections(spec: DatasetSpec) -> DatasetSpec:
    """Return a dataset, and what its examples are of, as the sources have them.

    `expect` is about the corrected samples.
    """
    if not spec.is_corrected:
        return spec
    companion = None if spec.companion is None else without_corrections(spec.companion)
    expect = spec.expect if spec.corrections is None else Expect()
    return replace(spec, corrections=None, expect=expect, companion=companion, is_original=True)


def as_mapped(spec: DatasetSpec) -> DatasetSpec:
    """Return a dataset whose samples are those that corrections apply to, in their order.

    They have no examples and no other view than the numbers of `auto_id`. Where samples are left
    out, `sample` would select others.
    """
    return replace(
        without_corrections(spec),
        view=View(auto_id=spec.view.auto_id),
        sample=spec.sample if spec.corrections is None else None,
        companion=None,
    )


def to_spec(keys: dict[str, Any]) -> DatasetSpec:
    """Return the spec for resolved keys.

    Raises:
        msgspec.ValidationError: a key does not match the model; only the first is reported.
    """
    return convert(keys, DatasetSpec, dec_hook=to_source)


class Validation(_Model, frozen=True, kw_only=True):
    """The settings of `validate` in the root index: ids of rules, or their families."""

    select: tuple[Text, ...] | None = None
    """Rules to report; None means those that are on by default."""
    ignore: tuple[Text, ...] = ()
    """Selected rules not to report."""
    severity: dict[Text, Severity] = {}
    """Severities that replace the rules' own."""

"""The step of a build that gives samples their examples.

companion's samples ─ order ─▶ candidates ─▶ [leak check against all samples] ─▶ choice ─▶ rows
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from registry.base.digest import to_json
from registry.errors import MappingError, count_text, shorten
from registry.mapping.coerce import to_message
from registry.mapping.row import MISSING, get_column, no_column
from registry.pipeline.fewshot.selection import Candidate, Selection
from registry.pipeline.fewshot.texts import Texts, content_of
from registry.pipeline.fingerprint import is_beside
from registry.samples.fields import NAMES
from registry.store.columns import batch_of, field_columns
from registry.store.rows import samples_of, samples_of_batch
from registry.store.schema import schema_of, with_all_columns
from registry.store.views import row_order

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec, Fewshot
    from registry.samples.messages import ChatMessage
    from registry.samples.sample import Sample
    from registry.store.reader import SampleFile

__all__ = ["KEY", "Companion", "with_examples"]

KEY = "fewshot"
"""Key of the metadata that has the examples, with `into: metadata`."""
_SHOWN = 3
"""Leaks that a message shows."""


class Companion(Struct, frozen=True, kw_only=True):
    """The samples that examples are chosen from, for one build."""

    file: SampleFile
    """All of them, in the order of their source."""
    own: bool
    """Whether they are the samples of the dataset itself, before `sample`."""


def with_examples(
    file: SampleFile, spec: DatasetSpec, companion: Companion, boundary: Boundary
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a samples file with their examples.

    Raises:
        MappingError: a sample of the companion is one of the file, too; there are too few
            examples; an id is unknown; or a template can't be filled in.
    """
    try:
        step = _Step(file, spec, companion, boundary)
        yield from map(step.batch, file.full_batches())
    except MappingError as error:
        raise error.at(dataset=spec.name) from error.__cause__


class _Step:
    """What all batches of one build share."""

    def __init__(
        self, file: SampleFile, spec: DatasetSpec, companion: Companion, boundary: Boundary
    ) -> None:
        assert spec.examples is not None  # noqa: S101 (only called for a dataset with examples)
        assert spec.companion is not None  # noqa: S101
        self._fewshot: Fewshot = spec.examples
        self._texts = Texts(self._fewshot, boundary, dataset=spec.name)
        self._companion = companion.file
        self._is_beside = is_beside(spec, spec.companion)
        self._known: dict[int, Sample] = {}
        self._written: dict[int, tuple[str, str]] = {}
        candidates = []
        for place, sample in enumerate(_samples(companion.file)):
            content, group = _facts(sample, self._fewshot.by)
            candidates.append(Candidate(place, content, sample.id, group))
        wanted = [_facts(sample, self._fewshot.by) for sample in _samples(file)]
        if not companion.own and self._fewshot.overlap == "error":
            shared = {one for one, _ in wanted} & {one.content for one in candidates}
            if shared:
                message = _leak_message(file, spec, companion.file, shared, candidates)
                raise MappingError(message, field="fewshot")
        self._selection = Selection(
            self._fewshot,
            _ordered(candidates, spec),
            name=name_of(spec),
            own=companion.own,
        )
        self._selection.check(group for _, group in wanted)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with their examples."""
        samples = list(samples_of_batch(batch))
        chosen = [
            [self._sample(one.place) for one in self._selection.of(*_facts(sample, self._by))]
            for sample in samples
        ]
        records = batch.column("record").to_pylist()
        pairs = list(zip(samples, chosen, strict=True))
        if self._fewshot.into == "metadata":
            return self._with_metadata(pairs, records)
        inputs = [self._input(sample, examples) for sample, examples in pairs]
        kept = [name for name in batch.schema.names if name not in ("input", "messages")]
        columns = {name: batch.column(name) for name in kept}
        columns |= field_columns("input", inputs, records)
        return with_all_columns(pa.RecordBatch.from_pydict(columns), batch.schema)

    @property
    def _by(self) -> str | None:
        return self._fewshot.by

    def _sample(self, place: int) -> tuple[int, Sample]:
        if place not in self._known:
            columns = self._companion.row(place)
            self._known[place] = next(iter(samples_of(columns, 1, self._companion.json_keys)))
        return place, self._known[place]

    def _text(self, place: int, example: Sample) -> tuple[str, str]:
        """Return question and answer of an example, which many samples may share."""
        if place not in self._written:
            texts = self._texts
            self._written[place] = texts.question(example), texts.answer(example)
        return self._written[place]

    def _input(self, sample: Sample, examples: list[tuple[int, Sample]]) -> str | list[ChatMessage]:
        if self._fewshot.into == "turns":
            return self._turns(sample, examples)
        fewshot, intro = self._fewshot, self._texts.intro(sample)
        shown = [fewshot.delimiter.join(self._text(*example)) for example in examples]
        if fewshot.into == "text":
            return intro + fewshot.separator.join([*shown, self._texts.ask(sample)])
        system = {"role": "system", "content": intro + fewshot.separator.join(shown)}
        return self._conversation([system], sample)

    def _turns(self, sample: Sample, examples: list[tuple[int, Sample]]) -> list[ChatMessage]:
        intro = self._texts.intro(sample)
        turns: list[Any] = [{"role": "system", "content": intro}] if intro else []
        for place, example in examples:
            if isinstance(example.input, str):
                question, answer = self._text(place, example)
                turns.append({"role": "user", "content": question})
            else:
                turns += [self._checked(one) for one in example.input if one.role != "system"]
                answer = self._texts.answer(example)
            turns.append({"role": "assistant", "content": answer})
        return self._conversation(turns, sample)

    def _checked(self, message: ChatMessage) -> ChatMessage:
        """Return a message of an example, whose files are found beside the dataset's own source."""
        if not self._is_beside and not isinstance(message.content, str):
            for part in message.content:
                if part.type not in ("text", "data", "reasoning"):
                    text = "files of an example must be in the folder of the dataset's own source"
                    raise MappingError(text, field="fewshot.dataset", value=part.type)
        return message

    def _conversation(self, turns: list[Any], sample: Sample) -> list[ChatMessage]:
        """Return the turns of the examples, then the sample's own question."""
        if isinstance(sample.input, str) or self._texts.asks_anew:
            return _messages([*turns, {"role": "user", "content": self._texts.ask(sample)}])
        # What the system says first stays first.
        system = next((place for place, one in enumerate(sample.input) if one.role != "system"), 0)
        return _messages([*sample.input[:system], *turns, *sample.input[system:]])

    def _with_metadata(
        self, pairs: list[tuple[Sample, list[tuple[int, Sample]]]], records: list[int]
    ) -> pa.RecordBatch:
        fields: dict[str, list[Any]] = {
            name: [getattr(sample, name) for sample, _ in pairs] for name in NAMES
        }
        fields["metadata"] = [
            _metadata(sample, [one for _, one in examples]) for sample, examples in pairs
        ]
        return with_all_columns(batch_of(fields, records, {}), schema_of({}))


def name_of(spec: DatasetSpec) -> str:
    """Return the companion of a dataset, as messages name it."""
    companion, fewshot = spec.companion, spec.examples
    assert companion is not None  # noqa: S101 (only called for a dataset with examples)
    assert fewshot is not None  # noqa: S101
    if fewshot.split is None or companion.name.endswith(f":{fewshot.split}"):
        return companion.name
    return f"{companion.name}, split {fewshot.split},"


def _messages(turns: list[Any]) -> list[ChatMessage]:
    """Return messages; those that are given as keys get ids that depend on their content."""
    return [
        to_message(one, place) if isinstance(one, dict) else one for place, one in enumerate(turns)
    ]


def _metadata(sample: Sample, examples: list[Sample]) -> dict[str, Any]:
    metadata = sample.metadata or {}
    if KEY in metadata:
        message = f"its metadata has the key '{KEY}' already, where the examples go"
        raise MappingError(message, field="fewshot.into", value=metadata[KEY])
    return {**metadata, KEY: [_data(one) for one in examples]}


def _data(example: Sample) -> dict[str, Any]:
    """Return an example as data."""
    text: Any = example.input
    if not isinstance(text, str):
        text = [one.model_dump(mode="json", exclude_none=True) for one in text]
    found = {
        "id": example.id,
        "input": text,
        "choices": example.choices,
        "target": example.target,
        "metadata": example.metadata,
    }
    return {key: value for key, value in found.items() if value is not None}


def _samples(file: SampleFile) -> Iterator[Sample]:
    return chain.from_iterable(map(samples_of_batch, file.full_batches()))


def _facts(sample: Sample, by: str | None) -> tuple[bytes, str | None]:
    """Return the content of a sample, and its value of `by`."""
    if by is None:
        return content_of(sample), None
    value = get_column(sample.metadata or {}, by)
    if value is MISSING:
        raise no_column(by, sample.metadata or {}).at(field="fewshot.by")
    return content_of(sample), value if isinstance(value, str) else to_json(value)


def _ordered(candidates: list[Candidate], spec: DatasetSpec) -> list[Candidate]:
    """Return the candidates in the order in which they are picked."""
    fewshot, companion = spec.examples, spec.companion
    if fewshot is None or companion is None or fewshot.pick == "first" or fewshot.each:
        return candidates
    is_hub = all(source.shuffle_order == "hub" for source in companion.sources)
    rows = row_order(len(candidates), "hub" if is_hub else "file", fewshot.seed)
    return [candidates[row] for row in np.asarray(rows).tolist()]


def _leak_message(
    file: SampleFile,
    spec: DatasetSpec,
    companion: SampleFile,
    shared: set[bytes],
    candidates: list[Candidate],
) -> str:
    """Return what to do about samples that are in both datasets, with both places of the first."""
    rows: dict[bytes, tuple[int, Sample]] = {}
    for row, sample in enumerate(_samples(file)):
        content = content_of(sample)
        if content in shared:
            rows.setdefault(content, (row, sample))
    pairs = [
        (candidate, *rows[candidate.content])
        for candidate in candidates
        if candidate.content in rows
    ]
    assert spec.companion is not None  # noqa: S101 (only called for a dataset with examples)
    ours, theirs = spec.location, spec.companion.location
    places = [
        f"record {companion.record_of(candidate.place):,} of {theirs} is record"
        f" {file.record_of(row):,} of {ours}: {shorten(_shown(sample), width=60)}"
        for candidate, row, sample in pairs[:_SHOWN]
    ]
    more = f"; and {len(pairs) - _SHOWN:,} more" if len(pairs) > _SHOWN else ""
    return (
        f"{count_text(len(pairs), 'sample')} of {name_of(spec)} would show the model a question of"
        f" this dataset with its answer: {'; '.join(places)}{more} (remove them from one of both,"
        " or `fewshot: {overlap: skip}` never shows them to those samples)"
    )


def _shown(sample: Sample) -> str:
    return sample.input if isinstance(sample.input, str) else sample.input[-1].text

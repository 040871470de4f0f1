"""A dataset of Inspect AI over one of ours: a sample of Inspect's class is made on access."""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, cast, get_args, overload

import inspect_ai.model
import inspect_ai.tool
import inspect_ai.util
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.hooks import Hooks, TaskStart, hooks
from msgspec.structs import replace
from pydantic import BaseModel

from registry.errors import list_names
from registry.samples import sample as ours
from registry.samples.fields import OBJECTS
from registry.samples.sample import state_of
from registry.samples.selection import shuffle_list

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

    from registry.samples.provenance import Provenance

__all__ = ["InspectDataset", "to_inspect_sample"]


class Base(Protocol):
    """What is used of one of our datasets."""

    @property
    def name(self) -> str | None: ...
    @property
    def location(self) -> str | None: ...
    @property
    def shuffled(self) -> bool: ...
    @property
    def provenance(self) -> Provenance: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[ours.Sample]: ...
    def samples_at(self, positions: Sequence[int]) -> Iterator[ours.Sample]: ...


class Changes:
    """What callers have changed in the samples of a dataset, by position in the base.

    A dataset and its slices share it, as a dataset and its slices share their samples in Inspect.
    """

    def __init__(self) -> None:
        self.samples: dict[int, Sample] = {}
        # On their own, as an evaluation numbers all samples that have no id.
        self.ids: dict[int, int | str | None] = {}


class InspectDataset(Dataset):
    """The samples of one of our datasets, as Inspect AI's.

    Iterating makes each sample when it is its turn, and keeps it only if the caller changes it or
    holds it. A sample that is accessed by its index is kept.
    """

    def __init__(self, base: Base) -> None:
        """Create a dataset over `base`, which must not change afterwards."""
        self._base = base
        self._positions: Sequence[int] = range(len(base))
        self._name = base.name
        self._shuffled = base.shuffled
        self._changes = Changes()
        self._steps: tuple[str, ...] = ()
        """What was done with this dataset; what was done with the base, that says."""
        self._provenance: tuple[object, Provenance] | None = None
        """The last one, and for which order and changes it holds."""

    @property
    def name(self) -> str | None:
        """Name of the dataset."""
        return self._name

    @property
    def location(self) -> str | None:
        """Origin of the data; if that is a manifest, its source with the digest of the samples.

        Every log has it: with a digest, and without a path of this machine.
        """
        described = getattr(self._base, "described", None)
        if described is None:
            return self._base.location
        found = self.provenance
        location = f"{described.location}#{found.ordered or found.as_data()['digest']}"
        _LOGGED[self._name, location] = found
        _add_hook()
        return location

    @property
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""
        return self._shuffled

    @property
    def provenance(self) -> Provenance:
        """Which samples these are, and where they come from; see `registry.Dataset.provenance`.

        It has no digest if samples were changed since they became Inspect's.
        """
        order, changed = [*self._positions], self._changed_ids()
        if self._provenance is None or self._provenance[0] != (order, changed):
            self._provenance = (order, changed), self._found(order, changed)
        return self._provenance[1]

    def _found(self, order: list[int], changed: list[str]) -> Provenance:
        is_whole = order == [*range(len(self._base))]
        found = (self._base if is_whole else self._base[order]).provenance
        modified = [*found.modified]
        if not is_whole:
            modified.remove("selected")  # it says why itself
        modified += self._steps
        if changed:
            modified.append(f"changed: {list_names(changed, _NAMED)}")
            found = replace(found, ordered=None)
        return replace(found, name=self._name, modified=tuple(modified))

    def _changed_ids(self) -> list[str]:
        """Return the ids of the samples that were changed, other than by numbering them."""
        kept = self._changes.samples
        places = [one for one in self._positions if one in kept]
        pairs = zip(places, self._read(places), strict=True)
        return [
            str(kept[place].id)
            for place, base in pairs
            if state_of(kept[place], without=["id"])
            != state_of(to_inspect_sample(base), without=["id"])
        ]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._positions)

    def __repr__(self) -> str:
        """Return name and length."""
        return f"InspectDataset(name={self._name!r}, samples={len(self)})"

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> Dataset: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Sample | Dataset:
        """Return a sample, or for a slice a dataset that shares its samples with this one."""
        if isinstance(index, slice):
            return self._at(self._positions[index], step="sliced")
        position = self._positions[operator.index(index)]
        kept = self._changes.samples
        if position not in kept:
            kept[position] = self._numbered(to_inspect_sample(self._base[position]), position)
        return kept[position]

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples in order; what the caller changes in one is kept."""
        positions, kept = self._positions, self._changes.samples
        before = None
        for position, base in zip(positions, self._read(positions), strict=True):
            if position in kept:
                yield kept[position]
                continue
            sample = kept[position] = self._numbered(to_inspect_sample(base), position)
            made = (position, state_of(sample, without=["id"]), sample.id)
            try:
                yield sample
            finally:
                # The caller's variable has this one until the next: the one before is looked at.
                del sample
                if before is not None:
                    self._drop_unchanged(*before)
                before = made

    def _drop_unchanged(self, position: int, state: list[Any], number: int | str | None) -> None:
        """Drop a sample of a loop that is as it was made, and that nobody else holds."""
        kept = self._changes.samples
        sample = kept[position]
        if sys.getrefcount(sample) > ours.ALONE or state_of(sample, without=["id"]) != state:
            return
        if sample.id != number:
            self._changes.ids[position] = sample.id
        del kept[position]

    def sort(
        self,
        reverse: bool = False,
        key: Callable[[Sample], SupportsRichComparison] | None = None,
    ) -> None:
        """Sort in place, by default by the length of the input."""
        key_of: Callable[[Any], Any] = key or ours.sample_input_len
        keys = [key_of(sample) for sample in self]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
        self._positions = [self._positions[place] for place in order]
        self._steps = (*self._steps, "sorted")

    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> Dataset:
        """Return a dataset of the samples for which `predicate` holds."""
        pairs = zip(self._positions, self, strict=True)
        kept = [position for position, sample in pairs if predicate(sample)]
        return self._at(kept, name, step="filtered")

    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle the order in place; None uses the global random state."""
        positions = list(self._positions)
        shuffle_list(positions, seed)
        self._positions = positions
        self._shuffled = True
        self._steps = (*self._steps, "shuffled")

    def shuffle_choices(self, seed: int | None = None) -> None:
        """Shuffle the choices of each sample in place; all samples with choices are made."""
        kept = self._changes.samples
        kept |= {
            position: sample
            for position, sample in zip(self._positions, self, strict=True)
            if sample.choices
        }
        MemoryDataset([kept[one] for one in self._positions if one in kept]).shuffle_choices(seed)
        self._steps = (*self._steps, "choices shuffled")

    def _at(
        self, positions: Sequence[int], name: str | None = None, *, step: str
    ) -> InspectDataset:
        part = InspectDataset(self._base)
        part._positions = positions
        part._steps = self._steps if positions == self._positions else (*self._steps, step)
        part._name = name or self._name
        part._shuffled = self._shuffled
        part._changes = self._changes
        return part

    def _read(self, positions: Sequence[int]) -> Iterator[ours.Sample]:
        in_order = positions == range(len(self._base))
        return iter(self._base) if in_order else self._base.samples_at(positions)

    def _numbered(self, sample: Sample, position: int) -> Sample:
        ids = self._changes.ids
        if position in ids:
            sample.id = ids[position]
        return sample


_NAMED = 20
"""Number of changed samples that a provenance names."""
_LOGGED: dict[tuple[str | None, str], Provenance] = {}
"""Name and location of a dataset → its provenance; what an evaluation logs was read from here."""


class LogProvenance(Hooks):
    """Writes the provenance of our datasets into `metadata.registry` of the log of any task."""

    async def on_task_start(self, data: TaskStart) -> None:
        """Add the provenance to what is logged of the task.

        Inspect has no other door for a task that somebody else wrote. It warns that a change of
        the specification changes the header of the log: that, with one more key, is the purpose.
        """
        dataset = data.spec.dataset
        found = _LOGGED.get((dataset.name, dataset.location or ""))
        if found is not None:
            data.spec.metadata = {**(data.spec.metadata or {}), "registry": found.as_data()}


@functools.cache
def _add_hook() -> None:
    """Register the hook, once an evaluation logs a dataset of ours.

    Inspect prints the names of all hooks that are there when it starts, before what a command
    prints: nobody has asked for that.
    """
    hooks(name="provenance", description="Writes into logs which samples were used.")(LogProvenance)


def to_inspect_sample(sample: ours.Sample) -> Sample:
    """Return a sample as Inspect AI's, with the fields that the installed version has.

    Raises:
        TypeError: it contains a model that the installed version does not have.
    """
    own, defaults = sample.__dict__, _class_of(ours.Sample)[1]
    fields = {name: own.get(name, default) for name, default in defaults.items()}
    for name in _MODELS:
        value = fields.get(name)
        if value is not None and type(value) is not str:
            fields[name] = _converted(value)
    return cast("Sample", _model(Sample, fields, set(fields)))


_MODELS = ("input", *OBJECTS)
"""Fields that may contain models; what is in the others is the same in both classes."""


def _converted(value: Any) -> Any:
    """Return a value with Inspect's classes in place of ours."""
    kind: Any = type(value)
    if kind in ours.ATOMS:
        return value
    if kind is list:
        return [_converted(item) for item in value]
    if kind is dict:
        return {key: _converted(item) for key, item in value.items()}
    if not kind.__module__.startswith("registry.samples."):
        return value
    theirs, defaults = _class_of(kind)
    own = value.__dict__
    fields = {name: _converted(own.get(name, default)) for name, default in defaults.items()}
    if issubclass(theirs, BaseModel):
        return _model(theirs, fields, value.model_fields_set & fields.keys())
    return theirs(**fields)


def _model(kind: type[BaseModel], fields: dict[str, Any], given: set[str]) -> BaseModel:
    """Return a model without validation, which takes most of the time: ours was valid."""
    model = kind.__new__(kind)
    _set(model, "__dict__", fields)
    _set(model, "__pydantic_fields_set__", given)
    _set(model, "__pydantic_extra__", None)
    _set(model, "__pydantic_private__", None)
    return model


_set = object.__setattr__


@functools.cache
def _class_of(kind: type) -> tuple[Any, dict[str, Any]]:
    """Return Inspect's class of the same name as one of ours, and the defaults of its fields.

    Raises:
        TypeError: the installed version has none.
    """
    found = _classes().get(kind.__name__)
    if found is None:
        version = inspect_ai.__version__
        raise TypeError(f"Inspect AI {version} has no {kind.__name__}: install a newer version")
    if issubclass(found, BaseModel):
        fields = found.model_fields.items()
        return found, {name: one.get_default(call_default_factory=True) for name, one in fields}
    return found, {one.name: one.default for one in dataclasses.fields(found)}


@functools.cache
def _classes() -> dict[str, Any]:
    """Return Inspect's classes that a sample may contain, by name."""
    nested = get_args(inspect_ai.model.DocumentCitation.model_fields["range"].annotation)
    unions = {
        kind.__name__: kind for kind in (*get_args(inspect_ai.util.CheckpointTrigger), *nested)
    }
    public: dict[str, Any] = {}
    for module in (inspect_ai.model, inspect_ai.tool, inspect_ai.util):
        public |= {name: vars(module)[name] for name in module.__all__ if name in vars(module)}
    return {**public, **unions, "Sample": Sample}

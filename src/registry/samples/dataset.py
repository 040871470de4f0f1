"""The interface of datasets, and a dataset in memory."""

from __future__ import annotations

import abc
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from msgspec.structs import replace

from registry.errors import MappingError, MissingDependencyError, count_text
from registry.installation import install_advice
from registry.samples.frames.methods import FrameMethods
from registry.samples.letters import index_of, letter_of
from registry.samples.sample import Sample, sample_input_len
from registry.samples.selection import Positions, is_index, position_in, positions_of, shuffle_list

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison
    from rich.console import Console, ConsoleOptions, RenderResult

    from registry.samples.inspect_dataset import InspectDataset
    from registry.samples.provenance import Provenance

__all__ = [
    "Dataset",
    "MemoryDataset",
    "permute_choices",
    "refuse_inspect",
    "shuffle_choices_of",
    "shuffle_positions",
]


class Dataset(FrameMethods, Sequence[Sample], abc.ABC):
    """A sequence of samples whose slices are datasets too."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """Name of the dataset."""

    @property
    @abc.abstractmethod
    def location(self) -> str | None:
        """Origin of the data: an absolute path, a URL or a Hub repository."""

    @property
    @abc.abstractmethod
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""

    @property
    def provenance(self) -> Provenance:
        """Which samples these are, made of which bytes, by which manifest of which catalog.

        Their digest is that of the lockfile, else it takes reading all of them.
        """
        from registry.samples.digest import digest_samples  # numpy, which few callers need
        from registry.samples.provenance import Provenance

        digest = digest_samples(self)
        return Provenance(name=self.name, samples=digest.samples, ordered=digest.ordered)

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice | Positions) -> Dataset: ...

    @abc.abstractmethod
    def __getitem__(self, index: int | slice | Positions) -> Sample | Dataset:
        """Return a sample, or a dataset for a slice, a list or an array of positions or of bools.

        Any integer type is an index.
        """

    @abc.abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    def __iter__(self) -> Iterator[Sample]:
        """Yield the samples in order."""
        refuse_inspect()
        return super().__iter__()

    def samples_at(self, positions: Sequence[int]) -> Iterator[Sample]:
        """Yield the samples at positions, in their order."""
        return map(self.__getitem__, positions)

    def to_inspect(self) -> InspectDataset:
        """Return this dataset as one of Inspect AI, for `inspect_ai.Task(dataset=…)`.

        It makes a sample of Inspect's class on access. Name, location, order and choices are as
        they are now: later changes of either dataset do not affect the other.

        Raises:
            MissingDependencyError: Inspect AI is not installed.
        """
        try:
            from registry.samples.inspect_dataset import InspectDataset
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] != "inspect_ai":
                raise
            message = f"`to_inspect` needs Inspect AI: {install_advice(error)}"
            raise MissingDependencyError(message) from error
        return InspectDataset(self[:])

    @abc.abstractmethod
    def sort(
        self,
        reverse: bool = False,
        key: Callable[[Sample], SupportsRichComparison] = sample_input_len,
    ) -> None:
        """Sort in place.

        Args:
            reverse: Descending order.
            key: Returns the sort key of a sample; by default the length of its input.
        """

    @abc.abstractmethod
    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> Dataset:
        """Return a dataset of the samples for which `predicate` holds.

        Args:
            predicate: Returns whether to keep a sample.
            name: Name of the new dataset; by default the name of this one.
        """

    def map(
        self, function: Callable[[Sample], Sample | Iterable[Sample]], name: str | None = None
    ) -> MemoryDataset:
        """Return a dataset in memory of what `function` returns for a copy of each sample.

        This dataset stays as it is; `provenance` of the new one names the function.

        Args:
            function: Returns a sample, which may be the one that it was given and has changed, or
                several, or none of them.
            name: Name of the new dataset; by default the name of this one.

        Raises:
            TypeError: it returns something else.
        """
        made: list[Sample] = []
        for sample in _copies(self):
            found = function(sample)
            made += [found] if isinstance(found, Sample) else _samples_of(found, function, sample)
        mapped = MemoryDataset(made, name or self.name, self.location, self.shuffled)
        mapped.mapped = (self[:], _name_of(function))
        return mapped

    @abc.abstractmethod
    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle the order in place.

        Args:
            seed: Seed of `random.Random`; None uses the global random state.
        """

    @abc.abstractmethod
    def shuffle_choices(self, seed: int | None = None) -> None:
        """Shuffle the choices of each sample in place, and update the letters of the targets.

        Args:
            seed: Seed of one `random.Random` that shuffles the choices of all samples in order;
                None takes a seed from the operating system.

        Raises:
            MappingError: a sample has choices and a target that is not the letter of one.
        """

    @property
    def _rows_at_once(self) -> int:
        """How many samples can be read in a moment."""
        return 1 << 16

    # What shows a dataset is imported when it is shown.

    def _repr_html_(self) -> str:
        """Return numbers, the first samples and plots as HTML of less than 30 KB, for notebooks."""
        from registry.samples.shown_dataset import dataset_html

        return dataset_html(self, most=self._rows_at_once)

    def __rich_repr__(self) -> Iterator[tuple[str, Any] | tuple[str, Any, Any]]:
        from registry.samples.shown_dataset import rich_fields

        return rich_fields(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from registry.samples.shown_dataset import dataset_rich

        return dataset_rich(self, console, options, most=self._rows_at_once)


def refuse_inspect() -> None:
    """Raise an error if the caller's caller, which iterates over samples, is Inspect AI.

    `inspect_ai.Task` copies the samples of a sequence that is not its own kind of dataset, and
    the run fails at the first of them. This is where the cause is still known.

    Raises:
        TypeError: it is.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")  # noqa: SLF001 (there is no other way)
    if caller.startswith("inspect_ai."):
        raise TypeError(
            "Inspect AI needs samples of its own class: pass `dataset.to_inspect()`, or the dataset"
            " that `registry.inspect.get_dataset(name)` returns"
        )


def shuffle_positions(count: int, rng: random.Random) -> list[int]:
    """Return the old positions of one sample's choices in a new random order."""
    positions = list(range(count))
    rng.shuffle(positions)
    return positions


def permute_choices(sample: Sample, positions: Sequence[int], *, where: str) -> None:
    """Reorder a sample's choices, and update the letters of its target.

    Args:
        sample: The sample; it is changed in place.
        positions: Old positions of the choices in their new order.
        where: Name of the sample in messages.

    Raises:
        MappingError: the target is not a letter of a choice.
    """
    choices = sample.choices or []
    letters = {old: letter_of(new) for new, old in enumerate(positions)}
    # The target first: if it is invalid, the sample must stay unchanged.
    try:
        target: Any = sample.target
        if isinstance(target, list):
            sample.target = [letters[index_of(letter)] for letter in target]
        else:
            sample.target = letters[index_of(target)]
    except (KeyError, ValueError) as error:
        known = (
            f"a letter of its {count_text(len(choices), 'choice')}, which `shuffle_choices` needs"
        )
        raise MappingError(f"{where}: the target {sample.target!r} is not {known}") from error
    sample.choices = [choices[old] for old in positions]


def shuffle_choices_of(samples: Iterable[Sample], seed: int | None, *, name: str | None) -> None:
    """Shuffle the choices of each sample of a dataset in place; see `Dataset.shuffle_choices`."""
    rng = random.Random(seed)
    for index, sample in enumerate(samples):
        if sample.choices:
            positions = shuffle_positions(len(sample.choices), rng)
            permute_choices(sample, positions, where=f"{name}: sample {index}")


class MemoryDataset(Dataset):
    """A dataset whose samples are in a list."""

    def __init__(
        self,
        samples: list[Sample],
        name: str | None = None,
        location: str | None = None,
        shuffled: bool = False,
    ) -> None:
        """Create a dataset from a list.

        Args:
            samples: The samples; the list is copied, the samples in it are not.
            name: Name of the dataset.
            location: Origin of the data.
            shuffled: Whether the order was shuffled.
        """
        self.samples = list(samples)
        self.mapped: tuple[Dataset, str] | None = None
        """The dataset whose samples these were, and the function that `map` has applied."""
        self._name = name
        self._location = location
        self._shuffled = shuffled

    @property
    def name(self) -> str | None:
        """Name of the dataset."""
        return self._name

    @property
    def location(self) -> str | None:
        """Origin of the data."""
        return self._location

    @property
    def shuffled(self) -> bool:
        """Whether the order was shuffled."""
        return self._shuffled

    @property
    def provenance(self) -> Provenance:
        """Which samples these are, and what they were made of; see `Dataset.provenance`."""
        found = super().provenance
        if self.mapped is None:
            return found
        known = self.mapped[0].provenance
        return replace(
            known,
            name=self._name,
            samples=found.samples,
            ordered=found.ordered,
            modified=(*known.modified, f"mapped: {self.mapped[1]}"),
        )

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice | Positions) -> Dataset: ...

    def __getitem__(self, index: SupportsIndex | slice | Positions) -> Sample | Dataset:
        """Return a sample, or for a slice or positions a dataset with copies of several."""
        if isinstance(index, slice):
            return self._of(_copies(self.samples[index]))
        if is_index(index):
            return self.samples[position_in(index, len(self))]
        chosen = [self.samples[one] for one in positions_of(index, len(self))]
        return self._of(_copies(chosen))

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.samples)

    def __repr__(self) -> str:
        """Return name and length."""
        return f"MemoryDataset(name={self._name!r}, samples={len(self)})"

    def sort(
        self,
        reverse: bool = False,
        key: Callable[[Sample], SupportsRichComparison] = sample_input_len,
    ) -> None:
        """Sort in place; see `Dataset.sort`."""
        self.samples.sort(reverse=reverse, key=key)

    def filter(self, predicate: Callable[[Sample], bool], name: str | None = None) -> MemoryDataset:
        """Return a dataset with copies of the samples for which `predicate` holds."""
        return self._of(_copies([sample for sample in self.samples if predicate(sample)]), name)

    def shuffle(self, seed: int | None = None) -> None:
        """Shuffle the order in place; see `Dataset.shuffle`."""
        shuffle_list(self.samples, seed)
        self._shuffled = True

    def shuffle_choices(self, seed: int | None = None) -> None:
        """Shuffle the choices of each sample in place; see `Dataset.shuffle_choices`."""
        shuffle_choices_of(self.samples, seed, name=self._name)

    def _of(self, samples: list[Sample], name: str | None = None) -> MemoryDataset:
        part = MemoryDataset(samples, name or self._name, self._location, self._shuffled)
        part.mapped = self.mapped
        return part


def _copies(samples: Iterable[Sample]) -> list[Sample]:
    """Return deep copies, so that a change in one dataset does not affect another."""
    return [sample.model_copy(deep=True) for sample in samples]


def _samples_of(found: Any, function: Any, sample: Sample) -> list[Sample]:
    """Return what a function of `map` returned as a list.

    Raises:
        TypeError: it contains something else than samples.
    """
    made = [*found] if isinstance(found, Iterable) else [found]
    if wrong := [one for one in made if not isinstance(one, Sample)]:
        raise TypeError(
            f"`map` needs a function that returns a sample, or a list of samples:"
            f" {_name_of(function)} returned {type(wrong[0]).__name__}"
            f" for the sample with the id {sample.id!r}"
            + (" (end it with `return sample`)" if found is None else "")
        )
    return made


def _name_of(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or repr(function)).split("<locals>.")[-1]

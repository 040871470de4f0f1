"""A sample: one task of an evaluation, as in Inspect AI's, and whether it was changed."""

from __future__ import annotations

import marshal
import pickle
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator

from registry.samples.fields import (
    Metadata,
    SandboxEnvironmentSpec,
    SandboxEnvironmentType,
    metadata_as,
)

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from registry.samples.checkpoint import CheckpointSampleConfig
    from registry.samples.messages import ChatMessage
else:

    class ChatMessage:
        """Stands for the union of messages, whose classes take as long to create as the rest."""

        @classmethod
        def __get_pydantic_core_schema__(
            cls, source: Any, handler: GetCoreSchemaHandler
        ) -> CoreSchema:
            """Return the schema of the union, when the first sample is validated."""
            from registry.samples import messages

            return handler.generate_schema(messages.ChatMessage)


__all__ = [
    "ALONE",
    "ATOMS",
    "DatasetRecord",
    "RecordToSample",
    "Sample",
    "SandboxEnvironmentSpec",
    "SandboxEnvironmentType",
    "drop_unchanged",
    "frozen",
    "keep_if_changed",
    "sample_input_len",
    "state_of",
]


ATOMS = frozenset({str, int, float, bool, type(None)})
"""Types of values that nothing changes, in which no model is."""


def _sandbox_spec(sandbox: Any) -> SandboxEnvironmentSpec | None:
    match sandbox:
        case str():
            return SandboxEnvironmentSpec(sandbox)
        case (str(kind), config):
            return SandboxEnvironmentSpec(kind, config)
        case {"type": str(kind), "config": config}:  # as `model_dump` returns it
            return SandboxEnvironmentSpec(kind, config)
        case SandboxEnvironmentSpec():
            return sandbox
        case _:
            return None


def _checkpoint(value: Any) -> Any:
    if value is None:
        return None
    # Imported here: few samples have one, and every process that opens a dataset imports this.
    from registry.samples.checkpoint import validate_checkpoint

    return validate_checkpoint(value)


if TYPE_CHECKING:
    Checkpoint = CheckpointSampleConfig | None
else:
    Checkpoint = Annotated[Any, PlainValidator(_checkpoint)]


class Sample(BaseModel):
    """One task of an evaluation."""

    # Images in metadata are bytes, which JSON has only as base64.
    model_config = ConfigDict(ser_json_bytes="base64", defer_build=True)

    input: str | list[ChatMessage]
    """The prompt: a str or a conversation."""
    choices: list[str] | None = None
    """Answer choices of a multiple-choice task."""
    target: str | list[str] = ""
    """The ideal answer, or several; with choices, a letter (`A` for the first)."""
    id: int | str | None = None
    """Identifier, unique within a dataset."""
    description: str | None = None
    """A short statement of what the sample asks for."""
    metadata: dict[str, Any] | None = None
    """Additional data about the task."""
    sandbox: SandboxEnvironmentSpec | None = None
    """Sandbox of the task."""
    files: dict[str, str] | None = None
    """Files for the sandbox: target path → path, inline text or data URI."""
    setup: str | None = None
    """Script to run in the sandbox first: a path or inline text."""
    checkpoint: Checkpoint = None
    """Checkpoint settings of the sample."""

    def __init__(
        self,
        input: str | list[ChatMessage],
        choices: list[str] | None = None,
        target: str | list[str] = "",
        id: int | str | None = None,
        metadata: dict[str, Any] | None = None,
        sandbox: SandboxEnvironmentType | None = None,
        files: dict[str, str] | None = None,
        setup: str | None = None,
        checkpoint: CheckpointSampleConfig | None = None,
        *,
        description: str | None = None,
    ) -> None:
        """Make a sample.

        Args:
            input: The prompt: a str or a conversation.
            choices: Answer choices of a multiple-choice task.
            target: The ideal answer, or several acceptable ones; "" without one.
            id: Identifier, unique within a dataset.
            metadata: Additional data about the task.
            sandbox: A sandbox type, a pair of type and configuration file, or a spec.
            files: Files for the sandbox: target path → path, inline text or data URI.
            setup: Script to run in the sandbox first: a path or inline text.
            checkpoint: Checkpoint settings; they have an effect only where the task or the
                evaluation enables checkpoints.
            description: A short statement of what the sample asks for, for the log.

        Raises:
            pydantic.ValidationError: a value has the wrong type; it is a ValueError too.
        """
        fields = {
            "input": input,
            "choices": choices,
            "target": target,
            "id": id,
            "description": description,
            "metadata": metadata,
            "sandbox": None if sandbox is None else _sandbox_spec(sandbox),
            "files": files,
            "setup": setup,
            "checkpoint": checkpoint,
        }
        # What `BaseModel.__init__` does, without that call: a build by records creates millions.
        self.__pydantic_validator__.validate_python(fields, self_instance=self)

    if not TYPE_CHECKING:  # with a `__setattr__`, type checkers would accept any attribute
        __slots__ = ("__weakref__", "_loop")

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            try:
                kept, slot, seen = _loop_of(self)
            except AttributeError:  # of no dataset, or of one that has all of its samples
                return
            first = kept.setdefault(slot, self)
            if first is self:
                seen[_ASSIGNED] = None
            else:  # two loops have each made a sample of the same row
                setattr(first, name, self.__dict__[name])

    def metadata_as(self, metadata_cls: type[Metadata]) -> Metadata:
        """Return the metadata as the frozen pydantic model `metadata_cls`.

        Args:
            metadata_cls: A pydantic model with `frozen=True`; other keys are ignored.

        Raises:
            ValueError: no metadata, a model that is not frozen, or invalid values.
        """
        return metadata_as(self.metadata, metadata_cls, "Sample")

    def _repr_html_(self) -> str:
        """Return all fields as HTML for a notebook, of less than 30 KB."""
        from registry.samples.shown_sample import sample_html

        return sample_html(self)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        from registry.samples.shown_sample import rich_fields

        return rich_fields(self)


class _Field:
    """A field that can be changed from within: reading it from a sample of a loop keeps the sample.

    `drop_unchanged` drops it again when the loop has gone on.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, sample: Any, owner: type) -> Any:
        if sample is None:  # a class of pydantic has no such attribute
            raise AttributeError(self.name)
        fields = sample.__dict__
        try:
            value = fields[self.name]
        except KeyError:
            raise AttributeError(self.name) from None
        if type(value) in _UNCHANGEABLE:
            return value
        try:
            kept, slot, seen = _loop_of(sample)
        except AttributeError:
            return value
        first = kept.setdefault(slot, sample)
        if first is not sample:  # two loops have each made a sample of the same row
            value = fields[self.name] = getattr(first, self.name)
        elif self.name not in seen:
            seen[self.name] = frozen(value)
        return value

    def __set__(self, sample: Any, value: Any) -> None:
        sample.__dict__[self.name] = value


_UNCHANGEABLE = frozenset({str, int, type(None)})
_ASSIGNED = "="
"""Among the fields that were seen: the sample is kept, whatever they are now."""
_loop_of = Sample.__dict__["_loop"].__get__
_set = object.__setattr__

if not TYPE_CHECKING:
    for _name in ("input", "choices", "target", "metadata", "sandbox", "files", "checkpoint"):
        setattr(Sample, _name, _Field(_name))


def keep_if_changed(sample: Sample, kept: dict[int, Sample], slot: int) -> Sample:
    """Return the sample of a loop; a change of it puts it under `slot` into `kept`."""
    _set(sample, "_loop", (kept, slot, {}))
    return sample


def drop_unchanged(kept: dict[int, Sample], slots: Iterable[int]) -> None:
    """Drop samples of a loop that are as they were made, and that nobody else holds.

    What the caller holds, a sample or a value of its field, may be changed later.
    """
    for slot in slots:
        if (sample := kept.get(slot)) is None:
            continue
        try:
            seen = _loop_of(sample)[2]
        except AttributeError:  # it was accessed by its index
            continue
        if not seen or _ASSIGNED in seen:
            continue
        if sys.getrefcount(sample) > ALONE:
            seen[_ASSIGNED] = None
            continue
        fields = sample.__dict__
        for name, before in seen.items():
            value = fields[name]
            if sys.getrefcount(value) > ALONE or frozen(value) != before:
                seen[_ASSIGNED] = None
                break
        else:
            kept.pop(slot, None)


def _alone() -> int:
    item = (container := [object()])[0]
    del container[1:]
    return sys.getrefcount(item)


ALONE = _alone()
"""What `getrefcount` says of an item of a container that only one variable refers to as well."""


DatasetRecord = dict[str, Any]
"""A raw row of a source: column → value."""

RecordToSample = Callable[[DatasetRecord], Sample | list[Sample]]
"""A function that maps one record to a sample, or to several."""


def sample_input_len(sample: Sample) -> int:
    """Return the length of the input in characters, the default key of `Dataset.sort`."""
    if isinstance(sample.input, str):
        return len(sample.input)
    return sum(len(message.text) for message in sample.input)


def state_of(sample: Any, *, without: Collection[str] = ()) -> list[Any]:
    """Return a value that differs if any field was changed; for ours and Inspect's samples."""
    return [
        value if type(value) in ATOMS else frozen(value)
        for name, value in sample.__dict__.items()
        if name not in without
    ]


def frozen(value: Any) -> Any:
    """Return a value that differs if a list, dict or model was changed, at any depth."""
    try:
        # Version 2 writes equal bytes for equal values; later ones depend on reference counts.
        return marshal.dumps(value, 2)
    except ValueError:  # it contains a model
        pass
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return object()  # equal to nothing: a sample of such a value is kept

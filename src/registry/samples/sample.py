"""A sample: one task of an evaluation, as in Inspect AI's dataset module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator

from registry.samples.metadata import Metadata, metadata_as
from registry.samples.sandbox import SandboxEnvironmentSpec, SandboxEnvironmentType

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
    "DatasetRecord",
    "RecordToSample",
    "Sample",
    "SandboxEnvironmentSpec",
    "SandboxEnvironmentType",
    "keep_if_changed",
    "sample_input_len",
]


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
        __slots__ = ("__weakref__", "_kept", "_slot")

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            try:
                kept = object.__getattribute__(self, "_kept")
            except AttributeError:  # of no dataset, or of one that has all of its samples
                return
            first = kept.setdefault(object.__getattribute__(self, "_slot"), self)
            if first is not self:  # two loops have each made a sample of the same row
                first.__dict__[name] = self.__dict__[name]

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
        from registry.samples.display.sample import sample_html

        return sample_html(self)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        from registry.samples.display.sample import rich_fields

        return rich_fields(self)


def keep_if_changed(sample: Sample, kept: dict[int, Sample], slot: int) -> Sample:
    """Return the sample; an assignment to one of its fields puts it under `slot` into `kept`."""
    _set(sample, "_kept", kept)
    _set(sample, "_slot", slot)
    return sample


_set = object.__setattr__


DatasetRecord = dict[str, Any]
"""A raw row of a source: column → value."""

RecordToSample = Callable[[DatasetRecord], Sample | list[Sample]]
"""A function that maps one record to a sample, or to several."""


def sample_input_len(sample: Sample) -> int:
    """Return the length of the input in characters, the default key of `Dataset.sort`."""
    if isinstance(sample.input, str):
        return len(sample.input)
    return sum(len(message.text) for message in sample.input)

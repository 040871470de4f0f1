"""Chat messages, as Inspect AI's: system, user, assistant and tool."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic.dataclasses import dataclass

from registry.samples.content import DEFERRED, Content, ContentText

__all__ = [
    "ChatMessage",
    "ChatMessageAssistant",
    "ChatMessageBase",
    "ChatMessageSystem",
    "ChatMessageTool",
    "ChatMessageUser",
    "ToolCall",
    "ToolCallContent",
    "ToolCallError",
    "metadata_as",
]

Metadata = TypeVar("Metadata", bound=BaseModel)


def metadata_as(metadata: dict[str, Any] | None, cls: type[Metadata], owner: str) -> Metadata:
    """Read `metadata` as the frozen pydantic model `cls`; other keys are left out.

    Raises:
        ValueError: there is no metadata, `cls` is not frozen, or it does not fit.
    """
    if metadata is None:
        raise ValueError(f"{owner} does not have metadata")
    if not cls.model_config.get("frozen", False):
        raise ValueError(f"Metadata model {cls.__name__} must have frozen=True")
    known = {key: value for key, value in metadata.items() if key in cls.model_fields}
    try:
        return cls(**known)
    except ValidationError as error:
        raise ValueError(f"Could not parse metadata into {cls.__name__}: {error}") from error


class ChatMessageBase(BaseModel):
    """What every message has."""

    model_config = DEFERRED

    id: str | None = None
    """Identifier; a new one where not given."""
    content: str | list[Content]
    """Text, or a list of parts."""
    source: Literal["input", "generate", "operator"] | None = None
    """Where the message comes from; `input` in a dataset."""
    metadata: dict[str, Any] | None = None
    """Anything else."""

    def model_post_init(self, context: Any, /) -> None:
        """Give the message an id."""
        if self.id is None:
            self.id = uuid.uuid4().hex

    def metadata_as(self, metadata_cls: type[Metadata]) -> Metadata:
        """Return the metadata as the frozen pydantic model `metadata_cls`."""
        return metadata_as(self.metadata, metadata_cls, "ChatMessage")

    @property
    def text(self) -> str:
        """The text of the message: all text parts, one a line."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, ContentText))

    @text.setter
    def text(self, text: str) -> None:
        if isinstance(self.content, str):
            self.content = text
        else:
            self.content = _with_text(self.content, text)

    @property
    def content_list(self) -> list[Content]:
        """The content as a list of parts."""
        if isinstance(self.content, str):
            return [ContentText(text=self.content)]
        return self.content


def _with_text(parts: list[Content], text: str) -> list[Content]:
    places = [index for index, part in enumerate(parts) if isinstance(part, ContentText)]
    if not places:
        return [*parts, ContentText(text=text)]
    first, rest = places[0], set(places[1:])
    replaced = [*parts[:first], ContentText(text=text), *parts[first + 1 :]]
    return [part for index, part in enumerate(replaced) if index not in rest]


class ChatMessageSystem(ChatMessageBase):
    """What the system says."""

    role: Literal["system"] = "system"


class ChatMessageUser(ChatMessageBase):
    """What the user says."""

    role: Literal["user"] = "user"
    tool_call_id: list[str] | None = None
    """Tool calls whose payload this message carries."""


class ToolCallContent(BaseModel):
    """How a tool call is shown."""

    model_config = DEFERRED

    title: str | None = None
    """Title above the content."""
    format: Literal["text", "markdown"]
    """Format of the content."""
    content: str = ""
    """The content."""


def _function_if_none(value: Any) -> Any:
    return "function" if value is None else value


@dataclass(config=DEFERRED)
class ToolCall:
    """A call that the assistant asks for."""

    id: str
    """Id of the call."""
    function: str
    """Name of the function."""
    arguments: dict[str, Any]
    """Arguments by name."""
    parse_error: str | None = None
    """Why the arguments could not be parsed."""
    view: ToolCallContent | None = None
    """How to show the call."""
    type: Annotated[Literal["function", "custom"], BeforeValidator(_function_if_none)] = "function"
    """Kind of call."""


@dataclass(config=DEFERRED)
class ToolCallError:
    """Why a tool call failed."""

    type: Literal[
        "parsing",
        "timeout",
        "unicode_decode",
        "permission",
        "file_not_found",
        "is_a_directory",
        "limit",
        "approval",
        "cancelled",
        "sandbox_unavailable",
        "unknown",
        "output_limit",
    ]
    """Kind of error."""
    message: str
    """What happened."""


class ChatMessageAssistant(ChatMessageBase):
    """What the model says."""

    role: Literal["assistant"] = "assistant"
    tool_calls: list[ToolCall] | None = None
    """Calls that the model asks for."""
    model: str | None = None
    """The model's name."""


class ChatMessageTool(ChatMessageBase):
    """What a tool answers."""

    role: Literal["tool"] = "tool"
    tool_call_id: str | None = None
    """The call that is answered."""
    function: str | None = None
    """Name of the function."""
    error: ToolCallError | None = None
    """Why it failed."""


ChatMessage = ChatMessageSystem | ChatMessageUser | ChatMessageAssistant | ChatMessageTool
"""One message of a conversation."""

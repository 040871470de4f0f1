"""Chat messages with the fields of Inspect AI's: system, user, assistant and tool."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator
from pydantic.dataclasses import dataclass

from registry.samples.content import DEFERRED, Content, ContentText
from registry.samples.metadata import Metadata, metadata_as

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
]


class ChatMessageBase(BaseModel):
    """Fields of every message."""

    model_config = DEFERRED

    id: str | None = None
    """Identifier; a random one by default."""
    content: str | list[Content]
    """A str, or a list of parts."""
    source: Literal["input", "generate", "operator"] | None = None
    """Origin of the message; `input` in a dataset."""
    metadata: dict[str, Any] | None = None
    """Additional data."""

    def model_post_init(self, context: Any, /) -> None:
        """Add a random id if the message has none."""
        if self.id is None:
            self.id = uuid.uuid4().hex

    def metadata_as(self, metadata_cls: type[Metadata]) -> Metadata:
        """Return the metadata as the frozen pydantic model `metadata_cls`."""
        return metadata_as(self.metadata, metadata_cls, "ChatMessage")

    @property
    def text(self) -> str:
        """The text of the message: its text parts, joined by newlines."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, ContentText))

    @text.setter
    def text(self, text: str) -> None:
        if isinstance(self.content, str):
            self.content = text
        else:
            # As in Inspect, the new text replaces the first text part, and the others are removed.
            # In a new list, as others may refer to the old one.
            is_text = [isinstance(part, ContentText) for part in self.content]
            first = is_text.index(True) if True in is_text else len(self.content)
            rest = [part for part in self.content[first:] if not isinstance(part, ContentText)]
            self.content = [*self.content[:first], ContentText(text=text), *rest]

    @property
    def content_list(self) -> list[Content]:
        """The content as a list of parts."""
        if isinstance(self.content, str):
            return [ContentText(text=self.content)]
        return self.content


class ChatMessageSystem(ChatMessageBase):
    """A message of the system."""

    role: Literal["system"] = "system"


class ChatMessageUser(ChatMessageBase):
    """A message of the user."""

    role: Literal["user"] = "user"
    tool_call_id: list[str] | None = None
    """Tool calls whose payload this message carries."""


class ToolCallContent(BaseModel):
    """Presentation of a tool call."""

    model_config = DEFERRED

    title: str | None = None
    """Title above the content."""
    format: Literal["text", "markdown"]
    """Format of the content."""
    content: str = ""
    """The content."""


@dataclass(config=DEFERRED)
class ToolCall:
    """A tool call by the assistant."""

    id: str
    """Id of the call."""
    function: str
    """Name of the function."""
    arguments: dict[str, Any]
    """Arguments by name."""
    parse_error: str | None = None
    """Why the arguments could not be parsed."""
    view: ToolCallContent | None = None
    """Presentation of the call."""
    type: Annotated[
        Literal["function", "custom"],
        BeforeValidator(lambda value: "function" if value is None else value),
    ] = "function"
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
    """A message of the model."""

    role: Literal["assistant"] = "assistant"
    tool_calls: list[ToolCall] | None = None
    """Tool calls that the model requests."""
    model: str | None = None
    """Name of the model."""


class ChatMessageTool(ChatMessageBase):
    """Result of a tool call."""

    role: Literal["tool"] = "tool"
    tool_call_id: str | None = None
    """Id of the call."""
    function: str | None = None
    """Name of the function."""
    error: ToolCallError | None = None
    """Error, if the call failed."""


ChatMessage = ChatMessageSystem | ChatMessageUser | ChatMessageAssistant | ChatMessageTool
"""One message of a conversation."""

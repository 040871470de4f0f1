"""Chat messages and their parts, with the fields of Inspect AI's.

Messages of the system, a user, an assistant or a tool; parts of text, media, reasoning, tools.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    JsonValue,
    model_validator,
)
from pydantic.dataclasses import dataclass

from registry.samples.fields import Metadata, metadata_as

__all__ = [
    "DEFERRED",
    "ChatMessage",
    "ChatMessageAssistant",
    "ChatMessageBase",
    "ChatMessageSystem",
    "ChatMessageTool",
    "ChatMessageUser",
    "Citation",
    "Content",
    "ContentAudio",
    "ContentCitation",
    "ContentData",
    "ContentDocument",
    "ContentImage",
    "ContentReasoning",
    "ContentText",
    "ContentToolUse",
    "ContentVideo",
    "DocumentCitation",
    "DocumentRange",
    "ToolCall",
    "ToolCallContent",
    "ToolCallError",
    "UrlCitation",
]

_UNKNOWN_TYPE = "application/octet-stream"

DEFERRED = ConfigDict(defer_build=True)
"""Validators are built on first use: samples from the cache are not validated."""


class CitationBase(BaseModel):
    """Fields of every citation."""

    model_config = DEFERRED

    cited_text: str | tuple[int, int] | None = None
    """The text, or its start and end within the container."""
    title: str | None = None
    """Title of the cited resource."""
    internal: dict[str, JsonValue] | None = None
    """Payload of a model provider."""


class ContentCitation(CitationBase):
    """A citation of any content."""

    type: Literal["content"] = "content"


class DocumentRange(BaseModel):
    """A part of a document."""

    model_config = DEFERRED

    type: Literal["block", "page", "char"]
    """Unit of the two indexes."""
    start_index: int
    """0-based start."""
    end_index: int
    """0-based end."""


class DocumentCitation(CitationBase):
    """A citation of a part of a document."""

    type: Literal["document"] = "document"
    range: DocumentRange | None = None
    """The cited part; None for the whole document."""


class UrlCitation(CitationBase):
    """A citation of a web page."""

    type: Literal["url"] = "url"
    url: str
    """Address of the page."""


Citation = Annotated[ContentCitation | DocumentCitation | UrlCitation, Discriminator("type")]


class ContentBase(BaseModel):
    """Fields of every part."""

    model_config = DEFERRED

    internal: JsonValue | None = None
    """Payload of a model provider."""


class ContentText(ContentBase):
    """Text."""

    type: Literal["text"] = "text"
    text: str
    """The text."""
    refusal: bool | None = None
    """True for a refusal."""
    citations: Sequence[Citation] | None = None
    """Sources of the text."""
    cache_breakpoint: bool | None = None
    """Ask the provider to place a prompt-cache boundary after this part."""


class ContentReasoning(ContentBase):
    """Reasoning of a model."""

    type: Literal["reasoning"] = "reasoning"
    reasoning: str
    """The reasoning, possibly encrypted."""
    summary: str | None = None
    """A readable summary."""
    signature: str | None = None
    """Signature of the reasoning, for replay."""
    redacted: bool = False
    """True if `reasoning` is not readable."""


class ContentToolUse(ContentBase):
    """A tool call that the model provider executed."""

    type: Literal["tool_use"] = "tool_use"
    tool_type: Literal["web_search", "mcp_call", "code_execution"]
    """Kind of tool."""
    id: str
    """Id of the call."""
    name: str
    """Name of the tool."""
    context: str | None = None
    """Origin of the tool, such as the name of a server."""
    arguments: str
    """Arguments as text."""
    result: str
    """Result as text."""
    error: str | None = None
    """Error, if any."""


class ContentImage(ContentBase):
    """An image."""

    type: Literal["image"] = "image"
    image: str
    """Path, URL or data URI."""
    detail: Literal["auto", "low", "high", "original"] = "auto"
    """Detail level to request from the provider."""


class ContentAudio(ContentBase):
    """Audio."""

    type: Literal["audio"] = "audio"
    audio: str
    """Path or data URI."""
    format: Literal["wav", "mp3"]
    """Format of the data."""


class ContentVideo(ContentBase):
    """A video."""

    type: Literal["video"] = "video"
    video: str
    """Path or data URI."""
    format: Literal["mp4", "mpeg", "mov"]
    """Format of the data."""


class ContentDocument(ContentBase):
    """A document such as a PDF."""

    type: Literal["document"] = "document"
    document: str
    """Path, URL or data URI."""
    filename: str = ""
    """Name of the file; derived from `document` by default."""
    mime_type: str = ""
    """Media type; derived from `document` by default."""
    citations: bool = False
    """Ask the provider for citations."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        document = data.get("document") if isinstance(data, dict) else None
        if not isinstance(document, str) or not document:
            return data
        mime_type = data.get("mime_type")
        if document.startswith("data:"):
            header = re.match("data:([^;,]+)[;,]", document)
            mime_type = mime_type or (header[1] if header else _UNKNOWN_TYPE)
            filename = f"document.{mime_type.rpartition('/')[2]}"
        else:
            import mimetypes  # reads the system's tables, and documents are rare

            path = Path(document)
            mime_type = mime_type or mimetypes.guess_type(str(path))[0] or _UNKNOWN_TYPE
            filename = path.name
        return {**data, "mime_type": mime_type, "filename": data.get("filename") or filename}


class ContentData(ContentBase):
    """Data in a format of a model provider."""

    type: Literal["data"] = "data"
    data: dict[str, JsonValue]
    """The payload."""


Content = (
    ContentText
    | ContentReasoning
    | ContentImage
    | ContentAudio
    | ContentVideo
    | ContentData
    | ContentToolUse
    | ContentDocument
)
"""One part of a message."""


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

"""Parts of a chat message, with the fields of Inspect AI's: text, media, reasoning, tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, JsonValue, model_validator

__all__ = [
    "DEFERRED",
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

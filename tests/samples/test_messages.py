"""Parts of messages accept, reject and return the same as Inspect AI's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import registry
from tests.samples.against_inspect import attempt, both, dump

CONTENTS: list[tuple[str, dict[str, Any]]] = [
    ("Text", {"text": "x"}),
    ("Text", {"text": "x", "refusal": True, "internal": {"a": [1]}}),
    ("Text", {"text": "x", "citations": [{"type": "url", "url": "u", "title": "t"}]}),
    ("Text", {"text": "x", "citations": [{"type": "document", "cited_text": [1, 2]}]}),
    ("Text", {"text": "x", "citations": [{"type": "none"}]}),
    ("Text", {"text": None}),
    ("Text", {}),
    ("Image", {"image": "a"}),
    ("Image", {"image": "a", "detail": "high"}),
    ("Image", {"image": "a", "detail": "extreme"}),
    ("Audio", {"audio": "a", "format": "mp3"}),
    ("Audio", {"audio": "a", "format": "ogg"}),
    ("Audio", {"audio": "a"}),
    ("Video", {"video": "a", "format": "mpeg"}),
    ("Video", {"video": "a", "format": "avi"}),
    ("Document", {"document": "a.pdf", "citations": True}),
    ("Document", {"document": None}),
    ("Document", {}),
    ("Document", {"filename": "a.pdf"}),
]


@pytest.mark.parametrize(("kind", "parts"), CONTENTS)
def test_content_accepts_and_rejects_the_same_as_inspect(kind: str, parts: dict[str, Any]) -> None:
    ours, theirs = both(f"Content{kind}")
    assert attempt(ours, **parts) == attempt(theirs, **dict(parts))


DOCUMENTS = [
    *["a.pdf", "a.PDF", "folder/a.txt", "/folder/a.tar.gz", "folder/", "a", ".pdf", ".", ".."],
    *[" a.csv ", "https://example.org/a.pdf", "https://example.org/a.pdf?version=1#page"],
    *["https://example.org", "s3://bucket/folder/a.docx", "file:///a.html", "C:\\folder\\a.pdf"],
    *["data:application/pdf;base64,AA==", "data:text/plain,hello"],
    *["data:text/plain;charset=utf-8;base64,AA==", "data:image/svg+xml;base64,AA=="],
    *["data:application/vnd.ms-excel;base64,AA==", "data:;base64,AA==", "data:,hello", "data:"],
    *["data:application/pdf", "data:text;x/y,z", "data:a/b/c,x", "DATA:text/plain,x", ""],
]


@pytest.mark.parametrize("given_parts", [{}, {"filename": "mine.x"}, {"mime_type": "text/mine"}])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_document_derives_name_and_type_as_in_inspect(
    document: str, given_parts: dict[str, str]
) -> None:
    parts = {"document": document, **given_parts}
    ours, theirs = both("ContentDocument")
    assert dump(ours(**parts)) == dump(theirs(**parts))


pieces = st.sampled_from(
    [
        *["a", ".pdf", ".txt", ".gz", "/", "//", ".", "data:", "text/html", ";", ",", "base64"],
        *[" ", "?", ":"],
    ]
)


@settings(deadline=None, max_examples=150)
@given(document=st.lists(pieces, min_size=1, max_size=6).map("".join))
def test_any_document_derives_name_and_type_as_in_inspect(document: str) -> None:
    ours, theirs = both("ContentDocument")
    assert dump(ours(document=document)) == dump(theirs(document=document))


def test_creating_a_document_does_not_change_its_data() -> None:
    data = {"document": "a.pdf"}
    registry.ContentDocument.model_validate(data)
    assert data == {"document": "a.pdf"}


modest = settings(deadline=None, max_examples=100)

ROLES = ("System", "User", "Assistant", "Tool")

# ---------------------------------------------------------------- messages

PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "one"},
    {"type": "text", "text": ""},
    {"type": "text", "text": "two\nlines", "refusal": True},
    {"type": "image", "image": "a.png"},
    {"type": "audio", "audio": "a.wav", "format": "wav"},
    {"type": "video", "video": "a.mp4", "format": "mp4"},
    {"type": "document", "document": "a.pdf"},
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "data", "data": {"a": 1}},
]
contents = st.text(max_size=5) | st.lists(st.sampled_from(PARTS), max_size=5)


def messages_of(role: str, content: Any, **more: Any) -> tuple[Any, Any]:
    ours, theirs = both(f"ChatMessage{role}")
    copy = content if isinstance(content, str) else [dict(part) for part in content]
    return ours(content=content, **more), theirs(content=copy, **more)


@modest
@given(role=st.sampled_from(ROLES), content=contents, text=st.text(max_size=3))
def test_text_is_read_and_replaced_as_in_inspect(role: str, content: Any, text: str) -> None:
    ours, theirs = messages_of(role, content)
    assert ours.text == theirs.text
    assert [part.model_dump() for part in ours.content_list] == [
        part.model_dump() for part in theirs.content_list
    ]
    ours.text = theirs.text = text
    assert dump(ours) == dump(theirs)
    assert ours.text == text


def test_replacing_the_text_does_not_change_a_shared_list() -> None:
    content: list[registry.Content] = [registry.ContentText(text="a")]
    message = registry.ChatMessageUser(content=content)
    held_by_others = message.content
    message.text = "b"
    assert held_by_others == [registry.ContentText(text="a")]


@pytest.mark.parametrize("role", ROLES)
def test_messages_have_their_role_and_a_unique_id(role: str) -> None:
    make, _ = both(f"ChatMessage{role}")
    first, second = make(content="x"), make(content="x")
    assert first.role == role.lower()
    assert first.id
    assert first.id != second.id
    assert make(content="x", id="mine").id == "mine"


CALL = {"id": "1", "function": "f", "arguments": {"a": [1]}}
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    *((role, {"content": "x"}) for role in ROLES),
    *((role, {"content": "x", "source": "input", "metadata": {"a": 1}}) for role in ROLES),
    *((role, {"content": "x", "source": "elsewhere"}) for role in ROLES),
    *((role, {"content": 5}) for role in ROLES),
    *((role, {}) for role in ROLES),
    *((role, {"content": [{"type": "unknown"}]}) for role in ROLES),
    ("User", {"content": "x", "tool_call_id": ["1"]}),
    ("User", {"content": "x", "tool_call_id": "1"}),
    ("User", {"content": "x", "role": "system"}),
    ("Assistant", {"content": "x", "tool_calls": [CALL], "model": "m"}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "type": None}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "type": "other"}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "unknown": 1}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "view": {"format": "text"}}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "arguments": "{}"}]}),
    ("Assistant", {"content": "x", "tool_calls": CALL}),
    ("Tool", {"content": "x", "tool_call_id": "1", "function": "f"}),
    ("Tool", {"content": "x", "error": {"type": "timeout", "message": "slow"}}),
    ("Tool", {"content": "x", "error": {"type": "unheard of", "message": "slow"}}),
]


@pytest.mark.parametrize(("role", "parts"), MESSAGES)
def test_messages_accept_and_reject_the_same_as_inspect(role: str, parts: dict[str, Any]) -> None:
    ours, theirs = both(f"ChatMessage{role}")
    assert attempt(ours, **parts) == attempt(theirs, **parts)

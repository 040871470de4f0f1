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

"""Excerpts of long texts: within their bounds, from everywhere, and of complete characters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.scaffold.sniff.excerpts import excerpts

WORDS = ["q", "Łódź", "größte", "質問", "日本の首都", "вопрос", "x9x", "12", "answer" * 30]
ENCODINGS = ["utf-8", "cp932", "euc_jp", "gb18030"]


def test_short_text_is_its_own_excerpt() -> None:
    assert excerpts(b"caf\xe9, or not") == b"caf\xe9, or not"


@settings(max_examples=30)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=5, max_size=40),
    marks=st.lists(st.sampled_from([" ", ",", "\n", '"', "", ""]), min_size=5, max_size=40),
)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_excerpts_have_complete_characters(
    encoding: str, words: list[str], marks: list[str]
) -> None:
    one = "".join(word + mark for word, mark in zip(words, marks, strict=False))
    data = one.encode(encoding, "ignore")
    data = (data * (1 + 100_000 // len(data)))[: 1 << 18]
    data = data.decode(encoding, "ignore").encode(encoding)
    excerpts(data).decode(encoding)


def test_excerpts_come_from_everywhere() -> None:
    parts = [f"Wo liegt {name}?\n".encode("cp1250") for name in ("Łódź", "Gdańsk", "Wrocław")]
    found = excerpts((b"plain text\n" * 30_000).join([b"", *parts, b""]))
    assert all(part.split()[-1] in found for part in parts)


def test_text_without_breaks_is_its_own_excerpt() -> None:
    data = b"x" * (1 << 20) + b"\xe9" * 100 + b"x" * (1 << 20)
    assert excerpts(data) == data

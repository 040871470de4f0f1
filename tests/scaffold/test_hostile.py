"""Whatever a file holds, sniffing gives a guess or an error for people."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import DecodeError
from registry.scaffold.csv_dialect import sniff_csv, sniff_header
from registry.scaffold.encoding import sniff_encoding
from registry.scaffold.layout import sniff_records

FILE = "q.csv"
PIECES = st.sampled_from(
    [",", ";", "\t", "|", '"', "'", "\n", "\r\n", "a", "1", "question", "ü", "\\"]
)


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=30).map(lambda text: text.encode("utf-16")))
def test_any_bytes(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        guess = sniff_encoding(data, file=FILE)
        data.decode(guess.value, "replace")
        assert "\n" not in str(guess)


@settings(max_examples=80, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=40), st.booleans())
def test_any_table(text: str, is_all: bool) -> None:
    with contextlib.suppress(DecodeError):
        reading, guesses = sniff_csv(text, file=FILE, is_all=is_all)
        assert all("\n" not in str(guess) for guess in guesses)
        if reading is not None:
            assert len({len(row) for row in reading.rows}) == 1
            sniff_header(reading, file=FILE)


ANY: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(ANY)
def test_any_document(document: Any) -> None:
    with contextlib.suppress(DecodeError):
        guess = sniff_records(document, file=FILE)
        assert guess is None or guess.key in ("records", "item")

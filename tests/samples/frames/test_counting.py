"""Counting by column gives what counting sample by sample does."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import ChatMessage, ChatMessageAssistant, ChatMessageUser, MemoryDataset, Sample
from registry.samples.frames import counting
from registry.samples.frames.counting import Digests, describe, estimate_tokens, row_digests

texts = st.text("ab é日", max_size=4)
inputs = texts | st.lists(
    st.builds(ChatMessageUser, content=texts) | st.builds(ChatMessageAssistant, content=texts),
    min_size=1,
    max_size=3,
)
samples = st.builds(
    Sample,
    input=inputs,
    choices=st.none() | st.lists(texts, min_size=1, max_size=3),
    target=texts | st.lists(texts, max_size=3),
    id=st.none() | st.integers(0, 3) | texts,
    metadata=st.none() | st.dictionaries(st.sampled_from("kmn"), st.none() | st.integers(0, 2)),
)

DATA = Path(__file__).parents[4] / "shared" / "data"

TEXT = pa.large_string()
MESSAGE = pa.struct([("role", TEXT), ("rest", TEXT)])
TYPES = (TEXT, pa.large_list(TEXT), pa.large_list(MESSAGE))
column_of_texts = st.none() | st.sampled_from(["", "a", "b", "ab", "é"])
messages = st.fixed_dictionaries({"role": column_of_texts, "rest": column_of_texts})
rows = st.tuples(
    column_of_texts,
    st.none() | st.lists(column_of_texts, max_size=3),
    st.none() | st.lists(messages, max_size=2),
)


def length_of(sample: Sample) -> int:
    if isinstance(sample.input, str):
        return len(sample.input)
    return sum(len(message.text) for message in sample.input)


def content_of(sample: Sample) -> str:
    said: Any = sample.input
    if not isinstance(said, str):
        said = [message.model_dump(exclude={"id"}) for message in said]
    return json.dumps([said, sample.choices])


@settings(deadline=None)
@given(st.lists(samples, max_size=8), st.integers(1, 4))
def test_counts_are_those_of_the_samples(values: list[Sample], size: int) -> None:
    found = describe(MemoryDataset(values).batches(size), name=None)
    targets = [[one.target] if isinstance(one.target, str) else one.target for one in values]
    metadata = [one.metadata or {} for one in values]
    ids = [str(one.id) for one in values if one.id is not None]
    assert found.samples == len(values)
    assert found.length_counts == Counter(map(length_of, values))
    assert found.roles == Counter(
        message.role for one in values if not isinstance(one.input, str) for message in one.input
    )
    assert found.choices == Counter(len(one.choices) for one in values if one.choices is not None)
    assert found.targets == Counter(target for several in targets for target in several)
    assert found.metadata == Counter(
        key for one in metadata for key, value in one.items() if value is not None
    )
    assert found.duplicates == len(values) - len(set(map(content_of, values)))
    assert found.duplicate_ids == len(ids) - len(set(ids))


def test_few_different_targets_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_TARGETS", 3)
    values = [Sample(input="q", target=target) for target in "AABCDDAE"]
    found = describe(MemoryDataset(values).batches(3), name=None)
    assert (found.targets, found.other_targets) == ({"A": 3, "B": 1, "C": 1}, 3)


def test_tokens_are_those_of_inputs_messages_and_choices() -> None:
    said: list[ChatMessage] = [ChatMessageUser(content="one"), ChatMessageAssistant(content="two")]
    values = [
        Sample(input=said),
        Sample(input="one two", choices=["three", "four"], target="x" * 99),
    ]
    found = describe(MemoryDataset(values).batches(), name=None)
    text = pa.array(["one", "two", "one two", "three", "four"], pa.large_string())
    assert found.tokens == round(estimate_tokens(text))


def column(texts: list[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def read(name: str, key: str) -> list[str]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if path.suffix == ".tsv":
        return [row[int(key)] for row in csv.reader(data.decode().splitlines(), delimiter="\t")]
    return [json.loads(line)[key] for line in data.decode().splitlines()]


# The tokens of o200k_base, counted by bpe-openai 0.1.4.
@pytest.mark.parametrize(
    ("name", "key", "tokens"),
    [
        ("gsm8k-test.jsonl", "question", 77109),
        ("gsm8k-test.jsonl", "answer", 135047),
        ("HumanEval.jsonl.gz", "prompt", 21538),
        ("real/mgsm-zh.tsv", "0", 17243),
        ("real/mgsm-te.tsv", "0", 25952),
    ],
)
def test_sum_of_a_dataset_is_within_14_percent(name: str, key: str, tokens: int) -> None:
    assert estimate_tokens(column(read(name, key))) == pytest.approx(tokens, rel=0.14)


def test_sentences_of_several_scripts() -> None:
    english = "The quick brown fox jumped over the lazy dog near the riverbank."  # 14 tokens
    chinese = "你好，世界。今天天气很好，我们去公园吧。"  # 14
    russian = "Привет мир, сегодня хорошая погода и мы идём гулять в парк."  # 18
    assert 10 <= estimate_tokens(column([english])) <= 18
    assert 10 <= estimate_tokens(column([chinese])) <= 18
    assert 13 <= estimate_tokens(column([russian])) <= 23


def test_only_the_rows_of_a_slice_count() -> None:
    whole = column(["one two", "three", "four five six", ""])
    assert estimate_tokens(whole.slice(1, 1)) == estimate_tokens(column(["three"]))
    parts = sum(estimate_tokens(whole.slice(row, 1)) for row in range(4))
    assert parts == pytest.approx(estimate_tokens(whole))
    assert estimate_tokens(column([])) == 0


def test_long_columns_are_counted_in_parts() -> None:
    assert estimate_tokens(column(["a1 é" * 50_000])) == pytest.approx(
        50_000 * estimate_tokens(column(["a1 é"]))
    )


def digests_of(columns: list[pa.Array]) -> list[bytes]:
    data = row_digests(columns)
    return [data[start : start + 16] for start in range(0, len(data), 16)]


def columns_of(values: list[tuple[object, ...]]) -> list[pa.Array]:
    return [pa.array([row[place] for row in values], kind) for place, kind in enumerate(TYPES)]


@settings(deadline=None)
@given(st.lists(rows, min_size=2, max_size=8))
def test_digests_are_equal_for_equal_rows_only(values: list[tuple[object, ...]]) -> None:
    found = digests_of(columns_of(values))
    for (one, left), (other, right) in combinations(zip(values, found, strict=True), 2):
        assert (one == other) == (left == right)


@settings(deadline=None)
@given(st.lists(rows, min_size=1, max_size=6), st.data())
def test_digests_do_not_depend_on_the_batch(
    values: list[tuple[object, ...]], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(values) - 1))
    columns = columns_of(values)
    found = digests_of(columns)
    assert digests_of([column.slice(start) for column in columns]) == found[start:]
    assert digests_of(columns_of(values[start:])) == found[start:]


def test_bytes_below_a_null_do_not_count() -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 2], np.int64)), pa.py_buffer(b"xy")
    nulls = pa.Array.from_buffers(TEXT, 2, [pa.py_buffer(b"\x00"), offsets, data])
    inside = pa.LargeListArray.from_arrays(pa.array([0, 1, 2], pa.int64()), nulls)
    left, right = digests_of([inside])
    assert left == right
    assert left == digests_of([pa.array([[None]], pa.large_list(TEXT))])[0]


def test_different_digests_are_counted() -> None:
    found = Digests()
    assert found.distinct() == 0
    found.add(row_digests([pa.array(["a", "b", "a", None], TEXT)]))
    found.add(row_digests([pa.array(["b", "c"], TEXT)]))
    assert found.distinct() == 4

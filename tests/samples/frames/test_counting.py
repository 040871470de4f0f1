"""Counting by column gives what counting sample by sample does."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import ChatMessage, ChatMessageAssistant, ChatMessageUser, MemoryDataset, Sample
from registry.samples.frames import counting
from registry.samples.frames.counting import describe
from registry.samples.frames.tokens import estimate_tokens

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

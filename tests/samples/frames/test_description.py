"""A description counts what a frame has."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest

from registry import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    MemoryDataset,
    Sample,
    get_dataset,
)
from registry.samples.frames.description import Lengths

CHAT: list[ChatMessage] = [ChatMessageSystem(content="abc"), ChatMessageUser(content="de")]
SAMPLES = [
    Sample(input="four", choices=["x", "y"], target="A", id=1, metadata={"k": 1, "n": None}),
    Sample(input="four", choices=["x", "y"], target="B", id=1),
    Sample(input="four", choices=["y", "x"], target="A", id=2),
    Sample(input="", target=["A", "C"]),
    Sample(input=CHAT, target="A", metadata={"k": 2}),
    Sample(input=copy.deepcopy(CHAT), target="A"),
]
for message in SAMPLES[-1].input:
    assert not isinstance(message, str)
    message.id = "another"
FOUND = MemoryDataset(SAMPLES, name="some").describe()


def test_lengths_are_those_of_texts_and_conversations() -> None:
    assert FOUND.input_lengths == Lengths(0, 4.0, 22 / 6, 5)


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        (Lengths(4, 4.0, 4.0, 4), "4 characters"),
        (Lengths(1, 1.0, 1.0, 1), "1 character"),
        (Lengths(4, 4.5, 4.5, 5), "4 to 5 characters, median 4.5"),
        (Lengths(4, 1_250.0, 900.0, 2_000), "4 to 2,000 characters, median 1,250"),
    ],
)
def test_lengths_are_a_line_with_the_exact_median(lengths: Lengths, text: str) -> None:
    assert str(lengths) == text


def test_text_has_a_line_per_column() -> None:
    assert str(FOUND).splitlines() == [
        "some: 6 samples",
        "input              4  0 to 5 characters, median 4",
        "messages           2  system 2, user 2",
        "choices            3  2 choices 3",
        "target             5  A 5, B 1, C 1",
        "targets            1",
        "id                 3",
        "metadata           2  k 2",
        "tokens            ~3  estimate, for input, messages and choices",
        "duplicates         2",
        "equal ids          1",
    ]


def line_of(name: str, targets: list[str]) -> str:
    dataset = MemoryDataset([Sample(input="q", target=target) for target in targets])
    (line,) = [one for one in str(dataset.describe()).splitlines() if one.startswith(name)]
    return line


def test_text_names_few_of_many_targets() -> None:
    numbers = [str(n) for n in range(11)]
    assert line_of("target", numbers).endswith("all  11 different")
    assert line_of("target", [*numbers, "7", "7", "5"]).endswith("11 different, 7 3, 5 2")
    assert line_of("target", numbers[:10]).endswith("8 1, 9 1")


def test_text_shows_odd_targets_on_one_line() -> None:
    odd = MemoryDataset([Sample(input="q", target="a\n\x1b[31m" + "b" * 50)])
    (line,) = [line for line in str(odd.describe()).splitlines() if line.startswith("target")]
    assert "\x1b" not in line
    assert "a \\u{1b}[31mbbb" in line
    assert line.endswith("… 1")
    assert line_of("target", ["👩\u200d👧"]).endswith("  👩\u200d👧 1")


def test_empty_dataset_has_a_description() -> None:
    found = MemoryDataset([]).describe()
    assert (found.samples, found.input_lengths, str(found)) == (0, None, "dataset: 0 samples")


def test_descriptions_of_the_same_samples_are_equal() -> None:
    dataset = get_dataset("demo-chat")
    assert MemoryDataset(list(dataset), name="demo-chat").describe() == dataset.describe()


def test_dict_is_json() -> None:
    data = json.loads(msgspec.json.encode(FOUND.to_dict()))
    assert data["input_lengths"]["most"] == 5

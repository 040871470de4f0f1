"""Letters of choices count as Inspect AI's do: A to Z, then numbers."""

from __future__ import annotations

import pytest
from inspect_ai._util.answer import answer_character, answer_index

from registry.samples.letters import choice_of, index_of, letter_of


@pytest.mark.parametrize("index", [0, 1, 25, 26, 27, 100, 1000])
def test_letters_and_indexes_equal_inspects(index: int) -> None:
    letter = letter_of(index)
    assert letter == answer_character(index)
    assert index_of(letter) == answer_index(letter) == index


def test_letters_have_both_cases() -> None:
    assert [index_of(letter) for letter in "azAZ"] == [0, 25, 0, 25]


@pytest.mark.parametrize("word", ["", "0", "AB", "-1", "1.5", " ", "?", "ß", "²", "A "])
def test_anything_else_is_not_a_letter(word: str) -> None:
    with pytest.raises(ValueError, match=rf"^'{word.replace('?', '.')}' is not the letter of a"):
        index_of(word)


@pytest.mark.parametrize(
    ("target", "choices", "index"),
    [
        ("b", ["x", "y"], 1),
        ("B", ["B", "y"], 1),
        ("y", ["x", "y"], 1),
        ("C", ["C", "y"], 0),
        ("1", ["1", "2"], 0),
        ("z", ["x", "y"], None),
        ("A", [], None),
    ],
)
def test_target_means_a_choice_by_its_letter_or_else_by_its_text(
    target: str, choices: list[str], index: int | None
) -> None:
    assert choice_of(target, choices) == index

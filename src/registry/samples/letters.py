"""Letters of choices as in Inspect AI: A to Z, then numbers from 1."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["choice_of", "index_of", "letter_of"]


def letter_of(index: int) -> str:
    """Return the letter of a 0-based index."""
    return chr(ord("A") + index) if index < 26 else str(index - 25)


def index_of(letter: str) -> int:
    """Return the 0-based index of a letter in either case.

    Raises:
        ValueError: the string is not a letter of a choice.
    """
    upper = letter.upper()
    # Some letters, such as ß, have two characters in upper case.
    if len(letter) == len(upper) == 1 and letter.isalpha():
        return ord(upper) - ord("A")
    if letter.isdecimal() and int(letter) > 0:
        return 25 + int(letter)
    raise ValueError(f"'{letter}' is not the letter of a choice")


def choice_of(target: str, choices: Sequence[str]) -> int | None:
    """Return the index of the choice that a target means: by its letter, or else by its text."""
    try:
        if (index := index_of(target)) < len(choices):
            return index
    except ValueError:
        pass
    return choices.index(target) if target in choices else None

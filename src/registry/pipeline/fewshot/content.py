"""Whether two samples have the same content, or nearly the same: between splits of a dataset.

Two samples are the same if input and targets are equal after normalization: NFKC, case folded, each
run of blanks one space, and without marks that only typeset a text (quotes, dots, commas, colons,
question and exclamation marks, unless between digits). Operators and brackets count: `2-1` is not
`2+1`. A target that is the letter of a choice stands for the text of that choice, so that other
letters for the same choices make no difference, and equal letters of different choices do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.base.digest import to_json
from registry.base.escape import normal_form
from registry.samples.letters import choice_of

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = [
    "NearDuplicate",
    "answers_of",
    "content_of",
    "near_duplicates",
    "normalized",
]

_APOSTROPHES = re.compile("['\u2018\u2019\u201b`\u00b4]")
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_TYPESETTING = re.compile(
    '["\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a;?!\u00bf\u00a1]|(?<!\\d)[.,:]|[.,:](?!\\d)'
)
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_GRAM = 13
"""Words of an n-gram: the length by which GPT-3's authors and many since look for copies."""


def normalized(text: str) -> str:
    """Return a text without what only typesets it; equal for texts that say the same."""
    folded = normal_form("NFKC", text).casefold()
    plain = _DASHES.sub("-", _APOSTROPHES.sub("", folded))
    return _BLANKS.sub(" ", _TYPESETTING.sub(" ", plain)).strip()


def answers_of(sample: Sample) -> list[str]:
    """Return the targets of a sample as texts: of a letter, the text of its choice."""
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    return [_choice_of(target, sample.choices or ()) for target in targets]


def _choice_of(target: str, choices: Sequence[str]) -> str:
    index = choice_of(target.strip(), choices)
    return target if index is None else choices[index]


def content_of(sample: Sample) -> bytes:
    """Return a digest that two samples share only if they have the same content."""
    answers = sorted(map(normalized, answers_of(sample)))
    parts = [*map(normalized, _input_texts(sample)), "\0", *answers]
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _input_texts(sample: Sample) -> Iterator[str]:
    if isinstance(sample.input, str):
        yield sample.input
        return
    for message in sample.input:
        if isinstance(message.content, str):
            yield message.content
            continue
        for part in message.content:
            # Two questions about different images have the same words.
            yield part.text if part.type == "text" else to_json(part.model_dump(mode="json"))


class NearDuplicate(Struct, frozen=True):
    """A sample with words of a sample of another split."""

    place: int
    """Place of the sample."""
    other: int
    """Place of the one in the other split that shares most."""
    share: float
    """How much of the shorter of both inputs is shared, from 0 to 1."""


def near_duplicates(samples: Iterable[Sample], others: Iterable[Sample]) -> Iterator[NearDuplicate]:
    """Yield each sample whose input shares 13 words in a row with one of another split.

    An input of fewer words counts as one n-gram.
    """
    places: dict[int, list[int]] = {}
    sizes = []
    for place, sample in enumerate(others):
        grams = _grams(sample)
        sizes.append(len(grams))
        for gram in grams:
            places.setdefault(gram, []).append(place)
    for place, sample in enumerate(samples):
        grams = _grams(sample)
        shared: dict[int, int] = {}
        for gram in grams:
            for other in places.get(gram, ()):
                shared[other] = shared.get(other, 0) + 1
        if shared:
            other = max(shared, key=lambda one: (shared[one], -one))
            share = shared[other] / min(len(grams), sizes[other])
            yield NearDuplicate(place, other, round(share, 3))


def _grams(sample: Sample) -> set[int]:
    words = _WORD.findall(normalized("\n".join(_input_texts(sample))))
    if not words:
        return set()
    last = max(len(words) - _GRAM, 0)
    return {hash(tuple(words[start : start + _GRAM])) for start in range(last + 1)}

"""What samples say: whether two have the same content, and questions and answers by templates.

Two samples are the same if input and targets are equal after normalization: NFKC, case folded, each
run of blanks one space, without invisible characters, and without marks that only typeset a text
(quotes, dots, commas, colons, question and exclamation marks, unless between digits). Operators and
brackets count: `2-1` is not `2+1`. A target that is the letter of a choice stands for the text of
that choice, so that other letters for the same choices make no difference, and equal letters of
different choices do.

A template of `fewshot` is one of the field language over the fields of a sample: `{input}`,
`{target}` (the first one), `{answer}` (the text of the right choice, or the target), `{choices}`
(a line for each, written by `choice`), `{letters}` (`A,B,C`), `{id}` and `{metadata.KEY}`;
`options` is the list of choices, `targets` that of the targets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.digest import to_json
from registry.base.escape import normal_form
from registry.errors import ManifestError, MappingError, Problem
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.samples.letters import choice_of, letter_of

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import Fewshot
    from registry.samples.sample import Sample

__all__ = ["NearDuplicate", "Texts", "answers_of", "content_of", "near_duplicates", "normalized"]

_APOSTROPHES = re.compile("['\u2018\u2019\u201b`\u00b4]")
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_TYPESETTING = re.compile(
    '["\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a;?!\u00bf\u00a1]|(?<!\\d)[.,:]|[.,:](?!\\d)'
)
_BLANKS = re.compile(r"\s+")
# Default_Ignorable_Code_Point of Unicode, such as soft hyphens and spaces without width.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_WORD = re.compile(r"\w+")
_GRAM = 13
"""Words of an n-gram: the length by which GPT-3's authors and many since look for copies."""
_QUESTION = "{input}{?choices}\n{choices}{/}"
_ANSWER = "{target}"
_CHOICE = "{letter}) {choice}"

_Write = Callable[[dict[str, Any]], str]


def normalized(text: str) -> str:
    """Return a text without what only typesets it; equal for texts that say the same."""
    folded = normal_form("NFKC", _INVISIBLE.sub("", text)).casefold()
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


class Texts:
    """The compiled templates of a dataset's examples."""

    def __init__(self, fewshot: Fewshot, boundary: Boundary, *, dataset: str) -> None:
        """Compile the templates.

        Raises:
            ManifestError: one does not compile.
        """
        self._dataset, self._boundary = dataset, boundary
        self._choice = self._compiled("choice", fewshot.choice or _CHOICE)
        self._question = self._compiled("question", fewshot.question or _QUESTION)
        self._answer = self._compiled("answer", fewshot.answer or _ANSWER)
        self._intro = None
        if fewshot.intro is not None:
            self._intro = self._compiled("intro", fewshot.intro)
        asked = fewshot.question if fewshot.ask is None else fewshot.ask
        self._ask = None if asked is None else self._compiled("ask", asked)

    def question(self, sample: Sample) -> str:
        """Return the question of an example."""
        return self._question(self._fields(sample))

    def answer(self, sample: Sample) -> str:
        """Return the answer of an example."""
        return self._answer(self._fields(sample))

    def intro(self, sample: Sample) -> str:
        """Return what a sample has before its examples; empty for nothing."""
        return "" if self._intro is None else self._intro(self._fields(sample))

    def ask(self, sample: Sample) -> str:
        """Return the sample's own question."""
        if self._ask is not None:
            return self._ask(self._fields(sample))
        if not isinstance(sample.input, str):
            raise self._no_text()
        return sample.input

    @property
    def asks_anew(self) -> bool:
        """Whether the sample's own question is written by a template."""
        return self._ask is not None

    def _compiled(self, key: str, given: Any) -> _Write:
        """Return the function of a template, or of an expression."""
        try:
            expression = {"template": given} if isinstance(given, str) else given
            function = compile_expression(parse_expression(expression))
        except ValueError as error:
            path = f"$.fewshot.{key}"
            problem = Problem(
                message=str(error), file=self._dataset, path=path, rule="bad-expression"
            )
            raise ManifestError([problem]) from error

        def write(fields: dict[str, Any]) -> str:
            try:
                text = function(Row(fields, 1, self._boundary))
            except MappingError as error:
                if "input" not in fields and "'input'" in error.message:
                    raise self._no_text() from error
                place = f"sample {fields.get('id')!r}: " if fields.get("id") is not None else ""
                message = f"{place}{error.message}"
                raise MappingError(
                    message, dataset=self._dataset, field=f"fewshot.{key}"
                ) from error
            if not isinstance(text, str):
                raise MappingError(
                    "not a string", dataset=self._dataset, field=f"fewshot.{key}", value=text
                )
            return text

        return write

    def _fields(self, sample: Sample) -> dict[str, Any]:
        """Return what a template can name of a sample."""
        choices = sample.choices or []
        targets = sample.target if isinstance(sample.target, list) else [sample.target]
        text = {"input": sample.input} if isinstance(sample.input, str) else {}
        return {
            **text,
            "target": targets[0] if targets else "",
            "targets": targets,
            "answer": (answers_of(sample) or [""])[0],
            "choices": "\n".join(
                self._choice(
                    {
                        "letter": letter_of(place),
                        "lower": letter_of(place).lower(),
                        "number": place + 1,
                        "choice": choice,
                    }
                )
                for place, choice in enumerate(choices)
            ),
            "options": choices,
            "letters": ",".join(map(letter_of, range(len(choices)))),
            "id": sample.id,
            "metadata": sample.metadata or {},
        }

    def _no_text(self) -> MappingError:
        message = "the input is a conversation, which can't be written as text"
        hint = "use `into: turns` without `question` and `ask`"
        return MappingError(f"{message} ({hint})", dataset=self._dataset, field="fewshot.into")

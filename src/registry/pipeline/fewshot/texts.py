"""Write questions and answers of samples by the templates of `fewshot`.

A template is one of the field language over the fields of a sample: `{input}`, `{target}` (the
first one), `{answer}` (the text of the right choice, or the target), `{choices}` (a line for each,
written by `choice`), `{letters}` (`A,B,C`), `{id}` and `{metadata.KEY}`; `options` is the list of
choices, `targets` that of the targets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from registry.errors import ManifestError, MappingError, Problem
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.pipeline.fewshot.content import answers_of
from registry.samples.letters import letter_of

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import Fewshot
    from registry.samples.sample import Sample

__all__ = ["Texts"]

_QUESTION = "{input}{?choices}\n{choices}{/}"
_ANSWER = "{target}"
_CHOICE = "{letter}) {choice}"

_Write = Callable[[dict[str, Any]], str]


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

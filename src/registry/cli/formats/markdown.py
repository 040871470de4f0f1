"""A review as one comment of a pull request: worst first, the rest folded, what is beyond counted.

Whatever comes from data stands in code, where a host renders nothing and notifies nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from registry.diff.escape import visible
from registry.diff.models import Chunk, DatasetChange, Example, KeyChange, Review
from registry.diff.summary import (
    count_text,
    headline,
    inherited_lines,
    places,
    sample_line,
    some,
    told_fact,
    value_text,
    verdict,
)
from registry.diff.words import cut

__all__ = ["MOST_BYTES", "as_markdown", "code"]

MOST_BYTES = 65_536
"""What GitHub takes as one comment."""

_OPEN = 5
"""Datasets that are not folded."""
_OPEN_BYTES = 16_384
_MOST_PROBLEMS = 10
_TAIL_BYTES = 400
_LONGEST = 400
"""Characters of one span of code."""
_LEFT_OUT = "…what stood here is too long: `python -m registry diff` shows it.\n"


def as_markdown(review: Review, *, most: int = MOST_BYTES) -> str:
    """Return a review in at most `most` bytes of UTF-8."""
    parts: list[str] = []
    left = most - _TAIL_BYTES
    for part in _head(review):
        told = part if _size(part) <= left else _LEFT_OUT
        parts.append(told)
        left -= _size(told)
    for number, change in enumerate(review.changes):
        folded = number >= _OPEN or most - left > _OPEN_BYTES
        forms = (_section_text(change, folded=folded, examples=shown) for shown in (True, False))
        fitting = next((form for form in forms if _size(form) <= left), None)
        if fitting is None:
            parts.append(_tail(len(review.changes) - number))
            break
        parts.append(fitting)
        left -= _size(fitting)
    return "\n".join(parts)


def _size(text: str) -> int:
    return len(text.encode("utf-8")) + 1


def _tail(number: int) -> str:
    return f"…and {count_text(number, 'more dataset')}: `python -m registry diff` shows all.\n"


def _head(review: Review) -> Iterator[str]:
    yield f"### {headline(review)}\n"
    yield f"{code(review.base)} → {code(review.head)}\n"
    problems = list(review.problems)
    lines = [f"- {code(label)}: {code(str(one))}" for label, one in problems[:_MOST_PROBLEMS]]
    if len(problems) > len(lines):
        lines.append(f"- …and {count_text(len(problems) - len(lines), 'more problem')}")
    if lines:
        yield "\n".join(["**Problems**", "", *lines, ""])
    if review.not_compared:
        yield f"Not compared: {_names(review.not_compared)}\n"
    if review.shared:
        shared = _keys(review.shared[:_MOST_PROBLEMS])
        yield "\n".join(["#### Index", "", *shared, ""])


def _section_text(change: DatasetChange, *, folded: bool, examples: bool) -> str:
    return "\n".join(_section(change, folded=folded, examples=examples)) + "\n"


def _section(change: DatasetChange, *, folded: bool, examples: bool) -> Iterator[str]:
    kind = escape(verdict(change)) if change.status != "renamed" else "renamed"
    if folded:
        yield from (f"<details><summary>{_html_code(change.name)} · {kind}</summary>", "")
    else:
        yield from (f"#### {code(change.name)} · {kind}", "")
    if change.status == "renamed":
        yield f"- from {code(change.old_name)}"
    yield from _keys(change.keys)
    for keys, dataset in inherited_lines(change):
        yield f"- {code(keys)}: same change as in {code(dataset)}"
    for key, origin in told_fact(change):
        yield f"- {code(key)}: {code(value_text(origin))}"
    if not (change.keys or change.inherited or change.facts) and change.place:
        yield f"- {code(change.place)}"
    yield from _samples(change, examples=examples)
    yield from ("", "</details>") if folded else ()


def _keys(changes: Iterable[KeyChange]) -> Iterator[str]:
    for change in changes:
        values = f"{code(value_text(change.old))} → {code(value_text(change.new))}"
        yield f"- {code(change.key)}: {values} · {code(places(change))}"
        if change.inherited_by:
            yield f"  - inherited by {_names(change.inherited_by)}"


def _names(names: Sequence[str]) -> str:
    shown, rest = some(names)
    return ", ".join(map(code, shown)) + rest


def _samples(change: DatasetChange, *, examples: bool) -> Iterator[str]:
    if change.samples is None:
        return
    yield f"- samples: {code(sample_line(change.samples))}"
    lines = [line for one in change.samples.examples for line in _example(one)]
    if examples and lines:
        fence = "`" * max(3, _longest_run(lines) + 1)
        yield from ("", f"{fence}diff", *lines, fence)


def _example(example: Example) -> Iterator[str]:
    """Yield lines that begin with a sign, so that none of them can end the block."""
    label = visible(example.label)
    for change in example.fields:
        chunks = cut(change.chunks)
        yield f"@@ {label}: {change.field} @@"
        for sign in "-+":
            if any(chunk.sign == sign for chunk in chunks):
                yield f"{sign} {_one_side(chunks, sign, marked=example.status == 'changed')}"


def _one_side(chunks: Iterable[Chunk], sign: str, *, marked: bool) -> str:
    """Return the text of one side, with what differs marked."""
    marks = {"-": ("[-", "-]"), "+": ("{+", "+}")}[sign] if marked else ("", "")
    return "".join(
        visible(chunk.text) if chunk.sign == "=" else f"{marks[0]}{visible(chunk.text)}{marks[1]}"
        for chunk in chunks
        if chunk.sign in ("=", sign)
    )


def _html_code(text: str) -> str:
    """Return a text as code where a host reads HTML."""
    return f"<code>{escape(visible(text)[:_LONGEST]).replace('`', '&#96;')}</code>"


def code(text: str) -> str:
    """Return a text as a code span that nothing in it can end."""
    text = visible(text) or " "
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    fence = "`" * (_longest_run([text]) + 1)
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_run(texts: Iterable[str]) -> int:
    return max((len(run) for text in texts for run in re.findall("`+", text)), default=0)

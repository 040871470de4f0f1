"""A diff as one comment of a pull request: most severe first, the rest folded or counted.

All untrusted text is inside code, where a host renders no markup and no `@name` notifies anyone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TypeVar

from registry.base.cells import fold
from registry.base.escape import escape_control
from registry.diff.edits import Edit, Fact, correction_lines, edits, facts
from registry.diff.models import CatalogDiff, DatasetChange, NewReach, SampleChange
from registry.diff.summary import (
    MAX_NAMES,
    Code,
    classes_and_version,
    cut_middle,
    display_value,
    effect,
    inherited_keys,
    left_out,
    reach_remark,
    row_of,
    sample_line,
    sentence,
    users_text,
    verdict,
)
from registry.diff.words import excerpt
from registry.errors import count_text, list_names

__all__ = ["MAX_COMMENT_BYTES", "as_markdown", "code_span"]

_T = TypeVar("_T")

MAX_COMMENT_BYTES = 65_536
"""GitHub's limit for one comment."""

# A reviewer scrolls through a few screens; beyond them a list of names is more useful.
_MAX_UNFOLDED = 5
_MAX_UNFOLDED_BYTES = 16_384
_MAX_ITEMS = 10
_MAX_REACH = 20
_MAX_SPAN = 400
"""Characters of one code span."""
_WIDTH = 88
"""Columns of a code block that a comment shows without scrolling: GitHub's is 830 pixels wide."""
_CELLS = 10
_BAR = {"removed": "🟥", "changed": "🟨", "added": "🟩", "moved": "🟦", "same": "⬜"}
_SIGNS = {"added": "+", "removed": "-"}
_RESERVED_BYTES = 400
"""For the line that counts the omitted datasets."""
_TOO_LONG = "…too long to show here: run `registry diff` to see it.\n"


def as_markdown(diff: CatalogDiff, *, max_bytes: int = MAX_COMMENT_BYTES) -> str:
    """Return a diff in at most `max_bytes` bytes of UTF-8."""
    parts: list[str] = []
    left = max_bytes - _RESERVED_BYTES
    for part in _header(diff):
        parts.append(part if _size(part) <= left else _TOO_LONG)
        left -= _size(parts[-1])
    for number, change in enumerate(diff.changes):
        folded = number >= _MAX_UNFOLDED or max_bytes - left > _MAX_UNFOLDED_BYTES
        # A section that is too long is tried again without examples: counts matter more.
        forms = ("\n".join(_section(change, folded, examples=one)) for one in (True, False))
        fitting = next((form for form in forms if _size(form) <= left), None)
        if fitting is None:
            rest = count_text(len(diff.changes) - number, "more dataset")
            parts.append(f"…and {rest}: `registry diff` shows all.\n")
            break
        parts.append(fitting)
        left -= _size(parts[-1])
    return "\n".join(parts)


def _size(text: str) -> int:
    return len(text.encode("utf-8")) + 1


def _header(diff: CatalogDiff) -> Iterator[str]:
    words = (code_span(one) if isinstance(one, Code) else one for one in sentence(diff))
    yield f"### {''.join(words)}\n"
    yield f"{code_span(diff.base)} → {code_span(diff.head)}\n"
    if diff.says_reach:
        yield _reach(diff)
    if problems := list(diff.problems):
        lines = [f"- {code_span(label)}: {code_span(str(one))}" for label, one in problems]
        yield "\n".join(["**Problems**", "", *_first(lines, str, "problem"), ""])
    if diff.not_compared:
        yield f"Not compared: {_names(diff.not_compared)}\n"
    if diff.notes:
        yield "\n".join([*_first(diff.notes, lambda note: f"- {code_span(note)}", "note"), ""])
    if diff.shared:
        found = list(edits(diff.shared))
        keys = _first(found, lambda one: "\n".join(_edit(one)), "key")
        yield "\n".join(["#### Index", "", *keys, ""])


def _first(
    items: Sequence[_T], shown: Callable[[_T], str], word: str, most: int = _MAX_ITEMS
) -> Iterator[str]:
    """Yield the first items of a list as they are shown, and how many more there are."""
    yield from map(shown, items[:most])
    if len(items) > most:
        yield f"- …and {count_text(len(items) - most, f'more {word}')}"


def _reach(diff: CatalogDiff) -> str:
    def shown(one: NewReach) -> str:
        return f"- {one.kind} {code_span(display_value(one.name))} ({code_span(users_text(one))})"

    lines = list(_first(diff.reach, shown, "name", _MAX_REACH))
    title = " ".join(filter(None, ["**New reach:**", reach_remark(diff)]))
    return "\n".join([title, *([""] if lines else []), *lines, ""])


def _section(change: DatasetChange, folded: bool, *, examples: bool) -> Iterator[str]:
    # The old name of a renamed dataset is untrusted, so it goes into a code span of its own.
    is_renamed = change.status == "renamed"
    words = ["renamed", *classes_and_version(change)] if is_renamed else [verdict(change)]
    kind = escape("; ".join(filter(None, words)))
    if folded:  # `summary` is HTML, where backquotes don't mark code
        name = escape(escape_control(change.name)[:_MAX_SPAN]).replace("`", "&#96;")
        yield from (f"<details><summary><code>{name}</code> · {kind}</summary>", "")
    else:
        yield from (f"#### {code_span(change.name)} · {kind}", "")
    if is_renamed:
        yield f"- from {code_span(change.old_name)}"
    if (what := effect(change)) != change.status:
        row = row_of(change.samples, _CELLS)
        bar = "".join(_BAR[word] * count for word, count in row.items())
        yield from (f"{bar} {what}".lstrip(), "")
    for edit in edits(change.keys):
        yield from _edit(edit)
    for keys, dataset in inherited_keys(change):
        yield f"- {code_span(keys)}: same change as in {code_span(dataset)}"
    for fact in facts(change):
        yield from _fact(fact, _SIGNS.get(change.status, " "))
    if change.used_by:
        yield f"- used by {_names(change.used_by)}"
    if not (change.keys or change.inherited or change.facts) and change.place:
        yield f"- {code_span(change.place)}"
    samples = change.samples
    if samples is not None:
        yield from (f"- samples: {code_span(line)}" for line in [sample_line(samples)] if line)
        yield from (f"- warning: {code_span(one)}" for one in samples.warnings)
        rows = map(code_span, correction_lines(samples.corrections))
        yield from (f"- correction {one}" for one in rows)
        lines = list(_example_lines(samples)) if examples else []
        yield from ("", *_fence(lines)) if lines else ()
        rest = left_out(samples, None if examples else 0)
        yield from ("", f"{rest} (`registry diff` shows them)") if rest else ()
    yield from ("", "</details>", "") if folded else ("",)


def _edit(edit: Edit) -> Iterator[str]:
    where = f"{code_span(edit.key)} · {code_span(edit.places)}"
    old, new = edit.pair or ("", "")
    if edit.pair and len(old) + len(new) < _WIDTH:
        values = f"{code_span(old)} → {code_span(new)}"
        yield f"- {code_span(edit.key)}: {values} · {code_span(edit.places)}"
    else:
        lines = [line for sign, text in edit.lines for line in _lines(sign, text)]
        yield from (f"- {where}", "", *(f"  {line}" for line in _fence(lines)), "")
    if edit.inherited_by:
        yield f"  - inherited by {_names(edit.inherited_by)}"


def _fact(fact: Fact, sign: str) -> Iterator[str]:
    if not fact.lines:
        yield f"- {code_span(fact.key)}: {code_span(fact.text)}"
        return
    lines = [line for text in fact.lines for line in _lines(sign, text)]
    yield from (f"- {code_span(fact.key)}", "", *(f"  {line}" for line in _fence(lines)), "")


def _names(names: Sequence[str]) -> str:
    return list_names([*map(code_span, names[:MAX_NAMES]), *names[MAX_NAMES:]], MAX_NAMES)


def _example_lines(samples: SampleChange) -> Iterator[str]:
    for example in samples.examples:
        for field in example.fields:
            yield from fold(f"@@ {escape_control(example.label)}: {field.field} @@", _WIDTH, "@@ ")
            for sign, text in excerpt(field.chunks):
                yield from _lines(sign, text)


def _lines(sign: str, text: str) -> Iterator[str]:
    """Yield lines that start with a sign, so that none can close the code block."""
    start = " " if sign == "=" else sign
    for line in text.strip("\n").split("\n"):
        shown = f"{start} {escape_control(line)}"
        yield from fold(shown.rstrip() if sign == "=" else shown, _WIDTH, f"{start} ")


def _fence(lines: Sequence[str]) -> list[str]:
    fence = "`" * max(3, _longest_run(lines) + 1)
    return [f"{fence}diff", *lines, fence]


def code_span(text: str) -> str:
    """Return a text as a code span that nothing in it can close."""
    text = escape_control(text) or " "
    text = cut_middle(text, _MAX_SPAN)
    fence = "`" * (_longest_run([text]) + 1)
    # CommonMark 6.1: one space is stripped from each end, so a backquote or space needs its own.
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_run(texts: Iterable[str]) -> int:
    return max((len(run) for text in texts for run in re.findall("`+", text)), default=0)

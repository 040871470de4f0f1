"""A diff as one page that needs no other file: samples side by side, the worst change first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, islice
from typing import Any

from markupsafe import Markup

from registry.api import (
    COMPARED,
    MAX_NAMES,
    Allowance,
    CatalogDiff,
    ChangeClass,
    Chunk,
    Code,
    DatasetChange,
    Example,
    FieldChange,
    KeyChange,
    correction_lines,
    count_text,
    display_value,
    edits,
    effect,
    excerpt,
    facts,
    headline,
    inherited_keys,
    left_out,
    list_names,
    reach_remark,
    row_of,
    sample_line,
    sentence,
    users_text,
)
from registry.plugins.site.environment import (
    cut,
    encoded_size,
    fitting,
    html_size,
    render,
    shorten,
    standalone_page,
)
from registry.plugins.site.sample_pages import body_html

__all__ = ["ExampleLook", "by_importance", "diff_page", "example_html", "examples_html"]

_HEADS_SIZE, _EXAMPLES_SIZE = 1_000_000, 3_000_000
"""Bytes of HTML that datasets without their samples, and samples, take at most."""
_LEAST_SHARE = 100_000
"""Bytes that the samples of a dataset may take, whatever others need."""
_MOST_ROWS = 100
_SHORT_TEXT = 400
_SEVERE = frozenset(
    {"removed", ChangeClass.SOURCE, ChangeClass.INPUTS, ChangeClass.TARGETS, ChangeClass.IDS}
)
"""What changes a score or loses samples."""
_STATUSES = ("removed", "added", "renamed")
_WORDS: tuple[str, ...] = (*ChangeClass, *_STATUSES, "changed")
"""What datasets are filtered by, most severe first."""
_FIELD_TEXT = 6_000
"""Characters of one field on each side."""
_CELLS = 200
"""Parts of a bar: the smallest one is half a percent wide, so that it is seen."""
_COUNT = 100
"""Room for the number of characters that an excerpt leaves out."""
_CONTEXT, _LONGEST = 120, 3_000
"""What is left of an unchanged text on each side of a change, and of a change."""
_MOST_CHUNKS = 400
"""Changes and unchanged texts of one field: each is an element of the page."""
_SAMPLE_SIZE, _PICTURES_SIZE = 12_000, 50_000
"""Bytes of HTML and of pictures of a sample that is rendered."""
_FIELDS_SIZE, _TAGS = 120_000, 11
"""Bytes of HTML that the fields of an example take at most, and the tags of a marked word."""
_NOTHING = Markup("")
_ORDER = {name: number for number, name in enumerate((*COMPARED, "id"))}
_STATUS_ORDER = {"removed": 0, "changed": 1, "added": 2, "equal": 3}


@dataclass(frozen=True, kw_only=True)
class _Change:
    """A dataset that differs."""

    name: str
    words: tuple[str, ...]
    head: Markup
    """All but its samples."""
    examples: tuple[Markup, ...]
    note: str
    """How many samples are left out."""
    effect: str
    bar: list[tuple[str, float, float]]


def diff_page(diff: CatalogDiff) -> str:
    """Return a diff as a page of less than 5 MB, whatever is in it."""
    heads = list(_heads(diff.changes))
    changes = list(_with_examples(diff.changes[: len(heads)], heads))
    counted = Counter(word for one in changes for word in one.words)
    problems = [(_short(label), _short(str(problem))) for label, problem in diff.problems]
    page = {
        "base": _short(diff.base),
        "head": _short(diff.head),
        "title": headline(diff),
        "headline": [(one, isinstance(one, Code)) for one in sentence(diff)],
        "problems": problems[:_MOST_ROWS],
        "problems_note": _left_out(len(problems) - _MOST_ROWS, "more problem"),
        "not_compared": _names(diff.not_compared),
        "notes": [_short(note) for note in diff.notes[:_MOST_ROWS]],
        "notes_note": _left_out(len(diff.notes) - _MOST_ROWS, "more note"),
        "reach_title": diff.says_reach and (reach_remark(diff) or f"{len(diff.reach):,}"),
        "reach": [
            (one.kind, display_value(one.name), users_text(one)) for one in diff.reach[:_MOST_ROWS]
        ],
        "reach_note": _left_out(len(diff.reach) - _MOST_ROWS, "more name"),
        "shared": _rows(diff.shared),
        "shared_note": _rows_note(diff.shared),
        "changes": changes,
        "filters": [(word, f"{counted[word]:,}") for word in _WORDS if counted[word]],
        "cut": _left_out(len(diff.changes) - len(changes), "more dataset"),
    }
    return standalone_page("diff.html", styles=["diff.css"], scripts=["diff.js"], page=page)


def _heads(changes: Iterable[DatasetChange]) -> Iterator[Markup]:
    """Return datasets as HTML, as many of the first ones as there is room for."""
    heads = (_head(change, number) for number, change in enumerate(changes, 1))
    return fitting(heads, _HEADS_SIZE, encoded_size)


def _head(change: DatasetChange, number: int) -> Markup:
    samples = change.samples
    corrections = () if samples is None else samples.corrections
    found = list(facts(change))
    return render(
        "change.html",
        number=number,
        severe=_SEVERE,
        change={
            "name": _short(change.name),
            "words": _words(change),
            "renamed_from": _short(change.old_name),
            "place": _short(change.place),
            "effect": effect(change),
            "bar": _bar(change),
            "rows": _rows(change.keys),
            "rows_note": _rows_note(change.keys),
            "inherited": [(_short(key), _short(name)) for key, name in inherited_keys(change)],
            "facts": [
                (_short(one.key), shorten("\n".join(one.lines), _FIELD_TEXT) or one.text)
                for one in found[:_MOST_ROWS]
            ],
            "facts_note": _left_out(len(found) - _MOST_ROWS, "more key"),
            "used_by": _names(change.used_by),
            "samples": "" if samples is None else _short(sample_line(samples)),
            "warnings": [] if samples is None else [_short(one) for one in samples.warnings],
            "corrections": [_short(one) for one in correction_lines(corrections)],
        },
    )


def _with_examples(changes: Sequence[DatasetChange], heads: Sequence[Markup]) -> Iterator[_Change]:
    """Yield datasets with their samples: each gets its share of the page, and what others left."""
    left = _EXAMPLES_SIZE
    numbers = count(1)
    for index, (change, head) in enumerate(zip(changes, heads, strict=True)):
        found = () if change.samples is None else change.samples.examples
        share = max(left // (len(changes) - index), min(left, _LEAST_SHARE))
        shown = tuple(examples_html(by_importance(found), numbers, most=share))
        left -= sum(map(encoded_size, shown))
        full = _left_out(len(found) - len(shown), "more example", why=", as the page is full")
        rest = "" if change.samples is None else left_out(change.samples)
        note = "; ".join(filter(None, (full, rest)))
        name, words = _short(change.name), _words(change)
        what = effect(change)
        yield _Change(
            name=name,
            words=words,
            head=head,
            examples=shown,
            note=note,
            effect=what,
            bar=_bar(change),
        )


def _words(change: DatasetChange) -> tuple[str, ...]:
    """Return the words that the filters match a dataset by."""
    status = [change.status] if change.status in _STATUSES else []
    words = (*map(str, change.kinds), *status)
    # A change without a class follows from others alone, or has another note.
    return words or (change.status,)


def _rows(changes: Iterable[KeyChange]) -> list[dict[str, Any]]:
    """Return what changed in the manifest: an old and a new value, or lines of YAML."""
    return [
        {
            "key": _short(one.key),
            "pair": one.pair,
            "lines": one.lines,
            "place": _short(one.places),
            "inherited_by": _names(one.inherited_by),
        }
        for one in islice(edits(changes), _MOST_ROWS)
    ]


def _rows_note(changes: Iterable[KeyChange]) -> str:
    return _left_out(sum(1 for _ in edits(changes)) - _MOST_ROWS, "more key")


def _bar(change: DatasetChange) -> list[tuple[str, float, float]]:
    """Return the parts of a bar: what happens to samples, its start and its width in percent."""
    row = row_of(change.samples, _CELLS)
    ends = list(accumulate(row.values()))
    starts = [0, *ends]
    return [
        (word, start * 100 / _CELLS, count * 100 / _CELLS)
        for (word, count), start in zip(row.items(), starts, strict=False)
        if count
    ]


def _names(names: Sequence[str]) -> str:
    return list_names(list(map(_short, names)), MAX_NAMES)


def _short(text: str) -> str:
    return shorten(text, _SHORT_TEXT)


def _left_out(number: int, word: str, why: str = "") -> str:
    return f"{count_text(number, word)} not shown{why}" if number > 0 else ""


def by_importance(examples: Iterable[Example]) -> list[Example]:
    """Return the samples that are gone first, then those whose input changed, target, and so on."""

    def importance(example: Example) -> tuple[int, int]:
        fields = (_ORDER.get(one.field, len(_ORDER)) for one in example.fields)
        return _STATUS_ORDER[example.status], min(fields, default=len(_ORDER))

    return sorted(examples, key=importance)


@dataclass(frozen=True, kw_only=True)
class _Field:
    """One field of a sample, before and after."""

    name: str
    before: tuple[Chunk, ...]
    after: tuple[Chunk, ...]
    note: str
    """What is left out."""


@dataclass(frozen=True, kw_only=True)
class ExampleLook:
    """How a page shows examples."""

    words: Mapping[str, str] = field(default_factory=dict)
    """What a status is called, if it has another name."""
    sides: tuple[str, str] = ("before", "after")
    is_page: bool = False
    """Whether the page is about these samples: they are rendered at once, and keys go to them."""
    is_code: bool = False
    """Whether the samples are about code."""

    def allowance(self) -> Allowance:
        """Return what room a sample has, rendered."""
        return Allowance(_SAMPLE_SIZE, pictures=_PICTURES_SIZE, is_code=self.is_code)


def examples_html(
    examples: Iterable[Example], numbers: Iterator[int], *, most: int
) -> Iterator[Markup]:
    """Yield examples as HTML, as many of the first ones as fit into `most` bytes.

    They are rendered too, as many as fit into half of what is left.

    Args:
        examples: What to show.
        numbers: Gives each example on the page a number of its own.
        most: Bytes of all of them together.
    """
    look = ExampleLook()
    numbered = ((next(numbers), one) for one in examples)
    made = ((number, one, example_html(one, number, look)) for number, one in numbered)
    shown = list(fitting(made, most, lambda one: encoded_size(one[2])))
    left = (most - sum(encoded_size(raw) for _, _, raw in shown)) // 2
    for number, one, raw in shown:
        html = _rendered(one, look) if one.samples and left > 0 else _NOTHING
        left -= encoded_size(html)
        if one.samples and left < 0:
            html = Markup('<p class="quiet small">Not rendered, as the page is full</p>')
        yield example_html(one, number, look, rendered=html) if html else raw


def example_html(
    example: Example, number: int, look: ExampleLook, *, rendered: Markup = _NOTHING
) -> Markup:
    """Return an example as HTML: what differs, word by word, above what is rendered of it."""
    fields = [_field(one, example.status) for one in example.fields]
    shown = list(fitting(fields, _FIELDS_SIZE, _field_size))
    return render(
        "example.html",
        number=number,
        status=example.status,
        word=look.words.get(example.status, example.status),
        label=example.label,
        is_page=look.is_page,
        sides=look.sides,
        fields=shown,
        fields_note=_left_out(len(fields) - len(shown), "more field"),
        rendered=_rendered(example, look) if look.is_page else rendered,
    )


def _field_size(one: _Field) -> int:
    return sum(html_size(chunk.text) + _TAGS for chunk in (*one.before, *one.after))


def _rendered(example: Example, look: ExampleLook) -> Markup:
    """Return the samples of an example as all pages show samples, beside each other."""
    titles = look.sides if len(example.samples) > 1 else ("",)
    return render(
        "rendered.html",
        is_open=look.is_page,
        bodies=[
            (title, body_html(one, look.allowance()))
            for title, one in zip(titles, example.samples, strict=True)
        ],
    )


def _field(change: FieldChange, status: str) -> _Field:
    # The whole text where there is nothing to compare it with.
    is_changed = status == "changed"
    context, longest = (_CONTEXT, _LONGEST) if is_changed else (_FIELD_TEXT, _FIELD_TEXT - _COUNT)
    chunks = excerpt(change.chunks[:_MOST_CHUNKS], context=context, longest=longest)
    before, less = _side(chunks, "-", marked=is_changed)
    after, more = _side(chunks, "+", marked=is_changed)
    left = len(change.chunks) - len(chunks)
    parts = f"{count_text(left, 'more part')} of the change not shown" if left > 0 else ""
    note = "; ".join(filter(None, dict.fromkeys((less, more, parts))))
    return _Field(name=change.field, before=before, after=after, note=note)


def _side(chunks: Sequence[Chunk], sign: str, *, marked: bool) -> tuple[tuple[Chunk, ...], str]:
    """Return one side of a change, and a note of what is left out of it."""
    left = _FIELD_TEXT
    shown, missing = [], 0
    for chunk in chunks:
        if chunk.sign not in ("=", sign):
            continue
        text, _ = cut(chunk.text, max(left, 0))
        left -= len(text)
        missing += len(chunk.text) - len(text)
        if text:
            shown.append(Chunk(chunk.sign if marked else "=", text))
    return tuple(shown), f"{count_text(missing, 'more character')} not shown" if missing else ""

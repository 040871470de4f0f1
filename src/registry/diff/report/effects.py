"""What a change does to the samples of a dataset, in one sentence and one bar, for all formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from registry.diff.models import DatasetChange, SampleChange
from registry.diff.severity import SAME_SAMPLES
from registry.errors import count_text
from registry.samples.fields import COMPARED

__all__ = [
    "Code",
    "Sentence",
    "bar_of",
    "effect",
    "effect_text",
    "left_out",
    "plain",
    "row_of",
]

_NOUNS = {
    "choices": "choice list",
    "metadata": "metadata record",
    "files": "file set",
    "sandbox": "sandbox setting",
    "setup": "setup script",
}
_FIELDS = ("target", *(field for field in COMPARED if field != "target"), "id")
"""What changes a score comes first."""
_MAPPED = "fields."
_PART = re.compile(r"\w+")
_FOLLOWING = ("bytes.", "pin", "named.", "code.", "moved.")
"""First parts of keys that are no part of a manifest."""


class Code(str):
    """A part of a sentence that comes from a catalog, which each format marks and escapes."""

    __slots__ = ()


Sentence = Sequence[str]
"""Parts of a text; those of a catalog are `Code`."""


def plain(sentence: Sentence) -> str:
    """Return a sentence as text."""
    return "".join(sentence)


def bar_of(samples: SampleChange | None) -> dict[str, int]:
    """Return how many samples have which fate; nothing if they were not compared."""
    if samples is None or samples.new is None or samples.old is None:
        return {}
    counts = {
        "removed": samples.removed,
        "changed": samples.changed,
        "added": samples.added,
        "moved": samples.moved,
    }
    # A sample may have changed and moved: as many as there is room for are shown as moved.
    kept = samples.old - samples.removed
    counts["moved"] = min(counts["moved"], max(kept - counts["changed"], 0))
    counts["same"] = max(kept - counts["changed"] - counts["moved"], 0)
    return {word: count for word, count in counts.items() if count}


def row_of(samples: SampleChange | None, cells: int) -> dict[str, int]:
    """Return how many of some cells each fate gets, at least one; the rest is the same."""
    parts = bar_of(samples)
    if not parts:
        return {}
    total = sum(parts.values())
    changed = {word: count for word, count in parts.items() if word != "same"}
    row = {word: max(count * cells // total, 1) for word, count in changed.items()}
    while sum(row.values()) > cells - bool(parts.get("same")):
        row[max(row, key=lambda word: row[word])] -= 1
    rest = cells - sum(row.values())
    if parts.get("same"):
        return {**row, "same": rest}
    largest = max(row, key=lambda word: parts[word])
    return {**row, largest: row[largest] + rest}


def effect(change: DatasetChange) -> str:
    """Return what happens to the samples of a dataset, and by which keys."""
    causes = _causes(change)
    samples = change.samples
    if change.status in ("added", "removed"):
        return _whole(change)
    if samples is None:
        is_known = change.kinds and SAME_SAMPLES.issuperset(change.kinds)
        said = "no sample changes" if is_known else ""
    elif samples.new is None:
        said = f"samples not compared ({samples.obstacle or 'no reason known'})"
    else:
        said = effect_text(samples)
    renamed = "renamed" if change.status == "renamed" else ""
    parts = [renamed, said, *causes]
    return "; ".join(filter(None, parts)) or ", ".join(change.kinds) or change.status


def _whole(change: DatasetChange) -> str:
    samples = change.samples
    number = None if samples is None else samples.new if change.status == "added" else samples.old
    return change.status if number is None else f"{change.status}, {count_text(number, 'sample')}"


def effect_text(samples: SampleChange) -> str:
    """Return how compared samples differ: `4 targets and 1 input of 2,000 samples change`."""
    assert samples.old is not None  # noqa: S101 (they were compared)
    if samples.is_same:
        return f"no sample of {samples.new:,} changes"
    parts = []
    if samples.changed:
        fields = sorted(samples.fields.items(), key=_place)
        nouns = [count_text(count, _NOUNS.get(field, field)) for field, count in fields]
        listed = " and ".join(filter(None, (", ".join(nouns[:-1]), nouns[-1])))
        verb = "changes" if sum(samples.fields.values()) == 1 else "change"
        parts.append(f"{listed} of {count_text(samples.old, 'sample')} {verb}")
    counts = {"removed": samples.removed, "added": samples.added, "moved": samples.moved}
    for word, count in counts.items():
        whole = "" if parts else f" of {count_text(samples.old, 'sample')}"
        if word == "added" and not parts:
            parts += [f"{count_text(count, 'sample')} added to {samples.old:,}"] if count else []
        else:
            parts += [f"{count:,}{whole} {word}"] if count else []
    return ", ".join(parts)


def _place(field: tuple[str, int]) -> int:
    return _FIELDS.index(field[0])


def _causes(change: DatasetChange) -> Iterator[str]:
    """Yield which keys of the manifest changed: those of the mapping, and others."""
    keys = [one.key for one in change.keys] + [one.key for one in change.inherited]
    mapped = _names(key.removeprefix(_MAPPED) for key in keys if key.startswith(_MAPPED))
    if mapped:
        yield f"mapping of {', '.join(mapped)}"
    roots = (key for key in keys if not key.startswith((_MAPPED, *_FOLLOWING)))
    others = _names(roots)
    if others:
        yield ", ".join(others)
    if change.samples is not None and change.samples.new is None and not (mapped or others):
        yield ", ".join(change.kinds[:1])


def _names(keys: Iterable[str]) -> list[str]:
    """Return the first parts of keys, each once, in the code marks of text and Markdown."""
    found = (_PART.match(key) for key in keys)
    return list(dict.fromkeys(f"`{match[0]}`" for match in found if match))


def left_out(samples: SampleChange, shown: int | None = None) -> str:
    """Return how many samples that differ are not among the examples.

    Args:
        samples: How samples differ.
        shown: The number of examples that a format shows, if it is not all of them.
    """
    examples = samples.examples[:shown]
    counts = {"changed": samples.changed, "added": samples.added, "removed": samples.removed}
    rest = {
        word: count - sum(one.status == word for one in examples) for word, count in counts.items()
    }
    parts = [f"{count:,} more {word}" for word, count in rest.items() if count > 0]
    return f"… {', '.join(parts)}" if parts else ""

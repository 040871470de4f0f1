"""The texts of a diff that all formats share: the headline, one line for each change.

What a change does to the samples of a dataset is one sentence and one bar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from registry.base.digest import to_json
from registry.base.escape import escape_control
from registry.diff.models import (
    CatalogDiff,
    DatasetChange,
    KeyChange,
    NewReach,
    SampleChange,
    terms_of,
)
from registry.diff.severity import SAME_SAMPLES, VERSION, ChangeClass
from registry.errors import count_text, list_names
from registry.manifest.origins import Origin
from registry.samples.fields import COMPARED
from registry.yamldoc.parser import plain_scalar

__all__ = [
    "MAX_NAMES",
    "SHA256",
    "Code",
    "Sentence",
    "bar_of",
    "classes_and_version",
    "counts",
    "cut_middle",
    "display_value",
    "effect",
    "effect_text",
    "headline",
    "inherited_keys",
    "left_out",
    "places",
    "plain",
    "reach_remark",
    "row_of",
    "sample_line",
    "sentence",
    "users_text",
    "value_text",
    "verdict",
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

MAX_NAMES = 20
"""Datasets that are named for one thing."""
_MAX_USERS = 5
_MAX_TERMS = 3
_BETWEEN = " · "
_MAX_EFFECTS = 3
"""Datasets that a headline names."""
_STATUSES = ("removed", "added", "renamed")

_MAX_LENGTH = 160
SHA256 = re.compile(r"\b((?:sha256:)?[0-9a-f]{12})[0-9a-f]{28,52}\b")


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
        fields = sorted(samples.fields.items(), key=lambda one: _FIELDS.index(one[0]))
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


# --- the headline, and the lines below it ---


def counts(diff: CatalogDiff) -> dict[str, int]:
    """Return the number of datasets by their most severe class, or by status without a class."""
    numbers = Counter[str](
        change.kinds[0] if change.kinds else change.status for change in diff.changes
    )
    words = [*(str(kind) for kind in ChangeClass), *_STATUSES]
    return {word: numbers[word] for word in words if numbers[word]}


def headline(diff: CatalogDiff) -> str:
    """Return the diff in one line of text."""
    return plain(sentence(diff))


def sentence(diff: CatalogDiff) -> Sentence:
    """Return the diff in one line: what happens to samples, and what was not compared."""
    if diff.verdict:
        return [diff.verdict]
    problems = len(diff.base_problems) + len(diff.head_problems)
    rest = [
        "the index changed" if diff.shared else "",
        f"{len(diff.reach):,} new in reach" if diff.reach else "",
        count_text(problems, "problem") if problems else "",
        f"{count_text(len(diff.not_compared), 'dataset')} not compared"
        if diff.not_compared
        else "",
    ]
    parts = [*_terms(diff), *_of_datasets(diff.changes), *([one] for one in rest if one)]
    joined = [word for part in parts for word in (_BETWEEN, *part)]
    return joined[1:] or ["no differences"]


def _of_datasets(changes: Sequence[DatasetChange]) -> Iterator[list[str]]:
    """Yield which datasets are gone, what happens to the first that changed, and which are new."""
    by_status = {
        status: [one for one in changes if one.status == status] for status in ("removed", "added")
    }
    # What others only inherit is said where it was edited.
    changed = [one for one in changes if one.status in ("changed", "renamed")]
    changed.sort(key=lambda one: not one.keys)
    yield from _whole_datasets(by_status["removed"], "removed")
    for one in changed[:_MAX_EFFECTS]:
        yield [Code(escape_control(one.name)), f": {effect(one)}"]
    more = len(changed) - _MAX_EFFECTS
    yield from [[f"{count_text(more, 'more dataset')} changed"]] if more > 0 else []
    yield from _whole_datasets(by_status["added"], "added")


def _whole_datasets(changes: Sequence[DatasetChange], word: str) -> Iterator[list[str]]:
    if not changes:
        return
    parts = [f"{count_text(len(changes), 'dataset')} {word} ("]
    for one in changes[:_MAX_EFFECTS]:
        number = effect(one).removeprefix(word)
        parts += [Code(escape_control(one.name)), f"{number}; "]
    more = len(changes) - _MAX_EFFECTS
    parts[-1] = parts[-1].removesuffix("; ") + (f"; and {more:,} more)" if more > 0 else ")")
    yield parts


def _terms(diff: CatalogDiff) -> Iterator[list[str]]:
    """Yield which licenses and kinds of access changed, which is said before anything else."""
    found: dict[tuple[str, str, str], list[str]] = {}
    owners = [(one.name, one.keys) for one in diff.changes] + [("the index", diff.shared)]
    for name, keys in owners:
        for one in keys:
            if one.is_of_terms:
                terms = (one.key, terms_of(one.old), terms_of(one.new))
                found.setdefault(terms, []).extend([name, *one.inherited_by])
    for (key, old, new), names in list(found.items())[:_MAX_TERMS]:
        of = list_names(names, _MAX_USERS)
        words = [Code(escape_control(one)) for one in (old, new, of)]
        yield [f"{key} changed from ", words[0], " to ", words[1], " (", words[2], ")"]
    rest = len({name for names in list(found.values())[_MAX_TERMS:] for name in names})
    if rest:
        yield [f"terms changed of {count_text(rest, 'more dataset')}"]


def reach_remark(diff: CatalogDiff) -> str:
    """Return what follows the list of new reach: that it is empty, or that it may be incomplete."""
    none = "" if diff.reach else "none beyond what the base reaches"
    if diff.is_complete:
        return none
    return f"{none} (in what could be read)".strip()


def users_text(reach: NewReach) -> str:
    """Return which datasets reach something: at most a few, in one short line."""
    if not reach.datasets:
        return "repository" if reach.kind == "nested index" else "index"
    word = "dataset" if len(reach.datasets) == 1 else "datasets"
    return display_value(f"{word} {list_names(reach.datasets, _MAX_USERS)}")


def verdict(change: DatasetChange) -> str:
    """Return how a dataset changed: its classes of change, or that it was added or removed."""
    renamed = f"renamed from {change.old_name}" if change.status == "renamed" else ""
    return "; ".join(filter(None, [renamed, *classes_and_version(change)])) or change.status


def classes_and_version(change: DatasetChange) -> Iterator[str]:
    """Yield the classes of a dataset's changes, the most severe first, and its versions."""
    kinds: Sequence[str] = change.kinds
    if len(kinds) > 1:  # "order only" would be false beside another class
        kinds = [kind.removesuffix(" only") for kind in kinds]
    yield ", ".join(kinds)
    for one in change.keys:
        if one.key == VERSION:
            yield f"version {value_text(one.old)} → {value_text(one.new)}"


def value_text(origin: Origin | None) -> str:
    """Return a value for people."""
    return "(none)" if origin is None or origin.value is None else display_value(origin.value)


def places(change: KeyChange) -> str:
    """Return the places of the old and the new value, or the one place that both have."""
    found = [one.place for one in (change.old, change.new) if one is not None]
    return escape_control(" → ".join(dict.fromkeys(found)))


def inherited_keys(change: DatasetChange) -> Iterator[tuple[str, str]]:
    """Yield keys that change with another dataset, and that dataset."""
    keys: dict[str, list[str]] = {}
    for one in change.inherited:
        keys.setdefault(one.dataset, []).append(one.key)
    for dataset, listed in keys.items():
        yield ", ".join(listed), dataset or "the index"


def sample_line(samples: SampleChange) -> str:
    """Return how the samples differ, in numbers; nothing of a removed dataset."""
    if samples.new is None:
        return samples.note
    if samples.old is None:
        numbers = f"{samples.new:,}"
    elif samples.is_same:
        numbers = f"no difference in {samples.new:,}"
    else:
        fields = ", ".join(
            field if count == samples.changed else f"{field} of {count:,}"
            for field, count in samples.fields.items()
        )
        by_status = {
            "added": samples.added,
            "removed": samples.removed,
            f"changed ({fields})": samples.changed,
            "moved": samples.moved,
        }
        listed = ", ".join(f"{number:,} {word}" for word, number in by_status.items() if number)
        matched = f"matched by {samples.matched_by}"
        matched += f", {samples.similar:,} by similar words" if samples.similar else ""
        if samples.unsearched:
            matched += (
                f"; {samples.unsearched:,} added and removed were not searched for similar ones"
            )
        numbers = f"{samples.old:,} → {samples.new:,}: {listed}; {matched}"
    return f"{numbers}; {samples.note}" if samples.note else numbers


def display_value(value: Any) -> str:
    """Return a value of a manifest as one short line; digests are cut to 12 digits."""
    # Quotes only where a str could be read as another type, or its whitespace be missed.
    is_plain = isinstance(value, str) and value.strip() == value != "" and value[0] not in '"[{'
    is_plain = is_plain and isinstance(plain_scalar(value), str)
    text = escape_control(SHA256.sub(r"\1…", value if is_plain else to_json(value)))
    return cut_middle(text, _MAX_LENGTH)


def cut_middle(text: str, length: int) -> str:
    """Return a text with its middle left out, and counted, if it is longer than some characters."""
    if len(text) <= length:
        return text
    half = (length - 3) // 2
    return f"{text[:half]} …{count_text(len(text) - 2 * half, 'more character')}… {text[-half:]}"

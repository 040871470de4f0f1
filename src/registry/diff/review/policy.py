"""Decide whether a diff has changes of the classes that a project does not accept."""

from __future__ import annotations

from collections.abc import Iterator

from registry.diff.models import CatalogDiff, DatasetChange
from registry.diff.severity import ChangeClass

__all__ = ["POLICY_CLASSES", "parse_classes", "violations"]

_STATUSES = ("removed", "added", "renamed")
_WORDS = {kind: kind.partition(" ")[0] for kind in ChangeClass}
POLICY_CLASSES: tuple[str, ...] = (*_WORDS.values(), *_STATUSES, "index", "reach")
"""What `--fail-on` names: the first words of the classes, and what has no class."""

_ANY_FIELD = (ChangeClass.INPUTS, ChangeClass.TARGETS, ChangeClass.METADATA, ChangeClass.IDS)
# New bytes, code, tables, items and examples may change any field, whatever class their own key
# has, and `on_duplicate` writes ids.
_OPAQUE = (
    *("bytes", "code", "package", "pin", "source", "concat", "join", "explode", "mapper"),
    *("on_duplicate", "corrections", "fewshot"),
)


def parse_classes(text: str) -> frozenset[str]:
    """Return the classes in a list that is separated by commas.

    Raises:
        ValueError: one of them does not exist; the message names those that do.
    """
    found = [word.strip() for word in text.split(",")]
    for word in found:
        if word not in POLICY_CLASSES:
            raise ValueError(f"no class '{word}' (classes: {', '.join(POLICY_CLASSES)})")
    return frozenset(found)


def violations(diff: CatalogDiff, classes: frozenset[str]) -> dict[str, list[str]]:
    """Return class → what has such a change, for those of `classes` that the diff has."""
    found: dict[str, list[str]] = {}
    for change in diff.changes:
        words = {_WORDS[kind] for kind in _classes(change)}
        if change.status == "renamed":
            words.add("removed")  # for all who use the old name
        for word in words if change.status == "changed" else {*words, change.status}:
            found.setdefault(word, []).append(change.name)
    found["index"] = [one.key for one in diff.shared]
    found["reach"] = [f"{one.kind} {one.name}" for one in diff.reach]
    return {word: found[word] for word in POLICY_CLASSES if word in classes and found.get(word)}


def _classes(change: DatasetChange) -> Iterator[ChangeClass]:
    """Yield the classes of a change, as its keys and its samples show them."""
    yield from change.kinds
    samples = change.samples
    if change.status == "added":  # all that it has is new
        return
    if samples is not None and samples.old is not None:
        yield from samples.kinds
        if samples.added and samples.removed:  # perhaps the same ones, too different to be matched
            yield from _ANY_FIELD
    elif any(key.startswith(_OPAQUE) for key in _keys(change)):
        yield from _ANY_FIELD


def _keys(change: DatasetChange) -> Iterator[str]:
    yield from (one.key for one in change.keys if one.kind != ChangeClass.MOVED)
    yield from (one.key for one in change.inherited)

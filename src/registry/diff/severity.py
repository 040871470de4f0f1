"""The classes of change by severity, and the class that each key belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

__all__ = [
    "NOT_COMPARABLE",
    "SAME_SAMPLES",
    "VERSION",
    "ChangeClass",
    "by_severity",
    "change_class",
    "is_digest",
    "is_reported",
    "is_result",
]


class ChangeClass(StrEnum):
    """What a change affects, most severe first."""

    SOURCE = "source bytes"
    CODE = "code"
    INPUTS = "inputs"
    TARGETS = "targets"
    IDS = "ids"
    CORRECTIONS = "corrections"
    METADATA = "metadata"
    SUBSET = "subset"
    ORDER = "order only"
    MOVED = "moved file"
    LOCK = "lock only"
    SCORING = "scoring only"
    DOCUMENTATION = "documentation only"


SAME_SAMPLES = frozenset({ChangeClass.LOCK, ChangeClass.SCORING, ChangeClass.DOCUMENTATION})
"""The classes whose changes leave the samples as they are."""
NOT_COMPARABLE = frozenset(
    {ChangeClass.INPUTS, ChangeClass.TARGETS, ChangeClass.IDS, ChangeClass.SUBSET}
)
"""The classes of changed samples after which results are not comparable with those before."""
VERSION = "pin.version"
"""The key of a dataset's version, which follows from all other changes of the data."""


# A key has one class, though it may affect more: a new source changes inputs, too.
# The longest row that is a prefix of a key applies.
_CLASS_OF_KEY = {
    "bytes": ChangeClass.SOURCE,
    "package": ChangeClass.SOURCE,
    "pin": ChangeClass.SOURCE,
    VERSION: ChangeClass.DOCUMENTATION,
    "pin.code": ChangeClass.CODE,
    "pin.files": ChangeClass.INPUTS,
    "pin.images": ChangeClass.INPUTS,
    "pin.sandbox": ChangeClass.INPUTS,
    "source": ChangeClass.SOURCE,
    "source.columns": ChangeClass.INPUTS,
    "source.split": ChangeClass.SUBSET,
    "code": ChangeClass.CODE,
    "corrections": ChangeClass.CORRECTIONS,
    "pin.corrections": ChangeClass.CORRECTIONS,
    "concat": ChangeClass.SOURCE,
    "join": ChangeClass.INPUTS,
    "join.source": ChangeClass.SOURCE,
    "fields": ChangeClass.INPUTS,
    "fields.target": ChangeClass.TARGETS,
    "fields.id": ChangeClass.IDS,
    "fields.metadata": ChangeClass.METADATA,
    "mapper": ChangeClass.INPUTS,
    "moved": ChangeClass.MOVED,
    "named": ChangeClass.INPUTS,
    "auto_id": ChangeClass.IDS,
    "explode": ChangeClass.SUBSET,
    "where": ChangeClass.SUBSET,
    "on_duplicate": ChangeClass.SUBSET,
    "sample": ChangeClass.SUBSET,
    "fewshot": ChangeClass.INPUTS,
    "limit": ChangeClass.SUBSET,
    "only": ChangeClass.SUBSET,
    "shuffle": ChangeClass.ORDER,
    "seed": ChangeClass.ORDER,
    "shuffle_choices": ChangeClass.ORDER,
    "eval": ChangeClass.SCORING,
    "expect": ChangeClass.DOCUMENTATION,
    "accept": ChangeClass.DOCUMENTATION,
    "description": ChangeClass.DOCUMENTATION,
    "homepage": ChangeClass.DOCUMENTATION,
    "license": ChangeClass.DOCUMENTATION,
    "access": ChangeClass.DOCUMENTATION,
    "tags": ChangeClass.DOCUMENTATION,
    "languages": ChangeClass.DOCUMENTATION,
    "deprecated": ChangeClass.DOCUMENTATION,
}

_RESULTS = ("pin.samples", "pin.columns", "pin.ordered", "pin.unordered", "pin.original")
_DIGESTS = (
    *("pin.ordered", "pin.unordered", "pin.original"),
    *("pin.original.ordered", "pin.original.unordered"),
)
# The spec's digest repeats what its own keys report; size, ETag and parts repeat what the
# sha256 reports.
_REDUNDANT = re.compile(
    r"pin\.(spec|format|(sources\[\d+\]|corrections)\.(asked|requested|etag|version_id|size|parts\..*))"
)


def change_class(key: str) -> ChangeClass:
    """Return the class of a change to the key.

    Raises:
        KeyError: no row of the table is a prefix of it.
    """
    prefix = key
    while prefix not in _CLASS_OF_KEY:
        prefix = re.sub(r"(\.[^.\[\]]*|\[[^\[\]]*\]|.)$", "", prefix)
        if not prefix:
            raise KeyError(key)
    return _CLASS_OF_KEY[prefix]


def is_result(key: str) -> bool:
    """Return whether a key of a pin describes the samples, which follow from all other keys."""
    return key.startswith(_RESULTS)


def is_digest(key: str) -> bool:
    """Return whether a key is a digest of the samples, which is meaningless to people."""
    return key in _DIGESTS


def is_reported(key: str) -> bool:
    """Return whether a change to the key is reported: no other key repeats it."""
    return _REDUNDANT.fullmatch(key) is None


def by_severity(kinds: Iterable[ChangeClass | Literal[""]]) -> tuple[ChangeClass, ...]:
    """Return the distinct classes, most severe first."""
    found = set(kinds)
    return tuple(kind for kind in ChangeClass if kind in found)

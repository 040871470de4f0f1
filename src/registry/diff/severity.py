"""The classes of change, worst first, and which key belongs to which."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = [
    "DOCUMENTATION",
    "IDS",
    "INPUTS",
    "KINDS",
    "METADATA",
    "ORDER",
    "SOURCE",
    "SUBSET",
    "TARGETS",
    "is_digest",
    "is_result",
    "is_told",
    "kind_of",
    "worst_first",
]

SOURCE = "source bytes"
INPUTS = "inputs"
TARGETS = "targets"
IDS = "ids"
METADATA = "metadata"
SUBSET = "subset"
ORDER = "order only"
DOCUMENTATION = "documentation only"

KINDS = (SOURCE, INPUTS, TARGETS, IDS, METADATA, SUBSET, ORDER, DOCUMENTATION)
"""Worst first."""

# The longest key that a key begins with decides.
_KIND_OF_KEY = {
    "bytes": SOURCE,
    "pin": SOURCE,
    "source": SOURCE,
    "source.columns": INPUTS,
    "source.split": SUBSET,
    "concat": SOURCE,
    "join": INPUTS,
    "join.source": SOURCE,
    "fields": INPUTS,
    "fields.target": TARGETS,
    "fields.id": IDS,
    "fields.metadata": METADATA,
    "mapper": INPUTS,
    "auto_id": IDS,
    "explode": SUBSET,
    "where": SUBSET,
    "on_duplicate": SUBSET,
    "sample": SUBSET,
    "limit": SUBSET,
    "shuffle": ORDER,
    "seed": ORDER,
    "shuffle_choices": ORDER,
    "expect": DOCUMENTATION,
    "description": DOCUMENTATION,
    "homepage": DOCUMENTATION,
    "license": DOCUMENTATION,
    "tags": DOCUMENTATION,
}

# What a lockfile says of the samples follows from the rest, unless nothing else has changed.
_RESULTS = ("pin.samples", "pin.columns", "pin.ordered", "pin.unordered")
_DIGESTS = ("pin.ordered", "pin.unordered")
# Others say better what the manifest is, and what a server says beside the bytes.
_NOT_TOLD = re.compile(r"pin\.(spec|format|sources\[\d+\]\.(asked|requested|etag|version_id|size))")


def kind_of(key: str) -> str:
    """Return the class of a change of the key; a KeyError means that the table lacks it."""
    while key not in _KIND_OF_KEY:
        shorter = re.sub(r"(\.[^.\[\]]*|\[[^\[\]]*\]|.)$", "", key)
        if not shorter:
            raise KeyError(key)
        key = shorter
    return _KIND_OF_KEY[key]


def is_result(key: str) -> bool:
    """Return whether a key says what came out, and not what went in."""
    return key.startswith(_RESULTS)


def is_digest(key: str) -> bool:
    """Return whether a key is a digest of what came out, which says nothing to people."""
    return key in _DIGESTS


def is_told(key: str) -> bool:
    """Return whether a change of the key says something that no other key says."""
    return _NOT_TOLD.fullmatch(key) is None


def worst_first(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the classes without repetition, the worst first."""
    found = set(kinds)
    return tuple(kind for kind in KINDS if kind in found)

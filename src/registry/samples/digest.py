"""Digests of samples, equal on every machine and for every file that has the same samples.

A sample's digest is the sha256 of its canonical JSON: the fields that are not None, without the ids
of messages, which are random if the source has none. A dataset has two digests, the sha256 of these
concatenated: in the order of the samples, and sorted.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from registry.base.digest import encode_value
from registry.base.materials import SamplesId
from registry.samples.fields import FIELDS, field_data
from registry.samples.sample import Sample

if TYPE_CHECKING:
    from registry.samples.messages import ChatMessage

__all__ = [
    "SamplesDigest",
    "changed_samples",
    "digest_samples",
    "messages_data",
    "sample_digest",
    "samples_id",
]

_WIDTH = 32


@dataclass(frozen=True)
class SamplesDigest:
    """The digests of a dataset that its pin contains."""

    samples: int
    """Number of samples."""
    ordered: str
    """Digest in the order of the samples."""
    unordered: str
    """Digest that does not depend on the order."""
    each: bytes = field(repr=False)
    """Digests of the samples concatenated, 32 bytes each."""

    @property
    def samples_id(self) -> SamplesId:
        """The part that identifies the samples."""
        return SamplesId(self.samples, self.ordered)


class Stored(Protocol):
    """A dataset whose samples can be had as they are stored."""

    def as_stored(self) -> Iterable[Sample]:
        """Return the samples with file names relative to the source."""


def samples_id(dataset: Stored) -> SamplesId:
    """Return which samples a dataset has; all of them are read."""
    return digest_samples(dataset.as_stored()).samples_id


def digest_samples(samples: Iterable[Sample]) -> SamplesDigest:
    """Return the digests of samples; only one sample is in memory at a time."""
    each = bytearray()
    for sample in samples:
        each += sample_digest(sample)
    ordered = np.sort(np.frombuffer(each, dtype=f"S{_WIDTH}"), kind="stable")
    count = len(each) // _WIDTH
    return SamplesDigest(count, _sha256(each), _sha256(ordered.tobytes()), bytes(each))


def _sha256(data: bytes | bytearray) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# Created once, as that takes longer than encoding a sample. Same options as `canonical_json`, which
# is not called because it would encode each value a second time.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def sample_digest(sample: Sample) -> bytes:
    """Return the digest of one sample, 32 bytes."""
    values = {name: value for name, value in vars(sample).items() if value is not None}
    for name in _ENCODED.keys() & values.keys():
        values[name] = _ENCODED[name](values[name])
    return hashlib.sha256(_ENCODE(values).encode("utf-8", "surrogatepass")).digest()


def messages_data(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """Return the content of messages as data: what is set, without their ids."""
    return [message.model_dump(exclude={"id"}, exclude_none=True) for message in messages]


def _json(name: str, value: Any) -> Any:
    return encode_value(field_data(name, value))


# Fields that may have other values than strings and lists of strings, which are JSON as they are.
_ENCODED: dict[str, Callable[[Any], Any]] = {
    **{field.name: partial(_json, field.name) for field in FIELDS if field.kind == "json"},
    "input": lambda value: value if isinstance(value, str) else encode_value(messages_data(value)),
}


def changed_samples(old: SamplesDigest, new: SamplesDigest) -> int:
    """Return the number of samples that were added or removed, whichever is more."""
    before, after = (
        Counter(each[start : start + _WIDTH] for start in range(0, len(each), _WIDTH))
        for each in (old.each, new.each)
    )
    return max((before - after).total(), (after - before).total())

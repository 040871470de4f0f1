"""Digests of samples: the same on every machine, whatever file they were read from.

A sample's digest is the sha256 of its canonical JSON: the fields that are not None, without the
ids of messages, which are random where the source has none. The samples' is the sha256 of these
digests, one after the other: in the order of the samples, and sorted.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from registry.base.digest import encode_value
from registry.samples.sample import Sample, SandboxEnvironmentSpec

__all__ = ["SamplesDigest", "changed_samples", "digest_samples", "sample_digest"]

_WIDTH = 32


@dataclass(frozen=True)
class SamplesDigest:
    """What a pin says of samples."""

    samples: int
    """How many there are."""
    ordered: str
    """Digest of them in their order."""
    unordered: str
    """Digest of them in any order."""
    each: bytes = field(repr=False)
    """Digests of the samples one after the other, 32 bytes each."""


def digest_samples(samples: Iterable[Sample]) -> SamplesDigest:
    """Return the digests of samples; they are taken one by one, 32 bytes of each are kept."""
    each = bytearray()
    for sample in samples:
        each += sample_digest(sample)
    ordered = np.sort(np.frombuffer(each, dtype=f"S{_WIDTH}"), kind="stable")
    count = len(each) // _WIDTH
    return SamplesDigest(count, _sha256(each), _sha256(ordered.tobytes()), bytes(each))


def _sha256(data: bytes | bytearray) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# One encoder for all: to make one takes longer than to encode a sample. Its output is that of
# `canonical.canonical_json` for what `encode_value` gives.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def sample_digest(sample: Sample) -> bytes:
    """Return the digest of one sample, 32 bytes."""
    values = {name: value for name, value in vars(sample).items() if value is not None}
    for name in _ENCODED.keys() & values.keys():
        values[name] = _ENCODED[name](values[name])
    return hashlib.sha256(_ENCODE(values).encode("utf-8", "surrogatepass")).digest()


def _input(value: Any) -> Any:
    if isinstance(value, str):
        return value
    turns = [message.model_dump(exclude={"id"}, exclude_none=True) for message in value]
    return encode_value(turns)


def _sandbox(spec: SandboxEnvironmentSpec) -> Any:
    return encode_value([spec.type, spec.config])


# Fields that are not text or lists of text already.
_ENCODED = {
    "input": _input,
    "metadata": encode_value,
    "files": encode_value,
    "sandbox": _sandbox,
}


def changed_samples(old: SamplesDigest, new: SamplesDigest) -> int:
    """Return how many samples one has that the other has not; the larger of the two numbers."""
    before, after = _counted(old.each), _counted(new.each)
    return max((before - after).total(), (after - before).total())


def _counted(each: bytes) -> Counter[bytes]:
    return Counter(each[start : start + _WIDTH] for start in range(0, len(each), _WIDTH))

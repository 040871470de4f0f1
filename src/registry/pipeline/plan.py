"""Decide how to open a dataset: from the cache, or by building its first or all samples."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from registry.pipeline.fingerprint import (
    code_of,
    find_all,
    first_fingerprint,
    parts_fingerprint,
    pin_all,
)
from registry.sources.pins import Pins, SourceContext, UnknownDigestError
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.cache.cache import CacheEntry
    from registry.manifest.models import DatasetSpec

__all__ = ["Plan", "Scope", "find_samples", "first_samples", "plan"]


Scope = Literal["cached", "remote", "first", "all"]


class Plan(Struct, frozen=True, kw_only=True):
    """What to do to open a dataset."""

    scope: Scope
    """Open the entry, fetch it, build the first samples, or build all samples."""
    pins: Pins
    """Versions of the sources; probes if only the first samples are read."""
    fingerprint: str
    """Key of the entry in the cache."""
    entry: CacheEntry | None = None
    """The samples in the cache."""
    limit: int | None = None
    """Maximum number of samples of the entry, from the first; None for all."""
    parts: bool = False
    """Whether they are made of the parts of files, where the lockfile has these."""


def plan(
    spec: DatasetSpec, context: SourceContext, *, verify: bool = False, full: bool = False
) -> Plan:
    """Decide how to open a dataset; nothing is built, and each source is looked up once.

    Args:
        spec: The dataset.
        context: How its sources may be read.
        verify: Use cached samples only if their digest is correct.
        full: Read all samples even if the first ones are enough.

    Raises:
        SourceError: a source can't be pinned.
    """
    limit = None if full or context.refresh else first_samples(spec)
    pins = None
    # Pinning reads complete files. If the first samples may be enough, use only known digests.
    with contextlib.suppress(UnknownDigestError):
        pins = pin_all(spec, replace(context, whole=context.whole and limit is None))
    if pins is not None:
        # A remote entry with all samples is only fetched if the first ones alone are not here.
        complete = _plan_all(spec, pins, context, verify=verify, remote=limit is None)
        if complete.scope == "cached" or limit is None:
            return complete
    if limit is not None:
        first = _plan_first(spec, pins, context, limit, verify=verify)
        if first is not None:
            return first
    return _plan_all(spec, pins or pin_all(spec, context), context, verify=verify)


def _plan_all(
    spec: DatasetSpec, pins: Pins, context: SourceContext, *, verify: bool, remote: bool = True
) -> Plan:
    fingerprint, entry = find_all(spec, pins, partial(find_samples, context, verify=verify))
    if entry is not None:
        return Plan(scope="cached", pins=pins, fingerprint=fingerprint, entry=entry)
    by_parts = parts_fingerprint(spec, pins)
    for key in filter(None, (fingerprint, by_parts)):
        if remote and _has_remote(context, key):
            return Plan(scope="remote", pins=pins, fingerprint=key)
    if by_parts is None or not context.parts or _has_whole_files(pins, context):
        return Plan(scope="all", pins=pins, fingerprint=fingerprint)
    return Plan(scope="all", pins=pins, fingerprint=by_parts, parts=True)


def _has_whole_files(pins: Pins, context: SourceContext) -> bool:
    files = (file for pinned in pins.all_sources for file in pinned.files if file.parts)
    return all(context.cache.blob(file.sha256).is_file() for file in files)


def _has_remote(context: SourceContext, fingerprint: str) -> bool:
    """Return whether the remote cache has an entry. No lock is held: it may answer slowly."""
    remote = None if context.refresh else context.remote()
    return remote is not None and remote.has(fingerprint)


def _plan_first(
    spec: DatasetSpec, pins: Pins | None, context: SourceContext, limit: int, *, verify: bool
) -> Plan | None:
    """Decide how to open the first samples; None if they can't be read without the rest."""
    # With a complete lock a probe either proves that the bytes are pinned or returns None, so the
    # entry has the fingerprint of the pins, and is found without a request.
    locked = pins if context.lock is not None and context.lock.complete else None
    if locked is not None:
        fingerprint = first_fingerprint(spec, locked, limit)
        entry = find_samples(context, fingerprint, verify=verify)
        if entry is not None or _has_remote(context, fingerprint):
            scope: Scope = "remote" if entry is None else "cached"
            return Plan(scope=scope, pins=locked, fingerprint=fingerprint, entry=entry, limit=limit)
    if pins is not None:
        complete = _plan_all(spec, pins, context, verify=verify)
        if complete.scope != "all":
            return complete
    found = [reader_of(source).probe(context) for source in spec.sources]
    probes = Pins(tuple(one for one in found if one is not None), code=code_of(spec))
    if len(probes.sources) < len(found):
        return None
    fingerprint = first_fingerprint(spec, locked or probes, limit)
    entry = find_samples(context, fingerprint, verify=verify)
    scope = "first" if entry is None else "cached"
    return Plan(scope=scope, pins=probes, fingerprint=fingerprint, entry=entry, limit=limit)


def first_samples(spec: DatasetSpec) -> int | None:
    """Return how many samples from the start of the sources are enough; None for all."""
    needs_all = (
        spec.view.shuffle
        or spec.view.only is not None
        or spec.sample is not None
        or spec.join is not None
        # That no example is one of the samples is known of all samples or not at all.
        or spec.companion is not None
        or spec.corrections is not None  # each row must be used
        or spec.duplicate_rule == "drop"
    )
    # With these, the number of samples does not determine the number of records.
    by_record = spec.where is not None or spec.explode is not None or spec.mapper is not None
    if needs_all or (by_record and not all(source.is_stream for source in spec.sources)):
        return None
    return spec.view.limit


def find_samples(
    context: SourceContext, fingerprint: str, *, verify: bool = False
) -> CacheEntry | None:
    """Return the cached samples, or None; a damaged entry is moved to the quarantine."""
    entry = None if context.refresh else context.cache.find("samples", fingerprint)
    if entry is None or (verify and not context.cache.verify("samples", entry)):
        return None
    return entry

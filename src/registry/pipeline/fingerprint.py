"""The key of samples in the cache: a digest of everything that determines them.

Changing the value makes every user build every dataset again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.cache_access import CACHE_FORMAT
from registry.base.digest import digest_of
from registry.manifest.models import DatasetSpec
from registry.manifest.serialize import data_of, with_order
from registry.sources.pins import Pins
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.cache.cache import CacheEntry
    from registry.manifest.source import Source
    from registry.sources.pins import SourceContext

__all__ = [
    "code_of",
    "find_all",
    "first_fingerprint",
    "has_own_examples",
    "is_beside",
    "parts_fingerprint",
    "pin_all",
    "samples_fingerprint",
]

_RULES = 1
"""Version of the rules by which examples are chosen and compared with samples."""
_OTHER_KEYS = {*DatasetSpec.__struct_fields__} - {"explode", "where", "fields", "sample"}


def pin_all(spec: DatasetSpec, context: SourceContext) -> Pins:
    """Pin all that a dataset reads, and the code of its mapper."""
    side = None if spec.join is None else reader_of(spec.join.source).pin(context)
    sources = tuple(reader_of(source).pin(context) for source in spec.sources)
    corrections = None if spec.corrections is None else reader_of(spec.corrections).pin(context)
    companion = None if spec.companion is None else pin_all(spec.companion, context)
    return Pins(sources, side, code_of(spec), corrections, companion)


def has_own_examples(spec: DatasetSpec, pins: Pins) -> bool:
    """Return whether examples are taken from the samples of the dataset itself.

    That is so if both have the same records by the same mapping, whatever they are called.
    """
    if spec.companion is None or pins.companion is None:
        return False
    plain = replace(spec, sample=None, fewshot=None, companion=None)
    own = samples_fingerprint(plain, replace(pins, companion=None))
    return own == samples_fingerprint(replace(spec.companion, sample=None), pins.companion)


def code_of(spec: DatasetSpec) -> str | None:
    """Return the digest of the mapper's package, which is not imported; None without a mapper.

    Raises:
        MappingError: the package is not installed, or its source can't be read.
    """
    if spec.mapper is None:
        return None
    from registry.mapping.custom import mapper_digest  # few datasets have one

    return mapper_digest(spec.mapper)


def first_fingerprint(spec: DatasetSpec, pins: Pins, limit: int) -> str:
    """Return the key of the first samples, built without the others."""
    return digest_of({"first": limit, "of": samples_fingerprint(spec, pins)})


def parts_fingerprint(spec: DatasetSpec, pins: Pins) -> str | None:
    """Return the key of samples made of the parts that are pinned; None if none are.

    A key of its own, since nothing compares the parts with the digest of the whole file. So a
    lockfile that has wrong ones changes no samples but its own.
    """
    files = (file for pinned in pins.all_sources for file in pinned.files)
    parts = [[file.sha256, file.parts.sha256] for file in files if file.parts is not None]
    return digest_of({"parts": parts, "of": samples_fingerprint(spec, pins)}) if parts else None


def find_all(
    spec: DatasetSpec, pins: Pins, find: Callable[[str], CacheEntry | None]
) -> tuple[str, CacheEntry | None]:
    """Return the samples that `find` has, of whole files or of their parts, and their key."""
    whole = samples_fingerprint(spec, pins)
    for fingerprint in filter(None, (whole, parts_fingerprint(spec, pins))):
        entry = find(fingerprint)
        if entry is not None:
            return fingerprint, entry
    return whole, None


def samples_fingerprint(spec: DatasetSpec, pins: Pins) -> str:
    """Return the digest of everything that determines the samples, without the view."""
    rare = (pins.code, pins.side, pins.corrections, pins.companion)
    if any(one is not None for one in rare):
        return _with_examples(spec, pins, _fingerprint(spec, pins))
    identities = [one.identity for one in pins.sources]
    known: tuple[list[Any], str] | None = spec.derived.get("fingerprint")
    if known is None or known[0] != identities:
        known = spec.derived["fingerprint"] = identities, _fingerprint(spec, pins)
    return known[1]


def _with_examples(spec: DatasetSpec, pins: Pins, plain: str) -> str:
    """Return the fingerprint of samples with examples, given that of the samples without."""
    if spec.examples is None or spec.companion is None or pins.companion is None:
        return plain
    # All that determines the samples of the companion, and their order.
    companion = samples_fingerprint(spec.companion, pins.companion)
    how = with_order(data_of(spec.examples, without={"apply", "dataset", "split"}))
    how["order"] = [source.shuffle_order for source in spec.companion.sources]
    how["beside"] = is_beside(spec, spec.companion)  # if not, no example may name a file
    return digest_of({"samples": plain, "fewshot": how, "of": companion, "rules": _RULES})


def is_beside(spec: DatasetSpec, companion: DatasetSpec) -> bool:
    """Return whether names of files are relative to the same folder in both."""
    bases = (one.source.base_location for one in (spec, companion))
    folders = {None if base is None else base.rpartition("/")[0] for base in bases}
    return len(folders) == 1


def _fingerprint(spec: DatasetSpec, pins: Pins) -> str:
    base = spec.source.base_location
    # Names of files beside a remote source become URLs during the build. Beside a local source
    # they become paths when a sample is read, so the cache contains no path of this machine.
    remote = None if base is None or base.is_local else base.file.public

    def decode(source: Source) -> dict[str, Any]:
        return data_of(source, without=source.location_keys)

    join = None
    if spec.join is not None and pins.side is not None:
        how = data_of(spec.join, without={"source", "strict"})
        join = [how, pins.side.identity, decode(spec.join.source)]
    metadata = spec.fields.metadata
    return digest_of(
        {
            **with_order(data_of(spec, without=_OTHER_KEYS)),
            # The digests of samples do not depend on it, but what is shown and exported does.
            "metadata": [*metadata] if isinstance(metadata, dict) else None,
            "corrections": None if pins.corrections is None else pins.corrections.identity,
            # `target: target` must find its column; without the key the column may be absent.
            "named": sorted(spec.fields.named),
            "format": CACHE_FORMAT,
            "pins": [one.identity for one in pins.sources],
            "decode": [decode(source) for source in spec.sources],
            "join": join,
            "mapper": None if spec.mapper is None else [spec.mapper, pins.code],
            "on_duplicate": spec.duplicate_rule,
            "remote_folder": remote and remote.rpartition("/")[0],
            # Without this word, an empty input is an error of the record.
            "empty_inputs": "blank_inputs" in spec.accept,
        }
    )

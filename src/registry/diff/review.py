"""What follows from a diff: whether a project accepts it, and what may be built after a review.

The reviewed state is what a diff saw on both sides, so that nothing else is built afterwards. Like
a saved plan: `diff --reviewed FILE` writes it, `sync --reviewed FILE` refuses anything else. It has
no path of a machine, so a review in CI and a build elsewhere agree.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from registry.base.conversion import decode_json
from registry.base.digest import digest_of
from registry.base.fs import write_atomic
from registry.base.locations import Location
from registry.base.materials import SamplesId
from registry.boundary.boundary import Boundary
from registry.diff.models import CatalogDiff, DatasetChange, Reach
from registry.diff.reach import reads_files
from registry.diff.severity import ChangeClass
from registry.diff.snapshots.contents import digest_of_file, files_of, local_patterns
from registry.errors import RegistryError, ReviewError
from registry.load.load import find_samples_id
from registry.lockfile.models import Lock, Pin
from registry.lockfile.pinned import pin_sources
from registry.lockfile.spec_digest import portable, spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.serialize import data_of, is_set
from registry.manifest.source import is_commit

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.diff.snapshot import OpenSnapshot

__all__ = [
    "POLICY_CLASSES",
    "ReviewedDataset",
    "ReviewedSide",
    "ReviewedState",
    "has_fixed_bytes",
    "parse_classes",
    "read_state",
    "refusals",
    "reviewed_state",
    "side_of",
    "violations",
    "write_state",
]

_FORMAT = 2
_MAX_BYTES = 1 << 28
_WITH_PATHS = {"folder", "source", "concat", "join", "corrections", "companion"}
"""Keys that the digest of a lockfile has in a form that is the same on all machines."""

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


class ReviewedDataset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One dataset of one side."""

    spec: str
    """Digest of the resolved manifest, documentation included."""
    files: dict[str, str]
    """Local file, relative to the catalog → digest of its bytes."""
    pin: dict[str, Any] | None = None
    """Its pin in the lockfile."""
    samples: SamplesId | None = None
    """Its samples, if they are pinned or were cached."""
    reach: list[str] = []
    """What it reaches beyond its own files."""


class ReviewedSide(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One side of a diff."""

    index: str
    """Digest of what the index includes and permits."""
    reach: list[str] = []
    """What the index itself reaches and permits."""
    datasets: dict[str, ReviewedDataset]


class ReviewedState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Both sides of a diff."""

    base: ReviewedSide
    head: ReviewedSide
    format: int = _FORMAT
    digest: str = ""
    """Digest of everything else in the file."""

    def with_digest(self) -> ReviewedState:
        """Return the state with its digest."""
        data = msgspec.to_builtins(replace(self, digest=""))
        return replace(self, digest=digest_of(data))


# --- what a side is ---


def side_of(
    specs: Mapping[str, DatasetSpec],
    lock: Lock,
    index: Mapping[str, Any],
    boundary: Boundary,
    *,
    samples: Mapping[str, SamplesId] | None = None,
    reach: Mapping[str, Collection[Reach]] | None = None,
) -> ReviewedSide:
    """Return the state of a catalog; the arguments are its parts.

    Of the index, they are the values of `index_values`.
    """
    found = {} if reach is None else reach

    def names(name: str) -> list[str]:
        return sorted(f"{one.kind} {one.name}" for one in found.get(name, ()))

    def reviewed(name: str, spec: DatasetSpec) -> ReviewedDataset:
        pin = lock.pins.get(name)
        pinned = None if pin is None or not pin.agrees(spec) else pin.samples_id
        return ReviewedDataset(
            spec=_full_digest(spec),
            files=dict(_files(spec, boundary)),
            pin=None if pin is None else data_of(pin, keep=is_set),
            samples=pinned or (samples or {}).get(name),
            reach=names(name),
        )

    return ReviewedSide(
        index=digest_of({key: one for key, one in index.items() if one not in (None, [], {})}),
        reach=names(""),
        datasets={name: reviewed(name, spec) for name, spec in sorted(specs.items())},
    )


def _full_digest(spec: DatasetSpec) -> str:
    # All keys, as the digest of a lockfile leaves out what does not determine the samples.
    rest = data_of(spec, without=_WITH_PATHS)
    join = None if spec.join is None else data_of(spec.join, without={"source"})
    return digest_of([spec_digest(spec), rest, join])


def _files(spec: DatasetSpec, boundary: Boundary) -> Iterator[tuple[str, str]]:
    # Of the bytes as they are, even if they are a pointer of Git LFS: a build reads just these.
    for pattern in local_patterns(spec):
        for file in files_of(pattern, boundary):
            yield portable(Location(file), spec.folder), digest_of_file(file, boundary).own


# --- the file ---


def write_state(path: Path, state: ReviewedState) -> ReviewedState:
    """Write a reviewed state with its digest, and return it.

    Raises:
        ReviewError: the file can't be written.
    """
    complete = state.with_digest()
    # Sorted, and ASCII: the same state is the same file everywhere.
    text = json.dumps(msgspec.to_builtins(complete), indent=1, sort_keys=True) + "\n"
    try:
        write_atomic(path, lambda file: file.write(text.encode()))
    except OSError as error:
        raise ReviewError(f"{path}: can't be written: {error.strerror}") from error
    return complete


def read_state(path: Path) -> ReviewedState:
    """Read a reviewed state.

    Raises:
        ReviewError: it can't be read, is invalid, or was changed after it was written.
    """
    hint = "write it again with `registry diff --reviewed FILE`"
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ReviewError(f"{path}: larger than {_MAX_BYTES >> 20} MiB ({hint})")
        state = decode_json(data, ReviewedState)
    except OSError as error:
        raise ReviewError(f"{path}: can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReviewError(f"{path}: no reviewed state: {error} ({hint})") from error
    if state.format != _FORMAT:
        raise ReviewError(f"{path}: format {state.format}, not {_FORMAT} ({hint})")
    if state.with_digest().digest != state.digest:
        raise ReviewError(f"{path}: its digest does not match, so it was edited ({hint})")
    return state


def reviewed_state(base: OpenSnapshot, head: OpenSnapshot, cache: Cache) -> ReviewedState:
    """Return what both sides of a diff are, with the samples that are pinned or cached."""
    # No code is run that only the change under review trusts.
    sides = [_side(one, base.boundary, cache) for one in (base, head)]
    return ReviewedState(base=sides[0], head=sides[1])


def _side(snapshot: OpenSnapshot, rules: Boundary, cache: Cache) -> ReviewedSide:
    index = {key: origin.value for key, origin in snapshot.snapshot.index.items()}
    samples = {name: _cached_samples(snapshot, name, rules, cache) for name in snapshot.specs}
    return side_of(
        snapshot.specs,
        snapshot.lock,
        index,
        snapshot.boundary,
        samples={name: one for name, one in samples.items() if one is not None},
        reach=snapshot.snapshot.reach,
    )


def _cached_samples(
    snapshot: OpenSnapshot, name: str, rules: Boundary, cache: Cache
) -> SamplesId | None:
    spec = snapshot.specs[name]
    if spec.mapper is not None and spec.mapper not in rules.trust:
        return None
    try:
        lock = pin_sources(spec, snapshot.lock.pins.get(name))
        if lock is not None and lock.samples is not None:
            return None  # the pin has them
        return find_samples_id(spec, cache, lock, boundary=snapshot.boundary)
    except RegistryError:  # they are unknown, as `sync --reviewed` says then
        return None


# --- what `sync --reviewed` refuses ---


def refusals(
    reviewed: ReviewedSide,
    current: ReviewedSide,
    specs: Mapping[str, DatasetSpec],
    lock: Lock,
    names: Collection[str] | None = None,
) -> dict[str, str]:
    """Return dataset → why it must not be built; the empty name is the index.

    Args:
        reviewed: The head of the reviewed state.
        current: The catalog as it is.
        specs: The datasets of `current`.
        lock: The lockfile of `current`.
        names: Datasets to compare; None means all, also those that only one side has.
    """
    found = {
        name: f"not as reviewed: {what}" for name, what in _differences(reviewed, current, names)
    }
    for name in sorted(specs.keys() - found.keys()):
        if reviewed.datasets[name].samples is not None:
            continue
        if not has_fixed_bytes(specs[name], lock.pins.get(name)):
            hint = f"`registry lock {name}` pins it, `diff --build --reviewed FILE` compares them"
            found[name] = f"was reviewed without its samples, which may be any ({hint})"
    return found


def _differences(
    reviewed: ReviewedSide, current: ReviewedSide, names: Collection[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield datasets, and how each differs from what was reviewed."""
    if reviewed.index != current.index:
        yield "", "datasets.yaml includes or permits something else, or a group changed"
    chosen = {*reviewed.datasets, *current.datasets} if names is None else names
    for name in sorted(chosen):
        old, new = reviewed.datasets.get(name), current.datasets.get(name)
        if old is None:
            yield name, "was not there"
        elif new is None:
            yield name, "is gone, or can't be read"
        elif parts := list(_different_parts(old, new)):
            yield name, f"{', '.join(parts)} changed"


def _different_parts(old: ReviewedDataset, new: ReviewedDataset) -> Iterator[str]:
    if old.spec != new.spec:
        yield "its manifest"
    files = sorted({*old.files, *new.files})
    yield from (file for file in files if old.files.get(file) != new.files.get(file))
    if old.pin != new.pin:
        keys = sorted({*(old.pin or {}), *(new.pin or {})})
        changed = (key for key in keys if (old.pin or {}).get(key) != (new.pin or {}).get(key))
        yield f"its pin ({', '.join(changed)})"


def has_fixed_bytes(spec: DatasetSpec, pin: Pin | None) -> bool:
    """Return whether a build can only have one result: pinned, or local data that was digested."""
    if pin is not None and pin.agrees(spec):
        return True
    if spec.mapper is not None or reads_files(spec):
        return False
    return all(
        is_commit(source.repository.revision)
        if source.repository is not None
        else all(one.is_path for one in source.paths())
        for source in spec.all_sources
    )


# --- what `diff --fail-on` does not accept ---


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

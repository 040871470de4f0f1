"""Find what `sync --reviewed` refuses: everything that is not as it was reviewed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from registry.diff.reach import reads_files
from registry.diff.review.state import ReviewedDataset, ReviewedSide
from registry.lockfile.models import Lock, Pin
from registry.manifest.models import DatasetSpec
from registry.manifest.source import is_commit

__all__ = ["has_fixed_bytes", "refusals"]


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

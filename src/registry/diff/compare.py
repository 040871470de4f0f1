"""Compare two sides: which datasets differ, in what, and where that stands."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.base.digest import canonical_json, digest_of
from registry.diff.models import DatasetChange, Inherited, KeyChange, Review, Side
from registry.diff.severity import (
    DOCUMENTATION,
    KINDS,
    ORDER,
    SOURCE,
    SUBSET,
    is_digest,
    is_result,
    is_told,
    kind_of,
    worst_first,
)
from registry.manifest.provenance import Origin

__all__ = ["compare"]

Values = Mapping[str, Origin]
"""A dataset's resolved values by key."""


def compare(base: Side, head: Side) -> Review:
    """Return what differs between two sides."""
    changes: list[DatasetChange] = []
    shared: tuple[KeyChange, ...] = ()
    broken = base.broken | head.broken
    if not (base.unreadable or head.unreadable):
        old = {name: values for name, values in base.datasets.items() if name not in broken}
        new = {name: values for name, values in head.datasets.items() if name not in broken}
        renamed = _renamed(old, new)
        changes = [*_appeared(old, new, renamed), *_renames(new, renamed)]
        changed, shared = _changed(old, new)
        changes += changed
        shared = (*_index_changes(base.index, head.index), *shared)
    return Review(
        base=base.label,
        head=head.label,
        changes=tuple(sorted(changes, key=_rank)),
        shared=shared,
        base_problems=base.problems,
        head_problems=head.problems,
        not_compared=tuple(sorted(broken)),
    )


def _rank(change: DatasetChange) -> tuple[int, str]:
    """Order what may break users first: gone, then by class, then what is new."""
    fixed = {"removed": -1, "added": len(KINDS) - 1.5, "renamed": len(KINDS) - 1.25}
    if change.status in fixed:
        return int(fixed[change.status] * 4), change.name
    return KINDS.index(change.kinds[0]) * 4, change.name


def _index_changes(old: Values, new: Values) -> Iterable[KeyChange]:
    """Yield what the index itself says anew: whose code it trusts, what it includes."""
    for key in sorted({*old, *new}):
        if not _is_same(old.get(key), new.get(key)):
            yield KeyChange(key=key, kind="", old=old.get(key), new=new.get(key))


# --- datasets that are on one side only ---


def _renamed(old: Mapping[str, Values], new: Mapping[str, Values]) -> dict[str, str]:
    """Return new name → old name of datasets that are the same apart from documentation."""
    gone = defaultdict(list)
    for name in sorted(old.keys() - new.keys()):
        gone[_content(old[name])].append(name)
    found = {}
    for name in sorted(new.keys() - old.keys()):
        candidates = gone[_content(new[name])]
        if candidates:
            near = difflib.get_close_matches(name, candidates, n=1, cutoff=0)
            found[name] = near[0]
            candidates.remove(near[0])
    return found


def _content(values: Values) -> str:
    """Return the digest of all that determines the samples."""
    kept = {key: origin.value for key, origin in values.items() if _is_content(key, origin)}
    return digest_of(kept)


def _is_content(key: str, origin: Origin) -> bool:
    if key.startswith("pin") or _is_nothing(origin.value):
        return False
    return kind_of(key) != DOCUMENTATION


def _appeared(
    old: Mapping[str, Values], new: Mapping[str, Values], renamed: Mapping[str, str]
) -> Iterable[DatasetChange]:
    """Yield the datasets that are new, and those that are gone."""
    for name in new.keys() - old.keys() - renamed.keys():
        yield DatasetChange(
            name=name, status="added", place=_place(new[name], name), facts=_facts(new[name])
        )
    for name in old.keys() - new.keys() - set(renamed.values()):
        yield DatasetChange(name=name, status="removed", place=_place(old[name], name))


def _facts(values: Values) -> dict[str, Origin]:
    return {
        key: origin
        for key, origin in values.items()
        if origin.file and not _is_nothing(origin.value) and is_told(key)
    }


def _renames(new: Mapping[str, Values], renamed: Mapping[str, str]) -> Iterable[DatasetChange]:
    for name, old_name in renamed.items():
        place = _place(new[name], name)
        yield DatasetChange(name=name, status="renamed", old_name=old_name, place=place)


def _place(values: Values, name: str) -> str:
    """Return where a dataset stands: the first of its own lines."""
    own = [one for one in values.values() if one.dataset == name and one.layer == "own"]
    return min(own, key=lambda one: one.line).place if own else ""


# --- datasets that are on both ---


@dataclass(frozen=True)
class _Difference:
    """One key of one dataset."""

    key: str
    kind: str
    old: Origin | None
    new: Origin | None

    @property
    def origin(self) -> Origin:
        """What was written: the new value, else the old one that is gone."""
        written = self.new if self.new is not None and self.new.file else self.old
        origin = written or self.new
        assert origin is not None  # noqa: S101 (one side has the key)
        return origin

    @property
    def said(self) -> tuple[Any, ...]:
        """What is the same for all that inherit it."""
        return (self.key, *(canonical_json(one and one.value) for one in (self.old, self.new)))


def _changed(
    old: Mapping[str, Values], new: Mapping[str, Values]
) -> tuple[list[DatasetChange], tuple[KeyChange, ...]]:
    """Return the datasets that differ, and the changes that stand in the index's defaults."""
    found = {name: _differences(old[name], new[name]) for name in sorted(old.keys() & new.keys())}
    found = {name: differences for name, differences in found.items() if differences}
    heirs = _heirs(found)
    changes = [
        _dataset_change(name, differences, new[name], heirs) for name, differences in found.items()
    ]
    return changes, tuple(_told(*heirs.shared[place]) for place in sorted(heirs.shared))


def _differences(old: Values, new: Values) -> list[_Difference]:
    keys = [*new, *(key for key in old if key not in new)]
    if _has_pin(old) != _has_pin(new):
        old, new = _with_one_pin(old), _with_one_pin(new)
        keys = [*(key for key in keys if not key.startswith("pin.")), "pin"]
    pairs = [(key, old.get(key), new.get(key)) for key in keys if is_told(key)]
    differing = [pair for pair in pairs if not _is_same(pair[1], pair[2])]
    return _classified(differing, _has_limit(old) or _has_limit(new))


def _has_pin(values: Values) -> bool:
    return any(key.startswith("pin.") for key in values)


def _with_one_pin(values: Values) -> Values:
    """Return values with all of a pin's as one: where only one side has it."""
    pins = [origin for key, origin in values.items() if key.startswith("pin.")]
    if not pins:
        return values
    said = {one.key.removeprefix("pin."): one.value for one in pins if _names_bytes(one.key)}
    first = pins[0]
    pin = Origin(key="pin", value=said, layer="lock", file=first.file, line=first.line)
    return {**values, "pin": pin}


def _names_bytes(key: str) -> bool:
    return key.endswith((".revision", ".sha256"))


def _has_limit(values: Values) -> bool:
    return "limit" in values and values["limit"].value is not None


def _classified(
    pairs: list[tuple[str, Origin | None, Origin | None]], limited: bool
) -> list[_Difference]:
    """Give each key its class; another order under a limit is another selection."""
    kinds = {key: kind_of(key) for key, _, _ in pairs}
    if limited:
        kinds |= {key: SUBSET for key in kinds if key in ("shuffle", "seed")}
    causes = {kinds[key] for key in kinds if not is_result(key)} - {DOCUMENTATION}
    result = ORDER if "pin.unordered" not in kinds and "pin.ordered" in kinds else SOURCE
    kinds |= {key: "" if causes else result for key in kinds if is_result(key)}
    told = (pair for pair in pairs if kinds[pair[0]] or not is_digest(pair[0]))
    return [_Difference(key, kinds[key], old, new) for key, old, new in told]


def _is_same(old: Origin | None, new: Origin | None) -> bool:
    values = [None if one is None or _is_nothing(one.value) else one.value for one in (old, new)]
    # Not `==`, which takes True for 1.
    return canonical_json(values[0]) == canonical_json(values[1])


def _is_nothing(value: Any) -> bool:
    return value is None or value in ({}, [])


class _Heirs:
    """Which changes are told at another dataset, or at the defaults of the index."""

    def __init__(self) -> None:
        self.told_at: dict[tuple[str, str], str] = {}
        """Dataset and key → the dataset at which it is told; empty for the defaults."""
        self.of: dict[tuple[str, str], list[str]] = defaultdict(list)
        """Dataset and key that are told there → who inherits it."""
        self.shared: dict[tuple[Any, ...], tuple[_Difference, list[str]]] = {}
        """Place and values → a change of the defaults, and whose it is."""

    def inherit(self, name: str, key: str, owner: str) -> None:
        self.told_at[name, key] = owner
        self.of[owner, key].append(name)

    def share(self, name: str, difference: _Difference) -> None:
        origin = difference.origin
        self.told_at[name, difference.key] = ""
        place = (origin.file, origin.line, *difference.said)
        self.shared.setdefault(place, (difference, []))[1].append(name)


def _heirs(found: Mapping[str, list[_Difference]]) -> _Heirs:
    said = {name: {one.said for one in differences} for name, differences in found.items()}
    heirs = _Heirs()
    for name, differences in found.items():
        for one in differences:
            owner = one.origin.dataset
            if one.origin.layer == "default" and one.origin.file:
                heirs.share(name, one)
            elif owner and owner != name and one.said in said.get(owner, ()):
                heirs.inherit(name, one.key, owner)
    return heirs


def _dataset_change(
    name: str, differences: list[_Difference], values: Values, heirs: _Heirs
) -> DatasetChange:
    told = [one for one in differences if (name, one.key) not in heirs.told_at]
    return DatasetChange(
        name=name,
        status="changed",
        kinds=worst_first(one.kind for one in differences),
        keys=tuple(_told(one, heirs.of.get((name, one.key), [])) for one in _worst_first(told)),
        inherited=tuple(
            Inherited(one.key, heirs.told_at[name, one.key])
            for one in differences
            if (name, one.key) in heirs.told_at
        ),
        place=_place(values, name),
    )


def _worst_first(differences: list[_Difference]) -> list[_Difference]:
    """Return the differences by their class; what only follows comes last."""
    ranks = {kind: rank for rank, kind in enumerate(KINDS)}
    return sorted(differences, key=lambda one: ranks.get(one.kind, len(KINDS)))


def _told(difference: _Difference, heirs: Iterable[str]) -> KeyChange:
    return KeyChange(
        key=difference.key,
        kind=difference.kind,
        old=difference.old,
        new=difference.new,
        inherited_by=tuple(sorted(heirs)),
    )

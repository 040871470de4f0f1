"""Compare two snapshots: which datasets differ, in which keys, and where those were edited."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from registry.base.digest import canonical_json
from registry.diff.models import CatalogDiff, DatasetChange, InheritedChange, KeyChange, Snapshot
from registry.diff.reach import new_reach
from registry.diff.renames import find_renamed
from registry.diff.severity import (
    SAME_SAMPLES,
    VERSION,
    ChangeClass,
    by_severity,
    change_class,
    is_digest,
    is_reported,
    is_result,
)
from registry.diff.snapshots.contents import moved_files
from registry.lockfile.origins import NAMED
from registry.manifest.origins import Origin
from registry.manifest.serialize import with_order

__all__ = ["compare"]

Values = Mapping[str, Origin]
"""A dataset's resolved values by key."""
Pair = tuple[Origin | None, Origin | None]
"""A value before and after."""

# Removed datasets break their users for certain; new ones matter more than documentation.
_REPORT_ORDER: tuple[str, ...] = (
    "removed",
    *(kind for kind in ChangeClass if kind != ChangeClass.DOCUMENTATION),
    "added",
    "renamed",
    ChangeClass.DOCUMENTATION,
)
_NUMBERS = ("pin.samples", "expect.samples")
"""Keys that say how many samples there are."""
_FACTS_OF_REMOVED = ("description", "license", "access", "source.path", *_NUMBERS)
_BYTES = "bytes."
_PINNED = re.compile(r"pin\.sources\[\d+\]\.location")
_LOCATION = re.compile(r"(source|join\.source|concat\[\d+\])\.path|pin\.sources\[\d+\]\.location")
# Consequences of other changes come last.
_KEY_ORDER: tuple[str, ...] = (*ChangeClass, "")


def compare(base: Snapshot, head: Snapshot) -> CatalogDiff:
    """Return what differs between two snapshots."""
    changes: list[DatasetChange] = []
    shared: list[KeyChange] = []
    # A dataset that doesn't resolve in one snapshot is neither removed nor added by the other.
    broken = base.broken | head.broken
    if not (base.unreadable or head.unreadable):
        old = {name: values for name, values in base.datasets.items() if name not in broken}
        new = {name: values for name, values in head.datasets.items() if name not in broken}
        renamed = find_renamed(old, new, head.renamed)
        changed, shared_defaults = _changed(old, new, renamed)
        changes = [*_added_removed(old, new, renamed, base.index), *changed]
        shared = [
            KeyChange(key=key, kind="", old=base.index.get(key), new=head.index.get(key))
            for key in sorted({*base.index, *head.index})
            if not _are_equal(base.index.get(key), head.index.get(key))
        ]
        shared += shared_defaults

    def rank(change: DatasetChange) -> tuple[bool, int, str]:
        words = [*change.kinds[:1], *([] if change.status == "changed" else [change.status])]
        has_terms = any(one.is_of_terms for one in change.keys)
        return not has_terms, min(map(_REPORT_ORDER.index, words)), change.name

    return CatalogDiff(
        base=base.label,
        head=head.label,
        changes=tuple(sorted(changes, key=rank)),
        reach=() if base.unreadable or head.unreadable else new_reach(base, head),
        shared=tuple(shared),
        base_problems=base.problems,
        head_problems=head.problems,
        not_compared=tuple(sorted(broken | base.unrun | head.unrun)),
        notes=tuple(dict.fromkeys((*base.notes, *head.notes))),
    )


# --- datasets that only one snapshot has ---


def _added_removed(
    old: Mapping[str, Values],
    new: Mapping[str, Values],
    renamed: Mapping[str, str],
    index: Values,
) -> Iterator[DatasetChange]:
    for name in new.keys() - old.keys() - renamed.keys():
        facts = {
            key: origin
            for key, origin in new[name].items()
            if origin.file and not _is_empty(origin.value) and is_reported(key)
        }
        yield DatasetChange(name=name, status="added", place=_place(new[name], name), facts=facts)
    for name in old.keys() - new.keys() - set(renamed.values()):
        facts = {key: old[name][key] for key in _FACTS_OF_REMOVED if key in old[name]}
        yield DatasetChange(
            name=name,
            status="removed",
            place=_place(old[name], name),
            facts={key: origin for key, origin in facts.items() if not _is_empty(origin.value)},
            used_by=tuple(_users(name, old, index)),
        )


def _users(name: str, old: Mapping[str, Values], index: Values) -> Iterator[str]:
    """Yield what used a removed dataset before."""
    for other, values in sorted(old.items()):
        examples = values.get("fewshot.dataset")
        if other != name and any(one.dataset == name for one in values.values()):
            yield f"{other} (extended it)"
        elif examples is not None and examples.value == name:
            yield f"{other} (took its examples from it)"
    for key, one in index.items():
        named = one.value if isinstance(one.value, list) else [one.value]
        if key.startswith("groups.") and name in named:
            yield f"group {key.removeprefix('groups.').rpartition('.')[0]}"


def _place(values: Values, name: str) -> str:
    """Return where a dataset is defined: the first of its own lines."""
    own = [one for one in values.values() if one.dataset == name and one.layer == "own"]
    return min(own, key=lambda one: one.line).place if own else ""


# --- datasets that both snapshots have, perhaps by another name ---


def _origin(change: KeyChange) -> Origin:
    """Return where it was edited: at the new value, or at the old one if that was removed."""
    edited = change.new if change.new is not None and change.new.file else change.old
    origin = edited or change.new
    assert origin is not None  # noqa: S101 (one snapshot has the key)
    return origin


def _identity(change: KeyChange) -> tuple[Any, ...]:
    """Return what is equal for all datasets that inherit the change."""
    return (change.key, _value(change.old), _value(change.new))


def _changed(
    old: Mapping[str, Values], new: Mapping[str, Values], renamed: Mapping[str, str]
) -> tuple[list[DatasetChange], list[KeyChange]]:
    """Return the datasets that differ, and the changes of defaults in the index."""
    old_names = {name: name for name in old.keys() & new.keys()} | dict(renamed)
    differences = {
        name: found
        for name, old_name in sorted(old_names.items())
        if (found := _differences(old[old_name], new[name], is_renamed=name in renamed))
        or name in renamed
    }
    reports = _deduplicate(differences, {old_name: name for name, old_name in renamed.items()})
    changes = [
        DatasetChange(
            name=name,
            status="renamed" if name in renamed else "changed",
            old_name=renamed.get(name, ""),
            kinds=by_severity(one.kind for one in found),
            keys=tuple(
                # Under which terms the data may be used comes before what it is.
                sorted(
                    (
                        _inherited(one, reports.dependents[name, one.key])
                        for one in sorted(found, key=lambda one: _KEY_ORDER.index(one.kind))
                        if reports.dataset_of[name, one.key] == name
                    ),
                    key=lambda one: not one.is_of_terms,
                )
            ),
            inherited=tuple(
                InheritedChange(one.key, reporter)
                for one in found
                if (reporter := reports.dataset_of[name, one.key]) != name
            ),
            place=_place(new[name], name),
        )
        for name, found in differences.items()
    ]
    return changes, [_inherited(*reports.defaults[place]) for place in sorted(reports.defaults)]


def _inherited(change: KeyChange, dependents: Iterable[str]) -> KeyChange:
    return replace(change, inherited_by=tuple(sorted(dependents)))


@dataclass(frozen=True)
class _Reports:
    """Where each difference is reported: once, at the dataset or default that was edited."""

    dataset_of: dict[tuple[str, str], str]
    """Dataset and key → the dataset that reports the change; empty for the index."""
    dependents: dict[tuple[str, str], list[str]]
    """Reporting dataset and key → datasets that inherit the change."""
    defaults: dict[tuple[Any, ...], tuple[KeyChange, list[str]]]
    """Place and identity → a change of the index's defaults, and the datasets that it affects."""


def _deduplicate(
    differences: Mapping[str, list[KeyChange]], new_names: Mapping[str, str]
) -> _Reports:
    identities = {name: set(map(_identity, found)) for name, found in differences.items()}
    reports = _Reports({}, defaultdict(list), {})
    for name, found in differences.items():
        for one in found:
            origin = _origin(one)
            if origin.layer == "default" and origin.file:
                reports.dataset_of[name, one.key] = ""
                place = (origin.file, origin.line, *_identity(one))
                reports.defaults.setdefault(place, (one, []))[1].append(name)
                continue
            # A parent that did not change itself, as after a new `extends`, can't report it.
            owner = new_names.get(origin.dataset, origin.dataset)
            inherits = _identity(one) in identities.get(owner, ())
            reporter = reports.dataset_of[name, one.key] = owner if inherits else name
            if reporter != name:
                reports.dependents[reporter, one.key].append(name)
    return reports


def _differences(old: Values, new: Values, *, is_renamed: bool) -> list[KeyChange]:
    """Return the keys in which two versions of a dataset differ, with their classes."""
    keys = [*new, *(key for key in old if key not in new)]
    has_only_its_name = is_renamed and _is_pin_of_local_files(old, new)
    if _has_pin(old) != _has_pin(new):  # a first pin is one line, not one for each of its keys
        old, new = _with_one_pin(old), _with_one_pin(new)
        keys = [*(key for key in keys if not key.startswith("pin.")), "pin"]
    pairs = {
        key: (old.get(key), new.get(key))
        for key in keys
        if not _are_equal(old.get(key), new.get(key))
    }
    pairs = {key: pair for key, pair in pairs.items() if not _repeats(key, pairs)}
    moves = _moves(pairs)
    pairs = _with_moves(pairs, moves)
    kinds: dict[str, ChangeClass | Literal[""]] = {key: change_class(key) for key in pairs}
    kinds |= {key: ChangeClass.MOVED for key in kinds if _follows_move(key, pairs[key], moves)}
    if any("limit" in values and values["limit"].value is not None for values in (old, new)):
        # Under a limit, a different order selects different samples.
        kinds |= {key: ChangeClass.SUBSET for key in ("seed", "shuffle") if key in kinds}
    if has_only_its_name and "pin" in kinds:  # the lockfile still has it by the old name
        kinds["pin"] = ChangeClass.LOCK
    causes = {kind for key, kind in kinds.items() if not is_result(key)}
    results = [key for key in kinds if is_result(key)]
    if _gains_digests(old, new, pairs):
        kinds |= {
            key: "" if is_digest(key) else ChangeClass.LOCK
            for key in kinds
            if key.startswith("pin.")
        }
    elif causes - SAME_SAMPLES - {ChangeClass.MOVED}:
        kinds |= dict.fromkeys(results, "")
    elif "pin.ordered" in kinds and "pin.unordered" not in kinds:
        kinds |= dict.fromkeys(results, ChangeClass.ORDER)
    else:  # no key explains the new samples, so the upstream data changed
        kinds |= dict.fromkeys(results, ChangeClass.SOURCE)
    if VERSION in kinds and len(kinds) > 1:
        kinds[VERSION] = ""
    return [
        KeyChange(key=key, kind=kinds[key], old=pair[0], new=pair[1])
        for key, pair in pairs.items()
        if kinds[key] or not is_digest(key)
    ]


def _gains_digests(old: Values, new: Values, pairs: Mapping[str, Pair]) -> bool:
    """Return whether a pin had only a commit, and now has the digests of its samples, too.

    Whether they are those of that commit, each load compares.
    """
    is_added = all(pair[0] is None for key, pair in pairs.items() if key.startswith("pin."))
    return _has_pin(old) and is_added and not any(map(is_digest, old)) and any(map(is_digest, new))


def _is_pin_of_local_files(old: Values, new: Values) -> bool:
    """Return whether all that the old side pins are files whose bytes both sides compare."""
    pins = [one.value for key, one in old.items() if re.fullmatch(_PINNED, key)]
    return bool(pins) and all(f"{_BYTES}{one}" in new for one in pins)


def _repeats(key: str, pairs: Mapping[str, Pair]) -> bool:
    """Return whether a key of a pin only says again what another difference says."""
    part, _, rest = key.removeprefix("pin.").partition(".")
    if not key.startswith("pin."):
        return False
    if part in NAMED:
        return f"named.{rest}" in pairs
    if part == "spec":  # of all that a manifest says of the samples
        others = (one for one in pairs if not one.startswith("pin."))
        return any(change_class(one) not in SAME_SAMPLES for one in others)
    bytes_of = (f"pin.{part}.{one}" for one in ("sha256", "revision", "location"))
    return not is_reported(key) and any(one in pairs for one in bytes_of)


def _moves(pairs: Mapping[str, Pair]) -> dict[str, str]:
    """Return old name → new name of the local files that moved, with the same bytes."""
    files = {
        key.removeprefix(_BYTES): pair for key, pair in pairs.items() if key.startswith(_BYTES)
    }
    old, new = (
        {name: one.value for name, pair in files.items() if (one := pair[side]) is not None}
        for side in (0, 1)
    )
    return {old_name: name for name, old_name in moved_files(old, new).items()}


def _with_moves(pairs: Mapping[str, Pair], moves: Mapping[str, str]) -> dict[str, Pair]:
    """Return the pairs with one for each moved file in place of one for each of its names."""
    names = {f"{_BYTES}{name}" for name in (*moves, *moves.values())}
    found = {key: pair for key, pair in pairs.items() if key not in names}
    for old_name, name in moves.items():
        one = pairs[f"{_BYTES}{name}"][1]
        assert one is not None  # noqa: S101 (the new side has the file)
        key = f"moved.{name}"
        before, after = (
            replace(one, key=key, value=value, layer="same bytes", file="")
            for value in (old_name, name)
        )
        found[key] = (before, after)
    return found


def _follows_move(key: str, pair: Pair, moves: Mapping[str, str]) -> bool:
    """Return whether a location has changed only because files moved.

    Other files may still be new: a glob, folder or list with anything else is a new source.
    """
    if not _LOCATION.fullmatch(key):
        return False
    values = [one.value for one in pair if one is not None]
    paths = [value if isinstance(value, list) else [value] for value in values]
    return len(paths) == 2 and [moves.get(str(path), path) for path in paths[0]] == paths[1]


def _has_pin(values: Values) -> bool:
    return any(key.startswith("pin.") for key in values)


def _with_one_pin(values: Values) -> Values:
    """Return values with the pin as one value: the revisions and digests of its sources."""
    pins = [origin for key, origin in values.items() if key.startswith("pin.")]
    if not pins:
        return values
    versions = {
        one.key.removeprefix("pin."): one.value
        for one in pins
        if one.key.endswith((".revision", ".sha256"))
    }
    first = pins[0]
    pin = Origin(key="pin", value=versions, layer="lock", file=first.file, line=first.line)
    return {**values, "pin": pin}


def _are_equal(old: Origin | None, new: Origin | None) -> bool:
    if old is None or new is None:
        return all(one is None or _is_empty(one.value) for one in (old, new))
    return _value(old) == _value(new)


def _value(origin: Origin | None) -> bytes:
    """Return a value as bytes to compare: not by `==`, for which True equals 1."""
    return canonical_json(origin and with_order(origin.value))


def _is_empty(value: Any) -> bool:
    return value is None or value in ({}, [])

"""Pair each renamed dataset with its former name: same data, and mostly the same definition."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from registry.base.digest import canonical_json, digest_of
from registry.diff.severity import SAME_SAMPLES, change_class
from registry.manifest.origins import Origin

__all__ = ["find_renamed"]

Values = Mapping[str, Origin]
Features = frozenset[tuple[str, bytes]]

_PLACE = re.compile(r"(source|join\.source|concat\[\d+\])\.(path|name|data_dir|data_files)")
_DIGEST = re.compile(r"bytes\.|pin\.sources\[\d+\]\.sha256$")
_DEFINITION = re.compile(r"(source|concat|join|fields|mapper)\b")
_MIN_SIMILARITY = 0.5
# Comparing every pair of a thousand datasets takes minutes. More candidates than this are no
# evidence of a rename either, so such datasets are reported as removed and added.
_MAX_CANDIDATES = 50
_NOTHING: Mapping[str, str] = MappingProxyType({})


def find_renamed(
    old: Mapping[str, Values], new: Mapping[str, Values], stated: Mapping[str, str] = _NOTHING
) -> dict[str, str]:
    """Return new name → old name of the datasets that only one side has but that are the same.

    A pair is `stated` (old name → new name, as `renamed_to` says), has equal content, or has the
    same data and a similar definition. If two candidates fit equally well, neither is taken.
    """
    removed = {name: old[name] for name in sorted(old.keys() - new.keys())}
    added = {name: new[name] for name in sorted(new.keys() - old.keys())}
    # Of two datasets that became one, the first name counts: the other one is removed.
    renamed = {
        stated[name]: name for name in sorted(removed, reverse=True) if stated.get(name) in added
    }
    found = _equal_pairs(
        {name: one for name, one in removed.items() if name not in stated},
        {name: one for name, one in added.items() if name not in renamed},
    )
    renamed |= found
    removed = {name: one for name, one in removed.items() if name not in {*stated, *found.values()}}
    added = {name: one for name, one in added.items() if name not in renamed}
    return renamed | _similar_pairs(removed, added)


def _equal_pairs(removed: Mapping[str, Values], added: Mapping[str, Values]) -> dict[str, str]:
    """Pair datasets that are equal except for documentation."""
    names = defaultdict(list)
    for name, values in removed.items():
        names[_content_digest(values)].append(name)
    pairs = {}
    for name, values in added.items():
        candidates = names[_content_digest(values)]
        if candidates:
            # Among equal datasets, the closest name is the most likely origin.
            some = candidates[:_MAX_CANDIDATES]
            (pairs[name],) = difflib.get_close_matches(name, some, n=1, cutoff=0)
            candidates.remove(pairs[name])
    return pairs


def _content_digest(values: Values) -> str:
    """Return the digest of all that determines the samples.

    Pins don't count: the lock may not have the new name yet.
    """
    content = {
        key: origin.value
        for key, origin in values.items()
        if not key.startswith("pin")
        and origin.value not in (None, {}, [])
        and change_class(key) not in SAME_SAMPLES
    }
    return digest_of(content)


def _similar_pairs(removed: Mapping[str, Values], added: Mapping[str, Values]) -> dict[str, str]:
    """Pair datasets that are each other's only best candidate."""
    old, new = _Candidates.of(removed), _Candidates.of(added)
    origins = {name: old.best_for(name, values) for name, values in added.items()}
    return {
        name: origin
        for name, origin in origins.items()
        if origin is not None and new.best_for(origin, removed[origin]) == name
    }


@dataclass(frozen=True)
class _Candidates:
    """The datasets of one side that may have another name on the other side."""

    features: Mapping[str, Features]
    by_data: Mapping[str, list[str]]
    """Identity of the data → names."""

    @classmethod
    def of(cls, datasets: Mapping[str, Values]) -> _Candidates:
        by_data = defaultdict(list)
        for name, values in datasets.items():
            for data in _data(values):
                by_data[data].append(name)
        return cls({name: _features(values) for name, values in datasets.items()}, by_data)

    def best_for(self, name: str, values: Values) -> str | None:
        """Return the most similar dataset that has the same data, if there is exactly one."""
        found = {one for data in _data(values) for one in self.by_data.get(data, ())}
        if len(found) > _MAX_CANDIDATES:
            return None
        own = _features(values)
        others = {one: self.features[one] for one in sorted(found)}
        scores = {one: len(own & its) / (len(own | its) or 1) for one, its in others.items()}
        return _only_best(name, scores)


def _only_best(name: str, scores: Mapping[str, float]) -> str | None:
    """Return the best candidate, by its name among equals; None without exactly one."""
    top = max(scores.values(), default=0.0)
    if top < _MIN_SIMILARITY:
        return None
    best = [one for one, score in scores.items() if score == top]
    ratios = {one: difflib.SequenceMatcher(None, name, one).ratio() for one in best}
    closest = [one for one in best if ratios[one] == max(ratios.values())]
    return closest[0] if len(closest) == 1 else None


def _features(values: Values) -> Features:
    """Return the values that make a dataset recognizable; not those that all datasets share."""
    own = {
        (key, canonical_json(origin.value))
        for key, origin in values.items()
        if (_DEFINITION.match(key) and origin.layer != "default") or key.endswith(".revision")
    }
    return frozenset(own | {("bytes", one.encode()) for one in _digests(values)})


def _digests(values: Values) -> list[str]:
    """Return the digests of the files that a dataset is read from, sorted."""
    found = {
        str(origin.value).removeprefix("sha256:")
        for key, origin in values.items()
        if _DIGEST.match(key)
    }
    return sorted(found)


def _data(values: Values) -> Iterator[str]:
    """Yield what identifies the data of a dataset: where it is, and which bytes those are."""
    places = {key: origin.value for key, origin in values.items() if _PLACE.fullmatch(key)}
    digests = _digests(values)
    yield from (digest_of(one) for one in (places, digests) if one)

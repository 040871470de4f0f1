"""Choose the examples of each sample among the samples of the companion."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.errors import MappingError, count_text, did_you_mean, list_names

if TYPE_CHECKING:
    from registry.manifest.models import Fewshot

__all__ = ["Candidate", "Selection"]

_FEW = 5
"""Values with too few examples that a message lists."""


class Candidate(Struct, frozen=True):
    """A sample of the companion, as far as its choice depends on it."""

    place: int
    """Its row in the companion."""
    content: bytes
    """Digest of its content."""
    id: str | int | None = None
    group: str | None = None
    """The value of `by`, as JSON."""


class Selection:
    """Which samples of the companion are the examples of a sample."""

    def __init__(
        self,
        fewshot: Fewshot,
        candidates: Iterable[Candidate],
        *,
        name: str,
        own: bool = False,
    ) -> None:
        """Group the candidates.

        Args:
            fewshot: The settings.
            candidates: The samples of the companion, in the order of their choice.
            name: The companion, in messages.
            own: Whether the companion has the samples of the dataset itself.

        Raises:
            MappingError: an id is unknown.
        """
        self._fewshot, self._name, self._own = fewshot, name, own
        found = list(candidates)
        chosen = _with_ids(found, fewshot.ids, name) if fewshot.ids else found
        self._groups: dict[str | None, list[Candidate]] = {}
        for one in chosen:
            self._groups.setdefault(one.group, []).append(one)
        self._draws: dict[str | None, random.Random] = {}
        self._counts = {group: len(found) for group, found in self._groups.items()}

    def check(self, groups: Iterable[str | None]) -> None:
        """Raise a MappingError if there are too few examples for a sample of one of the groups."""
        # With the samples of the dataset itself, one of them is the sample, not an example.
        needed = self._needed + self._own
        short = {
            group: self._counts.get(group, 0)
            for group in dict.fromkeys(groups)
            if self._counts.get(group, 0) < needed
        }
        if short:
            raise MappingError(self._too_few(short), field="fewshot.n", value=self._needed)

    @property
    def _takes_all(self) -> bool:
        """Whether the listed ids that fit `by` are the examples, however many that are."""
        fewshot = self._fewshot
        return bool(fewshot.ids) and fewshot.n is None and fewshot.by is not None

    @property
    def _needed(self) -> int:
        return 1 if self._takes_all else self._fewshot.count

    def _too_few(self, short: Mapping[str | None, int]) -> str:
        own = " besides the sample itself" if self._own else ""
        needed = count_text(self._needed, "example")
        if self._fewshot.by is None:
            found = count_text(next(iter(short.values())), "sample")
            return f"{needed} wanted{own}, and {self._name} has {found} (a smaller `n`)"
        by = self._fewshot.by
        listed = [f"{group}: {count}" for group, count in short.items()]
        return (
            f"{needed} of each `{by}` wanted{own}, and {self._name} has fewer of"
            f" {count_text(len(short), 'value')}: {list_names(listed, _FEW)}"
            " (a smaller `n`, or add samples)"
        )

    def of(self, content: bytes, group: str | None = None) -> list[Candidate]:
        """Return the examples of a sample; none has its content.

        They are fewer than wanted if the companion has no others in place of those.

        Raises:
            MappingError: there are too few, in the dataset itself.
        """
        pool = self._groups.get(group, [])
        wanted = len(pool) if self._takes_all else self._fewshot.count
        if self._fewshot.each:
            chosen = self._drawn(pool, wanted, content, group)
        else:
            chosen = list(_first(pool, wanted, content))
        if len(chosen) < self._needed and self._own:
            short = {group: sum(one.content != content for one in pool)}
            raise MappingError(self._too_few(short), field="fewshot.n", value=self._needed)
        return chosen

    def _drawn(
        self, pool: Sequence[Candidate], wanted: int, content: bytes, group: str | None
    ) -> list[Candidate]:
        """Return examples that are drawn for one sample, after those of the samples before it.

        As lm-evaluation-harness draws: from one generator, and one more than is wanted where the
        sample itself may be among them, so that prompts are equal to its prompts.
        """
        draw = self._draws.setdefault(group, random.Random(self._fewshot.seed))
        spare = self._fewshot.spare
        drawn = draw.sample(pool, min(wanted + (self._own if spare is None else spare), len(pool)))
        chosen = [one for one in drawn if one.content != content][:wanted]
        if len(chosen) < wanted:
            rest = [one for one in pool if one.content != content]
            chosen = draw.sample(rest, min(wanted, len(rest)))
        return chosen


def _first(pool: Sequence[Candidate], wanted: int, content: bytes) -> Iterator[Candidate]:
    left = wanted
    for one in pool:
        if left == 0:
            return
        if one.content != content:
            yield one
            left -= 1


def _with_ids(
    candidates: Sequence[Candidate], ids: Sequence[str | int], name: str
) -> list[Candidate]:
    """Return the candidates with some ids, in the order of the ids."""
    by_id: dict[str, Candidate] = {}
    for one in candidates:
        if one.id is not None:
            by_id.setdefault(str(one.id), one)
    for wanted in ids:
        if str(wanted) not in by_id:
            hint = did_you_mean(str(wanted), by_id) or f"it has {count_text(len(by_id), 'id')}"
            raise MappingError(f"{name} has no sample '{wanted}' ({hint})", field="fewshot.ids")
    return [by_id[str(one)] for one in ids]

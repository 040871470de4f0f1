"""Hold built samples against what their manifest expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from registry.errors import ExpectationError
from registry.letters import index_of

if TYPE_CHECKING:
    from registry.sample import Sample
    from registry.spec import Expect

__all__ = ["check_count", "checked"]

_SHOWN = 3


def check_count(expect: Expect, found: int, *, dataset: str) -> None:
    """Raise an ExpectationError where the number of samples is another."""
    wanted = expect.samples
    if wanted is not None and wanted != found:
        raise ExpectationError(
            f"{dataset}: expect.samples is {wanted:,}, the source gives {found:,}"
            " (has the source changed? pin its revision, or mend the number)"
        )


def checked(
    samples: Iterable[tuple[int, Sample]], expect: Expect, *, dataset: str
) -> Iterator[tuple[int, Sample]]:
    """Yield samples, each with its record's number; then raise for those that do not fit."""
    checks = _checks(expect)
    offenders: dict[str, list[str]] = {name: [] for name in checks}
    for number, sample in samples:
        for name, holds in checks.items():
            if not holds(sample):
                offenders[name].append(_describe(sample, number))
        yield number, sample
    problems = [_problem(name, found) for name, found in offenders.items() if found]
    if problems:
        raise ExpectationError("; ".join(f"{dataset}: {problem}" for problem in problems))


def _describe(sample: Sample, number: int) -> str:
    return f"record {number} (id {sample.id!r}, target {sample.target!r})"


def _problem(name: str, found: list[str]) -> str:
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"expect.{name} does not hold of {', '.join(found[:_SHOWN])}{more}"


def _checks(expect: Expect) -> dict[str, Callable[[Sample], bool]]:
    table = {
        "unique_ids": (expect.unique_ids, _unique_ids()),
        "target_in_choices": (expect.target_in_choices, _target_in_choices),
        "nonempty_targets": (expect.nonempty_targets, _nonempty_target),
    }
    return {name: check for name, (wanted, check) in table.items() if wanted}


def _unique_ids() -> Callable[[Sample], bool]:
    seen: set[str | int] = set()

    def is_new(sample: Sample) -> bool:
        if sample.id is None or sample.id in seen:
            return False
        seen.add(sample.id)
        return True

    return is_new


def _targets(sample: Sample) -> list[str]:
    return sample.target if isinstance(sample.target, list) else [sample.target]


def _target_in_choices(sample: Sample) -> bool:
    choices = sample.choices or []
    return all(target in choices or _is_letter(target, len(choices)) for target in _targets(sample))


def _is_letter(target: str, count: int) -> bool:
    try:
        return index_of(target) < count
    except ValueError:
        return False


def _nonempty_target(sample: Sample) -> bool:
    targets = _targets(sample)
    return bool(targets) and all(target.strip() for target in targets)

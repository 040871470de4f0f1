"""The bytes that fsspec has transferred become progress."""

from __future__ import annotations

from registry.progress import Progress
from registry.sources.callback import Counter


def test_each_change_of_the_value_is_reported() -> None:
    seen: list[Progress] = []
    counter = Counter(seen.append, 10)
    counter.relative_update(4)
    counter.absolute_update(10)
    assert seen == [Progress("fetch", 4, 10), Progress("fetch", 10, 10)]


def test_an_unknown_size_is_taken_from_the_server() -> None:
    seen: list[Progress] = []
    counter = Counter(seen.append, None)
    counter.set_size(7)
    counter.relative_update(1)
    assert seen[-1] == Progress("fetch", 1, 7)

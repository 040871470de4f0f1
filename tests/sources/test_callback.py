"""The bytes that fsspec has transferred become progress."""

from __future__ import annotations

import pytest

from registry.boundary.limits import UNLIMITED, Limits
from registry.errors import SourceError
from registry.progress import Progress
from registry.sources.callback import Counter


def test_each_change_of_the_value_is_reported() -> None:
    seen: list[Progress] = []
    counter = Counter(seen.append, 10, UNLIMITED, "u")
    counter.relative_update(4)
    counter.absolute_update(10)
    assert seen == [Progress("fetch", 4, 10), Progress("fetch", 10, 10)]


def test_an_unknown_size_is_taken_from_the_server() -> None:
    seen: list[Progress] = []
    counter = Counter(seen.append, None, UNLIMITED, "u")
    counter.set_size(7)
    counter.relative_update(1)
    assert seen[-1] == Progress("fetch", 1, 7)


def test_a_transfer_ends_at_the_limits() -> None:
    counter = Counter(lambda _: None, None, Limits(unpacked_bytes=3), "https://h.example/x")
    counter.relative_update(3)
    with pytest.raises(SourceError, match=r"h.example/x: the file has more than 3 bytes"):
        counter.relative_update(1)
    with pytest.raises(SourceError, match=r"more than 0 seconds \(`limits: {seconds: …}`"):
        Counter(lambda _: None, None, Limits(seconds=0), "u").relative_update(1)

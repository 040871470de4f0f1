"""Pins of sources as keys of the cache."""

from __future__ import annotations

from pathlib import Path

from registry.base.locations import Location
from registry.cache.cache import Cache
from registry.sources.pins import PinnedFile, SourcePin
from tests.sources.conftest import context_of


def test_the_digest_depends_on_the_identity_but_not_on_locations() -> None:
    here = SourcePin({"files": [["0", ".csv"]]}, (PinnedFile(Location("/a.csv"), "0", 1),))
    there = SourcePin({"files": [["0", ".csv"]]}, (PinnedFile(Location("/b.csv"), "0", 1),))
    assert here.digest == there.digest
    assert SourcePin({"files": [["1", ".csv"]]}).digest != here.digest
    assert here != there


def test_contexts_share_no_lookups_unless_copied() -> None:
    first, second = (context_of(Cache(Path("/c"))) for _ in range(2))
    first.lookups["a"] = 1
    assert second.lookups == {}

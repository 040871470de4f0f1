"""Resolved datasets are opened, and what the cache has of them is found without a build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.base.materials import Material, SamplesId
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import AccessError, LockError
from registry.load.load import find_fingerprint, find_samples_id, load, open_cached, remember_pinned
from registry.lockfile.models import PIN_FORMAT, Pin
from registry.lockfile.pinned import PinnedSources
from registry.manifest.models import DatasetSpec
from registry.manifest.source_models import JsonSource
from registry.samples.digest import digest_samples
from tests.conftest import Https
from tests.load.conftest import Spec


def test_samples_are_built_once(spec: Spec, cache: Cache) -> None:
    built, opened = load(spec(), cache, boundary=UNBOUNDED), load(spec(), cache, boundary=UNBOUNDED)
    assert (built.cached, opened.cached) == (False, True)
    assert built.entry.folder == opened.entry.folder
    assert [sample.input for sample in opened.dataset] == ["a", "b"]
    assert not load(spec(), cache, boundary=UNBOUNDED, refresh=True).cached


def test_views_of_one_dataset_share_their_samples(spec: Spec, cache: Cache) -> None:
    whole = load(spec(), cache, boundary=UNBOUNDED)
    shuffled = load(spec(view={"shuffle": True, "seed": 1, "limit": 1}), cache, boundary=UNBOUNDED)
    assert shuffled.cached
    assert shuffled.entry.folder == whole.entry.folder
    assert len(shuffled.dataset) == 1


@pytest.mark.parametrize("kind", ["gated", "agreement"])
def test_refused_access_names_the_terms(spec: Spec, cache: Cache, https: Https, kind: str) -> None:
    source = {"type": "json", "path": [https.fail("/data.jsonl", 403)]}
    url = "https://example.org/terms"
    with pytest.raises(AccessError, match=rf"answered 403 .*\(its terms: {re.escape(url)}\)$"):
        load(spec(source=source, access={kind: url}), cache, boundary=UNBOUNDED)
    with pytest.raises(AccessError, match=r"\(check the credentials\)$"):
        load(spec(source=source), cache, boundary=UNBOUNDED)


def test_samples_that_differ_from_the_lock_are_an_error(spec: Spec, cache: Cache) -> None:
    result = load(spec(), cache, boundary=UNBOUNDED)
    (file,) = result.pins.sources[0].files
    locked = Material(location="data.jsonl", sha256=file.sha256, size=file.size)
    pin = Pin(spec="sha256:" + "0" * 64, sources=(locked,), samples=2, columns=(), ordered="sha256:" + "1" * 64, unordered="sha256:" + "2" * 64, format=PIN_FORMAT)  # fmt: skip
    lock = PinnedSources(dataset="d", folder=spec().folder, sources=(locked,), samples=pin)
    with pytest.raises(LockError, match=r"d: its sources match datasets\.lock, its samples differ"):  # fmt: skip
        load(spec(), cache, boundary=UNBOUNDED, lock=lock)
    remember_pinned(result, pin, cache)
    assert load(spec(), cache, boundary=UNBOUNDED, lock=lock).cached


def test_cached_samples_are_found_without_building(spec: Spec, cache: Cache) -> None:
    assert find_fingerprint(spec(), cache, boundary=UNBOUNDED)[1] is None
    assert open_cached(spec(), cache, boundary=UNBOUNDED) is None
    entry = load(spec(), cache, boundary=UNBOUNDED).entry
    _, found = find_fingerprint(spec(), cache, boundary=UNBOUNDED)
    assert found is not None
    assert found.folder == entry.folder
    opened = open_cached(spec(view={"limit": 1}), cache, boundary=UNBOUNDED)
    assert opened is not None
    assert [sample.input for sample in opened] == ["a"]
    (spec().folder / "data.jsonl").unlink()
    missing = DatasetSpec(name="d", folder=Path(), source=JsonSource(path=("/nowhere/data.jsonl",)))
    assert find_fingerprint(missing, cache, boundary=UNBOUNDED) == ("", None)


def test_samples_are_identified_if_they_are_cached(spec: Spec, cache: Cache) -> None:
    assert find_samples_id(spec(), cache, boundary=UNBOUNDED) is None
    dataset = load(spec(), cache, boundary=UNBOUNDED).dataset
    expected = SamplesId(2, digest_samples(dataset.as_stored()).ordered)
    assert find_samples_id(spec(), cache, boundary=UNBOUNDED) == expected

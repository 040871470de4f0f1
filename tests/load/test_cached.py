"""What the cache has of a dataset is found without a build and without a request."""

from __future__ import annotations

from pathlib import Path

from registry.base.materials import SamplesId
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.load.cached import find_fingerprint, find_samples_id, open_cached
from registry.load.load import load
from registry.manifest.models import DatasetSpec
from registry.manifest.source_models import JsonSource
from registry.samples.digest import digest_samples
from tests.load.conftest import Spec


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

"""An entry of a dataset is looked up once, and fetched once."""

from __future__ import annotations

from pathlib import Path

from registry.cache.cache import Cache
from registry.cache.remote.shared_samples import SharedSamples
from registry.progress import silent
from tests.cache.remote.test_shared_cache import FINGERPRINT, entry, shared


def test_it_fetches_what_it_has_once(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    one = shared(folder)
    one.push(entry(tmp_path))
    samples = SharedSamples(one, pinned=2, check=lambda _: None)
    assert samples.has(FINGERPRINT)
    for path in folder.rglob("entry.json"):
        path.unlink()
    assert samples.has(FINGERPRINT)  # not asked again

    cache = Cache(tmp_path / "reader")
    assert samples.fetch(cache, FINGERPRINT, limit=None, report=silent) is not None
    # If it is gone after this, a plan must come to another decision.
    assert not samples.has(FINGERPRINT)
    assert samples.fetch(cache, FINGERPRINT, limit=None, report=silent) is None

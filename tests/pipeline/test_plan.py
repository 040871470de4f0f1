"""A plan decides whether samples are cached, or which of them are built."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import Material
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import OfflineError, SourceError
from registry.lockfile.pinned import PinnedSources
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.fingerprint import first_fingerprint, pin_all, samples_fingerprint
from registry.pipeline.plan import Plan, first_samples, plan
from registry.sources import files
from registry.sources.pins import SourceContext
from tests.conftest import Https
from tests.servers.hub import HubEmulator

LINES = b"".join(b'{"input": "%d"}\n' % number for number in range(9))


@pytest.fixture
def context(tmp_path: Path) -> SourceContext:
    return SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a local file that is old, and as large as those whose beginning is read alone."""
    monkeypatch.setattr(files, "_SMALL_LOCAL_BYTES", 1)
    path = tmp_path / "data.jsonl"
    path.write_bytes(LINES)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def spec(path: Path | str, limit: int | None = 2, **keys: Any) -> DatasetSpec:
    source = {"type": "json", "path": [str(path)]}
    view = {"limit": limit, **keys.pop("view", {})}
    return to_spec({"name": "d", "folder": Path(), "source": source, "view": view, **keys})


def put(cache: Cache, fingerprint: str) -> None:
    """Publish an entry of samples."""
    with cache.temporary() as folder:
        (folder / "samples.arrow").write_bytes(b"ARROW1" + bytes(64))
        meta = {"name": "d", "samples": 2, "source": "", "batches": "", "columns": []}
        meta |= {"quality": {}, "limit": None}
        cache.publish(folder, "samples", fingerprint, meta)


# View and keys → scope and limit, with nothing in the cache.
SCOPES: list[tuple[dict[str, Any], str, int | None]] = [
    ({}, "first", 2),
    ({"limit": None}, "all", None),
    ({"limit": 0}, "first", 0),
    ({"where": {"value": "input", "equals": "1"}}, "first", 2),
    ({"explode": {"column": "input"}}, "first", 2),
    ({"on_duplicate": "suffix"}, "first", 2),
    ({"on_duplicate": "drop"}, "all", None),
    ({"on_duplicate": "drop", "view": {"auto_id": True}}, "first", 2),
    ({"view": {"shuffle": True, "seed": 1}}, "all", None),
    ({"view": {"shuffle_choices": 1}}, "first", 2),
    ({"sample": {"n": 3, "seed": 1}}, "all", None),
]


@pytest.mark.parametrize(("keys", "scope", "limit"), SCOPES, ids=str)
def test_keys_decide_how_many_samples_are_built(
    data: Path, context: SourceContext, keys: dict[str, Any], scope: str, limit: int | None
) -> None:
    decided = plan(spec(data, **keys), context)
    assert (decided.scope, decided.limit, decided.entry) == (scope, limit, None)


def test_all_samples_are_built_if_requested_or_refreshed(
    data: Path, context: SourceContext
) -> None:
    assert plan(spec(data), context, full=True).scope == "all"
    refresh = SourceContext(boundary=UNBOUNDED, cache=context.cache, refresh=True)
    assert plan(spec(data), refresh).scope == "all"


def test_a_small_file_is_read_whole(tmp_path: Path, context: SourceContext) -> None:
    path = tmp_path / "small.jsonl"
    path.write_bytes(LINES)
    assert plan(spec(path), context).scope == "all"


def test_the_limit_of_a_repository_counts_records() -> None:
    source = {"type": "hf", "path": "a/b", "split": "s"}
    keys = {"name": "d", "folder": Path(), "source": source, "view": {"limit": 3}}
    assert first_samples(to_spec(keys)) == 3
    assert first_samples(to_spec({**keys, "where": {"value": "a", "equals": 1}})) is None
    # Each row of a corrections file must be used.
    assert first_samples(to_spec({**keys, "corrections": {"path": ["/c.yaml"]}})) is None


def test_first_samples_are_a_view_if_all_are_cached(data: Path, context: SourceContext) -> None:
    wanted = spec(data)
    fingerprint = samples_fingerprint(wanted, pin_all(wanted, context))
    assert plan(wanted, context).scope == "first"
    put(context.cache, fingerprint)
    decided = plan(wanted, context)
    assert (decided.scope, decided.fingerprint, decided.limit) == ("cached", fingerprint, None)


def test_first_samples_in_the_cache_are_found_until_the_file_changes(
    data: Path, context: SourceContext
) -> None:
    first = plan(spec(data), context)
    put(context.cache, first.fingerprint)
    again = plan(spec(data), context)
    assert (again.scope, again.fingerprint, again.limit) == ("cached", first.fingerprint, 2)
    assert plan(spec(data, limit=3), context).scope == "first"
    os.utime(data, (1_000_000_001, 1_000_000_001))
    assert plan(spec(data), context).scope == "first"


def test_damaged_samples_are_built_again_when_verified(data: Path, context: SourceContext) -> None:
    wanted = spec(data, limit=None)
    put(context.cache, plan(wanted, context).fingerprint)
    entry = plan(wanted, context).entry
    assert entry is not None
    (entry.folder / "samples.arrow").write_bytes(b"ARROW1" + bytes(63) + b"x")
    assert plan(wanted, context).scope == "cached"
    assert plan(wanted, context, verify=True).scope == "all"
    assert context.cache.find("samples", entry.meta["fingerprint"]) is None


def test_pinned_first_samples_are_found_by_their_pins(data: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    wanted = spec(data)
    (pinned,) = pin_all(wanted, SourceContext(boundary=UNBOUNDED, cache=cache)).sources
    (file,) = pinned.files
    locked = Material(location=str(data), sha256=file.sha256, size=file.size)
    lock = PinnedSources(dataset="d", folder=Path("/"), sources=(locked,))
    context = SourceContext(boundary=UNBOUNDED, cache=cache, lock=lock)
    put(cache, first_fingerprint(wanted, pin_all(wanted, context), 2))
    assert plan(wanted, context).scope == "cached"
    data.write_bytes(LINES.replace(b"1", b"x"))
    with pytest.raises(SourceError, match="pins"):
        plan(wanted, context)


# --- Requests: each source is looked up once ---


def requests(https: Https, decided: Plan) -> list[str]:
    methods = [method for method, _ in https.requests]
    https.requests.clear()
    assert decided.scope in ("first", "all")
    return methods


def test_a_server_gets_one_request(https: Https, context: SourceContext) -> None:
    body = json.dumps({"input": "x" * 2000}).encode() + b"\n"
    tagged = https.put("/big.jsonl", body * 600, etag="1")
    assert requests(https, plan(spec(tagged), context)) == ["HEAD"]
    plain = https.put("/plain.jsonl", body * 600)
    assert requests(https, plan(spec(plain), context)) == ["HEAD", "GET"]


def test_a_branch_is_looked_up_once(hub: HubEmulator, context: SourceContext) -> None:
    hub.commit("org/plan", {"test.jsonl": LINES})
    source = {"type": "hf", "path": "org/plan", "split": "test", "revision": "main"}
    wanted = to_spec({"name": "d", "folder": Path(), "source": source, "view": {"limit": 2}})
    hub.requests.clear()
    assert plan(wanted, context).scope == "first"
    assert len(hub.requests) == 1


def test_without_requests_an_unknown_file_is_an_error(https: Https, context: SourceContext) -> None:
    offline = SourceContext(boundary=UNBOUNDED, cache=context.cache, offline=True)
    with pytest.raises(OfflineError, match=r"big\.jsonl: not in the cache"):
        plan(spec(https.put("/big.jsonl", LINES)), offline)
    assert https.requests == []

"""Exports in the cache: written once, verified, found again by everything that determines them."""

from __future__ import annotations

import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache, CacheEntry
from registry.cli import main
from registry.plugins.export import cached
from registry.plugins.export.cached import cached_export, export_key
from registry.plugins.export.exported import Exported
from registry.plugins.export.formats import FORMATS, Format
from registry.settings import Settings
from tests.plugins.export.conftest import Opener

SERVED = [row for row in FORMATS.values() if row.is_served]


@pytest.fixture
def cache(catalog: Path) -> Cache:
    return Cache(Settings.from_environment().cache_dir)


@pytest.mark.parametrize("kind", SERVED, ids=lambda kind: kind.name)
def test_cached_bytes_are_those_of_an_export(opened: Opener, cache: Cache, kind: Format) -> None:
    direct = io.BytesIO()
    kind.write(opened("mixed"), direct)
    key, path = cached_export(opened("mixed"), kind, cache)
    assert path.read_bytes() == direct.getvalue()
    written = path.stat()
    assert cached_export(opened("mixed"), kind, cache) == (key, path)
    assert path.stat().st_ino == written.st_ino


def test_export_is_written_once_by_several_threads(
    opened: Opener, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = cached._write

    def count(exported: Exported, kind: Format, cache: Cache, key: str) -> CacheEntry:
        written.append(key)
        return write(exported, kind, cache, key)

    monkeypatch.setattr(cached, "_write", count)
    exported = opened("mixed")
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(cached_export, exported, SERVED[1], cache) for _ in range(4)]
        assert len({call.result() for call in calls}) == 1
    assert written == [export_key(exported, SERVED[1])]


def test_entry_that_is_pruned_while_it_is_looked_up_is_written_again(
    opened: Opener, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cached_export(opened("mixed"), SERVED[0], cache)
    state = cached._state_of
    gone: list[int] = []

    def prune_first(entry: CacheEntry) -> Any:
        if not gone:
            gone.append(1)
            cache.discard("exports", found[0])
        return state(entry)

    monkeypatch.setattr(cached, "_state_of", prune_first)
    assert cached_export(opened("mixed"), SERVED[0], cache) == found
    assert found[1].exists()


def test_key_depends_on_format_view_and_provenance(opened: Opener) -> None:
    keys = {export_key(opened("mixed"), kind) for kind in SERVED}
    keys |= {export_key(opened("mixed", limit=2), SERVED[0])}
    keys |= {export_key(opened("few"), SERVED[0])}
    assert len(keys) == len(SERVED) + 2


def test_damaged_export_is_written_again(
    opened: Opener, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, path = cached_export(opened("mixed"), SERVED[0], cache)
    intact = path.read_bytes()
    path.write_bytes(intact[:-2] + b"?\n")
    monkeypatch.setattr(cached, "_verified", set())
    assert cached_export(opened("mixed"), SERVED[0], cache) == (key, path)
    assert path.read_bytes() == intact


def test_commands_of_the_cache_know_exports(
    opened: Opener, cache: Cache, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = cached_export(opened("mixed"), SERVED[0], cache)
    assert main(["cache", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"]["exports"] > path.stat().st_size
    with path.open("ab") as file:
        file.write(b"more")
    assert main(["cache", "verify", "mixed", "--json"]) == 1
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)["damaged"]] == ["exports"]
    _, path = cached_export(opened("mixed"), SERVED[0], cache)
    assert main(["cache", "clear", "mixed", "--yes"]) == 0
    assert not path.exists()


def test_file_is_hashed_once_per_process(
    opened: Opener, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = cached_export(opened("mixed"), SERVED[0], cache)
    cached_export(opened("mixed"), SERVED[0], cache)
    monkeypatch.setattr(Cache, "verify", lambda *_: pytest.fail("hashed again"))
    cached_export(opened("mixed"), SERVED[0], cache)
    assert path.exists()

"""`cache`: its folder, its entries, and how it is cleared."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.invocation import Run


def test_dir_is_the_folder_of_the_environment(run: Run, cache_dir: Path) -> None:
    assert run("cache", "dir").lines == [str(cache_dir)]


def test_entries_are_listed_until_the_cache_is_cleared(
    run: Run, own: Path, cache_dir: Path
) -> None:
    assert run("cache", "list").lines == ["built for  samples  size  fingerprint  source"]
    assert run("cache", "list", "--json").json == []
    run("sync", "qa", "qa-one")
    (entry,) = run("cache", "list", "--json").json
    assert (entry["samples"], entry["source"]) == (3, str(own / "qa.csv"))
    assert entry["name"] in ("qa", "qa-one")
    assert entry["bytes"] > 0
    _, row = run("cache", "list").lines
    assert row.split()[1] == "3"
    assert entry["fingerprint"].removeprefix("sha256:").startswith(row.split()[4])
    cleared = run("cache", "clear", "--yes", "--json").json
    assert cleared["folder"] == str(cache_dir)
    assert cleared["bytes"] >= entry["bytes"]
    assert run("cache", "list", "--json").json == []
    assert run("cache", "clear", "--yes").lines == [f"removed 0 B under {cache_dir}"]


@pytest.mark.parametrize(("answer", "is_left"), [("y\n", False), ("n\n", True), ("", True)])
def test_clear_asks_for_confirmation(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch, answer: str, is_left: bool
) -> None:
    run("sync", "qa")
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    run("cache", "clear")
    assert bool(run("cache", "list", "--json").json) is is_left

"""`cache`: its folder, what it holds, whether it is intact, and how it is pruned and cleared."""

from __future__ import annotations

import io
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from registry.base.cache_access import versioned_folder
from tests.cli.invocation import Run, write
from tests.servers.hub import HubEmulator, parquet_repo

OTHER = "datasets:\n  two: {source: {type: csv, path: two.csv}, shuffle: true, seed: 1}\n"


@pytest.fixture
def two(own: Path) -> Path:
    """Add a dataset of other data."""
    (own / "two.csv").write_text("input,target\nFour?,4\nFive?,5\n", encoding="utf-8")
    write(own, "two", OTHER)
    return own


def entries(run: Run) -> dict[str, Any]:
    """Return the names of each entry, by its first name."""
    return {
        " ".join(entry["datasets"]): entry
        for entry in run("cache", "list", "--json").json["entries"]
    }


def age(cache_dir: Path, name: str, days: float, run: Run) -> None:
    (entry,) = [one for names, one in entries(run).items() if name in names.split()]
    for kind, one in (("samples", entry), *(("views", view) for view in entry["views"])):
        folder = versioned_folder(cache_dir) / kind / one["fingerprint"].removeprefix("sha256:")
        os.utime(folder / "meta.json", (time.time() - days * 86_400,) * 2)


def test_dir_is_the_folder_of_the_environment(run: Run, cache_dir: Path) -> None:
    assert run("cache", "dir").lines == [str(cache_dir)]
    assert "(commands: clear, dir, list, prune, verify)" in run("cache", "x").err


# --- list ---


def test_entries_are_listed_with_the_datasets_that_use_them(
    run: Run, two: Path, cache_dir: Path
) -> None:
    header = "datasets  samples  size  last used  fingerprint  source"
    assert run("cache", "list").lines == [header]
    run("sync")
    found = entries(run)
    assert set(found) == {"qa qa-one", "two"}
    entry = found["qa qa-one"]
    assert (entry["samples"], entry["source"]) == (3, str(two / "qa.csv"))
    assert abs(time.time() - os.stat(two / "two.csv").st_mtime) < 600
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", entry["last_used"])
    assert (len(entry["views"]), len(found["two"]["views"])) == (0, 1)
    done = run("cache", "list")
    row = done.lines[1]
    assert row.startswith("qa, qa-one  3        ")
    assert entry["fingerprint"].removeprefix("sha256:")[:12] in row
    data = run("cache", "list", "--json").json
    assert all("batches" not in one for one in data["entries"])  # checksums, of no use to anybody
    sizes = data["bytes"]
    assert sizes["samples"] + sizes["views"] == sum(one["bytes"] for one in found.values())
    everything = sum(path.stat().st_size for path in cache_dir.rglob("*") if path.is_file())
    assert sum(sizes.values()) - sizes["total"] == sizes["total"] == everything
    assert done.err.startswith("samples ")
    assert f"under {cache_dir}" in done.err


def test_samples_that_no_dataset_uses_have_the_name_they_were_built_for(
    run: Run, two: Path
) -> None:
    run("sync")
    write(two, "two", OTHER.replace("shuffle", "shufle"))
    assert any(line.startswith("(two)") for line in run("cache", "list").lines)
    (two / "m" / "two.yaml").unlink()
    done = run("cache", "list")
    assert any(line.startswith("(two)") for line in done.lines)
    assert "no dataset of this catalog uses it now" in done.err


def test_listing_is_no_use(run: Run, two: Path, cache_dir: Path) -> None:
    run("sync")
    age(cache_dir, "two", 10, run)
    used = entries(run)["two"]["last_used"]
    assert entries(run)["two"]["last_used"] == used
    run("preview", "two")
    assert entries(run)["two"]["last_used"] > used


# --- verify ---


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def test_damage_is_reported_quarantined_and_made_good(run: Run, two: Path, cache_dir: Path) -> None:
    run("sync")
    done = run("cache", "verify")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"3 items, \d\.\d kB: all intact", done.lines[0])
    entry = entries(run)["two"]["fingerprint"].removeprefix("sha256:")
    flip(versioned_folder(cache_dir) / "samples" / entry / "samples.arrow")
    assert run("cache", "verify", "qa").code == 0
    done = run("cache", "verify", "two")
    assert done.code == 1
    assert done.err.startswith(f"error: samples {entry[:12]}: ")
    assert "moved to the quarantine" in done.err
    assert run("sync", "two").code == 0
    flip(versioned_folder(cache_dir) / "samples" / entry / "samples.arrow")
    done = run("cache", "verify", "--json")
    (damaged,) = done.json["damaged"]
    assert (done.code, damaged["key"], damaged["quarantined"]) == (1, entry, True)
    assert done.json["checked"] == 3
    assert "similar names: two" in run("cache", "verify", "tow").err


def test_the_first_records_of_a_source_are_verified(run: Run, own: Path, hub: HubEmulator) -> None:
    sha = hub.commit("org/part", parquet_repo({"default": {"test": [{"q": "1"}, {"q": "2"}]}}))
    source = f"{{type: hf, path: org/part, split: test, revision: {sha}}}"
    write(own, "few", f"datasets: {{few: {{source: {source}, fields: {{input: q}}, limit: 1}}}}")
    assert run("sync", "few").code == 0
    assert run("cache", "verify", "few").out.startswith("2 items, ")  # samples and records


# --- prune ---


def test_pruning_without_options_keeps_samples(run: Run, two: Path, cache_dir: Path) -> None:
    run("sync")
    done = run("cache", "prune")
    assert done.lines[1].split()[0] == "locks"
    assert done.lines[1].endswith("held by nobody")
    left = versioned_folder(cache_dir) / "tmp" / "left"
    left.write_bytes(b"data")
    before = run("cache", "list").lines
    done = run("cache", "prune", "--dry-run")
    assert done.lines[-1] == f"would remove 4 B under {cache_dir}"
    assert left.exists()
    done = run("cache", "prune")
    assert done.code == 0
    assert " ".join(done.lines[1].split()) == "tmp 4 B left left by a process that ended early"
    assert done.lines[-1] == f"removed 4 B under {cache_dir}"
    assert not left.exists()
    assert run("cache", "list").lines == before


def test_what_was_not_used_for_long_is_pruned(run: Run, two: Path, cache_dir: Path) -> None:
    run("sync")
    age(cache_dir, "two", 40, run)
    planned = run("cache", "prune", "--older", "30d", "--dry-run", "--json").json
    assert len(entries(run)) == 2
    done = run("cache", "prune", "--older", "30d", "--json")
    assert done.json == {**planned, "dry_run": False}
    kinds = [(one["kind"], one["dataset"]) for one in done.json["removed"]]
    assert [pair for pair in kinds if pair[0] != "locks"] == [("samples", "two"), ("views", "two")]
    assert (done.json["errors"], done.json["in_use"], done.code) == ([], [], 0)
    assert set(entries(run)) == {"qa qa-one"}


def test_the_least_recently_used_goes_first(run: Run, two: Path, cache_dir: Path) -> None:
    run("sync")
    age(cache_dir, "qa", 2, run)
    size = entries(run)["two"]["bytes"]
    done = run("cache", "prune", "--keep-size", f"{size}B")
    assert any(line.endswith("the least recently used") for line in done.lines)
    assert set(entries(run)) == {"two"}


def test_what_no_dataset_uses_is_pruned(run: Run, two: Path) -> None:
    run("sync")
    run("cache", "prune", "--unreferenced")
    assert set(entries(run)) == {"qa qa-one", "two"}
    (two / "m" / "two.yaml").unlink()
    done = run("cache", "prune", "--unreferenced")
    assert "no dataset of the catalog uses it" in done.out
    assert set(entries(run)) == {"qa qa-one"}


def test_nothing_is_pruned_where_a_manifest_is_invalid(run: Run, two: Path) -> None:
    run("sync")
    write(two, "two", OTHER.replace("shuffle", "shufle"))
    done = run("cache", "prune", "--unreferenced")
    assert done.code == 1
    assert done.err == "error: can't tell what two uses (`registry validate` says why)\n"
    assert len(run("cache", "list", "--json").json["entries"]) == 2


# --- clear ---


def test_everything_is_cleared(run: Run, own: Path, cache_dir: Path) -> None:
    run("sync")
    size = sum(path.stat().st_size for path in cache_dir.rglob("*") if path.is_file())
    cleared = run("cache", "clear", "--yes", "--json")
    assert (cleared.json["folder"], cleared.json["bytes"]) == (str(cache_dir), size)
    assert not [path for path in cache_dir.rglob("*") if path.is_file()]
    assert run("cache", "clear", "--yes").lines == [f"removed 0 B under {cache_dir}"]
    assert entries(run) == {}


def test_what_a_newer_release_made_is_kept_and_named(run: Run, own: Path, cache_dir: Path) -> None:
    newer = cache_dir / "v99"
    newer.mkdir(parents=True)
    (newer / "file").write_bytes(b"x")
    assert run("cache", "clear", "--yes", "--json").json["newer"] == [str(newer)]
    done = run("cache", "clear", "--yes")
    kept = f"kept {newer}, 1 B in the format of a newer release (clear the cache with that release)"
    assert (done.code, done.err) == (0, f"{kept}\n")


@pytest.mark.parametrize(
    ("name", "left"),
    [("qa-one", "two"), ("two", "qa qa-one"), ("first-two", "qa qa-one"), ("both", "qa qa-one")],
)
def test_named_datasets_are_cleared(run: Run, two: Path, name: str, left: str) -> None:
    write(two, "old", "datasets: {first-two: {renamed_to: two}}\ngroups: {both: {datasets: [two]}}")
    run("sync")
    if name == "two":  # what is cached for it can still be named
        (two / "m" / "two.yaml").unlink()
    assert run("cache", "clear", name, "--yes").lines[-1].startswith("removed ")
    assert set(entries(run)) == {left}


@pytest.mark.parametrize("manifest", [OTHER, ""], ids=["in the catalog", "in the cache"])
def test_a_name_that_is_nowhere_is_an_error(run: Run, two: Path, manifest: str) -> None:
    run("sync")
    write(two, "two", manifest or "datasets: {}")
    done = run("cache", "clear", "tow", "--yes")
    assert done.code == 1
    assert "no dataset 'tow'" in done.err
    assert "similar names: two" in done.err
    assert len(run("cache", "list", "--json").json["entries"]) == 2


@pytest.mark.parametrize(
    ("names", "answer", "is_left"),
    [([], "y\n", False), ([], "n\n", True), (["qa"], "", True), (["qa"], "y\n", False)],
)
def test_clear_asks_for_confirmation(
    run: Run,
    own: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
    answer: str,
    is_left: bool,
) -> None:
    run("sync", "qa")
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    done = run("cache", "clear", *names)
    assert bool(entries(run)) is is_left
    assert ("also used by qa-one" in done.err) is bool(names)


def test_the_remote_cache_is_pruned_by_age(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"v3/samples/{'0a' * 32}/entry.json"
    old = tmp_path / "shared" / name
    old.parent.mkdir(parents=True)
    old.write_bytes(b"x" * 10)
    os.utime(old, (0, 0))
    command = ("cache", "prune", "--remote", "--older", "30d")
    result = run(*command)
    assert result.code == 1
    assert "no remote cache (REGISTRY_REMOTE_CACHE names it" in result.err
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", str(tmp_path / "shared"))
    assert run("cache", "prune", "--remote").code == 2
    assert run(*command, "--keep-size", "1GB").code == 2
    assert f"would remove 10 B from the remote cache {tmp_path}" in run(*command, "--dry-run").out
    data = run(*command, "--json").json
    assert [one["name"] for one in data["removed"]] == [name]
    assert not old.exists()

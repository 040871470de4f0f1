"""The lockfile with real servers: the pinned samples or an error, never others."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from registry import (
    Dataset,
    DigestMismatchError,
    LockError,
    LockStaleError,
    OfflineError,
    SourceError,
    get_dataset,
)
from registry.cli import main
from registry.lockfile.models import Pin, read_lock
from registry.samples.digest import digest_samples
from tests.acceptance.conftest import Machine
from tests.conftest import S3, Https, OneDataset
from tests.records import jsonl
from tests.servers.hub import HubEmulator, parquet_repo

OLD = [{"q": f"What is {number}?", "a": str(number)} for number in range(20)]
NEW = [*OLD[:17], *({"q": row["q"], "a": "moved"} for row in OLD[17:])]
REPO = "acme/locked"
STRICT: list[dict[str, Any]] = [{"locked": True}, {"frozen": True}]
SCHEMA = {"default": pa.schema([("q", pa.string()), ("a", pa.string())])}


def rows_of(dataset: Dataset) -> list[dict[str, str]]:
    return [{"q": str(sample.input), "a": str(sample.target)} for sample in dataset]


def lock(root: Path, *arguments: str) -> int:
    return main(["lock", "--root", str(root), *arguments])


def pin_of(root: Path, name: str = "data") -> Pin:
    found = read_lock(root / "datasets.lock")
    assert found is not None
    return found.pins[name]


def change_manifest(root: Path, **keys: Any) -> None:
    path = root / "registry" / "data.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["datasets"]["data"].update(keys)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")


@dataclass(frozen=True)
class Upstream:
    """A source that can change and fail."""

    source: dict[str, Any]
    put: Callable[[Sequence[Mapping[str, str]]], object]
    fail: Callable[[int], object]
    requests: Callable[[], int]
    """How many requests came so far."""


def hub_files(rows: Sequence[Mapping[str, str]]) -> dict[str, bytes]:
    return parquet_repo({"default": {"test": [dict(row) for row in rows]}}, schemas=SCHEMA)


def on_hub(request: pytest.FixtureRequest) -> Upstream:
    hub: HubEmulator = request.getfixturevalue("hub")
    return Upstream(
        {"type": "hf", "path": REPO, "split": "test"},
        lambda rows: hub.commit(REPO, hub_files(rows)),
        hub.fail_with,
        lambda: len(hub.requests),
    )


def on_https(request: pytest.FixtureRequest) -> Upstream:
    site: Https = request.getfixturevalue("https")
    number = iter(range(9))
    return Upstream(
        {"type": "json", "path": f"{site.url}/data.jsonl"},
        lambda rows: site.put("/data.jsonl", jsonl(rows), etag=f"v{next(number)}"),
        partial(site.fail, "/data.jsonl"),
        lambda: len(site.requests),
    )


def on_s3(request: pytest.FixtureRequest) -> Upstream:
    """Serve a bucket; error responses of S3 come from a web server in its place."""
    s3: S3 = request.getfixturevalue("s3")
    site: Https = request.getfixturevalue("https")
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    s3.bucket("bucket")

    def fail(status: int) -> None:
        site.fail("/bucket/data.jsonl", status)
        patch.setenv("AWS_ENDPOINT_URL", site.url)
        patch.setenv("AWS_CA_BUNDLE", os.environ["SSL_CERT_FILE"])
        patch.setenv("AWS_MAX_ATTEMPTS", "1")

    return Upstream(
        {"type": "json", "path": "s3://bucket/data.jsonl"},
        lambda rows: s3.put("bucket", "data.jsonl", jsonl(rows)),
        fail,
        lambda: len(site.requests),
    )


PLACES = {"hub": on_hub, "https": on_https, "s3": on_s3}
EVERYWHERE = pytest.mark.parametrize("upstream", PLACES, indirect=True)


@pytest.fixture
def upstream(request: pytest.FixtureRequest) -> Upstream:
    """Give a site, or the place of EVERYWHERE."""
    return PLACES[getattr(request, "param", "https")](request)


@pytest.fixture
def pinned(upstream: Upstream, one_dataset: OneDataset) -> Path:
    """Write a catalog whose dataset `data` is pinned while its source was OLD."""
    upstream.put(OLD)
    root = one_dataset(upstream.source)
    assert lock(root) == 0
    return root


@EVERYWHERE
def test_two_machines_with_one_lock_have_the_same_samples(pinned: Path, machine: Machine) -> None:
    here = digest_samples(get_dataset("data", root=pinned, locked=True))
    machine("other")
    there = digest_samples(get_dataset("data", root=pinned, locked=True))
    pin = pin_of(pinned)
    assert here == there
    assert (pin.samples, pin.ordered, pin.unordered) == (20, here.ordered, here.unordered)


@EVERYWHERE
@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("state", ["online", "offline", "404", "401"])
def test_changed_upstream_yields_the_old_samples_or_an_error(
    upstream: Upstream, pinned: Path, machine: Machine, warm: bool, state: str
) -> None:
    if not warm:
        machine("other")
    upstream.put(NEW)
    if state.isdigit():
        upstream.fail(int(state))
    before = upstream.requests()
    is_commit = upstream.source["type"] == "hf" and state == "online"
    for how in ({}, {"locked": True}, {"frozen": True}, {"limit": 20}):
        if warm or is_commit:
            found = get_dataset("data", root=pinned, offline=state == "offline", **how)
            assert rows_of(found) == OLD, how
        else:
            with pytest.raises(SourceError) as caught:
                get_dataset("data", root=pinned, offline=state == "offline", **how)
            expected = {"online": DigestMismatchError, "offline": OfflineError}
            assert isinstance(caught.value, expected.get(state, SourceError))
    if warm:
        assert upstream.requests() == before, "a pinned warm load asks for nothing"


def test_bytes_with_a_different_digest_never_enter_the_cache(
    upstream: Upstream, pinned: Path, machine: Machine
) -> None:
    (source,) = pin_of(pinned).sources
    upstream.put(NEW)
    folder = machine("other")
    with pytest.raises(DigestMismatchError) as caught:
        get_dataset("data", root=pinned)
    error = caught.value
    assert (error.location, error.dataset) == (source.location, "data")
    assert error.pinned == f"sha256:{source.sha256}"
    assert str(error) == (
        f"{source.location}: datasets.lock pins {error.pinned} for data, the source, fetched twice,"
        f" has {error.found} (damaged on the way, or changed: try again, and look at the change before"
        " `registry lock --upgrade data` pins it)"
    )
    assert [*folder.glob("v3/blobs/*"), *folder.glob("v3/samples/*")] == []


LONG = [{"q": f"{number} {'x' * 300}", "a": str(number)} for number in range(4_000)]
"""More than 1 MiB: of a smaller file all is read even for its first samples."""


@pytest.mark.parametrize("upstream", ["https", "s3"], indirect=True)
def test_start_is_read_only_if_the_file_still_matches_its_pin(
    upstream: Upstream, one_dataset: OneDataset, machine: Machine
) -> None:
    upstream.put(LONG)
    root = one_dataset(upstream.source)
    assert lock(root) == 0
    folder = machine("other")
    assert rows_of(get_dataset("data", root=root, limit=3)) == LONG[:3]
    assert [*folder.glob("v3/blobs/*")] == [], "the file was read as a whole"
    before = upstream.requests()
    assert rows_of(get_dataset("data", root=root, limit=3)) == LONG[:3]
    assert upstream.requests() == before, "a pinned warm load asks for nothing"
    # Same size and same first samples; the rest differs.
    upstream.put([*LONG[:-1], {**LONG[-1], "a": "9999"}])
    machine("third")
    with pytest.raises(DigestMismatchError):
        get_dataset("data", root=root, limit=3)


def test_without_validators_the_start_is_not_assumed_to_match_the_pin(
    https: Https, one_dataset: OneDataset, machine: Machine
) -> None:
    date = {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
    url = https.put("/data.jsonl", jsonl(LONG), headers=date)
    root = one_dataset({"type": "json", "path": url})
    assert lock(root) == 0
    machine("other")
    https.sent.clear()
    assert rows_of(get_dataset("data", root=root, limit=3)) == LONG[:3]
    assert sum(https.sent) == len(jsonl(LONG))


# --- manifest and lock disagree ---


@EVERYWHERE
def test_changed_view_uses_the_pinned_bytes(upstream: Upstream, pinned: Path) -> None:
    upstream.put(NEW)
    change_manifest(pinned, limit=19)
    assert rows_of(get_dataset("data", root=pinned)) == OLD[:19]
    assert rows_of(get_dataset("data", root=pinned, frozen=True)) == OLD[:19]
    with pytest.raises(LockStaleError) as caught:
        get_dataset("data", root=pinned, locked=True)
    assert str(caught.value) == (
        "data: datasets.lock pins it for an older manifest: its sources are those pinned, but"
        " its mapping, transforms or view changed (`registry lock data` updates the pin)"
    )
    assert lock(pinned) == 0
    assert rows_of(get_dataset("data", root=pinned, locked=True)) == OLD[:19]


def test_changed_source_is_looked_up_or_rejected_when_frozen(pinned: Path) -> None:
    (pinned / "own.jsonl").write_bytes(jsonl(NEW))
    change_manifest(pinned, source={"type": "json", "path": "own.jsonl"})
    assert rows_of(get_dataset("data", root=pinned)) == NEW
    for strict in STRICT:
        with pytest.raises(LockStaleError, match=re.escape("own.jsonl")):
            get_dataset("data", root=pinned, **strict)
    assert lock(pinned, "--check") == 1
    assert lock(pinned) == 0
    assert rows_of(get_dataset("data", root=pinned, locked=True)) == NEW


def test_only_the_new_source_is_looked_up(https: Https, one_dataset: OneDataset) -> None:
    one, two = https.put("/1.jsonl", jsonl(OLD[:5])), https.put("/2.jsonl", jsonl(OLD[5:]))
    root = one_dataset({"type": "json", "path": [one]})
    assert lock(root) == 0
    https.put("/1.jsonl", jsonl(NEW))
    change_manifest(root, source={"type": "json", "path": [one, two]})
    assert rows_of(get_dataset("data", root=root)) == OLD
    assert lock(root) == 0
    assert [source.location for source in pin_of(root).sources] == [one, two]
    assert rows_of(get_dataset("data", root=root, locked=True)) == OLD


def test_two_revisions_of_one_repository_have_separate_pins(
    hub: HubEmulator, one_dataset: OneDataset
) -> None:
    repo = "acme/twice"
    old = hub.commit(repo, hub_files(OLD))
    hub.commit(repo, hub_files(NEW))
    source = {"type": "hf", "path": repo, "split": "test"}
    root = one_dataset(source, concat=[{"revision": old}, {}])
    assert lock(root) == 0
    hub.commit(repo, hub_files([]))
    assert rows_of(get_dataset("data", root=root, locked=True)) == [*OLD, *NEW]
    assert rows_of(get_dataset("data", root=root, frozen=True)) == [*OLD, *NEW]


def test_overriding_split_or_revision_ignores_the_pin(
    hub: HubEmulator, one_dataset: OneDataset
) -> None:
    upstream_rows = {"test": [dict(row) for row in OLD], "dev": [dict(row) for row in NEW]}
    hub.commit("acme/splits", parquet_repo({"default": upstream_rows}))
    root = one_dataset({"type": "hf", "path": "acme/splits", "split": "test"})
    assert lock(root) == 0
    assert rows_of(get_dataset("data", root=root, split="dev")) == NEW
    overrides: dict[str, Any] = {"split": "dev", "revision": "main"}
    for key, value in overrides.items():
        with pytest.raises(LockStaleError, match=f"`{key}` selects data"):
            get_dataset("data", root=root, locked=True, **{key: value})


# --- local files ---


def test_remote_glob_is_not_listed_again(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    s3.put("bucket", "1.jsonl", jsonl(OLD))
    root = one_dataset({"type": "json", "path": "s3://bucket/*.jsonl"})
    assert lock(root) == 0
    s3.put("bucket", "2.jsonl", jsonl(NEW))
    assert rows_of(get_dataset("data", root=root, locked=True)) == OLD
    s3.reset()
    assert rows_of(get_dataset("data", root=root, locked=True)) == OLD


def test_digests_of_files_beside_a_source_do_not_depend_on_the_machine(
    one_dataset: OneDataset, tmp_path: Path, machine: Machine
) -> None:
    fields = {"input": "q", "target": "a", "files": "f"}
    root = one_dataset({"type": "json", "path": "own.jsonl"}, fields=fields)
    (root / "own.jsonl").write_bytes(jsonl([{"q": "Look", "a": "1", "f": {"a.txt": "note.txt"}}]))
    (root / "note.txt").write_text("x", encoding="utf-8")
    assert lock(root) == 0
    assert get_dataset("data", root=root)[0].files == {"a.txt": str(root / "note.txt")}
    moved = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(root, moved)
    machine("other")
    (sample,) = get_dataset("data", root=moved, locked=True)
    assert sample.files == {"a.txt": str(moved / "note.txt")}
    assert str(tmp_path) not in (root / "datasets.lock").read_text(encoding="utf-8")


# --- the samples themselves ---


def test_samples_changed_by_code_are_an_error_each_time(pinned: Path) -> None:
    text = (pinned / "datasets.lock").read_text(encoding="utf-8")
    ordered = pin_of(pinned).ordered
    (pinned / "datasets.lock").write_text(text.replace(ordered, f"sha256:{'0' * 64}"))
    for _ in range(2):
        with pytest.raises(LockError) as caught:
            get_dataset("data", root=pinned)
        assert str(caught.value) == (
            "data: its sources match datasets.lock, its samples differ: pinned 20,"
            f" sha256:{'0' * 64}, found 20, {ordered} (damaged when it was read, or has the"
            " mapping code changed? try `--refresh`, and look at the samples before `registry lock"
            " --upgrade data` pins them)"
        )
    assert rows_of(get_dataset("data", root=pinned, limit=4)) == OLD[:4], "a view is not compared"


# --- upgrades ---


@EVERYWHERE
def test_upgrade_lists_the_changes(
    upstream: Upstream, pinned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    was = pin_of(pinned)
    upstream.put(NEW)
    capsys.readouterr()
    assert lock(pinned) == 0, "pins move by --upgrade alone"
    assert pin_of(pinned) == was
    capsys.readouterr()
    assert lock(pinned, "--upgrade") == 0
    now = pin_of(pinned)
    moved = f"{was.sources[0].short} → {now.sources[0].short}"
    output = capsys.readouterr().out.splitlines()
    assert output == [
        f"data: {moved}, 20 samples, 3 changed",
        "data: version 1-A → 2-A",
        f"{pinned / 'datasets.lock'}: 1 of 1 dataset pinned",
    ]
    assert rows_of(get_dataset("data", root=pinned, locked=True)) == NEW
    assert lock(pinned, "--upgrade") == 0
    assert capsys.readouterr().out.splitlines() == output[2:], "nothing moved"


@EVERYWHERE
@pytest.mark.usefixtures("asked_once")
def test_failed_upgrade_keeps_the_pin(
    upstream: Upstream, pinned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (pinned / "datasets.lock").read_bytes()
    for status in (404, 503, 401):
        upstream.fail(status)
        capsys.readouterr()
        assert lock(pinned, "--upgrade", "data") == 1, "it was named"
        assert "(its old pin is kept)" in capsys.readouterr().err
        assert lock(pinned, "--upgrade") == 0, "it was not"
        assert "1 unreachable and kept their pins (data)" in capsys.readouterr().out
        assert (pinned / "datasets.lock").read_bytes() == before


# --- the commit that a manifest names ---


@pytest.fixture
def at_commit(hub: HubEmulator, one_dataset: OneDataset) -> Path:
    """Write a catalog whose dataset names a commit of the Hub, and which has no lockfile."""
    commit = hub.commit(REPO, hub_files(OLD))
    root = one_dataset({"type": "hf", "path": REPO, "split": "test", "revision": commit})
    hub.commit(REPO, hub_files(NEW))
    return root


def states(root: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    main(["list", "--root", str(root), "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    return {key: found[key] for key in ("state", "locked", "stale")}


def refused(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert lock(root, "--check") == 1
    return capsys.readouterr().out


def test_commit_is_locked_without_a_request_and_accepted_by_locked_and_frozen(
    at_commit: Path, hub: HubEmulator, capsys: pytest.CaptureFixture[str]
) -> None:
    assert states(at_commit, capsys) == {"state": "commit", "locked": False, "stale": False}
    with pytest.raises(LockStaleError, match="does not pin it"):
        get_dataset("data", root=at_commit, locked=True)
    hub.requests.clear()
    assert lock(at_commit, "--offline") == 0
    shown = capsys.readouterr().out
    assert "datasets.lock: 0 of 1 dataset pinned, 1 by the commit alone" in shown
    assert hub.requests == []
    found = read_lock(at_commit / "datasets.lock")
    assert found is not None
    (row,) = found.commits["data"].sources
    assert row.revision
    assert row.revision in (at_commit / "registry" / "data.yaml").read_text(encoding="utf-8")
    assert states(at_commit, capsys) == {"state": "commit", "locked": True, "stale": False}
    assert lock(at_commit, "--check") == 0
    for strict in STRICT:
        dataset = get_dataset("data", root=at_commit, **strict)
        assert rows_of(dataset) == OLD
        assert dataset.provenance.state == "commit"


def test_commit_of_an_older_manifest_is_refused_until_it_is_locked_again(
    at_commit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lock(at_commit, "--offline") == 0
    change_manifest(at_commit, limit=5)
    assert states(at_commit, capsys) == {"state": "commit", "locked": True, "stale": True}
    for strict in STRICT:
        with pytest.raises(LockStaleError) as caught:
            get_dataset("data", root=at_commit, **strict)
        assert str(caught.value) == (
            "data: datasets.lock pins it at the commit of an older manifest"
            " (`registry lock --offline data` updates it)"
        )
    for command in (["validate", "--strict"], ["show", "data"]):
        main([*command, "--root", str(at_commit)])
        assert "pinned at the commit of an older manifest" in capsys.readouterr().out
    assert "data: has another manifest than its commit in the lockfile" in refused(
        at_commit, capsys
    )
    assert lock(at_commit, "--offline", "data") == 0
    assert lock(at_commit, "--check") == 0


def test_commit_is_kept_while_its_manifest_is_wrong(
    at_commit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lock(at_commit, "--offline") == 0
    before = (at_commit / "datasets.lock").read_bytes()
    change_manifest(at_commit, fields={"input": "qq", "target": "a"})
    assert lock(at_commit) == 1
    assert "no column 'qq'" in capsys.readouterr().err
    assert (at_commit / "datasets.lock").read_bytes() == before
    change_manifest(
        at_commit, source={"type": "hf", "path": "acme/none", "split": "test"}, fields={}
    )
    command = f"`registry lock data --root {at_commit}`"
    assert f"data: names no commit any more ({command} pins it)" in refused(at_commit, capsys)
    assert lock(at_commit, "--offline") == 0  # the commit is none of this manifest
    assert b"revision" not in (at_commit / "datasets.lock").read_bytes()


def test_missing_or_edited_commit_is_a_difference(
    at_commit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = at_commit / "datasets.lock"
    assert lock(at_commit, "--offline") == 0
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub('revision: "[0-9a-f]{40}"', f'revision: "{"0" * 40}"', text))
    assert "data: has sources that differ from those in the lockfile" in refused(at_commit, capsys)
    path.write_text(text.split("datasets:")[0] + "datasets: {}\n", encoding="utf-8")
    assert lock(at_commit, "--check") == 1
    hint = f"(`registry lock --offline data --root {at_commit}` writes it)"
    assert f"data: has a commit that is not in the lockfile {hint}" in capsys.readouterr().out


@pytest.mark.usefixtures("asked_once")
def test_commit_is_verified_where_there_is_a_network(
    at_commit: Path, hub: HubEmulator, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.fail_with(503)
    assert lock(at_commit) == 0
    assert lock(at_commit, "data") == 1  # asked for by name, and only half done
    assert "(only the commit that its manifest names is written)" in capsys.readouterr().err
    hub.fail_with(None)
    assert lock(at_commit) == 0
    assert pin_of(at_commit).samples == len(OLD)
    found = read_lock(at_commit / "datasets.lock")
    assert found is not None
    assert found.commits == {}
    assert states(at_commit, capsys)["state"] == "verified"
    assert lock(at_commit, "--offline") == 0  # a pin is not exchanged for less
    assert pin_of(at_commit).samples == len(OLD)


def test_commit_of_a_catalog_with_a_lookup_table_has_the_digest_of_the_table(
    at_commit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = at_commit / "names.csv"
    table.write_text("key,name\n" + "".join(f"{n},n{n}\n" for n in range(20)), encoding="utf-8")
    change_manifest(
        at_commit,
        join={"source": {"type": "csv", "path": "names.csv"}, "on": "a", "key": "key", "into": "t"},
        fields={"input": "q", "target": "t.name"},
    )
    assert lock(at_commit, "--offline") == 0
    assert lock(at_commit, "--check") == 0
    table.write_text(table.read_text(encoding="utf-8").replace("n7", "seven"), encoding="utf-8")
    assert "data: has sources that differ" in refused(at_commit, capsys)
    table.unlink()
    assert "names.csv" in refused(at_commit, capsys)

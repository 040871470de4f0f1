"""Each change of a source is found without a build, and named with what to do about it."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.errors import (
    AccessError,
    DecodeError,
    ExpectationError,
    ManifestError,
    MissingDependencyError,
    Problem,
    RegistryError,
    SourceError,
)
from registry.lockfile.models import read_lock
from registry.manifest.models import DatasetSpec, to_spec
from registry.sources.facts import Missing
from registry.workflows.verify import (
    VerifyResult,
    changed_columns,
    drift_of,
    missing_part,
    verify,
    wrong_count,
)
from tests.conftest import CatalogRoot, Https
from tests.records import jsonl
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [
    {"question": f"Question {n}?", "options": ["red", "blue"], "answer": "AB"[n % 2]}
    for n in range(50)
]
FIELDS = {"input": "question", "choices": "options", "target": "answer"}
EXPECT = {"samples": len(ROWS), "target_in_choices": True}


@dataclass
class World:
    """A catalog with one dataset, `data`, and its servers."""

    write: CatalogRoot
    hub: HubEmulator
    https: Https
    cache_dir: Path

    def catalog(self, source: dict[str, Any], **keys: Any) -> Path:
        dataset = {"source": source, "fields": FIELDS, "expect": EXPECT, **keys}
        return self.write({"data": yaml.safe_dump({"datasets": {"data": dataset}})})

    def repository(self, rows: list[dict[str, Any]] = ROWS, config: str = "all") -> str:
        return self.hub.commit("verify/data", parquet_repo({config: {"test": rows, "dev": rows}}))

    def lock(self, root: Path) -> None:
        assert main(["lock", "--root", str(root)]) == 0

    def verify(self, root: Path) -> VerifyResult:
        lock = read_lock(root / "datasets.lock")
        before = sorted(self.cache_dir.rglob("*"))
        catalog = Catalog.open(root)
        pins = {} if lock is None else lock.pins
        found = verify(["data"], catalog, pins, jobs=1, report=lambda name, progress: None)
        (result,) = found
        index = self.cache_dir / "v2" / "index"
        after = [path for path in sorted(self.cache_dir.rglob("*")) if index not in path.parents]
        assert set(after) <= {*before, self.cache_dir, index.parent, index}, "it filled the cache"
        return result


@pytest.fixture
def world(catalog_root: CatalogRoot, hub: HubEmulator, https: Https, cache_dir: Path) -> World:
    return World(catalog_root, hub, https, cache_dir)


def hub_source(revision: str | None = None, **keys: Any) -> dict[str, Any]:
    source = {"type": "hf", "path": "verify/data", "name": "all", "split": "test", **keys}
    return source if revision is None else {**source, "revision": revision}


# --- no drift ---


def test_a_pinned_repository_is_ok(world: World) -> None:
    commit = world.repository()
    root = world.catalog(hub_source(commit))
    result = world.verify(root)
    assert (result.status, result.drifts) == ("ok", ())
    assert (result.revision, result.rows, result.mapped) == (commit, len(ROWS), 20)
    world.lock(root)
    assert world.verify(root).status == "ok"


def test_only_the_start_of_a_large_parquet_file_is_read(world: World) -> None:
    digits = random.Random(1)
    rows = [{**ROWS[0], "question": f"{digits.getrandbits(4000):x}"} for n in range(10_000)]
    files = parquet_repo({"all": {"test": ROWS}})
    buffer = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, buffer, row_group_size=500, write_statistics=False)
    files["all/test-00000-of-00001.parquet"] = buffer.getvalue()
    commit = world.hub.commit("verify/data", files)
    size, before = len(buffer.getvalue()), world.hub.sent
    result = world.verify(world.catalog(hub_source(commit), expect={"samples": len(rows)}))
    assert (result.status, result.rows, result.mapped) == ("ok", len(rows), 20)
    assert size > 1 << 20
    assert world.hub.sent - before < size / 4


def test_repository_of_json_lines_is_ok(world: World) -> None:
    commit = world.hub.commit("verify/data", {"test.jsonl": jsonl(ROWS)})
    source = {"type": "hf", "path": "verify/data", "split": "test", "revision": commit}
    result = world.verify(world.catalog(source))
    assert (result.status, result.drifts, result.mapped) == ("ok", (), 20)


@pytest.mark.parametrize("etag", ["one", ""])
def test_a_file_is_ok(world: World, etag: str) -> None:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag=etag)
    root = world.catalog({"type": "json", "path": url})
    world.lock(root)
    result = world.verify(root)
    assert (result.status, result.drifts, result.mapped) == ("ok", (), 20)


# --- planted drifts ---

Plant = Callable[[World], Path]
"""Makes a catalog, and a source that is not what it says."""


def revision_gone(world: World) -> Path:
    world.repository()
    return world.catalog(hub_source("f" * 40))


def branch_moved(world: World) -> Path:
    world.repository(ROWS)
    root = world.catalog(hub_source())
    world.lock(root)
    world.repository([{**row, "question": "New?"} for row in ROWS])
    return root


def configuration_renamed(world: World) -> Path:
    return world.catalog(hub_source(world.repository(config="alle")))


def configuration_needed(world: World) -> Path:
    files = parquet_repo({"one": {"test": ROWS}, "two": {"test": ROWS}})
    return world.catalog(hub_source(world.hub.commit("verify/data", files), name=None))


def split_missing(world: World) -> Path:
    return world.catalog(hub_source(world.repository(), split="tests"))


def column_renamed(world: World) -> Path:
    rows = [{**row, "answers": row["answer"]} for row in ROWS]
    for row in rows:
        del row["answer"]
    return world.catalog(hub_source(world.repository(rows)))


def column_renamed_since_the_lock(world: World) -> Path:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag="1")
    root = world.catalog({"type": "json", "path": url}, fields={**FIELDS, "target": {"template": "{answer|none}"}}, expect={})  # fmt: skip
    world.lock(root)
    rows = [{"question": row["question"], "options": row["options"], "gold": "A"} for row in ROWS]
    world.https.put("/data.jsonl", jsonl(rows), etag="1")
    return root


def row_count_changed(world: World) -> Path:
    return world.catalog(hub_source(world.repository(ROWS[:-1])))


def rows_of_a_file_changed(world: World) -> Path:
    files = parquet_repo({"all": {"test": ROWS * 2}})
    folder = world.catalog({"type": "parquet", "path": "data.parquet"})
    (folder / "data.parquet").write_bytes(files["all/test-00000-of-00001.parquet"])
    return folder


def rows_of_a_short_file_changed(world: World) -> Path:
    root = world.catalog({"type": "json", "path": "data.jsonl"}, expect={"samples": 2})
    (root / "data.jsonl").write_bytes(jsonl(ROWS[:3]))
    return root


def local_file_missing(world: World) -> Path:
    return world.catalog({"type": "json", "path": "gone.jsonl"})


def package_missing(world: World) -> Path:
    return world.catalog({"type": "json", "path": "package:no_such_package/data.json"})


def size_changed(world: World) -> Path:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag="1")
    root = world.catalog({"type": "json", "path": url})
    world.lock(root)
    world.https.put("/data.jsonl", jsonl(ROWS) + b"\n", etag="2")
    return root


def etag_changed(world: World) -> Path:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag="1")
    root = world.catalog({"type": "json", "path": url})
    world.lock(root)
    world.https.put("/data.jsonl", jsonl(ROWS).replace(b"red", b"RED"), etag="2")
    return root


def local_bytes_changed(world: World) -> Path:
    root = world.catalog({"type": "json", "path": "data.jsonl"})
    (root / "data.jsonl").write_bytes(jsonl(ROWS))
    world.lock(root)
    (root / "data.jsonl").write_bytes(jsonl(ROWS).replace(b"red", b"RED"))
    return root


def file_missing(world: World) -> Path:
    return world.catalog({"type": "json", "path": f"{world.https.url}/gone.jsonl"})


def first_record_not_mappable(world: World) -> Path:
    rows = [{**ROWS[0], "question": ""}, *ROWS[1:]]
    return world.catalog(hub_source(world.repository(rows)))


def not_json(world: World) -> Path:
    url = world.https.put("/data.jsonl", b"<!doctype html>\n<title>Moved</title>\n")
    return world.catalog({"type": "json", "path": url})


def not_parquet(world: World) -> Path:
    root = world.catalog({"type": "parquet", "path": "data.parquet"})
    (root / "data.parquet").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    return root


def letter_outside_choices(world: World) -> Path:
    rows = [{**row, "answer": "C"} for row in ROWS]
    return world.catalog(hub_source(world.repository(rows)))


def server_down(world: World) -> Path:
    return world.catalog({"type": "json", "path": world.https.fail("/data.jsonl", 503)})


def access_refused(world: World) -> Path:
    world.hub.commit("verify/private", parquet_repo({"all": {"test": ROWS}}), private=True)
    return world.catalog(hub_source(path="verify/private"))


def manifest_invalid(world: World) -> Path:
    return world.catalog(hub_source(), limit=-1)


DRIFTS: dict[Plant, tuple[str, str, str]] = {
    revision_gone: ("drift", "revision", r"no revision 'f{40}' any more \(the default branch is at \w{40}; pin a commit that exists\)"),
    branch_moved: ("drift", "branch", r"the default branch moved from \w{40} to \w{40} since it was locked \(`registry lock --upgrade data` pins it\)"),
    configuration_renamed: ("drift", "configuration", r"no configuration 'all'; configurations: alle \(did you mean 'alle'\?\)"),
    configuration_needed: ("drift", "configuration", r"has several configurations: one, two \(name one under `source.name`\)"),
    split_missing: ("drift", "split", r"no split 'tests'; splits: test, dev \(did you mean 'test'\?\)"),
    column_renamed: ("drift", "columns", r"/registry/data\.yaml:9:7 \$\.datasets\.data\.fields\.target: no column 'answer' \(did you mean 'answers'\?\)$"),
    column_renamed_since_the_lock: ("drift", "columns", r"columns are gone since it was locked: answer; new: gold"),
    row_count_changed: ("drift", "rows", r"the source has 49 records, expect\.samples says 50"),
    rows_of_a_file_changed: ("drift", "rows", r"the source has 100 records, expect\.samples says 50"),
    rows_of_a_short_file_changed: ("drift", "rows", r"the source has 3 records, expect\.samples says 2"),
    local_file_missing: ("drift", "source", r"/gone\.jsonl: no such file \(a relative path starts at the folder of datasets\.yaml\)$"),
    package_missing: ("failed", "package", r"the package no_such_package is not installed \(`pip install no-such-package`\)$"),
    size_changed: ("drift", "file", r"/data\.jsonl: [\d,]+ bytes, datasets\.lock pins [\d,]+ \(`registry lock --upgrade data` pins it\)"),
    etag_changed: ("drift", "file", r'etag is "2", datasets\.lock has "1": its bytes have changed'),
    local_bytes_changed: ("drift", "file", r"its digest is not the one that datasets\.lock pins"),
    file_missing: ("drift", "source", r"/gone\.jsonl: no such file \(correct `source` in the manifest\)"),
    first_record_not_mappable: ("drift", "mapping", r"record 1, field input: No input in dataset"),
    not_json: ("drift", "mapping", r"data\.jsonl: this is an HTML page, not data"),
    not_parquet: ("drift", "mapping", r"data\.parquet: "),
    letter_outside_choices: ("drift", "expect", r"first 20 records: expect\.target_in_choices fails"),
    server_down: ("failed", "unreachable", r"the server answered 503, 1 attempt in 0 s \(try again later\)"),
    access_refused: ("failed", "access", r"no such dataset, or a private one \(then set HF_TOKEN\)"),
    manifest_invalid: ("drift", "manifest", r"\$\.datasets\.data\.limit.*\(fix the manifest\)"),
}  # fmt: skip


@pytest.mark.parametrize("plant", DRIFTS, ids=lambda plant: plant.__name__)
def test_a_planted_drift_is_found(
    world: World, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_DEADLINE", "0")  # a server that is down is asked once
    status, kind, message = DRIFTS[plant]
    result = world.verify(plant(world))
    found = [f"{drift.kind}: {drift}" for drift in result.drifts]
    assert result.status == status, found
    errors = [drift for drift in result.drifts if drift.severity == "error"]
    assert kind in [drift.kind for drift in errors], found
    assert any(drift.kind == kind and re.search(message, str(drift)) for drift in errors), found


def test_questionable_samples_that_nothing_forbids_are_a_warning(world: World) -> None:
    rows = [{**row, "answer": "C" if n == 3 else "A"} for n, row in enumerate(ROWS)]
    result = world.verify(world.catalog(hub_source(world.repository(rows)), expect={}))
    assert result.status == "ok"
    (drift,) = result.drifts
    assert (drift.kind, drift.severity) == ("samples", "warning")
    assert "`accept: [targets_outside_choices]`" in str(drift)


def test_a_limit_and_a_shuffle_leave_the_row_count_alone(world: World) -> None:
    root = world.catalog(hub_source(world.repository()), limit=7, shuffle=True, seed=1)
    world.lock(root)
    result = world.verify(root)
    assert (result.status, result.drifts, result.rows) == ("ok", (), len(ROWS))


def test_dropped_duplicates_may_be_missing_and_nothing_else(world: World) -> None:
    fields = {**FIELDS, "id": {"hash": ["question"]}}
    source = hub_source(world.repository([*ROWS, *ROWS[:5]]))
    drop = {"fields": fields, "on_duplicate": "drop"}
    assert world.verify(world.catalog(source, **drop)).status == "ok"
    more = {**EXPECT, "samples": 60}
    (drift,) = world.verify(world.catalog(source, **drop, expect=more)).drifts
    assert str(drift).startswith("the source has 55 records, expect.samples says 60")


def test_every_part_and_the_lookup_table_are_asked_about(world: World) -> None:
    commit = world.repository()
    url = world.https.put("/side.jsonl", b'{"key": "red", "name": "Red"}\n', etag="1")
    join = {"source": {"type": "json", "path": url}, "on": "answer", "key": "key", "into": "side", "missing": "null"}  # fmt: skip
    both = {**hub_source(commit), "concat": [{"split": "test"}, {"split": "dev"}]}
    keys: dict[str, Any] = {"join": join, "expect": {"samples": 2 * len(ROWS)}}
    concat = both.pop("concat")
    result = world.verify(world.catalog(both, concat=concat, **keys))
    assert (result.status, result.rows, result.mapped) == ("ok", 2 * len(ROWS), 40)
    world.https.pages.clear()
    result = world.verify(world.catalog(both, concat=concat, **keys))
    assert [drift.kind for drift in result.drifts] == ["source"]
    assert "/side.jsonl: no such file" in str(result.drifts[0])


def test_a_lookup_table_of_the_hub_is_read_completely(world: World) -> None:
    side = [{"key": f"Question {n}?", "name": str(n)} for n in range(5000)][::-1]
    commit = world.hub.commit("verify/side", parquet_repo({"all": {"test": side}}))
    table = {"type": "hf", "path": "verify/side", "split": "test", "revision": commit}
    join = {"source": table, "on": "question", "key": "key", "into": "side"}
    result = world.verify(world.catalog(hub_source(world.repository()), join=join))
    assert (result.status, result.drifts, result.mapped) == ("ok", (), 20)


def test_files_of_a_builder_and_folders_are_asked_about(world: World, tmp_path: Path) -> None:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag="1")
    builder = {"type": "hf", "path": "json", "split": "train", "data_files": url}
    assert world.verify(world.catalog(builder)).status == "ok"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.jsonl").write_bytes(jsonl(ROWS))
    folder = {"type": "hf", "path": str(tmp_path / "folder"), "split": "train"}
    result = world.verify(world.catalog(folder))
    assert (result.status, result.drifts) == ("ok", ())


def test_a_condition_leaves_the_row_count_open(world: World) -> None:
    where = {"value": "answer", "equals": "A"}
    result = world.verify(
        world.catalog(hub_source(world.repository()), where=where, expect={"samples": 25})
    )
    assert (result.status, result.rows, result.mapped) == ("ok", len(ROWS), 10)


def test_only_the_first_records_of_a_file_are_mapped(world: World) -> None:
    bad = {**ROWS[0], "question": ""}
    url = world.https.put("/data.jsonl", jsonl([*ROWS[:20], bad, *ROWS]), etag="1")
    where = {"value": "answer", "equals": "A"}
    result = world.verify(world.catalog({"type": "json", "path": url}, where=where))
    assert (result.status, result.mapped) == ("ok", 10)


def test_a_result_is_json_data(world: World) -> None:
    data = world.verify(world.catalog(hub_source(world.repository(ROWS[:9])))).to_dict()
    assert json.loads(json.dumps(data))["drifts"][0]["severity"] == "error"
    assert data["status"] == "drift"


def spec_of(**keys: Any) -> DatasetSpec:
    source = {"type": "hf", "path": "org/name", "split": "test"}
    return to_spec({"name": "d", "folder": Path("/"), "source": source, **keys})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ExpectationError("d: a target is blank"), "expect"),
        (ManifestError([Problem(message="no column x", file="m.yaml")]), "columns"),
        (DecodeError("not JSON", file="x"), "mapping"),
        (MissingDependencyError("x is not installed"), "package"),
        (AccessError("x: access refused"), "access"),
        (SourceError("x: no such file"), "source"),
    ],
)
def test_error_of_a_source_is_a_kind_of_drift(error: RegistryError, kind: str) -> None:
    assert drift_of(error, "d").kind == kind


def test_hint_of_an_error_is_not_followed_by_a_general_one() -> None:
    assert drift_of(SourceError("x: no such file (check it)"), "d").hint == ""
    assert drift_of(SourceError("x: no such file"), "d").hint == "correct `source` in the manifest"


@pytest.mark.parametrize(
    ("keys", "rows", "message"),
    [
        ({"expect": {"samples": 2}}, 3, "the source has 3 records, expect.samples says 2"),
        ({"expect": {"samples": 2}}, 2, None),
        ({"expect": {"samples": 2}}, None, None),
        ({"expect": {"samples": 2}, "on_duplicate": "drop"}, 3, None),
        ({"expect": {"samples": 2}, "where": {"from": "q", "equals": "a"}}, 3, None),
    ],
)
def test_number_of_records_that_can_not_give_the_samples(
    keys: dict[str, Any], rows: int | None, message: str | None
) -> None:
    found = [drift.message for drift in wrong_count(spec_of(**keys), rows, None)]
    assert found == ([] if message is None else [message])


def test_columns_that_are_gone_are_named_with_the_new_ones() -> None:
    (drift,) = changed_columns(["q", "a"], ["q", "gold"])
    assert drift.message == "columns are gone since it was locked: a; new: gold"
    assert list(changed_columns(["q"], ["q", "more"])) == []


def test_missing_split_is_named_with_those_there_are() -> None:
    missing = Missing(kind="split", name="tests", known=("test", "dev"))
    drift = missing_part(missing, spec_of().source)
    assert (drift.kind, drift.hint) == ("split", "did you mean 'test'?")
    assert drift.message.endswith("no split 'tests'; splits: test, dev")

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
from registry.lockfile.models import read_lock
from registry.workflows.verify import (
    VerifyResult,
    changed_columns,
    verify,
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

    def file(self, path: str, data: bytes | None = None, **keys: Any) -> Path:
        """Write a catalog of one file, and the file below its folder if there are data."""
        root = self.catalog({"type": path.rpartition(".")[2].rstrip("l"), "path": path}, **keys)
        if data is not None:
            (root / path).write_bytes(data)
        return root

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
        index = self.cache_dir / "v3" / "index"
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
    root = world.file(world.https.put("/data.jsonl", jsonl(ROWS), etag=etag))
    world.lock(root)
    result = world.verify(root)
    assert (result.status, result.drifts, result.mapped) == ("ok", (), 20)


def test_strong_form_of_the_locked_etag_is_no_drift(world: World) -> None:
    url = world.https.put("/data.jsonl", jsonl(ROWS), headers={"ETag": 'W/"one"'})
    root = world.file(url)
    world.lock(root)
    world.https.put("/data.jsonl", jsonl(ROWS), etag="one")
    result = world.verify(root)
    assert (result.status, result.drifts) == ("ok", ())


# --- planted drifts ---

Plant = Callable[[World], Path]
"""Makes a catalog, and a source that is not what it says."""
RENAMED = [{key.replace("answer", "answers"): row[key] for key in row} for row in ROWS]
BLANK = [{**ROWS[0], "question": ""}, *ROWS[1:]]
OUTSIDE = [{**row, "answer": "C"} for row in ROWS]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    return parquet_repo({"all": {"test": rows}})["all/test-00000-of-00001.parquet"]


def revision_gone(world: World) -> Path:
    world.repository()
    return world.catalog(hub_source("f" * 40))


def branch_moved(world: World) -> Path:
    world.repository(ROWS)
    root = world.catalog(hub_source())
    world.lock(root)
    world.repository([{**row, "question": "New?"} for row in ROWS])
    return root


def configuration_needed(world: World) -> Path:
    files = parquet_repo({"one": {"test": ROWS}, "two": {"test": ROWS}})
    return world.catalog(hub_source(world.hub.commit("verify/data", files), name=None))


def column_renamed_since_the_lock(world: World) -> Path:
    url = world.https.put("/data.jsonl", jsonl(ROWS), etag="1")
    fields = {**FIELDS, "target": {"template": "{answer|none}"}}
    root = world.file(url, fields=fields, expect={})
    world.lock(root)
    rows = [{"question": row["question"], "options": row["options"], "gold": "A"} for row in ROWS]
    world.https.put("/data.jsonl", jsonl(rows), etag="1")
    return root


def changed_file(world: World, data: bytes) -> Path:
    root = world.file(world.https.put("/data.jsonl", jsonl(ROWS), etag="1"))
    world.lock(root)
    world.https.put("/data.jsonl", data, etag="2")
    return root


def local_bytes_changed(world: World) -> Path:
    root = world.file("data.jsonl", jsonl(ROWS))
    world.lock(root)
    (root / "data.jsonl").write_bytes(jsonl(ROWS).replace(b"red", b"RED"))
    return root


def access_refused(world: World) -> Path:
    world.hub.commit("verify/private", parquet_repo({"all": {"test": ROWS}}), private=True)
    return world.catalog(hub_source(path="verify/private"))


PLANTS: dict[str, Plant] = {
    "revision gone": revision_gone,
    "branch moved": branch_moved,
    "configuration renamed": lambda it: it.catalog(hub_source(it.repository(config="alle"))),
    "configuration needed": configuration_needed,
    "split missing": lambda it: it.catalog(hub_source(it.repository(), split="tests")),
    "column renamed": lambda it: it.catalog(hub_source(it.repository(RENAMED))),
    "column renamed since the lock": column_renamed_since_the_lock,
    "row count changed": lambda it: it.catalog(hub_source(it.repository(ROWS[:-1]))),
    "rows of a file changed": lambda it: it.file("data.parquet", parquet(ROWS * 2)),
    "rows of a short file changed": lambda it: it.file(
        "data.jsonl", jsonl(ROWS[:3]), expect={"samples": 2}
    ),
    "local file missing": lambda it: it.file("gone.jsonl"),
    "package missing": lambda it: it.file("package:no_such_package/data.json"),
    "size changed": lambda it: changed_file(it, jsonl(ROWS) + b"\n"),
    "etag changed": lambda it: changed_file(it, jsonl(ROWS).replace(b"red", b"RED")),
    "local bytes changed": local_bytes_changed,
    "file missing": lambda it: it.file(f"{it.https.url}/gone.jsonl"),
    "first record not mappable": lambda it: it.catalog(hub_source(it.repository(BLANK))),
    "not json": lambda it: it.file(it.https.put("/data.jsonl", b"<!doctype html>\n<title>Moved")),
    "not parquet": lambda it: it.file(
        "data.parquet", b"version https://git-lfs.github.com/spec/v1\n"
    ),
    "letter outside choices": lambda it: it.catalog(hub_source(it.repository(OUTSIDE))),
    "server down": lambda it: it.file(it.https.fail("/data.jsonl", 503)),
    "access refused": access_refused,
    "manifest invalid": lambda it: it.catalog(hub_source(), limit=-1),
}
DRIFTS: dict[str, tuple[str, str, str]] = {
    "revision gone": ("drift", "revision", r"no revision 'f{40}' any more \(the default branch is at \w{40}; pin a commit that exists\)"),
    "branch moved": ("drift", "branch", r"the default branch moved from \w{40} to \w{40} since it was locked \(`registry lock --upgrade data` pins it\)"),
    "configuration renamed": ("drift", "configuration", r"no configuration 'all'; configurations: alle \(did you mean 'alle'\?\)"),
    "configuration needed": ("drift", "configuration", r"has several configurations: one, two \(name one under `source.name`\)"),
    "split missing": ("drift", "split", r"no split 'tests'; splits: test, dev \(did you mean 'test'\?\)"),
    "column renamed": ("drift", "columns", r"/registry/data\.yaml:9:7 \$\.datasets\.data\.fields\.target: no column 'answer' \(did you mean 'answers'\?\)$"),
    "column renamed since the lock": ("drift", "columns", r"columns are gone since it was locked: answer; new: gold"),
    "row count changed": ("drift", "rows", r"the source has 49 records, expect\.samples says 50"),
    "rows of a file changed": ("drift", "rows", r"the source has 100 records, expect\.samples says 50"),
    "rows of a short file changed": ("drift", "rows", r"the source has 3 records, expect\.samples says 2"),
    "local file missing": ("drift", "source", r"/gone\.jsonl: no such file \(a relative path starts at the folder of datasets\.yaml\)$"),
    "package missing": ("failed", "package", r"the package no_such_package is not installed \(`pip install no-such-package`\)$"),
    "size changed": ("drift", "file", r"/data\.jsonl: [\d,]+ bytes, datasets\.lock pins [\d,]+ \(`registry lock --upgrade data` pins it\)"),
    "etag changed": ("drift", "file", r'etag is "2", datasets\.lock has "1": its bytes have changed'),
    "local bytes changed": ("drift", "file", r"its digest is not the one that datasets\.lock pins"),
    "file missing": ("drift", "source", r"/gone\.jsonl: no such file \(correct `source` in the manifest\)"),
    "first record not mappable": ("drift", "mapping", r"record 1, field input: No input in dataset"),
    "not json": ("drift", "mapping", r"data\.jsonl: this is an HTML page, not data"),
    "not parquet": ("drift", "mapping", r"data\.parquet: "),
    "letter outside choices": ("drift", "expect", r"first 20 records: expect\.target_in_choices fails"),
    "server down": ("failed", "unreachable", r"the server answered 503, 1 attempt in 0 s \(try again later\)"),
    "access refused": ("failed", "access", r"no such dataset, or a private one \(then set HF_TOKEN\)"),
    "manifest invalid": ("drift", "manifest", r"\$\.datasets\.data\.limit.*\(fix the manifest\)"),
}  # fmt: skip


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.usefixtures("asked_once")
def test_a_planted_drift_is_found(world: World, drift: str) -> None:
    status, kind, message = DRIFTS[drift]
    result = world.verify(PLANTS[drift](world))
    found = [f"{one.kind}: {one}" for one in result.drifts]
    assert result.status == status, found
    errors = [one for one in result.drifts if one.severity == "error"]
    assert any(one.kind == kind and re.search(message, str(one)) for one in errors), found


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
    result = world.verify(world.file(url, where=where))
    assert (result.status, result.mapped) == ("ok", 10)


def test_a_result_is_json_data(world: World) -> None:
    data = world.verify(world.catalog(hub_source(world.repository(ROWS[:9])))).to_dict()
    assert json.loads(json.dumps(data))["drifts"][0]["severity"] == "error"
    assert data["status"] == "drift"


def test_new_columns_are_no_drift() -> None:
    assert list(changed_columns(["q"], ["q", "more"])) == []

"""`registry://` through fsspec: files, listings, views, and that nothing can be changed."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import pyarrow.parquet as pq
import pytest

from registry import get_dataset, json_dataset
from registry.cache.cache import Cache, CacheEntry
from registry.cli import main
from registry.errors import ManifestError, MappingError, RegistryError
from registry.plugins.export import filesystem as cached
from registry.plugins.export.exported import Exported
from registry.plugins.export.filesystem import RegistryFileSystem, cached_export, export_key
from registry.plugins.export.formats import FORMATS, Format
from registry.settings import Settings
from tests.conftest import REPOSITORY
from tests.plugins.export.conftest import Opener

SERVED = [row for row in FORMATS.values() if row.is_served]


@pytest.fixture
def system(catalog: Path) -> RegistryFileSystem:
    return RegistryFileSystem(skip_instance_cache=True)


@pytest.fixture
def _registered() -> None:
    # As the entry point does where the package is installed.
    fsspec.register_implementation("registry", RegistryFileSystem, clobber=True)


def test_entry_point_names_the_class() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["fsspec.specs"]
    assert points == {"registry": f"{RegistryFileSystem.__module__}.{RegistryFileSystem.__name__}"}


def test_file_has_the_bytes_of_the_export(system: RegistryFileSystem, catalog: Path) -> None:
    assert main(["export", "mixed", "--out", "out.jsonl"]) == 0
    content = (catalog / "out.jsonl").read_bytes()
    info = system.info("registry://mixed.jsonl")
    assert (info["type"], info["size"], info["name"]) == ("file", len(content), "mixed.jsonl")
    assert info["provenance"]["license"] == "mit"
    assert system.cat_file("mixed.jsonl") == content
    assert system.cat_file("mixed.jsonl", start=5, end=9) == content[5:9]
    with system.open("mixed.jsonl", "r", encoding="utf-8") as file:
        assert json.loads(file.readline())["input"] == "Né?"


def test_etag_changes_with_the_bytes(system: RegistryFileSystem, catalog: Path) -> None:
    before = system.ukey("mixed.jsonl")
    assert system.info("mixed.jsonl")["ETag"] == system.checksum("mixed.jsonl") == before
    assert system.ukey("mixed.jsonl?limit=2") != before
    data = catalog / "mixed.jsonl"
    data.write_text(data.read_text(encoding="utf-8").replace('"B"', '"Bee"'), encoding="utf-8")
    assert system.ukey("mixed.jsonl") != before


@pytest.mark.usefixtures("_registered")
def test_views_and_roots_in_the_url(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = list(get_dataset("mixed", shuffle=True, seed=5, limit=3))
    options = "shuffle=true&seed=5&limit=3"
    monkeypatch.chdir("/")
    root = str(catalog).replace("/", "%2F")
    assert list(json_dataset(f"registry://{options}&root={root}/mixed.jsonl")) == expected
    with fsspec.open(f"registry://mixed.jsonl?{options}&root={catalog}", "r") as file:
        assert [json.loads(line)["input"] for line in file] == [one.input for one in expected]
    with fsspec.open("registry://mixed.jsonl", "r", root=str(catalog)) as file:
        assert len(file.readlines()) == 4


def test_file_that_nobody_closes_is_closed_without_a_warning(system: RegistryFileSystem) -> None:
    file = system.open("mixed.jsonl")
    number = file.fileno()
    del file
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


READ = """
import fsspec, pyarrow.parquet
with fsspec.open("registry://mixed.parquet") as file:
    print(pyarrow.parquet.read_table(file).num_rows)
"""


def test_a_process_ends_well_after_arrow_has_read(catalog: Path) -> None:
    # Most such processes were ended by SIGABRT.
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", READ], cwd=catalog, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_files_beside_the_source_are_as_there_or_absolute(
    system: RegistryFileSystem, catalog: Path
) -> None:
    index = catalog / "datasets.yaml"
    manifest = (
        "  pics: {source: {type: json, path: p.jsonl}, fields: {input: messages, target: a}}\n"
    )
    index.write_text(index.read_text(encoding="utf-8") + manifest, encoding="utf-8")
    (catalog / "p.png").write_bytes(b"png")
    content = '[{"type": "image", "image": "p.png"}]'
    line = f'{{"messages": [{{"role": "user", "content": {content}}}], "a": "b"}}\n'
    (catalog / "p.jsonl").write_text(line, encoding="utf-8")
    assert b'"image":"p.png"' in system.cat_file("pics.jsonl")
    absolute = system.info("absolute_files=true/pics.jsonl")
    image = str(catalog / "p.png")
    assert str(catalog) not in json.dumps(absolute["provenance"])
    assert absolute["ETag"] != system.info("pics.jsonl")["ETag"]
    assert f'"image":"{image}"'.encode() in system.cat_file(absolute["name"])
    assert main(["export", "pics", "--out", "out.parquet", "--absolute-files"]) == 0
    messages = pq.read_table("out.parquet")["messages"].to_pylist()
    assert image in str(messages)


@pytest.mark.parametrize("call", ["info", "cat_file", "modified"])
def test_export_that_is_removed_meanwhile_is_written_again(
    system: RegistryFileSystem, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def removed(exported: Exported, kind: Format, cache: Cache) -> tuple[str, Path]:
        monkeypatch.undo()
        key, path = cached_export(exported, kind, cache)
        cache.discard("exports", key)  # as `cache clear` of another process does
        return key, path

    expected = getattr(system, call)("mixed.jsonl")
    monkeypatch.setattr(cached, "cached_export", removed)
    found = getattr(system, call)("mixed.jsonl")
    assert found >= expected if call == "modified" else found == expected


def test_time_is_that_of_the_file_in_the_cache(system: RegistryFileSystem) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    first = system.modified("registry://mixed.parquet")
    assert before < first < datetime.now(UTC) + timedelta(seconds=5)
    assert system.modified("registry://mixed.parquet") == first


def test_listing_has_every_dataset_and_builds_none(system: RegistryFileSystem) -> None:
    names = ["chat.jsonl", "few.jsonl", "mcq.jsonl", "mixed.jsonl"]
    assert [name for name in system.ls("", detail=False) if name.endswith(".jsonl")] == names
    assert system.glob("m*.jsonl") == ["mcq.jsonl", "mixed.jsonl"]
    assert system.glob("mc?.jsonl") == ["mcq.jsonl"]
    assert system.glob("mcq.jsonl?limit=1") == ["mcq.jsonl?limit=1"]
    assert system.glob("m*.jsonl?limit=1") == ["mcq.jsonl?limit=1", "mixed.jsonl?limit=1"]
    assert system.glob("none*.jsonl?limit=1") == []
    assert system.glob("limit=1?seed=2") == ["limit=1?seed=2"]
    assert "limit=1/mcq.jsonl" in system.ls("limit=1", detail=False)
    assert {one["size"] for one in system.ls("registry://")} == {None}
    assert system.ls("mcq.jsonl") == [system.info("mcq.jsonl")]
    assert [system.isdir(path) for path in ("", "limit=1", "mcq.jsonl")] == [True, True, False]


@pytest.mark.usefixtures("_registered")
def test_unknown_names_are_missing_files_with_a_hint(system: RegistryFileSystem) -> None:
    with pytest.raises(FileNotFoundError, match="similar names: mixed"):
        system.info("mixd.jsonl")
    with pytest.raises(ManifestError, match=r"argument `limit`: must be an integer"):
        system.open("mixed.jsonl?limit=x")
    with pytest.raises(IsADirectoryError):
        system.open("limit=1")
    for path, hint in (("mixd.jsonl?limit=1", "names: mixed"), ("mixed.jsonl?limt=1", "'limit'")):
        for look_up in (system.glob, system.info):
            with pytest.raises(RegistryError, match=hint):
                look_up(path)
        with pytest.raises(RegistryError, match=hint), fsspec.open(f"registry://{path}"):
            pass
    with pytest.raises(RegistryError, match="did you mean 'limit'"):
        system.info("limt=1/mixed.jsonl")
    assert not system.exists("mixd.jsonl")
    assert not system.exists("mixed.jsonl?limt=1")
    assert not system.exists("some text of a file\nthat is no path?")
    assert system.exists("registry://mixed.jsonl?limit=1")


def test_nothing_can_be_changed(system: RegistryFileSystem) -> None:
    for change in (
        lambda: system.open("mixed.jsonl", "wb"),
        lambda: system.pipe_file("mixed.jsonl", b"x"),
        lambda: system.rm("mixed.jsonl"),
        lambda: system.mkdir("x"),
        lambda: system.makedirs("x"),
        lambda: system.cp_file("mixed.jsonl", "chat.jsonl"),
        lambda: system.touch("mixed.jsonl"),
    ):
        with pytest.raises((PermissionError, NotImplementedError)):
            change()


def test_catalog_that_a_url_names_permits_itself_nothing(catalog: Path) -> None:
    other = catalog / "other"
    other.mkdir()
    source = "source: {type: json, path: d.jsonl}"
    manifest = f"datasets: {{d: {{{source}, mapper: 'os:getcwd'}}, plain: {{{source}}}}}"
    text = f"version: 1\ntrust: ['os:getcwd']\n{manifest}\n"
    (other / "datasets.yaml").write_text(text, encoding="utf-8")
    (other / "d.jsonl").write_text('{"input": "a", "target": "b"}\n', encoding="utf-8")
    own = RegistryFileSystem(skip_instance_cache=True)
    with pytest.raises(ManifestError, match="the mapper 'os:getcwd' is not trusted"):
        own.open(f"d.jsonl?root={other}")
    assert own.size(f"plain.jsonl?root={other}") > 0
    index = catalog / "datasets.yaml"
    allowed = index.read_text(encoding="utf-8").replace(
        "version: 1", "version: 1\ntrust: ['os:getcwd']"
    )
    index.write_text(allowed, encoding="utf-8")
    for trusting in (own, RegistryFileSystem(root=str(other), skip_instance_cache=True)):
        with pytest.raises(MappingError):  # it was called, and takes no record
            trusting.open(f"d.jsonl?root={other}")


def test_manifest_may_not_read_it(catalog: Path) -> None:
    index = catalog / "datasets.yaml"
    text = index.read_text(encoding="utf-8")
    source = "  loop: {source: {type: json, path: 'registry://mixed.jsonl'}}\n"
    index.write_text(text + source, encoding="utf-8")
    with pytest.raises(ManifestError, match="registry"):
        get_dataset("loop")


GROUPS = """
groups:
  kinds: {from: rows, by: kind, values: {first: a, "1=1": b}}
  all-kinds: {from: rows, by: kind}
  board: {datasets: [chat, kinds]}
"""


@pytest.fixture
def groups(catalog: Path) -> Path:
    rows = [{"input": f"{kind}?", "target": kind, "kind": kind} for kind in "aab"]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (catalog / "rows.jsonl").write_text(lines, encoding="utf-8")
    index = catalog / "datasets.yaml"
    text = index.read_text(encoding="utf-8")
    fields = "fields: {input: input, target: target, metadata: [kind]}"
    own = (
        f"  rows: {{source: {{type: json, path: rows.jsonl}}, {fields}}}\n"
        "  shots: {extends: chat, fewshot: {dataset: rows, n: 2, into: metadata}}\n"
    )
    index.write_text(f"{text}{own}{GROUPS}", encoding="utf-8")
    return catalog


@pytest.mark.usefixtures("groups", "_registered")
def test_a_member_of_a_group_is_a_file_in_its_folder(system: RegistryFileSystem) -> None:
    def targets(path: str) -> list[str]:
        with fsspec.open(f"registry://{path}", "rt") as file:
            return [json.loads(line)["target"] for line in file]

    assert targets("kinds/first.jsonl") == ["a", "a"]
    assert targets("kinds/1%3D1.jsonl") == ["b"]
    assert targets("kinds/first.jsonl?limit=1") == targets("limit=1/kinds/first.jsonl") == ["a"]
    assert targets("board/kinds/first.jsonl") == ["a", "a"]
    assert targets("board/chat.jsonl") == ["1", "2"]
    assert targets("all-kinds/b.jsonl") == ["b"]
    assert targets("kinds.jsonl") == ["a", "a", "b"], "it is the whole of one dataset"
    # Each has an ETag of its own, and its samples one entry in the cache.
    keys = {system.ukey(f"{name}.csv") for name in ("rows", "kinds/first", "kinds/1%3D1")}
    assert len(keys) == 3


@pytest.mark.usefixtures("groups")
def test_groups_are_folders(system: RegistryFileSystem) -> None:
    def listed(path: str) -> list[str]:
        return [one for one in system.ls(path, detail=False) if not one.endswith(("w", "v", "t"))]

    assert [one for one in listed("") if "." not in one] == ["kinds", "all-kinds", "board"]
    assert listed("kinds") == ["kinds/first.jsonl", "kinds/1%3D1.jsonl"]
    assert listed("limit=1/board") == ["limit=1/board/chat.jsonl", "limit=1/board/kinds"]
    assert listed("board/kinds") == ["board/kinds/first.jsonl", "board/kinds/1%3D1.jsonl"]
    assert listed("all-kinds") == [], "only a build knows them"
    assert system.glob("kinds/*.csv") == ["kinds/1%3D1.csv", "kinds/first.csv"]
    assert system.glob("kinds/f*.csv?limit=1") == ["kinds/first.csv?limit=1"]
    assert [system.isdir(one) for one in ("kinds", "board/kinds", "chat")] == [True, True, False]
    for path, exists in {"kinds": 1, "kinds/first.csv": 1, "kinds/fist.csv": 0, "kin": 0}.items():
        assert system.exists(path) == bool(exists)
    assert not system.exists("board.jsonl"), "a group of several datasets is no file"


@pytest.mark.usefixtures("groups")
def test_what_is_no_member_has_a_hint(system: RegistryFileSystem) -> None:
    hint = "no member 'fist' in the group kinds; similar names: first .`registry show kinds` shows"
    for path in ("kinds/fist.csv", "kinds/fist.csv?limit=1"):
        with pytest.raises((FileNotFoundError, RegistryError), match=hint):
            system.open(path)
    for path, hint in {
        "knds/first.csv": "knds/first",
        "knds": "no group 'knds' in .*; similar names: kinds",
        "board.csv": "'board' is a group of 3 members: name one, such as 'board/chat'",
        "chat": "only .jsonl, .parquet, .arrow, .csv are served",
        "kinds/first": "only .jsonl, .parquet, .arrow, .csv are served",
        "kinds/first.csv?split=dev": "rows has no split 'dev'",
    }.items():
        with pytest.raises((FileNotFoundError, RegistryError), match=hint):
            system.open(path)
    with pytest.raises(IsADirectoryError):
        system.open("kinds")


@pytest.mark.usefixtures("groups")
def test_options_ask_for_examples(system: RegistryFileSystem) -> None:
    def shown(path: str) -> list[int]:
        rows = [json.loads(line) for line in system.open(path).read().splitlines()]
        return [len((row.get("metadata") or {}).get("fewshot", ())) for row in rows]

    assert shown("fewshot=1/shots.jsonl") == [1, 1]
    assert shown("shots.jsonl?fewshot=true") == [2, 2]
    with pytest.raises(MappingError, match="3 samples"):
        system.open("shots.jsonl?fewshot=4")


@pytest.fixture
def cache(catalog: Path) -> Cache:
    return Cache(Settings.from_environment().cache_dir)


@pytest.mark.parametrize("kind", SERVED, ids=lambda kind: kind.name)
def test_cached_bytes_are_those_of_an_export_and_hashed_once_per_process(
    opened: Opener, cache: Cache, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = io.BytesIO()
    kind.write(opened("mixed"), direct)
    key, path = cached_export(opened("mixed"), kind, cache)
    assert path.read_bytes() == direct.getvalue()
    written = path.stat()
    assert cached_export(opened("mixed"), kind, cache) == (key, path)
    monkeypatch.setattr(Cache, "verify", lambda *_: pytest.fail("hashed again"))
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

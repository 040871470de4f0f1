"""The records of the Hub: all of them, or the first."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.errors import OfflineError, SourceError
from registry.manifest.source_models import HfSource
from registry.sources.hub.records import fetch_hub, fetch_hub_part
from registry.sources.hub.source import pin_hub
from registry.sources.pins import SourceContext, SourcePin, UnknownDigestError
from tests.servers.hub import HubEmulator
from tests.sources.conftest import context_of


def parquet(rows: int) -> bytes:
    sink = pa.BufferOutputStream()
    texts = pa.array([f"q{row}" for row in range(rows)], pa.string())
    pq.write_table(pa.table({"q": texts}), sink, row_group_size=10)
    return bytes(sink.getvalue())


def rows_of(file: SourceBytes) -> list[dict[str, Any]]:
    assert file.local_path is not None
    rows: list[dict[str, Any]] = pa.ipc.open_file(file.local_path).read_all().to_pylist()
    return rows


def test_records_are_downloaded_once_and_rebuilt_on_refresh(
    hub: HubEmulator, context: SourceContext
) -> None:
    commit = hub.commit("org/once", {"test.jsonl": b'{"q": 1}\n'})
    source = HfSource(path="org/once", split="test", revision=commit)
    pinned = pin_hub(source, context)
    assert rows_of(fetch_hub(source, pinned, context)) == [{"q": 1}]
    hub.requests.clear()
    assert rows_of(fetch_hub(source, pinned, context)) == [{"q": 1}]
    assert hub.requests == []
    refresh = context_of(context.cache, refresh=True)
    assert rows_of(fetch_hub(source, pinned, refresh)) == [{"q": 1}]
    assert hub.requests != []


def test_first_rows_are_read_only_from_parquet_files(
    hub: HubEmulator, context: SourceContext
) -> None:
    commit = hub.commit("org/part", {"data/test-00000-of-00001.parquet": parquet(50)})
    source = HfSource(path="org/part", split="test", revision=commit)
    part = fetch_hub_part(source, pin_hub(source, context), context, 3)
    assert rows_of(part) == [{"q": "q0"}, {"q": "q1"}, {"q": "q2"}]
    commit = hub.commit("org/json", {"test.jsonl": b'{"q": 1}\n'})
    source = HfSource(path="org/json", split="test", revision=commit)
    with pytest.raises(UnknownDigestError):
        fetch_hub_part(source, pin_hub(source, context), context, 3)


def test_offline_records_that_are_not_cached_are_an_error(context: SourceContext) -> None:
    source = HfSource(path="org/none", split="test", revision="1" * 40)
    offline = context_of(context.cache, offline=True)
    with pytest.raises(OfflineError, match=r"org/none: not in the cache.*registry sync"):
        fetch_hub(source, SourcePin({}, revision="1" * 40), offline)


def test_streams_globs_by_split_and_members_of_archives_are_errors(
    hub: HubEmulator, context: SourceContext, tmp_path: Path
) -> None:
    commit = hub.commit("org/stream", {"test.jsonl": b'{"q": 1}\n'})
    source = HfSource(path="org/stream", split="test", revision=commit)
    pinned = pin_hub(source, context, streaming=True)
    with pytest.raises(SourceError, match="a stream can't be cached"):
        fetch_hub(source, pinned, context, streaming=True)
    for name in "ab":
        (tmp_path / f"{name}.json").write_text('{"q": 1}\n', encoding="utf-8")
    pattern = str(tmp_path / "*.json")
    source = HfSource(path="json", split="test", data_files={"test": pattern})
    with pytest.raises(SourceError, match="list the files"):
        fetch_hub(source, pin_hub(source, context), context)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.json", "{}")
    member = f"zip://a.json::{tmp_path / 'x.zip'}"
    source = HfSource(path="json", split="test", data_files=member)
    with pytest.raises(SourceError, match=f"^{member}: a member of an archive is no file"):
        fetch_hub(source, pin_hub(source, context), context)


@pytest.mark.parametrize("place", ["of this machine", "of another repository"])
def test_a_card_of_a_repository_names_its_own_files_only(
    hub: HubEmulator, tmp_path: Path, place: str
) -> None:
    (tmp_path / "secret.jsonl").write_text('{"q": "hunter2"}\n')
    other = hub.commit("org/private", {"x.jsonl": b'{"q": "hunter2"}\n'})
    outside = f"hf://datasets/org/private@{other}/x.jsonl"
    if place == "of this machine":
        outside = str(tmp_path / "secret.jsonl")
    files = f"[{{split: test, path: '{outside}'}}]"
    card = f"---\nconfigs: [{{config_name: c, data_files: {files}}}]\n---"
    commit = hub.commit("org/evil", {"README.md": card.encode(), "own.jsonl": b'{"q": 1}\n'})
    source = HfSource(path="org/evil", split="test", revision=commit)
    context = SourceContext(boundary=Boundary(), cache=Cache(tmp_path / "cache"))
    with pytest.raises(SourceError, match="Data files don't belong to org/evil"):
        fetch_hub(source, pin_hub(source, context), context)


def test_a_folder_of_the_working_directory_does_not_replace_a_repository(
    hub: HubEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.commit("org/mine", {"test.jsonl": b'{"q": 1}\n'})
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "test.jsonl").write_text('{"q": "hunter2"}\n')
    (tmp_path / "checkout" / "org").mkdir(parents=True)
    (tmp_path / "checkout" / "org" / "mine").symlink_to(tmp_path / "private")
    monkeypatch.chdir(tmp_path / "checkout")
    source = HfSource(path="org/mine", split="test", revision=commit)
    context = SourceContext(boundary=Boundary(), cache=Cache(tmp_path / "cache"))
    with pytest.raises(SourceError, match="the folder of this name in the working directory"):
        fetch_hub(source, pin_hub(source, context), context)
    monkeypatch.chdir(tmp_path)
    assert rows_of(fetch_hub(source, pin_hub(source, context), context)) == [{"q": 1}]

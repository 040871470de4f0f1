"""Datasets through real servers: S3, a site with a certificate, and the Hub's emulator."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import fsspec
import pyarrow as pa
import pytest

from registry import (
    AccessError,
    Dataset,
    ManifestError,
    OfflineError,
    RegistryError,
    SourceError,
    get_dataset,
)
from registry.cli import main
from tests.conftest import Page, permit
from tests.records import csv_bytes, jsonl, parquet_bytes, zip_bytes
from tests.servers.hub import HubEmulator, parquet_repo
from tests.servers.recorder import Recorder

if TYPE_CHECKING:
    from tests.conftest import S3, Https, OneDataset

REPOSITORY = Path(__file__).parents[2]
ROWS = [{"q": f"What is {number}, “doubled”?", "a": str(2 * number)} for number in range(5)]
QUESTIONS = [row["q"] for row in ROWS]
SECRET = "SECRET%2Fsignature%3D"
"""Percent signs, as a library may write it otherwise than it stands in the URL."""

DATE = "Mon, 01 Jan 2024 00:00"
Rows = Sequence[Mapping[str, Any]]


def questions(dataset: Dataset) -> list[str]:
    return [str(sample.input) for sample in dataset]


def files_under(folder: Path, *parts: str) -> list[str]:
    """Name the files of some parts of a cache; without `parts`, of all that hold data."""
    no_data = {"index", "locks"}
    every = [path.name for path in (folder / "v3").glob("*") if path.name not in no_data]
    found = [path for part in parts or every for path in (folder / "v3" / part).rglob("*")]
    return sorted(str(path.relative_to(folder)) for path in found if path.is_file())


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("csv", "data.csv", csv_bytes(ROWS)),
        ("json", "data.json", json.dumps(ROWS).encode()),
        ("json", "data.ndjson", jsonl(ROWS)),
        ("json", "data.jsonl.zst", pa.compress(jsonl(ROWS), "zstd", asbytes=True)),
        ("parquet", "data.parquet", parquet_bytes(ROWS)),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_file_on_s3_is_read(
    s3: S3, one_dataset: OneDataset, kind: str, name: str, content: bytes
) -> None:
    s3.bucket("bucket")
    url = s3.put("bucket", name, content)
    dataset = get_dataset("data", root=one_dataset({"type": kind, "path": url}))
    assert [{"q": sample.input, "a": sample.target} for sample in dataset] == ROWS
    assert dataset.location == url


def test_s3_key_may_contain_any_character(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    names = ["a b", "50%25", "ü", "part#1", "a;b&c=d"]
    urls = [s3.put("bucket", f"{name}.jsonl.gz", gzip.compress(jsonl(ROWS))) for name in names]
    for url in urls:
        dataset = get_dataset("data", root=one_dataset({"type": "json", "path": url}))
        assert (questions(dataset), dataset.location) == (QUESTIONS, url)


def test_path_order_is_preserved_and_globs_are_sorted(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    for number in (10, 2, 1, 0):
        s3.put("bucket", f"part-{number}.jsonl", jsonl([{"q": f"{number}", "a": "x"}]))
    s3.put("bucket", "deep/part.jsonl", jsonl([{"q": "3", "a": "x"}]))
    for paths, numbers in (
        (["part-1.jsonl"], ["1"]),
        (["part-2.jsonl", "part-0.jsonl"], ["2", "0"]),
        (["part-*.jsonl"], ["0", "1", "10", "2"]),
        (["part-?.jsonl"], ["0", "1", "2"]),
        (["part-2.jsonl", "part-1*.jsonl"], ["2", "1", "10"]),
        (["**/*.jsonl"], ["3", "0", "1", "10", "2"]),
    ):
        urls = [f"s3://bucket/{path}" for path in paths]
        source = {"type": "json", "path": urls if len(urls) > 1 else urls[0]}
        assert questions(get_dataset("data", root=one_dataset(source))) == numbers, paths


def test_new_and_changed_objects_of_a_glob_are_detected(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    s3.put("bucket", "1.jsonl", jsonl(ROWS[:1]))
    root = one_dataset({"type": "json", "path": "s3://bucket/*.jsonl"})
    assert questions(get_dataset("data", root=root)) == QUESTIONS[:1]
    s3.put("bucket", "2.jsonl", jsonl(ROWS[1:]))
    assert questions(get_dataset("data", root=root)) == QUESTIONS
    s3.put("bucket", "1.jsonl", jsonl(ROWS[4:]))
    assert questions(get_dataset("data", root=root)) == QUESTIONS[4:] + QUESTIONS[1:]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"key": {"env": "QA_KEY"}, "secret": {"env": "QA_SECRET"}}, "Credential=qa-key/"),
        ({"anon": True}, ""),
    ],
)
def test_an_endpoint_of_a_manifest_gets_the_credentials_of_its_options_or_none(
    s3: S3,
    one_dataset: OneDataset,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    shown: str,
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "test-token")
    monkeypatch.setenv("QA_KEY", "qa-key")
    monkeypatch.setenv("QA_SECRET", "qa-secret")
    here = ["127.0.0.1"]
    with Recorder(body=jsonl(ROWS)) as server:
        options = {**options, "client_kwargs": {"endpoint_url": server.url("")}}
        source = {"type": "json", "path": "s3://bucket/data.jsonl", "fs_options": options}
        root = permit(one_dataset(source), hosts=here, secrets={"QA_KEY": here, "QA_SECRET": here})
        assert questions(get_dataset("data", root=root)) == QUESTIONS
    assert server.received
    for one in server.received:
        assert shown in one.headers.get("authorization", "")
        assert "test-" not in str(one.headers)
        assert bool(shown) is ("authorization" in one.headers)


@pytest.mark.parametrize(
    ("path", "options", "unset", "error", "message"),
    [
        ("s3://bucket/gone.jsonl", {}, "", SourceError, "s3://bucket/gone.jsonl: no such file"),
        ("s3://nobody/data.jsonl", {}, "", SourceError, "s3://nobody/data.jsonl: no such"),
        ("s3://bucket/*.csv", {}, "", SourceError, r"s3://bucket/\*.csv: no file matches"),
        ("s3://nobody/*.csv", {}, "", SourceError, r"s3://nobody/\*.csv: no "),
        ("s3://bucket/", {}, "", SourceError, "s3://bucket/: "),
        ("s3://bucket", {}, "", SourceError, "s3://bucket: "),
        ("s3://bucket/folder", {}, "", SourceError, "s3://bucket/folder: "),
        ("s3://bucket/data.jsonl", {"key": {"env": "GONE"}}, "", AccessError, "GONE is not set"),
        ("s3://bucket/data.jsonl", {}, "AWS_ACCESS_KEY_ID", AccessError, ": no credentials"),
    ],
)
def test_s3_error_includes_the_reason(
    s3: S3,
    one_dataset: OneDataset,
    cache_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    options: dict[str, Any],
    unset: str,
    error: type[RegistryError],
    message: str,
) -> None:
    s3.bucket("bucket")
    s3.put("bucket", "data.jsonl", jsonl(ROWS))
    s3.put("bucket", "folder/data.jsonl", jsonl(ROWS))
    monkeypatch.delenv(unset, raising=False)
    source = {"type": "json", "path": path, "fs_options": options}
    root = permit(one_dataset(source), secrets={"GONE": ["s3.amazonaws.com"]})
    with pytest.raises(error, match=message):
        get_dataset("data", root=root)
    assert files_under(cache_dir) == []


OBJECT, MEMBER = "s3://bucket/data.jsonl", {"client_kwargs": {"verified": True}}


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        (OBJECT, {"anonn": True}, "s3 takes no option 'anonn'"),
        (OBJECT, {"client_kwargs": "verify"}, "s3 takes no option 'client_kwargs'"),
        (OBJECT, MEMBER, "s3 takes no option 'client_kwargs.verified'"),
        (OBJECT, {"anon": True, "endpoint_url": "nowhere"}, f"{OBJECT}: '' is not a host"),
        ("s3://", {}, "s3://: is a folder, not a file"),
        ("s3://b d/data.jsonl", {}, "Invalid bucket name"),
        ("s4://bucket/data.jsonl", {}, "the protocol 's4' is not allowed"),
        ("https://localhost/x.jsonl", MEMBER, "https takes no option 'client_kwargs.verified'"),
        ("https://[localhost/x.jsonl", {}, "'[localhost' is not a host"),
        ("da\0ta.jsonl", {}, "has a NUL, which no path has"),
    ],
)
def test_invalid_location_or_option_is_a_source_error(
    s3: S3, one_dataset: OneDataset, path: str, options: dict[str, Any], words: str
) -> None:
    root = one_dataset({"type": "json", "path": path, "fs_options": options})
    with pytest.raises((SourceError, ManifestError), match=re.escape(words)):
        get_dataset("data", root=root)


def test_one_client_serves_all_objects_of_a_source(
    s3: S3, one_dataset: OneDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = fsspec.filesystem

    def counted(protocol: str, **options: Any) -> Any:
        made.append(protocol)
        return make(protocol, **options)

    monkeypatch.setattr(fsspec, "filesystem", counted)
    s3.bucket("bucket")
    rows = [{"q": f"{number}", "a": "x"} for number in range(10)]
    for row in rows:
        s3.put("bucket", f"{row['q']}.jsonl", jsonl([row]))
    root = one_dataset({"type": "json", "path": "s3://bucket/*.jsonl"})
    assert questions(get_dataset("data", root=root)) == [row["q"] for row in rows]
    assert len(made) <= 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ETag": '"1"'}, {"ETag": '"2"'}),
        ({"ETag": 'W/"1"'}, {"ETag": 'W/"2"'}),
        ({"Last-Modified": f"{DATE}:00 GMT"}, {"Last-Modified": f"{DATE}:01 GMT"}),
        ({}, {}),
    ],
)
def test_changed_file_of_the_same_size_is_detected(
    https: Https, one_dataset: OneDataset, before: dict[str, str], after: dict[str, str]
) -> None:
    url = https.put("/data.jsonl", jsonl(ROWS[:1]), headers=before)
    root = one_dataset({"type": "json", "path": url})
    assert questions(get_dataset("data", root=root)) == QUESTIONS[:1]
    https.put("/data.jsonl", jsonl(ROWS[1:2]), headers=after)
    assert questions(get_dataset("data", root=root)) == QUESTIONS[1:2]


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (403, AccessError, "the server answered 403"),
        (404, SourceError, "no such file"),
        (503, SourceError, "the server answered 503"),
    ],
)
def test_server_error_is_raised_even_if_the_file_is_cached(
    https: Https, one_dataset: OneDataset, status: int, error: type[RegistryError], message: str
) -> None:
    url = https.put("/data.jsonl", jsonl(ROWS), etag="1")
    root = one_dataset({"type": "json", "path": url})
    get_dataset("data", root=root)
    https.fail("/data.jsonl", status)
    with pytest.raises(error, match=re.escape(f"{url}: ") + f".*{message}"):
        get_dataset("data", root=root)
    https.put("/data.jsonl", jsonl(ROWS), etag="1")
    assert questions(get_dataset("data", root=root)) == QUESTIONS


BREAKS: dict[str, Page] = {
    "no such file": Page(b"", 404),
    "unauthorized": Page(b"", 401),
    "forbidden": Page(b"", 403),
    "unavailable": Page(b"", 503),
    "html": Page(b"<html>"),
    "not json": Page(b"{"),
    "cut": Page(b"{}", cut=1),
    "empty": Page(b""),
    "not mapped": Page(b'{"a": "1"}'),
    "redirected for ever": Page(b"", 302, {"Location": f"/data.jsonl?sig={SECRET}"}),
    "redirected to nowhere": Page(b"", 302, {"Location": f"ftp://localhost/?sig={SECRET}"}),
}


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize("reason", BREAKS)
def test_url_query_is_in_no_message_traceback_or_file(
    https: Https, one_dataset: OneDataset, cache_dir: Path, reason: str
) -> None:
    root = one_dataset({"type": "json", "path": f"{https.url}/data.jsonl?ticket={SECRET}"})
    https.pages["/data.jsonl"] = BREAKS[reason]
    with pytest.raises(RegistryError) as caught:
        get_dataset("data", root=root)
    # It ends with the message.
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert not any("SECRET" in content for content in contents(cache_dir))


@pytest.mark.parametrize("location", ["{url}/data.jsonl?sig=SECRET", "{url}/data?sig=SECRET"])
def test_override_url_query_is_not_in_error_messages(
    https: Https, one_dataset: OneDataset, location: str
) -> None:
    root = one_dataset({"type": "json", "path": "data.jsonl"})
    with pytest.raises((SourceError, ManifestError), match=re.escape(https.url)) as caught:
        get_dataset("data", root=root, source=location.format(url=https.url))
    assert "SECRET" not in str(caught.value)


def contents(folder: Path) -> Iterator[str]:
    """Yield names and contents of all files below a folder."""
    for path in folder.rglob("*"):
        yield path.name
        if path.is_file():
            yield path.read_bytes().decode("latin-1")


@pytest.mark.parametrize(
    "location", ["https://{host}/data.jsonl?sig=SECRET", "https://user:SECRET@{host}/data.jsonl"]
)
def test_url_secrets_are_not_written_to_the_cache(
    https: Https, one_dataset: OneDataset, cache_dir: Path, location: str
) -> None:
    row = {**ROWS[0], "files": {"notes.txt": "notes/1.txt"}}
    https.put("/data.jsonl", jsonl([row]), etag="1")
    https.put("/notes/1.txt", b"A note.")
    url = location.format(host=urlsplit(https.url).netloc)
    # A manifest with such a URL is rejected, so it is passed as an override.
    fields = {"input": "q", "target": "a", "files": "files"}
    root = one_dataset({"type": "json", "path": "data.jsonl"}, fields=fields)
    dataset = get_dataset("data", root=root, source=url)
    assert questions(dataset) == QUESTIONS[:1]
    assert "SECRET" not in str(dataset.location)
    assert files_under(cache_dir, "samples", "blobs", "sources")
    assert not any("SECRET" in content for content in contents(cache_dir))


HUB = {"type": "hf", "path": "org/name", "name": "cfg", "split": "test"}


def commit(hub: HubEmulator, rows: Rows = ROWS, path: str = "org/name") -> str:
    records = [dict(row) for row in rows]
    return hub.commit(path, parquet_repo({"cfg": {"test": records, "train": records}}))


def test_floating_revision_is_looked_up_each_time(
    hub: HubEmulator, one_dataset: OneDataset
) -> None:
    commit(hub, ROWS[:2])
    root = one_dataset(HUB)
    assert questions(get_dataset("data", root=root)) == QUESTIONS[:2]
    hub.requests.clear()
    assert questions(get_dataset("data", root=root)) == QUESTIONS[:2]
    assert [request.method for request in hub.requests] == ["GET"]
    commit(hub, ROWS)
    assert questions(get_dataset("data", root=root)) == QUESTIONS


def test_cached_false_rebuilds_only_unpinned_sources(
    hub: HubEmulator, one_dataset: OneDataset
) -> None:
    sha = commit(hub)
    for revision, asks in (("main", True), (sha, False)):
        root = one_dataset({**HUB, "revision": revision, "cached": False})
        get_dataset("data", root=root)
        hub.requests.clear()
        assert questions(get_dataset("data", root=root)) == QUESTIONS
        assert bool(hub.requests) is asks, revision


@pytest.mark.parametrize(("status", "error"), [(401, AccessError), (503, SourceError)])
@pytest.mark.parametrize("pinned", [True, False])
def test_requested_revision_is_never_replaced_by_a_cached_revision(
    hub: HubEmulator,
    one_dataset: OneDataset,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    error: type[RegistryError],
    pinned: bool,
) -> None:
    old = commit(hub, ROWS[:2])
    new = commit(hub, ROWS)
    before = one_dataset({**HUB, "revision": old})
    assert questions(get_dataset("data", root=before)) == QUESTIONS[:2]
    wanted = one_dataset({**HUB, "revision": new if pinned else "main"})
    with pytest.raises(OfflineError, match="org/name: not in the cache"):
        get_dataset("data", root=wanted, offline=True)
    hub.fail_with(status, headers={"Retry-After": "86400"})
    with monkeypatch.context() as impatient:
        impatient.setenv("REGISTRY_DEADLINE", "0")
        with pytest.raises(error, match=f"org/name: .*{status}"):
            get_dataset("data", root=wanted)
        hub.fail_with(None)
        assert questions(get_dataset("data", root=wanted)) == QUESTIONS
        hub.fail_with(status)
        if pinned:
            assert questions(get_dataset("data", root=wanted)) == QUESTIONS
        else:
            with pytest.raises(error, match=str(status)):
                get_dataset("data", root=wanted)


@pytest.mark.parametrize(
    ("source", "offline"),
    [
        (HUB, False),
        ({"type": "hf", "path": "./data", "split": "train"}, True),
        ({"type": "hf", "path": "json", "data_files": "data/*.jsonl", "split": "train"}, True),
    ],
)
def test_load_makes_requests_only_to_the_source(
    hub: HubEmulator,
    one_dataset: OneDataset,
    monkeypatch: pytest.MonkeyPatch,
    source: dict[str, Any],
    offline: bool,
) -> None:
    import datasets

    asked: set[str] = set()
    get_column = socket.getaddrinfo

    def look_up_here(host: str, *arguments: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", "localhost"):
            asked.add(host)
            raise socket.gaierror(f"{host} must not be asked")
        return get_column(host, *arguments, **options)

    commit(hub)
    root = one_dataset(source)
    (root / "data").mkdir()
    (root / "data" / "train.jsonl").write_bytes(jsonl(ROWS))
    # As with users: the session's settings switch it off so that tests stay on this machine.
    monkeypatch.setattr(datasets.config, "HF_UPDATE_DOWNLOAD_COUNTS", True)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
    assert questions(get_dataset("data", root=root, offline=offline)) == QUESTIONS
    assert asked == set()
    assert bool(hub.requests) is not offline


def on_s3(request: pytest.FixtureRequest) -> dict[str, Any]:
    s3: S3 = request.getfixturevalue("s3")
    s3.bucket("bucket")
    return {"type": "json", "path": s3.put("bucket", "data.jsonl", jsonl(ROWS))}


def on_s3_as_glob(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**on_s3(request), "path": "s3://bucket/*.jsonl"}


def on_https(request: pytest.FixtureRequest) -> dict[str, Any]:
    https: Https = request.getfixturevalue("https")
    return {"type": "json", "path": https.put("/data.jsonl", jsonl(ROWS), etag="1")}


def on_the_hub(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**HUB, "revision": commit(request.getfixturevalue("hub"))}


def on_a_branch(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**on_the_hub(request), "revision": "main"}


PLACES = [on_s3, on_s3_as_glob, on_https, on_the_hub, on_a_branch]


@pytest.mark.parametrize(
    ("place", "switch"),
    [
        *((place, "argument") for place in PLACES),
        (on_a_branch, "REGISTRY_OFFLINE"),
        (on_a_branch, "HF_HUB_OFFLINE"),
    ],
)
def test_offline_load_succeeds_with_a_warm_cache_and_fails_with_a_cold_cache(
    request: pytest.FixtureRequest,
    one_dataset: OneDataset,
    monkeypatch: pytest.MonkeyPatch,
    place: Callable[[pytest.FixtureRequest], dict[str, Any]],
    switch: str,
) -> None:
    root = one_dataset(place(request))
    with pytest.raises(OfflineError, match="not in the cache"):
        get_dataset("data", root=root, offline=True)
    get_dataset("data", root=root)

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    if switch != "argument":
        monkeypatch.setenv(switch, "1")
    offline = True if switch == "argument" else None
    assert questions(get_dataset("data", root=root, offline=offline)) == QUESTIONS


def test_generic_builder_reads_files_on_s3(s3: S3, one_dataset: OneDataset) -> None:
    s3.bucket("bucket")
    url = s3.put("bucket", "1.jsonl", jsonl(ROWS))
    source = {"type": "hf", "path": "json", "data_files": [url, url[:-7] + "*.jsonl"]}
    dataset = get_dataset("data", root=one_dataset({**source, "split": "train"}))
    assert questions(dataset) == QUESTIONS * 2


@pytest.mark.parametrize(
    ("builder", "content"), [("json", b'{"q": "one"}\n{bad\n'), ("parquet", b"PAR1, or not")]
)
def test_broken_file_of_a_generic_builder_is_an_error_with_its_name(
    one_dataset: OneDataset, cache_dir: Path, builder: str, content: bytes
) -> None:
    name = f"broken.{builder}"
    source = {"type": "hf", "path": builder, "data_files": name, "split": "train"}
    root = one_dataset(source)
    (root / name).write_bytes(content)
    with pytest.raises(RegistryError, match=re.escape(name)):
        get_dataset("data", root=root)
    assert files_under(cache_dir, "samples", "records", "tmp") == []


def test_folder_can_replace_a_hub_dataset(
    hub: HubEmulator, one_dataset: OneDataset, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    (folder / "cfg").mkdir(parents=True)
    for path, content in parquet_repo({"cfg": {"test": [dict(row) for row in ROWS]}}).items():
        (folder / path).write_bytes(content)
    root = one_dataset({**HUB, "revision": "f" * 40}, expect={"samples": 9})
    assert questions(get_dataset("data", root=root, source=str(folder))) == QUESTIONS
    assert hub.requests == []


@pytest.mark.parametrize("name", ["data [v2]", "what?", "a*b"])
def test_the_folder_of_a_catalog_may_have_a_name_that_looks_like_a_glob(
    name: str, one_dataset: OneDataset, capsys: pytest.CaptureFixture[str]
) -> None:
    source = {"type": "csv", "path": ["one.csv", "more/*.csv"]}
    root = one_dataset(source, description="Questions", license="MIT")
    root = root.rename(root.with_name(name))
    (root / "more").mkdir()
    for file in ("one.csv", "more/two.csv"):
        (root / file).write_bytes(csv_bytes(ROWS))
    for command in ("validate", "list", "lock", "sync"):
        assert main([command, "--root", str(root)]) == 0, capsys.readouterr()
    assert questions(get_dataset("data", root=root, locked=True)) == QUESTIONS * 2


# --- a host that shows pages before large files ---


def test_a_page_in_place_of_the_archive_is_never_data(
    https: Https, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "<html><head><title>Quota exceeded</title></head><form action=/download></form></html>"
    https.put("/content/7", page.encode(), etag="1")
    https.redirect("/download", f"{https.url}/content/7")
    url = f"{https.url}/download?id=7&confirm=t"
    root = _hosted(tmp_path, url)

    assert main(["sync", "--root", str(root)]) == 1
    error = "this is an HTML page, not data (titled 'Quota exceeded'; an error or login page?"
    assert error in capsys.readouterr().err
    archive = zip_bytes({"in/d.json": b'{"1": {"q": "one"}, "2": {"q": "two"}}'})
    digest = hashlib.sha256(archive).hexdigest()
    _hosted(tmp_path, url, sha256=digest)
    assert main(["sync", "--root", str(root)]) == 1
    text = capsys.readouterr().err
    assert f"the manifest states sha256:{digest} (`sha256`), the source, fetched twice, has" in text
    assert "datasets.yaml:1:" in text
    assert error in text

    https.put("/content/7", archive, etag="2")  # the page was for a moment only
    assert [sample.input for sample in get_dataset("d", root=root)] == ["one", "two"]


def _hosted(folder: Path, url: str, **keys: str) -> Path:
    """Write a catalog of one dataset in an archive at a URL."""
    source = {"type": "json", "path": f"zip://in/d.json::{url}", "records": "*", **keys}
    dataset = {"source": source, "fields": {"input": "q", "target": None}}
    hosts = [f"localhost:{urlsplit(url).port}"]
    index = {"version": 1, "hosts": hosts, "datasets": {"d": dataset}}
    (folder / "datasets.yaml").write_text(json.dumps(index), encoding="utf-8")
    return folder

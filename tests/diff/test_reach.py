"""What a dataset and an index reach beyond their own files, and what of it is new."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.diff.models import NewReach, Reach, Snapshot
from registry.diff.reach import index_reach, new_reach, reach_of, stores_of
from registry.manifest.models import DatasetSpec, to_spec

FOLDER = "/catalog"


def spec(source: dict[str, Any], **more: Any) -> DatasetSpec:
    keys = {"type": "csv", "path": ["/catalog/a.csv"], **source}
    return to_spec({"name": "d", "folder": Path(FOLDER), "source": keys, **more})


def relative(path: str) -> str:
    return os.path.relpath(path, FOLDER) if path.startswith("/near/") else path


S3 = {"client_kwargs": {"endpoint_url": "https://Minio.example.org:9000/x"}}
KEY = {"key": {"env": "QA_KEY"}, "more": [{"env": "QA_LIST"}]}
SOURCES: dict[str, tuple[dict[str, Any], set[tuple[str, str]]]] = {
    "a file of the catalog": ({}, set()),
    "a file beside the catalog": ({"path": ["/near/b.csv"]}, {("local path", "../near/b.csv")}),
    "a file elsewhere": ({"path": ["file:///etc/hostname"]}, {("local path", "/etc/hostname")}),
    "a folder whose name starts alike": (
        {"path": ["/catalog-of-others/a.csv"]},
        {("local path", "/catalog-of-others/a.csv")},
    ),
    "a URL": (
        {"path": ["https://Data.Example.org:8443/a.csv?sig=x"]},
        {("scheme", "https"), ("host", "data.example.org:8443")},
    ),
    "a member of a remote archive": (
        {"path": ["zip://a.csv::http://h.example/x.zip"]},
        {("scheme", "zip"), ("scheme", "http"), ("host", "h.example")},
    ),
    "mirrors": (
        {"path": ["https://h.example/a.csv"], "mirrors": ["https://m.example/", "s3://copies/a"]},
        {
            *(("scheme", "https"), ("scheme", "s3"), ("host", "h.example"), ("host", "m.example")),
            *(("host", "s3://copies"), ("host", "s3.amazonaws.com")),
        },
    ),
    "a package": ({"path": ["package:others/a.csv"]}, {("package", "others")}),
    "a bucket at an endpoint, with secrets": (
        {"path": ["s3://bucket/a.csv"], "fs_options": {**S3, **KEY}},
        {
            ("scheme", "s3"),
            ("host", "s3://bucket"),
            ("host", "minio.example.org:9000"),
            ("variable", "QA_KEY to minio.example.org:9000"),
            ("variable", "QA_LIST to minio.example.org:9000"),
        },
    ),
    "a bucket of the provider": (
        {"path": ["s3://bucket/a.csv"], "fs_options": KEY},
        {
            ("scheme", "s3"),
            ("host", "s3://bucket"),
            ("host", "s3.amazonaws.com"),
            ("variable", "QA_KEY to s3.amazonaws.com"),
            ("variable", "QA_LIST to s3.amazonaws.com"),
        },
    ),
    "a password, which is not shown": (
        {"path": ["https://me:secret@h.example/a.csv"]},
        {("scheme", "https"), ("host", "…@h.example")},
    ),
    "a host that is not plain": (
        {"path": ["https://\u0435xample.org\\@good.example/a.csv"]},
        {("scheme", "https"), ("host", "…@good.example")},
    ),
    "a repository": (
        {"type": "hf", "path": "org/name", "split": "test"},
        {("scheme", "hf"), ("host", "huggingface.co")},
    ),
    "files of a builder": (
        {"type": "hf", "path": "text", "split": "train", "data_files": ["/etc/passwd"]},
        {("local path", "/etc/passwd")},
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_source_reaches_hosts_schemes_variables_paths_and_packages(case: str) -> None:
    given, expected = SOURCES[case]
    assert reach_of(_source(given), relative) == {Reach(*one) for one in expected}  # type: ignore[arg-type]


def _source(given: dict[str, Any]) -> DatasetSpec:
    if given.get("type") == "hf":
        return to_spec({"name": "d", "folder": Path(FOLDER), "source": given})
    return spec(given)


def test_tables_and_concatenated_sources_count_too() -> None:
    source = {"type": "csv", "path": ["https://a.example/t.csv"]}
    lookup = {"source": source, "on": "x", "into": "y"}
    parts = [{"type": "csv", "path": [f"https://{host}.example/p.csv"]} for host in "bc"]
    found = reach_of(spec({}, join=lookup, concat=parts), relative)
    assert {one.name for one in found if one.kind == "host"} == {f"{one}.example" for one in "abc"}


STORES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "bucket": ({"type": "csv", "path": ["s3://bucket/a/*.csv"]}, {"s3://bucket"}),
    "archive in a bucket": ({"type": "csv", "path": ["zip://a.csv::gs://b/x.zip"]}, {"gs://b"}),
    "anonymous": ({"type": "csv", "path": ["s3://b/a.csv"], "fs_options": {"anon": True}}, set()),
    "repository": ({"type": "hf", "path": "o/n", "split": "test"}, {"hf://datasets/o/n"}),
    "file of one": (
        {"type": "csv", "path": ["hf://datasets/o/n@main/a.csv"]},
        {"hf://datasets/o/n"},
    ),
    "server": ({"type": "csv", "path": ["https://example.org/a.csv"]}, set()),
    "file": ({"type": "csv", "path": ["a.csv"]}, set()),
}


@pytest.mark.parametrize("case", STORES)
def test_stores_are_what_the_machines_credentials_open(case: str) -> None:
    source, expected = STORES[case]
    assert stores_of(spec(source)) == expected


def test_mapper_is_named_with_its_function() -> None:
    found = reach_of(spec({}, mapper="ours.mapping:to_sample"), relative)
    assert found == {Reach("mapper", "ours.mapping:to_sample")}


SECRETS = ["/proc/self/environ", "~/.netrc", "../x", "file:///etc/passwd"]
READERS: dict[str, Any] = {
    "an operation": {"input": {"from": {"const": "PATH"}, "do": ["data_uri"]}},
    "files of the sandbox": {"files": {"object": {"key": {"const": "PATH"}}}},
    "files of the sandbox by a dict": {
        "files": {"from": "x", "do": [{"dict": {"key": "item", "value": {"template": "PATH"}}}]}
    },
    "the sandbox": {"sandbox": ["docker", {"const": "PATH"}]},
    "a replacement": {"setup": {"from": "x", "do": [{"each": [{"replace": {"a": "PATH"}}]}]}},
    "a separator": {"setup": {"from": "x", "do": [{"join": "PATH"}]}},
    "a fallback": {"setup": {"from": "x", "do": [{"coalesce": ["y", {"const": "PATH"}]}]}},
    "media": {"input": {"messages": [{"role": "user", "content": [{"image": {"const": "PATH"}}]}]}},
}


def with_path(value: Any, path: str) -> Any:
    return json.loads(json.dumps(value).replace("PATH", path))


@pytest.mark.parametrize("path", SECRETS)
@pytest.mark.parametrize("case", READERS)
def test_constant_that_names_a_file_is_a_local_path(case: str, path: str) -> None:
    found = reach_of(spec({}, fields=with_path(READERS[case], path)), relative)
    assert found == {Reach("local path", path)}


@pytest.mark.parametrize("case", READERS)
def test_constant_url_is_a_host(case: str) -> None:
    url = "https://files.example/{item}"
    found = reach_of(spec({}, fields=with_path(READERS[case], url)), relative)
    assert found == {Reach("scheme", "https"), Reach("host", "files.example")}


@pytest.mark.parametrize(
    "fields",
    [
        {"input": {"const": "/no_think"}},
        {"input": {"template": "See https://h.example for {x}."}},
        {
            "files": {
                "from": "x",
                "do": [{"dict": {"key": {"template": "/in/{item}"}, "value": "item"}}],
            }
        },
        {"files": {"object": {"/in/a.txt": "column"}}},
        {"metadata": {"from": "sender", "do": {"template": "{a}", "with": {"a": "b"}}}},
    ],
)
def test_other_constants_reach_nothing(fields: dict[str, Any]) -> None:
    assert reach_of(spec({}, fields=fields), relative) == set()


def test_index_reaches_packages_paths_and_permissions() -> None:
    index = {
        "include": [
            "m/*.yaml",
            "package:others",
            "../shared/*.yaml",
            "m/../../up.yaml",
            "/abs.yaml",
        ],
        "trust": ["ours:f"],
        "hosts": ["h.example"],
        "paths": ["../data"],
        "secrets": {"QA_KEY": ["h.example", "i.example"]},
        "limits": {"bytes": 5},
        "validate": {"ignore": ["all"]},
    }
    assert sorted(f"{one.kind} {one.name}" for one in index_reach(index)) == [
        *("local path ../shared/*.yaml", "local path /abs.yaml", "local path m/../../up.yaml"),
        *("package others", "permission hosts: h.example", "permission limits: bytes to 5"),
        *("permission paths: ../data", "permission secrets: QA_KEY to h.example"),
        *("permission secrets: QA_KEY to i.example", "permission trust: ours:f"),
    ]


def test_invalid_index_reaches_nothing_that_can_be_named() -> None:
    assert index_reach({"include": None, "trust": "x", "secrets": ["y"], "limits": 3}) == {
        Reach("permission", "trust: x")
    }


def snapshot(**reach: set[Reach]) -> Snapshot:
    named = {name.strip("_"): frozenset(found) for name, found in reach.items()}
    return Snapshot(label="", datasets={}, reach=named)


def test_new_is_what_nothing_of_the_base_reaches() -> None:
    old, new = Reach("host", "old.example"), Reach("host", "new.example")
    code, trust = Reach("mapper", "m:f"), Reach("permission", "trust: m")
    base = snapshot(a={old}, gone={Reach("host", "gone.example")})
    head = snapshot(_={trust}, b={new, old}, a={new, code})
    assert new_reach(base, head) == (
        NewReach("mapper", "m:f", ("a",)),
        NewReach("permission", "trust: m", ()),
        NewReach("host", "new.example", ("a", "b")),
    )

"""The checks of sources: which options, URLs and revisions are found, and at which path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from registry.boundary.boundary import Boundary
from registry.boundary.checks import violations as reach_violations
from registry.catalog.cached_files import contains_secret
from registry.manifest import source_checks
from registry.manifest.merge import Layer, Merged
from registry.yamldoc.reader import json_path, parse_yaml

COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
DOCUMENT = parse_yaml("datasets: {}\n", file="m.yaml")


def merged(value: dict[str, Any]) -> Merged:
    return Merged(value, {(): Layer("own", value, DOCUMENT)})


def found(check: Any, **value: Any) -> list[str]:
    return [f"{json_path(one.path)[2:]}: {one.message}" for one in check(merged(value))]


NAMES_OF_SECRETS = (
    *("key", "token", "password", "sas", "account_key", "api_key", "apikey"),
    *("aws_access_key_id", "connection_string", "credential"),
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"secret": "hush", "SECRET": "hush"}, [f"{key}: a literal secret in '{key}'" for key in ("secret", "SECRET")]),
        *(({key: "hush"}, [f"{key}: a literal secret in '{key}'"]) for key in NAMES_OF_SECRETS),
        ({"api_key": 5}, ["api_key: a literal secret in 'api_key'"]),
        ({"client": {"password": ["hush"]}}, ["client.password[0]: a literal secret in 'password'"]),
        ({"client_kwargs": {"aws_session_token": "t"}}, ["client_kwargs.aws_session_token: a literal secret in 'aws_session_token'"]),
        ({"hosts": [{"password": "hush"}]}, ["hosts[0].password: a literal secret in 'password'"]),
        ({"env": {"password": "hush"}}, ["env.password: a literal secret in 'password'"]),
        ({"credentials": {"user": "me"}}, ["credentials.user: a literal secret in 'credentials'"]),
        ({"secret": {"env": "HUSH"}}, []),
        ({"client_kwargs": {"password": {"env": "P"}, "endpoint_url": "http://h", "region_name": "eu"}}, []),
        ({"requester_pays": True, "keys": 3, "monkey": "a"}, []),
        ({"use_token": True}, []),
        ({"keyboard": "us", "anon": "no"}, []),
    ],
)  # fmt: skip
def test_literal_secret_in_options_is_reported(
    options: dict[str, Any], expected: list[str]
) -> None:
    source = {"type": "csv", "path": "s3://b/x.csv", "fs_options": options}
    prefix = "source.fs_options."
    assert found(source_checks.literal_secret, source=source) == [prefix + one for one in expected]


def test_options_of_every_source_are_checked() -> None:
    secret = {"path": "x", "fs_options": {"token": "hush"}}
    assert found(
        source_checks.literal_secret, source=secret, concat=[{}, secret], join={"source": secret}
    ) == [
        f"{place}.fs_options.token: a literal secret in 'token'"
        for place in ("source", "concat[1]", "join.source")
    ]


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://h/x?sig=abc", "'sig'"),
        ("https://h/x?a=b&access-key=abc#part", "'access-key'"),
        ("https://me@h/x", "a user or password before the host"),
        ("simplecache::sftp://me:hush@h/x", "a user or password before the host"),
        ("https://me:hu/sh@h/x", "a user or password before the host"),
        ("sftp://me@h/x", None),
        ("github://org:repo@v1/x", None),
        ("https://h/x?sig=", None),
        ("https://h/x?page=2", None),
        ("data/x.csv", None),
    ],
)
def test_secret_in_a_url_is_reported_but_not_shown(url: str, named: str | None) -> None:
    problems = found(source_checks.secret_in_url, source={"type": "csv", "path": url})
    assert problems == ([f"source.path: a secret in the URL: {named}"] if named else [])


@pytest.mark.parametrize(
    ("key", "read_at"), [("homepage", ""), ("license", "read-at"), ("access", "gated")]
)
def test_secret_in_another_address_is_reported_and_not_cached(key: str, read_at: str) -> None:
    url = "https://me:hunter2@example.org/page"
    value: dict[str, Any] = {key: {read_at: url} if read_at else url}
    (problem,) = found(source_checks.secret_in_url, source={"type": "csv", "path": "x"}, **value)
    place = f"{key}.{read_at}" if read_at else key
    assert problem == f"{place}: a secret in the URL: a user or password before the host"
    assert contains_secret(value)


def test_a_split_called_env_hides_no_url() -> None:
    source = {"type": "hf", "path": "json", "data_files": {"env": "https://h.org/x?token=abcdef"}}
    (problem,) = found(source_checks.secret_in_url, source=source)
    assert "source.data_files.env: a secret in the URL" in problem
    assert "abcdef" not in problem


def test_secret_in_a_url_passed_from_python_is_accepted() -> None:
    value = {"source": {"type": "csv", "path": "https://h/x?sig=abc"}}
    given = Merged(value, {(): Layer("override", value)})
    assert list(source_checks.secret_in_url(given)) == []


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.org/x", "example.org"),
        ("HTTP://example.org/x", "example.org"),
        ("zip://a.csv::http://example.org/x.zip", "example.org"),
        ("https://example.org/x", None),
        ("http://localhost:8000/x", None),
        ("http://127.0.0.1/x", None),
        ("http://[::1]/x", None),
        ("http://[nothing/x", None),
    ],
)
def test_plain_http_is_reported_except_for_localhost(url: str, host: str | None) -> None:
    problems = found(source_checks.plain_http, source={"type": "json", "path": [url]})
    assert problems == ([f"source.path[0]: plain HTTP to {host}"] if host else [])


HF = {"type": "hf", "path": "a/b"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"source": HF}, ["source.path: no revision"]),
        ({"source": {**HF, "revision": "main"}}, ["source.revision: the revision 'main' may move"]),
        ({"source": {**HF, "revision": COMMIT[:12]}}, [f"source.revision: the revision '{COMMIT[:12]}' may move"]),
        ({"source": {**HF, "revision": COMMIT}}, []),
        ({"source": {**HF, "path": "json"}}, []),
        ({"source": {**HF, "path": "./folder"}}, []),
        # Where the key is inherited by a part, the problem is that of `source`.
        ({"source": HF, "concat": [{"split": "a"}]}, ["source.path: no revision"]),
        ({"source": HF, "concat": [{"path": "c/d"}]}, ["concat[0].path: no revision"]),
        ({"source": HF, "concat": [{"revision": COMMIT}]}, []),
        ({"source": {"type": "csv"}, "join": {"source": HF}}, ["join.source.path: no revision"]),
        ({"source": {"type": "csv", "path": "hf://datasets/a/b/x.csv"}}, ["source.path: no revision"]),
        ({"source": {"type": "csv", "path": ["x", "hf://a/b@main/x.csv"]}}, ["source.path[1]: the revision 'main' may move"]),
        ({"source": {"type": "csv", "path": f"hf://datasets/a/b@{COMMIT}/x.csv"}}, []),
        ({"source": {"type": "csv", "path": "hf://datasets/a/b/x.csv", "sha256": "1" * 64}}, []),
        ({"source": {"type": "csv", "path": "https://raw.githubusercontent.com/a/b/v1/x"}}, ["source.path: the revision 'v1' may move"]),
    ],
)  # fmt: skip
def test_revision_that_is_not_a_full_commit_is_reported(
    value: dict[str, Any], expected: list[str]
) -> None:
    assert found(source_checks.unpinned_revision, **value) == expected


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("package:p", "no file within the package"),
        ("package:p/", "no file within the package"),
        ("package:../p/x.csv", "'..' is not the name of a package"),
        ("package:a-b/x.csv", "'a-b' is not the name of a package"),
        ("package:p//etc/x.csv", "a path within a package has no `..` and no backslash"),
        ("zip://x.csv::package:p/../x.zip", "a path within a package has no `..` and no backslash"),
        ("zip://x.csv", "a member needs its archive"),
        ("tar://::https://h/x.tar", "no member of the archive"),
        (
            "https://h/{l}.csv",
            "{l} is in a URL of the web or in the path of an archive, where no files are listed",
        ),
        (
            "zip://x.csv::{l}.zip",
            "{l} is in a URL of the web or in the path of an archive, where no files are listed",
        ),
        ("data/x.ZIP", "an archive, not a file of records"),
        ("https://h/x.tar.zst?raw=1", "an archive, not a file of records"),
    ],
)
def test_a_location_that_names_no_file_is_reported(path: str, message: str) -> None:
    expected = f"source.path[1]: {message}"
    source = {"type": "csv", "path": ["x.csv", path]}
    assert found(source_checks.bad_location, source=source) == [expected]


@pytest.mark.parametrize(
    "path",
    ["package:p/x.csv", "zip://../x.csv::a.zip", "tar://x::zip://y.tar::https://h/z", "a::b.csv"],
)
def test_a_location_in_a_package_or_an_archive_is_not_reported(path: str) -> None:
    assert found(source_checks.bad_location, source={"type": "csv", "path": path}) == []


ONE, TWO = "1" * 64, "2" * 64


@pytest.mark.parametrize(
    ("path", "sha256", "problems"),
    [
        ("https://h/a.csv", ONE, []),
        (["https://h/a.csv", "zip://in/*.csv::https://h/b.zip"], [ONE, TWO], []),
        (["https://h/a.csv"], [ONE, TWO], ["2 digests of 1 path"]),
        (["https://h/a.csv", "b.csv"], ONE, ["1 digest of 2 paths"]),
        ("b/*.csv", ONE, ["'b/*.csv' can be any number of files, so it has no digest"]),
        ("b/a?.csv", ONE, ["'b/a?.csv' can be any number of files, so it has no digest"]),
        ("https://h/a?raw=1", ONE, []),
        ("b/{lang}.csv", ONE, ["'b/{lang}.csv' can be any number of files, so it has no digest"]),
    ],
)
def test_each_path_has_one_stated_digest(path: Any, sha256: Any, problems: list[str]) -> None:
    source = {"type": "csv", "path": path, "sha256": sha256}
    expected = [f"source.sha256: {message}" for message in problems]
    assert found(source_checks.bad_location, source=source) == expected


def test_a_part_with_a_path_of_its_own_has_no_digest_of_the_source() -> None:
    source = {"type": "csv", "path": "https://h/a.csv", "sha256": ONE}
    parts = [{"path": ["https://h/b.csv", "https://h/c.csv"]}, {"columns": {"a": 1}}]
    assert found(source_checks.bad_location, source=source, concat=parts) == []


@pytest.mark.parametrize(
    ("paths", "place", "message"),
    [
        ("https://x.org/a\0.csv", "", "'https://x.org/a\0.csv' has a NUL, which no path has"),
        ("zip://a\0.csv::/c/a.zip", "", "'zip://a\0.csv::/c/a.zip' has a NUL, which no path has"),
        ("/c/Aux.csv", "", "Windows reserves the name 'Aux.csv' for a device"),
        (["/c/a.csv", "/c/A.csv"], "[1]", "'A.csv' and 'a.csv' are one file on some systems"),
        (["/c/\xe9", "/c/e\u0301"], "[1]", "'e\u0301' and '\xe9' are one file on some systems"),
    ],
)
def test_a_path_that_some_systems_lack_is_reported(paths: Any, place: str, message: str) -> None:
    problems = found(source_checks.bad_location, source={"type": "csv", "path": paths})
    assert problems == [f"source.path{place}: {message}"]


@pytest.mark.parametrize(
    "paths", [["/c/a.csv", "/c/a.csv"], ["s3://b/a.csv", "s3://b/A.csv"], "/con/a.csv"]
)
def test_a_path_of_every_system_is_not_reported(paths: Any) -> None:
    assert found(source_checks.bad_location, source={"type": "csv", "path": paths}) == []


def test_the_archive_of_a_member_has_no_secret_and_no_plain_http() -> None:
    path = "zip://x.csv::http://me:hush@h/x.zip"
    named = "source.path: a secret in the URL: a user or password before the host"
    assert found(source_checks.secret_in_url, source={"path": path}) == [named]
    path = "zip://x.csv::http://h/x.zip"
    assert found(source_checks.plain_http, source={"path": path}) == [
        "source.path: plain HTTP to h"
    ]


@pytest.mark.parametrize(
    ("path", "mirrors", "problems"),
    [
        ("https://h/a.csv", ["https://m/b.csv", "s3://m/"], []),
        ("zip://in/*.csv::https://h/b.zip", "https://m/b.zip", []),
        ("a.csv", "https://m/a.csv", ["[]: a mirror of a local file, which is read where it is"]),
        ("https://h/*.csv", ["https://m/"], []),
        ("https://h/*.csv", ["https://m/a.csv"], ["[0]: 'https://m/a.csv' is one file, and `path` several"]),
        (["https://h/a/x.csv", "https://h/b/x.csv"], ["https://m/"], ["[0]: two of the paths have the same file name"]),
        ("https://h/a.csv", ["zip://a.csv::https://m/a.zip"], ["[0]: a member of an archive; a mirror has whole files"]),
    ],
)  # fmt: skip
def test_mirrors_say_where_which_file_is(path: Any, mirrors: Any, problems: list[str]) -> None:
    source = {"type": "csv", "path": path, "mirrors": mirrors}
    expected = [f"source.mirrors{message}".replace("[]", "") for message in problems]
    assert found(source_checks.bad_location, source=source) == expected


def test_the_host_of_a_mirror_needs_the_word_of_the_index_and_gets_no_secret() -> None:
    source = {"type": "csv", "path": "https://h/a.csv", "mirrors": ["http://169.254.0.1/a.csv"]}
    bounded = Boundary(folders=("/c",), hosts=frozenset({"h"}))
    value = msgspec.structs.replace(merged({"source": source}), boundary=bounded)
    (finding,) = source_checks.unlisted_host(value)
    assert finding.path == ("source", "mirrors", 0)
    source["mirrors"] = ["https://u:p@m/a.csv"]
    (problem,) = found(source_checks.secret_in_url, source=source)
    assert problem.startswith("source.mirrors[0]: a secret in the URL")


def test_four_rules_look_once_at_what_each_manifest_reaches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = []

    def violations(locations: Any, *more: Any) -> Any:
        looked.append(locations)
        return reach_violations(locations, *more)

    monkeypatch.setattr(source_checks, "violations", violations)
    bounded = Boundary(folders=("/c",), hosts=frozenset({"h"}))
    for url, rule in [
        ("http://169.254.0.1/a.csv", "unlisted_host"),
        ("ldap://h/a", "refused_protocol"),
    ]:
        value = merged({"source": {"type": "csv", "path": url}})
        value = msgspec.structs.replace(value, boundary=bounded)
        checks = "refused_protocol", "refused_option", "unlisted_host", "unlisted_secret"
        said = {name: [*getattr(source_checks, name)(value)] for name in checks}
        assert [name for name in checks if said[name]] == [rule]
    assert len(looked) == 4, "the locations and the mirrors of two manifests"

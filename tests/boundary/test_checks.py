"""What a manifest may name: protocols, options, hosts and variables, and what it needs for them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.boundary.checks import PROTOCOLS, check_location, listed_options, violations
from registry.boundary.hosts import host_of
from registry.errors import ReachError

CLOSED = Boundary()
LISTED = Boundary(hosts=frozenset({"example.org", "10.0.0.7"}))
MAPPED = Boundary(secrets={"KEY": ("example.org", "s3.amazonaws.com")})


def found(
    location: str, options: dict[str, Any] | None = None, boundary: Boundary = CLOSED
) -> list[tuple[str, str]]:
    given = violations([(("path",), Location(location))], options or {}, boundary)
    return [(one.rule, ".".join(map(str, one.path))) for one in given]


@pytest.mark.parametrize(
    "location",
    [
        *("/a/b.csv", "file:///a/b.csv", "package:registry/x.csv", "https://example.com/x"),
        *("https://93.184.215.14/x", "http://localhost:8000/x", "http://127.0.0.1/x"),
        *("https://[::1]/x", "s3://bucket/*.csv", "hf://datasets/a/b/x.csv"),
        "zip://a.csv::https://example.com/a.zip",
        "tar://a.csv::zip://b.tar::s3://bucket/c.zip",
    ],
)
def test_what_a_manifest_may_name(location: str) -> None:
    assert found(location) == []


@pytest.mark.parametrize(
    "location",
    [
        *("filecache::https://example.com/x", "simplecache::zip://a::https://example.com/x"),
        *("zip://a.csv::simplecache::https://example.com/a.zip", "blockcache::s3://b/x"),
        *("cached::s3://b/x", "filecache:///etc/passwd", "reference://x", "memory://x"),
        *("github://owner:name@sha/x", "gist://1/x", "ftp://example.com/x"),
        *("sftp://example.com/x", "ssh://example.com/x", "smb://example.com/x", "dir://x"),
        *("jupyter://x", "generic://x", "data://x", "git://x", "webhdfs://x"),
        *("HTTPS://example.com/x", "FILE:///etc/passwd", "gs://bucket/x", "abfs://container/x"),
        *("://x", "\n://x"),
    ],
)
def test_every_other_protocol_is_refused(location: str) -> None:
    assert found(location) == [("refused-protocol", "path")]
    assert found(location, boundary=UNBOUNDED) == []
    with pytest.raises(ReachError, match="is not allowed"):
        check_location(Location(location), {}, CLOSED)


@pytest.mark.parametrize(
    ("location", "hint"),
    [
        ("HTTPS://example.com/x", "write https://)"),
        ("simplecache::https://example.com/x", "write https://…, as every file is cached"),
        ("ftp://user:hush@example.com/x", "use one of https, http, s3, s3a, hf, or"),
    ],
)
def test_the_message_says_what_to_write(location: str, hint: str) -> None:
    with pytest.raises(ReachError) as caught:
        check_location(Location(location), {}, CLOSED)
    assert hint in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("location", "listed"),
    [
        ("http://example.org/x", True),
        ("http://example.org:8080/x", True),
        ("http://example.com/x", False),
        ("https://10.0.0.7/x", True),
        ("https://10.0.0.8/x", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("https://[::ffff:127.0.0.1]/x", False),
        ("https://0x7f.1/x", False),
        ("http://example.org@example.com/x", False),
    ],
)
def test_plain_http_and_private_addresses_need_the_index(location: str, *, listed: bool) -> None:
    assert found(location) == [("unlisted-host", "path")]
    assert found(location, boundary=LISTED) == ([] if listed else [("unlisted-host", "path")])


S3_OPTIONS: list[dict[str, Any]] = [
    {"endpoint_url": "https://example.org"},
    {"client_kwargs": {"endpoint_url": "https://example.org:9000"}},
    {"use_ssl": False, "endpoint_url": "http://example.org"},
    {"client_kwargs": {"verify": False}, "endpoint_url": "https://example.org"},
    {"config_kwargs": {"s3": {"addressing_style": "path"}}, "endpoint_url": "https://example.org"},
    {"config_kwargs": {"proxies": {"https": "example.org:3128"}}, "endpoint_url": "https://example.org"},
]  # fmt: skip


@pytest.mark.parametrize("options", S3_OPTIONS)
def test_endpoints_and_what_weakens_them_need_the_index(options: dict[str, Any]) -> None:
    assert {rule for rule, _ in found("s3://b/x", options)} == {"unlisted-host"}
    assert found("s3://b/x", options, LISTED) == []


@pytest.mark.parametrize(
    ("location", "options", "place"),
    [
        ("s3://b/x", {"use_ssl": False}, "use_ssl"),
        ("s3://b/x", {"requester_pays": True}, "requester_pays"),
        ("s3://b/x", {"config_kwargs": {"proxies": {"https": "http://example.org"}}}, "config_kwargs.proxies.https"),
        ("s3://b/x", {"endpoint_url": "http://127.0.0.1:9"}, "endpoint_url"),
        ("hf://datasets/a/b/x", {"endpoint": "http://evil.example"}, "endpoint"),
        ("https://h.example/x", {"client_kwargs": {"trust_env": True}}, "client_kwargs.trust_env"),
        ("https://h.example/x", {"ssl": False}, "ssl"),
        ("https://h.example/x", {"proxy": "http://example.org"}, "proxy"),
        ("s3://b/x", {"endpoint_url": "nowhere at all"}, "endpoint_url"),
    ],
)  # fmt: skip
def test_listing_one_host_allows_no_other(
    location: str, options: dict[str, Any], place: str
) -> None:
    # `example.org` is listed, the server that the option is about is not.
    # A problem of the host that has no option of its own is one of the path.
    places = {path for rule, path in found(location, options, LISTED) if rule == "unlisted-host"}
    assert places & {"path", f"fs_options.{place}"}


NO_OPTION = "from a manifest"


@pytest.mark.parametrize(
    ("location", "options", "place", "words"),
    [
        ("https://h.example/x", {"get_client": "os.system"}, "get_client", NO_OPTION),
        ("https://h.example/x", {"client_kwargs": {"cookies": {"a": "b"}}}, "client_kwargs.cookies.a", NO_OPTION),
        ("https://h.example/x", {"headers": [["a", "b"]]}, "headers.0.0", NO_OPTION),
        ("https://h.example/x", {"target_protocol": {"env": "KEY"}}, "target_protocol", NO_OPTION),
        ("https://h.example/x", {"encoded": "yes"}, "encoded", "give true or false"),
        ("https://h.example/x", {"block_size": True}, "block_size", "give a number"),
        ("https://h.example/x", {"headers": {"a": 1}}, "headers.a", "give a string or `{env: NAME}`"),
        ("s3://b/x", {"profile": "admin"}, "profile", NO_OPTION),
        ("s3://b/x", {"anon": {"env": "KEY"}}, "anon", "give true or false"),
        ("s3://b/x", {"endpoint_url": {"env": "KEY"}}, "endpoint_url", "give a string"),
        ("s3://b/x", {"session": {"x": 1}}, "session.x", NO_OPTION),
        ("s3://b/x", {"client_kwargs": {"region_name": "evil.example/"}}, "client_kwargs.region_name", "give a string like [a-z0-9-]+"),
        ("s3://b/x", {"config_kwargs": {"proxies": [{"env": "KEY"}]}}, "config_kwargs.proxies.0", NO_OPTION),
        ("s3://b/x", {"fo": "x"}, "fo", NO_OPTION),
        ("hf://datasets/a/b/x", {"token": True, "skip_instance_cache": False}, "skip_instance_cache", NO_OPTION),
    ],
)  # fmt: skip
def test_options_by_allow_list(
    location: str, options: dict[str, Any], place: str, words: str
) -> None:
    assert ("refused-option", f"fs_options.{place}") in found(location, options, MAPPED)
    with pytest.raises(ReachError, match=re.escape(f"{place}'") + f".*{re.escape(words)}"):
        check_location(Location(location), options, MAPPED)


def test_a_misspelt_option_has_a_hint() -> None:
    with pytest.raises(ReachError, match="did you mean 'secret'"):
        check_location(Location("s3://b/x"), {"secrte": "x"}, CLOSED)


@pytest.mark.parametrize(
    ("location", "options", "ok"),
    [
        ("https://example.org/x", {"headers": {"Authorization": {"env": "KEY"}}}, True),
        ("https://example.com/x", {"headers": {"Authorization": {"env": "KEY"}}}, False),
        ("https://example.org/x", {"client_kwargs": {"headers": {"A": {"env": "OTHER"}}}}, False),
        ("http://127.0.0.1/x", {"headers": {"A": {"env": "KEY"}}}, False),
        ("s3://b/x", {"key": {"env": "KEY"}}, True),
        ("hf://datasets/a/b/x", {"token": {"env": "KEY"}}, False),
        ("/a/b.csv", {"key": {"env": "OTHER"}}, True),
    ],
)
def test_variables_go_only_where_the_index_says(
    location: str, options: dict[str, Any], *, ok: bool
) -> None:
    rules = [rule for rule, _ in found(location, options, MAPPED)]
    assert rules == ([] if ok else ["unlisted-secret"])


def test_every_location_of_a_source_must_be_one_for_the_variable() -> None:
    options = {"headers": {"A": {"env": "KEY"}}}
    places = [("path", 0), ("path", 1), ("path", 2)]
    urls = ["https://example.org/1", "https://evil.example/2", "https://example.org/3"]
    given = list(violations(zip(places, map(Location, urls), strict=True), options, MAPPED))
    assert [one.message for one in given] == [
        "the environment variable KEY is not for evil.example"
    ]
    assert given[0].hint == (
        "if it is, write in the root index"
        " `secrets: {KEY: ['example.org', 's3.amazonaws.com', 'evil.example']}`"
    )


def test_options_for_listed_hosts_are_those_that_a_redirect_must_not_take_along() -> None:
    options = {"ssl": False, "headers": {"a": "b"}, "client_kwargs": {"trust_env": True}}
    assert listed_options("https", options) == {"ssl": False, "client_kwargs.trust_env": True}
    with pytest.raises(ReachError, match="'ssl' is only for listed hosts"):
        check_location(Location("https://h.example/x"), listed_options("https", options), CLOSED)


@pytest.mark.parametrize(
    ("named", "location", "ok"),
    [
        ("gs://bucket/*.csv", "gs://bucket/a.csv", True),
        ("memory://b/*.csv", "memory:///b/a.csv", True),
        ("gs://bucket/*.csv", "gs://other/a.csv", False),
        ("gs://bucket/*.csv", "ftp://bucket/a.csv", False),
        ("http://user:pw@lab.example/a.csv", "http://user:pw@lab.example/b.csv", True),
        ("zip://*.csv::ftp://h/a.zip", "zip://b.csv::ftp://h/a.zip", True),
    ],
)
def test_the_server_that_the_user_named_in_a_call_is_allowed(
    named: str, location: str, *, ok: bool
) -> None:
    boundary = Boundary(named=named)
    assert (found(location, boundary=boundary) == []) is ok
    # What the manifest would send there is not the user's word.
    options = {"headers": {"A": {"env": "KEY"}}, "token": "x"}
    assert found(location, options, boundary) != []


PIECES = ["://", "::", "http", "https", "s3", "hf", "zip", "file", "@", ":", "/", "[", "]", "127.1", "xn--", "0x7f", ".", "example.org", "?", "#", "%", "\\", "\n", "é", "1"]  # fmt: skip
URLS = st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(max_size=30)
NAMES = st.sampled_from(
    ["env", "headers", "client_kwargs", "endpoint_url", "endpoint", "proxies", "key", "x"]
)
OPTIONS = st.dictionaries(
    NAMES,
    st.recursive(
        st.none() | st.booleans() | st.integers() | URLS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
        max_leaves=6,
    ),
    max_size=3,
)


@example("http://a\nb/x", {})
@settings(max_examples=400, deadline=None)
@given(URLS, OPTIONS)
def test_whatever_is_written_is_allowed_or_a_violation(location: str, options: Any) -> None:
    for boundary in (CLOSED, LISTED, MAPPED):
        for one in violations([(("path",), Location(location))], options, boundary):
            assert one.message
            assert one.hint
            assert "\n" not in one.message


@settings(max_examples=800, deadline=None)
@given(st.sampled_from(["http://", "https://"]), URLS)
def test_what_is_allowed_has_the_host_that_clients_connect_to(scheme: str, rest: str) -> None:
    import yarl

    location = scheme + rest
    if not found(location):
        client = yarl.URL(location)
        assert (client.raw_host or "").rstrip(".") == host_of(Location(location)).partition(":")[0]
        assert client.user is None


def test_the_protocols_of_the_allow_list() -> None:
    assert set(PROTOCOLS) == {"https", "http", "s3", "s3a", "hf"}


def test_what_names_a_server_or_weakens_a_connection_needs_a_listed_host() -> None:
    words = ("endpoint", "prox", "ssl", "verify", "trust_env", "config_kwargs")
    for options in PROTOCOLS.values():
        for name, option in options.items():
            if any(word in name for word in words):
                assert option.listed, name
                assert not option.secret, name


def test_no_protocol_takes_an_option_that_names_code_or_files() -> None:
    names = {name for options in PROTOCOLS.values() for name in options}
    assert not [name for name in names if any(part in name for part in ("cache_storage", "fo", "target", "session.", "loop"))]  # fmt: skip

"""Every location has one host, however it is written; odd spellings are refused."""

from __future__ import annotations

from typing import Any

import pytest

from registry.base.locations import Location
from registry.boundary.hosts import Host, address_fault, host_of, is_listed, parse_host, url_host
from registry.errors import ReachError


@pytest.mark.parametrize(
    ("location", "options", "host"),
    [
        ("/a/b.csv", {}, ""),
        ("package:registry/x.csv", {}, ""),
        ("zip://a.csv::data.zip", {}, ""),
        ("https://Example.ORG/a.csv?x=1#y", {}, "example.org"),
        ("https://example.org.:443/a", {}, "example.org"),
        ("http://example.org:8080/a", {}, "example.org:8080"),
        ("https://xn--bcher-kva.example/a", {}, "xn--bcher-kva.example"),
        ("http://[::1]:80/a", {}, "::1"),
        ("https://[::1]:80/a", {}, "[::1]:80"),
        ("zip://a.csv::https://example.org/a.zip", {}, "example.org"),
        ("https://example.org", {"endpoint_url": "http://other"}, "example.org"),
        ("s3://bucket/key", {}, "s3.amazonaws.com"),
        ("s3a://bucket/key", {"endpoint_url": "https://minio.example.org:9000"}, "minio.example.org:9000"),
        ("s3://bucket/key", {"client_kwargs": {"endpoint_url": "http://127.0.0.1"}}, "127.0.0.1"),
        ("hf://datasets/a/b/c.csv", {}, "huggingface.co"),
        ("hf://datasets/a/b/c.csv", {"endpoint": "https://hub.example.org"}, "hub.example.org"),
        ("gs://bucket/key", {}, "bucket"),
    ],
)  # fmt: skip
def test_the_host_of_a_location(location: str, options: dict[str, Any], host: str) -> None:
    assert host_of(Location(location), options) == host


@pytest.mark.parametrize(
    "url",
    [
        *("https://good.org@evil.org/x", "https://user:hush@evil.org/x"),
        *("https://good.org\\@evil.org/x", "https://good.org%2f@evil.org/x"),
        *("https://good.org\t.evil.org/x", "https://good.org\n/x", "https:///x"),
        *("https://../x", "https://[fe80]/x", "https://xn--/x", "https://xn--a-.example.org/x"),
        *("https://::1/x", "https://example..org/x", "https://.example.org/x"),
        *(
            "https://[nothing/x",
            "https://[1::2::3]/x",
            "https://[::1%25eth0]/x",
            "https://example.org:99999999/x",
        ),
        *("https://1２7.0.0.1/x", "https://ｅxample.org/x", "https://bücher.example/x"),
        *("https://127.1/x", "https://2130706433/x", "https://0x7f000001/x"),
        *("https://0x7f.0.0.1/x", "https://0177.0.0.1/x", "https://127.0.0.1.0x1/x"),
    ],
)
def test_an_odd_spelling_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ReachError) as caught:
        host_of(Location(url))
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1"),
        *("fc00::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::10.0.0.1"),
        *("64:ff9b::a9fe:a9fe", "2002:0a00:0001::1", "fd00:ec2::254", "4000::1"),
        *("fec0::1", "192.0.0.192", "168.63.129.16", "::ffff:168.63.129.16"),
    ],
)
def test_addresses_that_are_not_public(name: str) -> None:
    assert "address" in address_fault(name)


PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"]


@pytest.mark.parametrize("name", [*PUBLIC, "example.org"])
def test_public_addresses_and_names(name: str) -> None:
    assert address_fault(name) == ""


def test_this_machine_by_its_plain_names() -> None:
    own = ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "[::1]"]
    others = ["::ffff:127.0.0.1", "localhost.example.org", "example.org", "10.0.0.1"]
    assert [name for name in own + others if parse_host(name).is_loopback] == own


def test_an_entry_without_a_port_has_all_ports() -> None:
    host = url_host("http://minio.example.org:9000/x")
    fitting = ["minio.example.org", "MINIO.example.org.", "minio.example.org:9000"]
    others = ["minio.example.org:9001", "example.org", "xminio.example.org"]
    assert [entry for entry in fitting + others if is_listed(host, [entry])] == fitting


def test_hosts_are_written_as_in_urls() -> None:
    hosts = (Host("a"), Host("a", 1), Host("::1"), Host("::1", 1))
    assert [str(one) for one in hosts] == ["a", "a:1", "::1", "[::1]:1"]

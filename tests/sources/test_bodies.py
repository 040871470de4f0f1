"""An answer begins where its headers say, and names digests only of what it sends."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.errors import SourceError
from registry.sources.bodies import Body, describe, is_strong, open_body
from registry.sources.filesystem import filesystem
from tests.conftest import S3
from tests.servers.fault_proxy import Fault, FaultProxy

DATA = b"q,a\n1,2\n"
MD5 = hashlib.md5(DATA, usedforsecurity=False).digest()
SHA256 = hashlib.sha256(DATA).digest()
SHA512 = hashlib.sha512(DATA).digest()


def opened(url: str, *, start: int = 0, etag: str = "", version_id: str | None = None) -> Body:
    files = filesystem(Location(url), {}, UNBOUNDED)
    return open_body(files, Location(url), start=start, etag=etag, version_id=version_id)


def content(body: Body) -> bytes:
    found = b"".join(iter(body.read, b""))
    body.close()
    return found


def test_http_sends_a_file_or_the_rest_of_it(proxy: FaultProxy) -> None:
    url = f"{proxy.url}/a"
    whole = opened(url)
    assert (whole.start, whole.size, content(whole)) == (0, 8, DATA)
    rest = opened(url, start=4, etag=whole.etag)
    assert (rest.start, rest.size, rest.etag, content(rest)) == (4, 8, whole.etag, DATA[4:])
    other = opened(url, start=4, etag='"old"')
    assert (other.start, other.size, content(other)) == (0, 8, DATA)
    assert proxy.log[1].headers["if-range"] == whole.etag


def text(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


@pytest.mark.parametrize(
    ("headers", "digests"),
    [
        ({"Content-MD5": text(MD5)}, {"md5": MD5}),
        ({"Repr-Digest": f"sha-256=:{text(SHA256)}:"}, {"sha256": SHA256}),
        ({"Repr-Digest": f"x=:AA==:, sha-512=:{text(SHA512)}:"}, {"sha512": SHA512}),
        ({"Digest": f"SHA-256={text(SHA256)}"}, {"sha256": SHA256}),
        ({"Content-MD5": "none", "Repr-Digest": "sha-256=:x:"}, {}),
        ({"Content-MD5": "caf\xe9", "Digest": "sha-512=caf\xe9"}, {}),
        ({"Content-MD5": text(b"short")}, {}),
    ],
)
def test_digests_of_http_headers_are_read(
    proxy: FaultProxy, headers: dict[str, str], digests: dict[str, bytes]
) -> None:
    proxy.add(Fault(headers=headers))
    body = opened(f"{proxy.url}/a")
    assert body.digests == digests
    body.close()


def test_a_file_is_described_by_head_or_else_by_get(proxy: FaultProxy) -> None:
    url = f"{proxy.url}/a"
    files = filesystem(Location(url), {}, UNBOUNDED)
    known = {"size": 8, "ETag": f'"{MD5.hex()}"'}
    assert describe(files, Location(url)) == known
    proxy.add(Fault(status=405), method="HEAD", times=1)
    assert describe(files, Location(url)) == known
    assert [one.method for one in proxy.log] == ["HEAD", "HEAD", "GET"]
    named = {"Content-MD5": text(MD5), "Digest": "md5=x", "Last-Modified": "x", "ETag": "W/x"}
    proxy.add(Fault(status=200, headers={**named, "Age": "1"}), method="HEAD")
    assert describe(files, Location(url)) == {"size": 0, **named}


def test_a_body_that_the_client_unpacks_has_no_validators(proxy: FaultProxy) -> None:
    packed = {"Content-Encoding": "gzip", "ETag": '"packed"', "Content-MD5": text(MD5)}
    proxy.add(Fault(status=200, headers=packed, body=gzip.compress(DATA)))
    body = opened(f"{proxy.url}/a")
    assert (body.size, body.etag, body.digests, content(body)) == (None, "", {}, DATA)


RAW = zlib.compressobj(wbits=-15)
PACKED = {
    "gzip": gzip.compress(DATA),
    "x-gzip": gzip.compress(DATA[:5]) + gzip.compress(DATA[5:]),
    "Deflate": zlib.compress(DATA),
    "deflate": RAW.compress(DATA) + RAW.flush(),
}


@pytest.mark.parametrize("coding", PACKED)
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_packed_body_is_read_to_the_end_of_its_stream_or_is_an_error(
    proxy: FaultProxy, coding: str, *, is_chunked: bool
) -> None:
    for end in (0, 1, len(PACKED[coding]) // 2, len(PACKED[coding]) - 1):
        add_packed(proxy, coding, PACKED[coding][:end], is_chunked=is_chunked)
        with pytest.raises(SourceError, match="the body ended too early") as caught:
            content(opened(f"{proxy.url}/a"))
        assert caught.value.transient
    add_packed(proxy, coding, PACKED[coding], is_chunked=is_chunked)
    assert content(opened(f"{proxy.url}/a")) == DATA


def add_packed(proxy: FaultProxy, coding: str, body: bytes, *, is_chunked: bool) -> None:
    headers = {"Content-Encoding": coding}
    if is_chunked:
        headers["Transfer-Encoding"] = "chunked"
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    without = ("Content-Length",) if is_chunked else ()
    proxy.add(Fault(status=200, headers=headers, body=body, without=without), times=1)


def test_a_packed_body_is_unpacked_in_small_parts(proxy: FaultProxy) -> None:
    zeros = bytes(10_000_000)
    add_packed(proxy, "gzip", gzip.compress(zeros), is_chunked=False)
    body = opened(f"{proxy.url}/a")
    parts = list(iter(body.read, b""))
    assert max(map(len, parts)) <= 1 << 20
    assert b"".join(parts) == zeros


def test_a_damaged_packed_body_is_an_error_that_may_pass(proxy: FaultProxy) -> None:
    add_packed(proxy, "gzip", DATA, is_chunked=False)
    with pytest.raises(
        SourceError, match=r"/a\?…: the body is not valid gzip, .* says: "
    ) as caught:
        content(opened(f"{proxy.url}/a?sig=hush"))
    assert caught.value.transient


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip"])
def test_other_codings_and_what_is_no_file_are_refused(proxy: FaultProxy, coding: str) -> None:
    add_packed(proxy, coding, DATA, is_chunked=False)
    proxy.add(Fault(status=204, body=b""), times=1)
    for words in (f"the server sends it as {coding}, ", "the server answered 204, "):
        with pytest.raises(SourceError, match=rf"/a\?…: {words}") as caught:
            opened(f"{proxy.url}/a?sig=hush")
        assert not caught.value.transient


def test_a_body_of_which_nothing_arrives_in_time_is_given_up(
    proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    begin = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nq,a\n\r\n9;"
    proxy.add(Fault(begin=begin, repeat=b"x"))
    body = opened(f"{proxy.url}/a")
    with pytest.raises(TimeoutError):
        content(body)
    body.close()


def test_s3_sends_a_version_or_else_the_current_object(s3: S3) -> None:
    s3.bucket("plain")
    url = s3.put("plain", "a", DATA)
    body = opened(url, version_id="gone")
    assert (body.start, body.size, content(body)) == (0, 8, DATA)
    assert body.digests == {"md5": MD5}
    rest = opened(url, start=4, etag=body.etag)
    assert (rest.start, rest.size, content(rest)) == (4, 8, DATA[4:])
    files = filesystem(Location(url), {}, UNBOUNDED)
    assert describe(files, Location(url))["ETag"] == body.etag
    s3.keep_versions("plain")  # the object of before has the version "null"
    s3.put("plain", "a", b"second")
    version = describe(files, Location(url))["VersionId"]
    s3.put("plain", "a", b"third")
    assert content(opened(url, version_id=version)) == b"second"
    assert content(opened(url, version_id="null")) == b"third"


def test_other_file_systems_send_files_from_the_start() -> None:
    import fsspec

    fsspec.filesystem("memory").pipe("/a", DATA)
    body = open_body(fsspec.filesystem("memory"), Location("memory://a"), start=4, etag="x")
    assert (body.start, body.etag, content(body)) == (0, "", DATA)
    fsspec.filesystem("memory").rm("/a")


def test_only_a_strong_etag_means_the_same_bytes() -> None:
    assert [is_strong(etag) for etag in ('"a"', 'W/"a"', "")] == [True, False, False]

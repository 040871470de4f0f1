"""Answers of servers that carry the bytes of a file: from any position, with their validators.

fsspec's file systems make the requests, as they know credentials and redirects. What they add on
top, repeating and cutting into blocks, is left out: `transfer` decides what is requested again.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct, field

from registry.base.locations import Location
from registry.errors import SourceError
from registry.sources.retry import network_policy, passing_error, status_of

__all__ = [
    "GONE_ON",
    "Body",
    "DamagedError",
    "check_digests",
    "compared",
    "describe",
    "is_strong",
    "new_hash",
    "open_body",
    "same_version",
]

# A read returns what has arrived, up to so many bytes.
_BUFFER = 1 << 20
_HTTP_VALIDATORS = ("ETag", "Content-MD5", "Digest", "Last-Modified")
# Content codings that are unpacked here, as some servers always pack: the window bits of zlib.
_UNPACKED = {
    "gzip": zlib.MAX_WBITS + 16,
    "x-gzip": zlib.MAX_WBITS + 16,
    # Some servers leave out the header of zlib, as the name suggests.
    "deflate": zlib.MAX_WBITS,
}
# A server may refuse to answer HEAD with one of them, and still answer GET.
_TRY_GET = frozenset({400, 403, 404, 405, 501})
# Answers whose body is the file, or a part of it.
_CONTENT = frozenset({200, 203, 206})
# Names of digests in headers (RFC 9530, and RFC 3230 before it) → those of hashlib.
_ALGORITHMS = {"sha-256": "sha256", "sha-512": "sha512"}
_MD5_ETAG = re.compile(r'"([0-9a-f]{32})"')
# The version does not exist, the server has none, or only the current one may be read.
_NO_VERSION = frozenset({400, 403, 404, 405})

GONE_ON = frozenset({412, 416})
"""Statuses for an object that is a different one now, or shorter than the position."""


class DamagedError(SourceError):
    """What arrived differs from a digest that the server names."""


class Body(Struct, kw_only=True):
    """The bytes of a file from `start` on, which `read` returns as they arrive."""

    read: Callable[[], bytes]
    """Returns the next bytes, b"" at the end."""
    close: Callable[[], None]
    start: int | None = 0
    """None if the server sends a part, and does not say which."""
    size: int | None = None
    """Bytes of the whole file."""
    etag: str = ""
    digests: Mapping[str, bytes] = field(default_factory=dict)
    """Digests of the whole file that the server names: algorithm → digest."""
    has_parts: bool = False
    """Whether the server says that it sends parts of the file, too."""
    is_ended: Callable[[], bool] = lambda: True
    """Returns, once all is read, whether the server has said that this is the end."""
    packed: Callable[[], int] | None = None
    """Returns how many bytes arrived so far, if they are unpacked here."""

    def hashes(self) -> dict[str, Any]:
        """Return new hashes, to compare with the digests when all of the file has arrived."""
        return {name: new_hash(name, self.size) for name in self.digests}

    def check_end(self, name: str) -> None:
        """Raise an error for a body without a length and digests that may have been cut."""
        if self.size is None and not self.digests and not self.is_ended():
            raise passing_error(
                f"{name}: TLS ended without close_notify, and the server names no length, so the"
                " file may be cut"
            )


def open_body(
    files: Any,
    location: Location,
    *,
    start: int = 0,
    stop: int | None = None,
    etag: str = "",
    version_id: str | None = None,
) -> Body:
    """Request a part of a file; a server that can't do that sends all of it.

    Args:
        files: The file system.
        location: The URL.
        start: Where the part begins; if negative, so many bytes before the end of the file.
        stop: Where it ends, at the end of the file at the latest; None for there.
        etag: A strong ETag, under which the other bytes came.
        version_id: Version of an S3 object. Without it, or if it can't be had, the current one.

    Raises:
        Exception: the error of the client; `source_errors` translates it.
    """
    protocol = location.protocol
    if protocol in ("http", "https"):
        body: Body = _call(files, _open_http, location, _range(start, stop), etag)
        return body
    if protocol in ("s3", "s3a"):
        return _open_s3(files, location, _range(start, stop), etag, version_id)
    if protocol == "hf":
        return _open_hub(files, location, start, stop)
    opened = files.open(location, "rb")
    return Body(read=lambda: bytes(opened.read(_BUFFER)), close=opened.close)


def describe(files: Any, location: Location) -> dict[str, Any]:
    """Return the size of a file and its validators, named as fsspec does."""
    if location.protocol in ("http", "https"):
        found: dict[str, Any] = _call(files, _describe_http, location)
        return found
    if location.protocol in ("s3", "s3a"):
        return _describe_s3(files, location)
    return dict(files.info(location))


def is_strong(etag: str) -> bool:
    """Return whether an ETag means the same bytes, not only the same content."""
    return bool(etag) and not etag.startswith("W/")


def same_version(known: str, etag: str) -> bool:
    """Return whether two ETags may be of one version; "" is unknown."""
    # A server that packs some answers has weak and strong forms of one ETag.
    return "" in (known, etag) or known.removeprefix("W/") == etag.removeprefix("W/")


def _range(start: int, stop: int | None) -> str:
    """Return the header for a part of a file; "" for all of it."""
    if start < 0:
        return f"bytes={start}"
    if stop is not None:
        return f"bytes={start}-{stop - 1}"
    return f"bytes={start}-" if start else ""


def _call(files: Any, coroutine: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Run a coroutine in the thread of fsspec's event loop."""
    from fsspec.asyn import sync

    return sync(files.loop, coroutine, files, *arguments)


async def _request(files: Any, method: str, location: Location, headers: Mapping[str, str]) -> Any:
    session = await files.set_session()
    # Packed on the way, the bytes would have another length and another ETag.
    asked = {**files.kwargs.get("headers", {}), "Accept-Encoding": "identity", **headers}
    how = {**files.kwargs, "headers": asked, "auto_decompress": False}
    response = await getattr(session, method)(files.encode_url(location), **how)
    if response.status == 404:
        response.close()
        raise FileNotFoundError(location)
    try:
        response.raise_for_status()
        _check_answer(response.status, response.headers, location, ranged="Range" in headers)
    except BaseException:
        _abandon(response)
        raise
    return response


def _check_answer(
    given: int, headers: Mapping[str, str], location: Location, *, ranged: bool
) -> None:
    """Raise an error for an answer whose status `given` is a success, and which is not the file."""
    coded = headers.get("Transfer-Encoding", "").strip().lower()
    part = re.fullmatch(r"bytes 0-(\d+)/(\d+)", headers.get("Content-Range") or "")
    is_all = part is not None and int(part[1]) + 1 == int(part[2])
    if given not in _CONTENT:
        what = f"the server answered {given}, which has no content (check the URL)"
    elif coded not in ("", "chunked", "identity"):
        what = f"the server transfers it as {coded}, which was not asked for and can't be unpacked"
    elif given == 206 and not ranged and not is_all:
        what = "the server sent a part of the file, where all of it was asked for (try again)"
    else:
        return
    raise SourceError(f"{location.public}: {what}")


async def _open_http(files: Any, location: Location, part: str, etag: str) -> Body:
    import asyncio  # a warm open imports this module

    ranged = {"Range": part} if part else {}
    if part and etag:
        ranged["If-Range"] = etag
    response = await _request(files, "get", location, ranged)
    headers = response.headers
    coding = _coding(headers)
    if coding not in ("", *_UNPACKED):
        _abandon(response)
        raise SourceError(
            f"{location.public}: the server sends it as {coding}, which was not asked for"
            " and can't be unpacked (name a URL that sends the file as it is)"
        )
    first, size = _content_range(headers.get("Content-Range"))
    if response.status != 206:
        first, size = 0, None if coding else response.content_length

    async def close(_: Any) -> None:
        _abandon(response)

    async def read(_: Any) -> bytes:
        # The time-out of aiohttp begins again with each byte that is none of the body.
        async with asyncio.timeout(network_policy().read_seconds):
            return bytes(await response.content.read(_BUFFER))

    def receive() -> bytes:
        return bytes(_call(files, read))

    sent = _named_digests(headers.get("Content-Digest", ""))
    if sent:
        hashes = {name: new_hash(name, None) for name in sent}
        receive = compared(receive, sent, hashes, location.public)
    # Then nothing but the end of the connection ends the body.
    is_open = "Content-Length" not in headers and "Transfer-Encoding" not in headers
    unpacking = _Unpacking(receive, coding, location.public) if coding else None
    return Body(
        read=unpacking or receive,
        packed=None if unpacking is None else lambda: unpacking.packed,
        close=lambda: _call(files, close),
        start=first,
        size=size,
        # Of bytes that are unpacked here, the server says nothing.
        etag="" if coding else headers.get("ETag", ""),
        digests={} if coding or response.status == 206 else _http_digests(headers),
        # What Content-Digest covers has to be read to its end.
        has_parts=not coding and not sent and headers.get("Accept-Ranges") == "bytes",
        is_ended=_end_of_tls(response) if not sent and is_open else lambda: True,
    )


def compared(
    receive: Callable[[], bytes], digests: Mapping[str, bytes], hashes: Mapping[str, Any], name: str
) -> Callable[[], bytes]:
    """Return what reads a body, and compares it with digests at its end."""

    def read() -> bytes:
        chunk = receive()
        for one in hashes.values():
            one.update(chunk)
        if not chunk:
            check_digests(digests, hashes, name)
        return chunk

    return read


def _end_of_tls(response: Any) -> Callable[[], bool]:
    """Return a function that tells whether the server closed TLS, and not only the connection.

    A connection that anyone cuts looks like the end of a body without a length (RFC 8446, 6.1).
    """
    import ssl  # slow to import

    connection = response.connection
    tls = connection and connection.transport and connection.transport.get_extra_info("ssl_object")

    def is_closed() -> bool:
        try:
            return not tls.read(1)
        except ssl.SSLZeroReturnError:  # both sides have closed
            return True
        except ssl.SSLError:  # it waits for more
            return False

    return is_closed if tls else lambda: True


class _Unpacking:
    """Reads a packed body, to the end of what is packed.

    Packed though it was not asked for, it has no length and no digest; and the client would take
    a stream that breaks off for a whole one.
    """

    def __init__(self, receive: Callable[[], bytes], coding: str, name: str) -> None:
        self.packed = 0
        """Bytes that have arrived."""
        self._receive = receive
        self._coding = coding
        self._name = name
        self._stream: zlib._Decompress | None = None
        self._left = b""

    def __call__(self) -> bytes:
        """Return the next unpacked bytes, b"" at the end.

        Raises:
            SourceError: the body ended before, or is damaged; either may pass.
        """
        try:
            while packed := self._left or self._received():
                if chunk := self._unpack(packed):
                    return chunk
            # What a part of the limited size has left over inside.
            if chunk := self._unpack(b""):
                return chunk
        except zlib.error as error:
            message = f"{self._name}: the body is not valid {self._coding}, as its header says"
            raise passing_error(f"{message}: {error}") from error
        if self._stream is None or not self._stream.eof:
            raise passing_error(f"{self._name}: the body ended too early, inside of {self._coding}")
        return b""

    def _received(self) -> bytes:
        data = self._receive()
        self.packed += len(data)
        return data

    def _unpack(self, packed: bytes) -> bytes:
        if packed and (self._stream is None or self._stream.eof):  # gzip has several streams
            raw = self._coding == "deflate" and packed[0] & 15 != zlib.DEFLATED
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS if raw else _UNPACKED[self._coding])
        if self._stream is None or self._stream.eof:
            return b""
        chunk = self._stream.decompress(packed, _BUFFER)
        self._left = self._stream.unconsumed_tail or self._stream.unused_data
        return chunk


def _coding(headers: Mapping[str, str]) -> str:
    """Return how a body is packed; "" if it is not."""
    coding = headers.get("Content-Encoding", "").strip().lower()
    return "" if coding == "identity" else coding


def _abandon(response: Any) -> None:
    """Close the connection of an answer that may not have been read to its end."""
    # TLS ends with an exchange, for which nobody reads any more where aiohttp has paused: the
    # socket would stay open until it is collected.
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
    response.close()


async def _describe_http(files: Any, location: Location) -> dict[str, Any]:
    import aiohttp

    try:
        response = await _request(files, "head", location, {})
    except (FileNotFoundError, aiohttp.ClientResponseError, SourceError) as error:
        # What is no error, and has no content, says nothing about GET.
        if getattr(error, "status", 404) not in _TRY_GET:
            raise
        response = await _request(files, "get", location, {})
    _abandon(response)
    headers = response.headers
    length = headers.get("Content-Length", "")
    size = int(length) if length.isdecimal() and not _coding(headers) else None
    return {"size": size, **{name: headers[name] for name in _HTTP_VALIDATORS if name in headers}}


def _open_s3(files: Any, location: Location, part: str, etag: str, version_id: str | None) -> Body:
    import asyncio

    bucket, key, named = files.split_path(location)
    asked = {"Bucket": bucket, "Key": key, **files.req_kw}
    if part:
        asked["Range"] = part
    if part and etag:
        asked["IfMatch"] = etag
    version = named or (version_id if version_id != "null" else None)
    try:
        of_version = {"VersionId": version} if version else {}
        answer = files.call_s3("get_object", **asked, **of_version)
    except Exception as error:
        # The current object may have the same bytes, which their digest will tell.
        if named or not version or status_of(error) not in _NO_VERSION:
            raise
        answer = files.call_s3("get_object", **asked)
    body = answer["Body"]

    async def read(_: Any) -> bytes:
        async with asyncio.timeout(network_policy().read_seconds):
            return bytes(await body.read(_BUFFER))

    async def close(_: Any) -> None:
        body.close()

    first, size = _content_range(answer.get("ContentRange"))
    found = _MD5_ETAG.fullmatch(answer.get("ETag", ""))
    # The ETag of an object that came in one piece is its MD5, unless a key of its own encrypts it.
    encrypted = answer.get("SSECustomerAlgorithm") or "kms" in answer.get(
        "ServerSideEncryption", ""
    )
    return Body(
        read=lambda: bytes(_call(files, read)),
        close=lambda: _call(files, close),
        start=first or 0,
        size=answer.get("ContentLength") if size is None else size,
        etag=answer.get("ETag", ""),
        digests={"md5": bytes.fromhex(found[1])} if found and not encrypted else {},
        has_parts=True,
    )


def _describe_s3(files: Any, location: Location) -> dict[str, Any]:
    try:
        return dict(files.info(location))
    except Exception as error:
        # An answer to HEAD has no body, which would say what is wrong, such as an expired token.
        # s3fs has a KeyError for one without a length.
        if status_of(error) not in (400, 403) and not isinstance(error, KeyError):
            raise
    body = _open_s3(files, location, "", "", None)
    body.close()
    return {"size": body.size, "ETag": body.etag}


def _content_range(given: str | None) -> tuple[int | None, int | None]:
    """Return where a part begins and the size of the whole, from `bytes 2-5/10`, if it says so."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", given or "")
    if found is None:
        return None, None
    return int(found[1]), None if found[2] == "*" else int(found[2])


def new_hash(name: str, size: int | None) -> Any:
    """Return the hash of a `Body`'s digest; `git` is that of a blob, which begins with its size."""
    if name == "git":
        return hashlib.sha1(b"blob %d\0" % (size or 0), usedforsecurity=False)
    return hashlib.new(name, usedforsecurity=False)


def _open_hub(files: Any, location: Location, start: int, stop: int | None) -> Body:
    """Request a part of a file as the Hub's client does, which does not look at what it gets."""
    from huggingface_hub import get_session
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented there
        build_hf_headers,
        hf_raise_for_status,
    )

    from registry.sources.hub.client import METERED

    about = files.info(location)
    size = about["size"]
    start = max(0, size + start) if start < 0 else start
    part = _range(start, stop)
    # The client takes the token off a redirect to another host.
    headers = {
        **build_hf_headers(token=files.token),
        "Accept-Encoding": "identity",
        **({"Range": part} if part else {}),
    }
    request = get_session().stream(
        "GET", files.url(location), headers=headers, extensions={METERED: True}
    )
    with contextlib.ExitStack() as stack:
        response = stack.enter_context(request)
        hf_raise_for_status(response)
        _check_answer(response.status_code, response.headers, location, ranged=bool(part))
        close = stack.pop_all().close
    first: int | None = 0
    if response.status_code == 206:
        first, _ = _content_range(response.headers.get("Content-Range"))
    chunks = filter(None, response.iter_bytes())
    digests = _hub_digests(about)
    return Body(
        read=lambda: next(chunks, b""),
        close=close,
        start=first,
        size=size,
        etag="".join(digest.hex() for digest in digests.values()),
        digests=digests,
        has_parts=True,
    )


def _hub_digests(about: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the digest that the Hub names for a file: in LFS its sha256, else its id in git."""
    if about.get("lfs"):
        return {"sha256": bytes.fromhex(about["lfs"]["sha256"])}
    return {"git": bytes.fromhex(about["blob_id"])} if about.get("blob_id") else {}


def check_digests(digests: Mapping[str, bytes], hashes: Mapping[str, Any], name: str) -> None:
    """Compare hashes of what arrived with the digests that the server names.

    Raises:
        DamagedError: they differ.
    """
    if any(hashed.digest() != digests[one] for one, hashed in hashes.items()):
        names = ", ".join(hashes)
        error = DamagedError(f"{name}: the bytes differ from the {names} that the server names")
        error.transient = True
        raise error


def _http_digests(headers: Mapping[str, str]) -> dict[str, bytes]:
    """Return the digests of the file: Repr-Digest (RFC 9530), Digest, Content-MD5 (RFC 1864)."""
    found = {
        **_named_digests(headers.get("Digest", "")),
        **_named_digests(headers.get("Repr-Digest", "")),
    }
    md5 = _decoded(headers.get("Content-MD5", ""), "md5")
    return {**found, "md5": md5} if md5 else found


def _named_digests(header: str) -> dict[str, bytes]:
    """Return the digests in `sha-256=:…:, sha-512=:…:`, or `SHA-256=…`; others are ignored."""
    found = {}
    for member in header.split(","):
        key, _, text = member.strip().partition("=")
        name = _ALGORITHMS.get(key.strip().lower(), "")
        text = text.partition(";")[0].strip()
        is_delimited = len(text) > 1 and text[0] == text[-1] == ":"
        if name and (digest := _decoded(text[1:-1] if is_delimited else text, name)):
            found[name] = digest
    return found


def _decoded(text: str, name: str) -> bytes:
    """Return a digest in base64; b"" for what is none of an algorithm."""
    try:
        digest = base64.b64decode(text, validate=True)
    except ValueError:  # its subclass for base64, or characters that are not ASCII
        return b""
    return digest if len(digest) == hashlib.new(name, usedforsecurity=False).digest_size else b""

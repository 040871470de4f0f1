"""Whatever a server sends, at any pace, the samples are right, or an error says what is wrong.

Each row is an answer and how a load of it ends: with the right samples, or with a message. One
`sync` loads all of them at once. No wait for a server that sends nothing, or a byte now and then,
is endless.

Measured: with the usual time-outs 6 attempts of a minute, about 380 s in silence and 370 s at a byte per
second.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import random
import re
import signal
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.faults import background
from tests.faults.network import blobs, catalog_of, tried
from tests.faults.process import registry
from tests.servers.answers import RESET, RUDE, AnswerServer, Asked, Reply, Script, repeat, whole
from tests.servers.hub import blob_id

ROWS = b"q,a\n" + b"".join(b"question %d,answer %d\n" % (n, n) for n in range(3000))
LIMITS = {"REGISTRY_DEADLINE": "3", "REGISTRY_READ_TIMEOUT": "1"}
LONGEST = 25
"""Seconds that the attempts of one file may take with them, on a machine that is busy."""
ETAG = 'ETag: "v1"'
COMMIT = "a" * 40
HALF = len(ROWS) // 2
PACKED = gzip.compress(ROWS, mtime=0)
LAST_ROWS = ROWS.index(b"question 1500,")
PAGE = b"<!DOCTYPE html><html>sign in</html>"
RIGHT = None


def digest(body: bytes, name: str = "sha-256") -> str:
    found = hashlib.new(name.replace("-", ""), body).digest()
    return f"{name}=:{base64.b64encode(found).decode()}:"


def old_digest(body: bytes) -> str:
    return f"SHA-256={base64.b64encode(hashlib.sha256(body).digest()).decode()}"


def raw(*parts: bytes | float | str) -> Reply:
    return lambda _: parts


def head(*headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([status, *headers, "", ""]).encode("latin-1")


def chunked(*parts: bytes, end: bytes = b"0\r\n\r\n", named: str = "", tls_end: Any = b"") -> Reply:
    headers = ["Transfer-Encoding: chunked", "Connection: close", *filter(None, [named])]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return raw(head(*headers), chunks + end, *filter(None, [tls_end]))


def part(start: int, end: int, *headers: str, of: bytes | None = None) -> Reply:
    """Send the bytes of a part, or others, as that part."""
    span = f"Content-Range: bytes {start}-{end - 1}/{len(ROWS)}"
    return whole(of or ROWS[start:end], span, *headers, status="206 Partial Content")


def paced(size: int, pause: float) -> Reply:
    def pieces(_: Asked) -> Iterator[bytes | float]:
        yield head(f"Content-Length: {len(ROWS)}", "Connection: close")
        for start in range(0, len(ROWS), size):
            yield ROWS[start : start + size]
            yield pause

    return pieces


def first(once: Reply, later: Reply) -> Reply:
    """Answer the first GET otherwise than those that follow."""
    return lambda asked: (once if asked.before == 0 else later)(asked)


def broken(*rest: str, body: bytes = b"", status: str = "206 Partial Content") -> Reply:
    """Break off in the middle; answer the request for the rest with these headers and this body."""

    def answer(asked: Asked) -> Iterable[bytes | float | str]:
        if asked.before == 0:
            return whole(ROWS, ETAG, "Accept-Ranges: bytes")(asked)[0], ROWS[:HALF], 0.2  # type: ignore[index]
        if asked.start == 0:
            return whole(ROWS, ETAG)(asked)
        return whole(body or ROWS[asked.start :], *rest, status=status)(asked)

    return answer


def rest_of(start: int | None = None, *, etag: str = ETAG) -> Reply:
    """Break off in the middle; send the rest as a part that begins elsewhere, or of a version."""

    def answer(asked: Asked) -> Iterable[bytes | float | str]:
        if asked.start == 0:
            return broken()(asked)
        begin = asked.start if start is None else start
        return part(begin, len(ROWS), etag, of=ROWS[asked.start :])(asked)

    return answer


def moved(target: str, status: str = "302 Found") -> Reply:
    return whole(b"", f"Location: {target}", status=status)


PLAIN = Script(whole(ROWS, ETAG))
LATE = "the server did not answer in time"
LOST = "the connection was lost|not valid HTTP"
NOT_HTTP = "the server's answer is not valid HTTP"
SHORT = r"the transfer gave [\d,]+ of [\d,]+ bytes|the connection was lost|not valid HTTP"
NO_BODY = "which has no content"
PART = "sent a part of the file"
DIFFER = "the bytes differ from the"
GZIP_BAD = "the body is not valid gzip"

Row = tuple[Reply | Script, str | None]

STATUS_LINES: dict[str, Row] = {
    "plain": (PLAIN, RIGHT),
    "http10": (raw(head(status="HTTP/1.0 200 OK"), ROWS), RIGHT),
    "no_reason": (raw(head(f"Content-Length: {len(ROWS)}", status="HTTP/1.1 200"), ROWS), RIGHT),
    "other_success": (whole(ROWS, status="203 Non-Authoritative Information"), RIGHT),
    "http09": (raw(ROWS), NOT_HTTP),
    "other_protocol": (raw(b"220 mail.example ESMTP\r\n", 5.0), NOT_HTTP),
    "status_word": (raw(head(status="HTTP/1.1 OK"), ROWS), NOT_HTTP),
    "status_digits": (raw(head(status="HTTP/1.1 20000 OK"), ROWS), NOT_HTTP),
    "status_99": (raw(head(status="HTTP/1.1 099 Less"), ROWS), NO_BODY),
    "noise": (raw(random.Random(7).randbytes(4000)), NOT_HTTP),
    "nothing": (raw(), LOST),
    "reset": (raw(RESET), LOST),
    "silent": (raw(3600.0), LATE),
    "silent_get": (Script(raw(3600.0), PLAIN.get), LATE),
    "status_204": (whole(b"", status="204 No Content", length=False), NO_BODY),
    "status_205": (whole(b"", status="205 Reset Content"), NO_BODY),
    "status_304": (whole(b"", status="304 Not Modified", length=False), NO_BODY),
    "status_300": (whole(b"choose", status="300 Multiple Choices"), NO_BODY),
    "status_302_nowhere": (whole(b"", status="302 Found"), NO_BODY),
    "status_416": (whole(b"", status="416 Range Not Satisfiable"), "answered 416"),
    "status_451": (whole(b"", status="451 Unavailable For Legal Reasons"), "answered 451"),
    "status_410": (whole(b"", status="410 Gone"), "answered 410"),
    "status_501": (whole(b"", status="501 Not Implemented"), "answered 501"),
    "status_503": (whole(b"", "Retry-After: 0", status="503 Busy"), "answered 503"),
    "status_429": (whole(b"", "Retry-After: nan", status="429 Too Many"), "answered 429"),
    "status_101": (whole(b"", "Upgrade: h2c", status="101 Switching Protocols"), NO_BODY),
    "hints": (raw(head("Link: </a>", status="HTTP/1.1 103 Early Hints"), *PLAIN.get(None)), RIGHT),  # type: ignore[arg-type]
    "interim_flood": (repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), LATE),
}
REDIRECTS: dict[str, Row] = {
    "moved": (moved("/plain.csv", "308 Permanent Redirect"), RIGHT),
    "moved_self": (moved("/moved_self.csv"), "more than 10 redirects"),
    "moved_other": (moved("/moved_back.csv"), "more than 10 redirects"),
    "moved_back": (moved("/moved_other.csv"), "more than 10 redirects"),
    "moved_file": (moved("file:///etc/passwd"), "redirected to file:"),
    "moved_bad": (moved("http://[:::"), "redirected to an invalid URL"),
    "moved_empty": (moved(""), NO_BODY),
}
HEADERS: dict[str, Row] = {
    "folded": (whole(ROWS, "X-Long: a\r\n b"), f"{NOT_HTTP}|^$"),
    "nul_byte": (whole(ROWS, "X-Nul: a\0b"), NOT_HTTP),
    "no_colon": (whole(ROWS, "X-None"), NOT_HTTP),
    "odd_name": (whole(ROWS, "X Space: a"), NOT_HTTP),
    "latin": (whole(ROWS, "X-Name: caf\xe9"), RIGHT),
    "long_line": (whole(ROWS, "X-Long: " + "x" * 1_000_000), NOT_HTTP),
    "many": (whole(ROWS, *(f"X-{n}: {n}" for n in range(50_000))), f"{NOT_HTTP}|^$"),
    "drip": (repeat(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"x"), LATE),
    "drip_get": (Script(repeat(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"x"), PLAIN.get), LATE),
    "drip_lines": (repeat(b"HTTP/1.1 200 OK\r\n", b"X-Line: x\r\n"), LATE),
    "two_lengths": (whole(ROWS, "Content-Length: 7"), NOT_HTTP),
    "length_negative": (raw(head("Content-Length: -1"), ROWS), NOT_HTTP),
    "length_plus": (raw(head(f"Content-Length: +{len(ROWS)}"), ROWS), NOT_HTTP),
    "length_word": (raw(head("Content-Length: long"), ROWS), NOT_HTTP),
    "length_huge": (raw(head("Content-Length: " + "9" * 400), ROWS), NOT_HTTP),
    "length_long": (raw(head(f"Content-Length: {len(ROWS) + 9}"), ROWS), SHORT),
    # HEAD names another length; what follows the one of GET may arrive after it was compared.
    "length_short": (
        Script(raw(head(f"Content-Length: {HALF}"), ROWS), PLAIN.get),
        f"{SHORT}|changed while it was read",
    ),
    "length_none": (Script(whole(ROWS[:LAST_ROWS], length=False), PLAIN.get), SHORT),
    "length_chunked": (
        raw(head("Content-Length: 5", "Transfer-Encoding: chunked"), b"5\r\nq,a\n1\r\n0\r\n\r\n"),
        NOT_HTTP,
    ),
    "coded_transfer": (raw(head("Transfer-Encoding: gzip"), PACKED), "transfers it as gzip"),
}
CHUNKS: dict[str, Row] = {
    "chunks": (chunked(ROWS[:HALF], ROWS[HALF:]), RIGHT),
    "chunk_extension": (chunked(end=b"%x;a=b\r\n%b\r\n0\r\n\r\n" % (len(ROWS), ROWS)), RIGHT),
    "chunk_trailer": (chunked(ROWS, end=b"0\r\nX-Sum: 1\r\n\r\n"), RIGHT),
    "chunk_no_end": (chunked(ROWS, end=b""), LOST),
    "chunk_cut": (chunked(ROWS[:LAST_ROWS], end=b"fff\r\nquestion"), LOST),
    "chunk_word": (chunked(ROWS[:LAST_ROWS], end=b"zz\r\n"), LOST),
    "chunk_negative": (chunked(ROWS[:LAST_ROWS], end=b"-5\r\nhello\r\n"), LOST),
    "chunk_huge": (chunked(ROWS[:LAST_ROWS], end=b"f" * 40 + b"\r\nq"), LOST),
    "chunk_long": (chunked(ROWS[:LAST_ROWS], end=b"2\r\nquestion\r\n0\r\n\r\n"), LOST),
    "chunk_drip": (repeat(head("Transfer-Encoding: chunked") + b"4\r\nq,a\n\r\n9;", b"x"), LATE),
    "trailer_drip": (
        repeat(head("Transfer-Encoding: chunked") + b"4\r\nq,a\n\r\n0\r\n", b"X: y\r\n"),
        f"{LATE}|{LOST}",
    ),
}


def coded(body: bytes, coding: str = "gzip", *headers: str) -> Reply:
    return whole(body, f"Content-Encoding: {coding}", *headers)


CODINGS: dict[str, Row] = {
    "identity": (coded(ROWS, "identity"), RIGHT),
    "gzip": (coded(PACKED), RIGHT),
    "gzip_two": (coded(gzip.compress(ROWS[:HALF]) + gzip.compress(ROWS[HALF:])), RIGHT),
    "deflate": (coded(zlib.compress(ROWS), "deflate"), RIGHT),
    "deflate_raw": (coded(zlib.compress(ROWS, wbits=-15), "deflate"), RIGHT),
    "gzip_cut": (coded(PACKED[: len(PACKED) // 2]), "ended too early, inside of gzip"),
    "gzip_no_crc": (coded(PACKED[:-8]), "ended too early, inside of gzip"),
    "gzip_half_rows": (
        coded(gzip.compress(ROWS[:LAST_ROWS])[:-8]),
        "ended too early, inside of gzip",
    ),
    "gzip_crc": (coded(PACKED[:-8] + b"\0" * 8), GZIP_BAD),
    "gzip_rest": (coded(PACKED + b"garbage"), GZIP_BAD),
    "gzip_not": (coded(ROWS), GZIP_BAD),
    "gzip_empty": (coded(b""), "ended too early, inside of gzip"),
    "gzip_twice": (coded(gzip.compress(PACKED), "gzip, gzip"), "gzip, gzip, which was not asked"),
    "brotli": (coded(ROWS, "br"), "br, which was not asked for"),
    "unknown_coding": (coded(ROWS, "x-new"), "x-new, which was not asked for"),
}
DIGESTS: dict[str, Row] = {
    "digest": (whole(ROWS, f"Content-Digest: {digest(ROWS)}"), RIGHT),
    "digest_512": (whole(ROWS, f"Content-Digest: {digest(ROWS, 'sha-512')}"), RIGHT),
    "digest_wrong": (whole(ROWS, f"Content-Digest: {digest(b'')}"), DIFFER),
    "digest_512_wrong": (whole(ROWS, f"Content-Digest: {digest(b'', 'sha-512')}"), DIFFER),
    "digest_two": (
        whole(ROWS, f"Content-Digest: {digest(ROWS)}, {digest(b'', 'sha-512')}"),
        DIFFER,
    ),
    "digest_once": (
        first(whole(ROWS.replace(b"7", b"8"), ETAG, f"Content-Digest: {digest(ROWS)}"), PLAIN.get),
        RIGHT,
    ),
    "digest_unknown": (whole(ROWS, "Content-Digest: crc32c=:AAAAAA==:, x=:AA==:"), RIGHT),
    "digest_malformed": (whole(ROWS, "Content-Digest: sha-256=:none"), RIGHT),
    "digest_packed": (coded(PACKED, "gzip", f"Content-Digest: {digest(PACKED)}"), RIGHT),
    "digest_packed_wrong": (coded(PACKED, "gzip", f"Content-Digest: {digest(ROWS)}"), DIFFER),
    "digest_chunks": (chunked(ROWS, named=f"Content-Digest: {digest(b'')}"), DIFFER),
    "repr_512_wrong": (whole(ROWS, f"Repr-Digest: {digest(b'', 'sha-512')}"), DIFFER),
    "old_digest": (whole(ROWS, f"Digest: {old_digest(ROWS)}"), RIGHT),
    "old_digest_wrong": (whole(ROWS, f"Digest: {old_digest(b'')}"), DIFFER),
    "md5_wrong": (whole(ROWS, "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg=="), DIFFER),
}
VERSIONS: dict[str, Row] = {
    "part_unasked": (whole(ROWS[9:], status="206 Partial Content"), PART),
    "part_elsewhere": (part(9, len(ROWS)), PART),
    "part_whole": (part(0, len(ROWS)), RIGHT),
    "part_first": (part(0, HALF), PART),
    "rest": (rest_of(), RIGHT),
    "rest_elsewhere": (rest_of(3), RIGHT),
    "rest_other_version": (rest_of(etag='ETag: "v2"'), RIGHT),
    "rest_unnamed": (broken(ETAG), RIGHT),
    "rest_of_many": (broken("Content-Type: multipart/byteranges; boundary=x"), RIGHT),
    "rest_refused": (broken(body=b" ", status="416 Range Not Satisfiable"), RIGHT),
    "rest_is_all": (broken(ETAG, body=ROWS, status="200 OK"), RIGHT),
    "rest_wrong_digest": (
        first(
            broken(),
            lambda asked: (
                part(asked.start, len(ROWS), ETAG, f"Content-Digest: {digest(b'')}")(asked)
                if asked.start
                else whole(ROWS, ETAG)(asked)
            ),
        ),
        RIGHT,
    ),
}
PACES: dict[str, Row] = {
    "slow": (paced(5, 0.2), "only [0-9]+ bytes arrived"),
    "stalled": (raw(head(f"Content-Length: {len(ROWS)}"), ROWS[:HALF], 3600.0), LATE),
    "pieces": (paced(1000, 0.002), RIGHT),
    "page": (whole(PAGE, "Content-Type: text/html"), "HTML"),
    "absurd_pause": (whole(b"", "Retry-After: 9999", status="503 Busy"), "asks to wait 9,999 s"),
}
PLAIN_ROWS = STATUS_LINES | REDIRECTS | HEADERS | CHUNKS | CODINGS | DIGESTS | VERSIONS | PACES
OPEN = "TLS ended without"
TLS_ROWS: dict[str, Row] = {
    "polite": (Script(whole(ROWS, length=False)), RIGHT),
    "rude": (Script(whole(ROWS[:LAST_ROWS], length=False, end=RUDE)), OPEN),
    "rude_length": (whole(ROWS, end=RUDE), RIGHT),
    "rude_head": (Script(whole(ROWS, length=False, end=RUDE), PLAIN.get), RIGHT),
    "rude_digest": (
        Script(whole(ROWS, f"Content-Digest: {digest(ROWS)}", length=False, end=RUDE)),
        RIGHT,
    ),
    "rude_chunks": (chunked(ROWS, tls_end=RUDE), RIGHT),
    "rude_gzip": (
        Script(
            whole(gzip.compress(ROWS[:LAST_ROWS]), "Content-Encoding: gzip", length=False, end=RUDE)
        ),
        OPEN,
    ),
    "rude_once": (
        Script(
            first(whole(ROWS[:LAST_ROWS], ETAG, length=False, end=RUDE), whole(ROWS, ETAG)),
            whole(b"", length=False),
        ),
        RIGHT,
    ),
}


def scripts(rows: Mapping[str, Row]) -> dict[str, Script]:
    made = {
        name: one if isinstance(one, Script) else Script(one) for name, (one, _) in rows.items()
    }
    return {f"/{name}.csv": one for name, one in made.items()}


def errors_of(text: str) -> dict[str, str]:
    """Return the message for each dataset; those that are equal are printed once."""
    found = dict(re.findall(r"^error: (\w+): (.*)$", text, re.MULTILINE))
    for message, names in re.findall(r"^error: \d+ datasets: (.*)\n  (.*)$", text, re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), message)
    return found


def faults_of(rows: Mapping[str, Row], folder: Path, tls: ssl.SSLContext | None = None) -> str:
    """Sync all rows at once from one server; return what ended otherwise than expected."""
    with AnswerServer(scripts(rows), tls) as server:
        return faults_at([f"{server.url}{path}" for path in scripts(rows)], rows, folder)


def faults_at(urls: Iterable[str], rows: Mapping[str, Row], folder: Path, **how: str) -> str:
    ended = registry(catalog_of(folder, urls), "sync", "--jobs", "40", **{**LIMITS, **how})
    errors = errors_of(ended.err)
    done = sum(map(int, re.findall(r" (\d+) (?:built|cached)", ended.text)))
    found = [] if done + len(errors) == len(rows) else [f"{done} done: {ended.text[-2000:]}"]
    for name, (_, expected) in rows.items():
        if not re.search("^$" if expected is None else expected, errors.get(name, "")):
            found.append(f"{name}: expected {expected}, found {errors.get(name, 'samples')}")
    if slow := {name: took for name, took in tried(ended).items() if took[1] > LONGEST}:
        found.append(f"too long: {slow}")
    if wrong := [blob for blob in blobs(folder) if blob not in (ROWS, PAGE)]:
        found.append(f"cached: {wrong[0][:100]!r}")
    return "\n".join(found)


def test_each_answer_ends_as_expected(tmp_path: Path) -> None:
    assert faults_of(PLAIN_ROWS, tmp_path) == ""


def test_what_ends_with_the_connection_needs_the_end_of_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, certificate = trustme.CA(), tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(tls)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert faults_of(TLS_ROWS, tmp_path / "catalog", tls) == ""


OF_S3 = ("plain", "pieces", "slow", "chunk_drip", "drip", "interim_flood", "noise", "length_long")
"""A client of S3 takes a second to make, in which no other gets an answer: few, and longer limits."""


def test_answers_for_objects_of_s3_end_too(tmp_path: Path) -> None:
    rows = {name: PLAIN_ROWS[name] for name in OF_S3}
    expected = {name: (one, None if end is None else ".") for name, (one, end) in rows.items()}
    paths = {f"/data{path}": script for path, script in scripts(rows).items()}
    with AnswerServer(paths) as server:
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        how = {**keys, "AWS_ENDPOINT_URL": server.url, "AWS_REGION": "us-east-1"}
        how |= {"REGISTRY_READ_TIMEOUT": "3", "REGISTRY_DEADLINE": "6"}
        assert faults_at([f"s3:/{path}" for path in paths], expected, tmp_path, **how) == ""


OF_HUB = (
    *("plain", "silent_get", "noise", "status_204", "drip", "interim_flood", "moved_self"),
    *("length_long", "chunk_drip", "trailer_drip", "part_unasked", "part_elsewhere", "slow"),
    "absurd_pause",
)
DOORS = ("api", "resolve", "lfs")
"""Who gives the answer: the Hub's API, the URL of the file, or the store that it redirects to."""


def of_json(value: object) -> Script:
    return Script(whole(json.dumps(value).encode(), "Content-Type: application/json"))


def hub_file(name: str, door: str) -> dict[str, Script]:
    """Return what a Hub answers for a file, one of which is the answer of a row."""
    blob = blob_id(ROWS)
    repository = f"{door}/{name}"
    about = {"id": repository, "sha": COMMIT, "private": False, "gated": False, "tags": []}
    file = {"type": "file", "path": f"{name}_{door}.csv", "size": len(ROWS), "oid": blob}
    api = f"/api/datasets/{repository}/revision/{COMMIT}"
    url = f"/datasets/{repository}/resolve/{COMMIT}/{name}_{door}.csv"
    named = (f'ETag: "{blob}"', f"X-Repo-Commit: {COMMIT}")
    (script,) = scripts({name: PLAIN_ROWS[name]}).values()
    lfs = f"/store/{name}.csv"
    return {
        api: of_json({**about, "siblings": [{"rfilename": file["path"]}]}),
        f"/api/datasets/{repository}/tree/{COMMIT}": of_json([file]),
        url: Script(moved(lfs)) if door == "lfs" else Script(whole(ROWS, *named)),
        {"api": api, "resolve": url, "lfs": lfs}[door]: script,
    }


def test_answers_of_the_hub_end_too(tmp_path: Path) -> None:
    rows: dict[str, Row] = {}
    paths: dict[str, Script] = {}
    urls = []
    for name, door in itertools.product(OF_HUB, DOORS):
        reply, expected = PLAIN_ROWS[name]
        # All bytes of the file came, and have the digest that the Hub names.
        is_whole = name == "length_long" and door != "api"
        of_file = "." if expected and not is_whole else None
        end = "is not JSON" if (name, door) == ("plain", "api") else of_file
        rows[f"{name}_{door}"] = (reply, end)
        paths |= hub_file(name, door)
        urls.append(f"hf://datasets/{door}/{name}@{COMMIT}/{name}_{door}.csv")
    with AnswerServer(paths) as server:
        how = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "hub")}
        assert faults_at(urls, rows, tmp_path, **how) == ""


def test_ctrl_c_does_not_wait_for_a_silent_server(tmp_path: Path) -> None:
    with AnswerServer(scripts({"silent_get": PLAIN_ROWS["silent_get"]})) as server:
        root = catalog_of(tmp_path, [f"{server.url}/silent_get.csv"])
        process = background.registry("sync", root=root)
        while not server.asked("/silent_get.csv") and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        code, _, err = background.finish(process)
        assert time.monotonic() - begun < 20  # the time-out is a minute
    assert (code, err) == (130, "\ninterrupted; what was finished before stays\n")


def spoilt(seed: int) -> Reply:
    """Return the usual answer with a few bytes of the header, or of the body, changed."""
    chance = random.Random(seed)
    named = f"Content-Digest: {digest(ROWS)}"
    answer = bytearray(b"".join(whole(ROWS, ETAG, named)(None)))  # type: ignore[arg-type]
    end = answer.index(b"\r\n\r\n")
    place = chance.randrange(len(answer)) if seed % 3 == 0 else chance.randrange(end)
    kind = chance.choice(("change", "remove", "add", "cut"))
    if kind == "cut":
        del answer[place:]
    else:
        added = b"" if kind == "remove" else chance.randbytes(chance.randrange(1, 4))
        answer[place : place + (0 if kind == "add" else chance.randrange(1, 4))] = added
    step = chance.choice((1 << 20, 997, 61))
    pause = 0.0 if step > 1000 else 0.001

    def pieces(_: Asked) -> Iterator[bytes | float]:
        for start in range(0, len(answer), step):
            yield bytes(answer[start : start + step])
            yield pause

    return pieces


def test_no_random_answer_is_taken_for_the_file(tmp_path: Path) -> None:
    rows: dict[str, Row] = {
        f"seed_{seed}": (Script(spoilt(seed), PLAIN.get), "") for seed in range(60)
    }
    assert faults_of(rows, tmp_path) == ""

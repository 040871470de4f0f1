"""Files are pinned by their digests, which are cached by file state or validators."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.fs import stream_sha256
from registry.base.locations import Location
from registry.base.materials import Material
from registry.errors import AccessError, DigestMismatchError, OfflineError, SourceError
from registry.lockfile.pinned import PinnedSources
from registry.progress import Deadline, Progress
from registry.sources import files
from registry.sources.files import pin_files, probe_files
from registry.sources.pinned_files import fetch_files
from registry.sources.pins import PinnedFile, SourceContext, SourcePin, UnknownDigestError
from tests.conftest import Https
from tests.sources.conftest import content, context_of

OLD = (1_000_000_000, 1_000_000_000)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    os.utime(path, OLD)
    return str(path)


def locked(context: SourceContext, pinned: SourcePin, **changes: Any) -> SourceContext:
    """Return a context whose lock has a pin."""
    sources = [
        Material(
            location=file.location, sha256=file.sha256, size=file.size, **{"etag": file.etag, **changes}
        )
        for file in pinned.files
    ]  # fmt: skip
    lock = PinnedSources(dataset="d", folder=Path("/"), sources=tuple(sources))
    return context_of(context.cache, lock=lock)


def test_the_identity_depends_on_bytes_and_suffixes_but_not_on_folders(
    tmp_path: Path, context: SourceContext
) -> None:
    a, b = write(tmp_path / "a.csv", "x"), write(tmp_path / "b.csv", "x")
    other, packed = write(tmp_path / "a.json", "x"), write(tmp_path / "a.csv.gz", "x")
    identities = [
        pin_files([Location(path)], {}, context).identity for path in (a, b, other, packed)
    ]
    assert identities[0] == identities[1]
    assert identities[0] not in identities[2:]
    assert identities[2] != identities[3]
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("a.csv", "x")
        archive.writestr("b.csv", "y")
    members = [
        pin_files([Location(f"zip://{name}::{tmp_path}/z.zip")], {}, context).identity
        for name in ("a.csv", "b.csv")
    ]
    assert members[0] != members[1]
    assert pin_files([Location(a), Location(b)], {}, context).identity == {
        "files": [*identities[0]["files"]] * 2
    }


def test_a_digest_is_remembered_until_the_file_changes(
    tmp_path: Path, context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv", "x")
    hashed = []

    def counted(file: Any) -> str:
        hashed.append(file)
        return stream_sha256(file)

    monkeypatch.setattr(files, "stream_sha256", counted)
    first = pin_files([Location(path)], {}, context)
    assert pin_files([Location(path)], {}, context) == first
    assert len(hashed) == 1
    write(tmp_path / "a.csv", "y")
    assert pin_files([Location(path)], {}, context).identity != first.identity
    assert len(hashed) == 2


def test_an_unknown_digest_is_an_error_if_files_may_not_be_read(
    tmp_path: Path, context: SourceContext
) -> None:
    path = write(tmp_path / "a.csv", "x")
    with pytest.raises(UnknownDigestError):
        pin_files([Location(path)], {}, context_of(context.cache, whole=False))
    pin_files([Location(path)], {}, context)
    assert pin_files([Location(path)], {}, context_of(context.cache, whole=False)).files


def test_files_record_the_glob_that_matched_them(tmp_path: Path, context: SourceContext) -> None:
    for name in "ba":
        write(tmp_path / f"{name}.csv", name)
    glob, single = str(tmp_path / "*.csv"), str(tmp_path / "a.csv")
    pinned = pin_files([Location(glob), Location(single)], {}, context).files
    assert [Path(file.location).name for file in pinned] == ["a.csv", "b.csv", "a.csv"]
    assert [file.requested for file in pinned] == [glob, glob, ""]


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.csv", "no such file"), ("*.tsv", "no file matches"), ("", "is a folder, not a file")],
)
def test_a_path_without_files_is_an_error(
    tmp_path: Path, context: SourceContext, name: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        pin_files([Location(os.path.join(tmp_path, name))], {}, context)


def test_local_files_are_compared_with_the_lock(tmp_path: Path, context: SourceContext) -> None:
    path = write(tmp_path / "a.csv", "x")
    pinned = pin_files([Location(path)], {}, context)
    assert pin_files([Location(path)], {}, locked(context, pinned)).identity == pinned.identity
    write(tmp_path / "a.csv", "y")
    with pytest.raises(DigestMismatchError, match=r"a\.csv"):
        pin_files([Location(path)], {}, locked(context, pinned))
    write(
        tmp_path / "a.csv",
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 1\n",
    )
    with pytest.raises(DigestMismatchError, match=r"pointer of Git LFS, not the data .*pull` gets"):
        pin_files([Location(path)], {}, locked(context, pinned))


def test_a_remote_file_is_downloaded_once_and_taken_from_the_lock_without_a_request(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"q\n1\n", etag="1")
    pinned = pin_files([Location(url)], {}, context)
    assert pinned.files[0].etag == '"1"'
    again = context_of(context.cache)
    https.requests.clear()
    assert pin_files([Location(url)], {}, again) == pinned
    assert [method for method, _ in https.requests] == ["HEAD"]
    https.requests.clear()
    assert pin_files([Location(url)], {}, locked(context, pinned)).identity == pinned.identity
    assert pin_files([Location(url)], {}, context_of(context.cache, offline=True)) == pinned
    assert https.requests == []


def test_offline_an_unknown_file_is_an_error(https: Https, context: SourceContext) -> None:
    offline = context_of(context.cache, offline=True)
    message = r"a\.csv\?…: not in the cache, and requests are disabled \(offline; run `registry"
    with pytest.raises(OfflineError, match=message):
        pin_files([Location(https.put("/a.csv", b"x") + "?sig=1")], {}, offline)
    with pytest.raises(OfflineError):
        pin_files([Location("s3://bucket/*.csv")], {}, offline)


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"endpoint_url": "https://x"}, False),
        ({"client_kwargs": {"endpoint_url": "https://x"}}, False),
        ({"endpoint_url": "https://x", "key": "a"}, False),
        ({"endpoint_url": "https://x", "anon": True}, True),
        ({"endpoint_url": "https://x", "key": "a", "secret": "b"}, True),
        ({"endpoint": "https://x"}, False),
        ({"endpoint": "https://x", "token": True}, False),
        ({"endpoint": "https://x", "token": False}, True),
        ({"endpoint": "https://x", "token": {"env": "A"}}, True),
        ({}, True),
    ],
)
def test_own_credentials_are_not_sent_to_an_endpoint_of_a_manifest(
    tmp_path: Path, context: SourceContext, options: dict[str, Any], allowed: bool
) -> None:
    paths = [Location(write(tmp_path / "a.csv", "x"))]
    if allowed:
        assert pin_files(paths, options, context).files
        return
    for look in (pin_files, probe_files):
        with pytest.raises(AccessError, match="not sent to the endpoint"):
            look(paths, options, context)


def test_small_and_racy_files_are_not_probed(
    tmp_path: Path, context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv", "x")
    assert probe_files([Location(path)], {}, context) is None
    monkeypatch.setattr(files, "_SMALL_LOCAL_BYTES", 1)
    first = probe_files([Location(path)], {}, context)
    assert first is not None
    assert (first.files[0].sha256, first.files[0].size) == ("", 1)
    os.utime(path, (1_000_000_009, 1_000_000_009))
    assert probe_files([Location(path)], {}, context) != first
    os.utime(path)  # now: an edit may come under the same time stamp
    assert probe_files([Location(path)], {}, context) is None


@pytest.mark.parametrize(
    ("etag", "pinned_etag", "proven"),
    [('"1"', '"1"', True), ('"2"', '"1"', False), ('W/"1"', 'W/"1"', False), ('"1"', None, False)],
)
def test_a_probe_is_valid_only_if_it_proves_the_pinned_bytes(
    https: Https, context: SourceContext, etag: str, pinned_etag: str | None, proven: bool
) -> None:
    body = b"x" * (1 << 21)
    url = https.put("/a.csv", body, headers={"ETag": etag})
    file = PinnedFile(Location(url), "0" * 64, len(body))
    for size, is_same in ((len(body), proven), (len(body) + 1, False)):
        pinned = SourcePin({}, (replace(file, size=size),))
        held = locked(context, pinned, etag=pinned_etag)
        assert (probe_files([Location(url)], {}, held) is not None) is is_same


def test_a_stated_digest_needs_no_request_once_the_bytes_are_here(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"q\n1\n", etag="1")
    stated = {url: hashlib.sha256(b"q\n1\n").hexdigest()}
    (unread,) = pin_files([Location(url)], {}, context, stated=stated).files
    assert (unread.sha256, unread.size, https.requests) == (stated[url], 0, [])

    locking = replace(context, reread=True)  # a pin has the size, too
    (file,) = pin_files([Location(url)], {}, locking, stated=stated).files
    assert file.size == 4
    https.requests.clear()
    offline = replace(context, offline=True)
    found = pin_files([Location(url)], {}, offline, stated=stated)
    assert found.files == (file,)
    assert content(fetch_files({}, found, offline)[0]) == b"q\n1\n"
    assert https.requests == []


def test_a_lock_trusts_a_remembered_digest_only_if_the_bytes_still_have_it(
    https: Https, context: SourceContext
) -> None:
    body = b"q\n1\n"
    locking = replace(context, reread=True)
    location = Location(https.put("/a.csv", body, etag="1"))
    pinned = pin_files([location], {}, locking)
    for damaged, sent in ((False, []), (True, [len(body)])):
        if damaged:
            context.cache.blob(pinned.files[0].sha256).write_bytes(b"q\n2\n")
        https.sent.clear()
        assert pin_files([location], {}, locking) == pinned
        assert https.sent == sent


def test_bytes_that_differ_from_a_stated_digest_are_refused_and_not_kept(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"q\n2\n")
    context = replace(context, dataset="d")
    pinned = pin_files([Location(url)], {}, context, stated={url: "1" * 64})
    found = hashlib.sha256(b"q\n2\n").hexdigest()
    message = (
        f"a.csv: the manifest states sha256:{'1' * 64} (`sha256`), the source, fetched twice, has"
        f" sha256:{found} (damaged"
    )
    with pytest.raises(DigestMismatchError, match=re.escape(message)):
        fetch_files({}, pinned, context)
    assert not context.cache.blob("1" * 64).exists()


def test_a_stated_digest_and_the_lockfile_must_agree(
    tmp_path: Path, https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"q\n1\n")
    pinned = pin_files([Location(url)], {}, context)
    digest = pinned.files[0].sha256
    assert pin_files([Location(url)], {}, locked(context, pinned), stated={url: digest}) == pinned
    message = (
        f"the manifest states sha256:{'1' * 64} (`sha256`), datasets.lock has sha256:{digest}"
        " (`registry lock --upgrade d` pins what the manifest states)"
    )
    held = replace(locked(context, pinned), dataset="d")
    with pytest.raises(DigestMismatchError, match=re.escape(message)):
        pin_files([Location(url)], {}, held, stated={url: "1" * 64})
    path = write(tmp_path / "b.csv", "x")
    with pytest.raises(DigestMismatchError, match=r"b\.csv: the manifest states .* the source has"):
        pin_files([Location(path)], {}, context, stated={path: "1" * 64})


BYTES, MORE = b"q\n1\n", b"q\n1\n2\n"
DIGEST = hashlib.sha256(BYTES).hexdigest()


def through_mirrors(
    paths: Sequence[str], mirrors: Sequence[str], context: SourceContext
) -> list[bytes]:
    """Return the bytes of files with a stated digest, with the mirrors of their source."""
    digests = (hashlib.sha256(body).hexdigest() for body in (BYTES, MORE))
    stated = dict(zip(paths, digests, strict=False))
    pinned = pin_files([*map(Location, paths)], {}, context, stated=stated, mirrors=mirrors)
    return [content(one) for one in fetch_files({}, pinned, context, mirrors=mirrors)]


def test_mirrors_are_asked_in_order_after_the_source_and_a_note_says_so(
    tmp_path: Path, https: Https, context: SourceContext
) -> None:
    seen = list[Progress]()
    context = replace(context, report=seen.append)
    gone, again = f"{https.url}/gone/a%20b.csv", f"{https.url}/gone/c.csv"
    https.put("/copies/a b.csv", BYTES)
    write(tmp_path / "c.csv", MORE.decode())
    mirrors = [f"{https.url}/copies/", f"{tmp_path}/"]
    assert through_mirrors([gone, again], mirrors, context) == [BYTES, MORE]
    notes = [one.note for one in seen if one.stage == "wait"]
    assert [note.partition(", as")[0].removeprefix("the mirror ") for note in notes] == [
        f"{https.url}/copies/a%20b.csv",
        f"{https.url}/copies/c.csv",
        f"{tmp_path}/c.csv",
    ]
    assert f"as the source failed: {gone}: no such file" in notes[0]


@pytest.mark.parametrize("is_local", [False, True])
def test_a_mirror_with_other_bytes_is_refused_by_name(
    tmp_path: Path, https: Https, context: SourceContext, is_local: bool
) -> None:
    other = write(tmp_path / "a.csv", "x") if is_local else https.put("/other/a.csv", b"x")
    right = https.put("/right/a.csv", BYTES)
    with pytest.raises(DigestMismatchError) as caught:
        through_mirrors([f"{https.url}/gone/a.csv"], [other, right], context)
    assert str(caught.value).startswith(f"{other}: the manifest states sha256:{DIGEST}")
    assert "the mirror" in str(caught.value)
    assert not context.cache.blob(DIGEST).exists()


def test_all_places_that_failed_are_listed_with_their_reasons(
    https: Https, context: SourceContext, tmp_path: Path
) -> None:
    source, closed = https.fail("/a.csv", 404), "https://127.0.0.1:9/a.csv"
    absent, refused = str(tmp_path / "a.csv"), https.fail("/refused/a.csv", 403)
    with pytest.raises(SourceError) as caught:
        through_mirrors([source], [closed, absent, refused], context)
    message = str(caught.value)
    assert message.startswith(f"the source and 3 mirrors failed: {source}: no such file")
    reasons = [
        f"; mirror {closed}: ",
        f"; mirror {absent}: no such file",
        f"; mirror {refused}: acc",
    ]
    assert [message.count(reason) for reason in reasons] == [1, 1, 1]


def test_a_source_that_fails_for_now_is_asked_again_before_its_mirror(
    https: Https, context: SourceContext
) -> None:
    context = replace(context, deadline=Deadline(0))  # one attempt
    right = https.put("/right/a.csv", BYTES)
    assert through_mirrors([https.fail("/a.csv", 503)], [right], context) == [BYTES]
    assert https.requests[0][1] == "/a.csv"


@pytest.mark.parametrize("kind", ["401", "403", "other bytes"])
def test_no_mirror_is_asked_after_refused_access_or_other_bytes(
    https: Https, context: SourceContext, kind: str
) -> None:
    is_status = kind.isdigit()
    source = https.fail("/a.csv", int(kind)) if is_status else https.put("/a.csv", b"x")
    mirror = https.put("/right/a.csv", BYTES)
    with pytest.raises(AccessError if is_status else DigestMismatchError):
        through_mirrors([source], [mirror], context)
    assert "/right/a.csv" not in {path for _, path in https.requests}


def test_a_locked_digest_is_enough_for_a_mirror_and_no_digest_is_not(
    https: Https, context: SourceContext
) -> None:
    source, mirror = https.put("/a.csv", BYTES), https.put("/right/a.csv", BYTES)
    context = replace(context, whole=True)
    pinned = pin_files([Location(source)], {}, context, mirrors=[mirror])
    blob = context.cache.blob(DIGEST)
    blob.chmod(0o600)
    blob.unlink()
    https.fail("/a.csv", 404)
    held = locked(context, pinned)
    again = pin_files([Location(source)], {}, held, mirrors=[mirror])
    assert content(fetch_files({}, again, held, mirrors=[mirror])[0]) == BYTES
    with pytest.raises(
        SourceError, match=r"no such file.* \(mirrors only have bytes with a digest"
    ):
        pin_files([Location(source)], {}, replace(context, lookups={}), mirrors=[mirror])


def test_a_mirror_is_asked_after_an_invalid_certificate(
    context: SourceContext, https: Https
) -> None:
    seen = list[Progress]()
    right = https.put("/right/a.csv", BYTES)
    source = https.put("/a.csv", BYTES).replace("localhost", "127.0.0.1")
    assert through_mirrors([source], [right], replace(context, report=seen.append)) == [BYTES]
    assert "certificate" in seen[0].note

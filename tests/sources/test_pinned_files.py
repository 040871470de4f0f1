"""The bytes of pinned files are compared with their pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.decode.stream import SourceBytes
from registry.errors import OfflineError, SourceError
from registry.sources.files import pin_files
from registry.sources.pinned_files import fetch_files, open_files
from registry.sources.pins import PinnedFile, SourceContext, SourcePin
from tests.conftest import Https


def content(file: SourceBytes) -> bytes:
    with file.open() as opened:
        return opened.read()


def test_a_local_file_is_read_in_place(tmp_path: Path, context: SourceContext) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"abc")
    (file,) = fetch_files({}, pin_files([Location(str(path))], {}, context), context)
    assert (file.local_path, content(file)) == (str(path), b"abc")


def test_a_local_file_that_differs_from_its_pin_is_an_error(
    tmp_path: Path, context: SourceContext
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"abc")
    pinned = pin_files([Location(str(path))], {}, context)
    message = r"a\.csv: changed while it was read \(try again\)"
    (file,) = fetch_files({}, pinned, context)
    with pytest.raises(SourceError, match=message), file.open():
        path.write_bytes(b"abcd")
    with pytest.raises(SourceError, match=message):
        content(file)
    known = PinnedFile(Location(str(path)), "", 4, state=FileState(4, 0, 0, 0))
    (file,) = fetch_files({}, SourcePin({}, (known,)), context)
    with pytest.raises(SourceError, match=message):
        content(file)


def test_remote_bytes_come_from_the_blobs_and_damaged_ones_are_replaced(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"abc", etag="1")
    pinned = pin_files([Location(url)], {}, context)
    blob = context.cache.blob(pinned.files[0].sha256)
    https.requests.clear()
    assert content(fetch_files({}, pinned, context)[0]) == b"abc"
    assert https.requests == []
    blob.write_bytes(b"abd")
    offline = SourceContext(boundary=UNBOUNDED, cache=context.cache, offline=True)
    with pytest.raises(OfflineError):
        fetch_files({}, pinned, offline)
    assert content(fetch_files({}, pinned, context)[0]) == b"abc"
    assert blob.read_bytes() == b"abc"


def test_bytes_that_differ_from_the_pin_never_enter_the_blobs(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a.csv", b"abc", etag="1")
    pinned = pin_files([Location(url)], {}, context)
    context.cache.blob(pinned.files[0].sha256).unlink()
    https.put("/a.csv", b"xyz", etag="2")
    with pytest.raises(SourceError, match=r"a\.csv: changed while it was read"):
        fetch_files({}, pinned, context)
    assert list(context.cache.blob("x").parent.iterdir()) == []


def test_a_probed_file_is_read_from_its_server(https: Https, context: SourceContext) -> None:
    url = https.put("/a.csv", b"abc") + "?sig=1"
    probed = SourcePin({}, (PinnedFile(Location(url), "", 3),))
    (file,) = fetch_files({}, probed, context)
    assert (content(file), file.location) == (b"abc", url.removesuffix("?sig=1"))
    with pytest.raises(OfflineError):
        fetch_files(
            {}, probed, SourceContext(boundary=UNBOUNDED, cache=context.cache, offline=True)
        )


def test_loaders_read_files_at_their_location(tmp_path: Path, https: Https) -> None:
    for name in "ba":
        (tmp_path / f"{name}.csv").write_text(name, encoding="utf-8")
    opened = open_files(
        [Location(str(tmp_path / "*.csv")), Location(https.put("/c.csv", b"c"))], {}
    )
    assert [content(file) for file in opened] == [b"a", b"b", b"c"]

"""The bytes of pinned files are compared with their pins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.decode.stream import SourceBytes
from registry.errors import OfflineError, SourceError
from registry.sources.files import pin_files
from registry.sources.pinned_files import fetch_files, open_files, parts_again, parts_worth_it
from registry.sources.pins import PartsError, PinnedFile, SourceContext, SourcePin
from tests.conftest import S3, Https
from tests.decode.wide import chunk, wide
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles
from tests.sources.conftest import content, context_of


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
    offline = context_of(context.cache, offline=True)
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
        fetch_files({}, probed, context_of(context.cache, offline=True))


def test_loaders_read_files_at_their_location(tmp_path: Path, https: Https) -> None:
    for name in "ba":
        (tmp_path / f"{name}.csv").write_text(name, encoding="utf-8")
    opened = open_files(
        [Location(str(tmp_path / "*.csv")), Location(https.put("/c.csv", b"c"))], {}
    )
    assert [content(file) for file in opened] == [b"a", b"b", b"c"]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[StaticFiles]:
    with StaticFiles({"/wide.parquet": wide(tmp_path / "wide.parquet")}) as running:
        yield running


@pytest.fixture
def in_parts(site: StaticFiles, context: SourceContext, tmp_path: Path) -> PinnedFile:
    """Return a file whose parts are pinned, and which is not in the cache."""
    location = Location(f"{site.url}/wide.parquet")
    (file,) = pin_files([location], {}, context).files
    parts = parts_worth_it(file, frozenset({"c07", "c30"}), context)
    assert parts is not None
    assert parts_again(tmp_path / "wide.parquet", parts) == parts
    context.cache.blob(file.sha256).unlink()
    site.requests.clear()
    return replace(file, parts=parts)


def fetched(file: PinnedFile, context: SourceContext) -> SourceBytes:
    (found,) = fetch_files({}, SourcePin({}, (file,)), replace(context, parts=True))
    return found


def blobs(context: SourceContext) -> list[Path]:
    return list(context.cache.root.rglob("blobs/*"))


def test_pinned_parts_are_fetched_once(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext
) -> None:
    file = fetched(in_parts, context)
    assert len(site.requests) == 9  # the end, and two columns of four groups
    assert file.ranges is not None
    with file.ranges() as parts:
        assert pq.ParquetFile(parts).read(["c30"]).column(0)[7].as_py() == b"answer 0007"
    fetched(in_parts, replace(context, offline=True))
    assert len(site.requests) == 9
    with pytest.raises(PartsError, match=r"wide\.parquet: more of it is read"):
        content(file)


@pytest.mark.parametrize("at", ["c07", "footer", "magic"])
def test_parts_with_another_digest_are_not_used(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext, at: str
) -> None:
    changed = bytearray(site.files["/wide.parquet"])
    place = {
        "c07": chunk(bytes(changed), "c07").stop - 1,
        "footer": len(changed) - 2000,
        "magic": -2,
    }
    changed[place[at]] ^= 1
    site.files["/wide.parquet"] = bytes(changed)
    with pytest.raises(PartsError, match=r"its parts are not those that datasets\.lock pins"):
        fetched(in_parts, context)
    assert blobs(context) == []


def test_a_footer_that_leads_elsewhere_is_not_followed(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext, tmp_path: Path
) -> None:
    site.files["/wide.parquet"] = wide(tmp_path / "other", groups=2)
    with pytest.raises(PartsError):
        fetched(in_parts, context)
    assert len(site.requests) <= 2


def test_parts_that_cannot_be_had(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext
) -> None:
    del site.files["/wide.parquet"]
    with pytest.raises(PartsError, match=r"its parts can't be had: .*wide\.parquet: no such file"):
        fetched(in_parts, context)
    site.requests.clear()
    with pytest.raises(PartsError, match="its parts are not in the cache"):
        fetched(in_parts, replace(context, offline=True))
    assert not site.requests


def test_parts_are_taken_from_servers_without_ranges_from_the_hub_and_s3(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext, hub: HubEmulator, s3: S3
) -> None:
    data = site.files["/wide.parquet"]
    commit = hub.commit("org/parts", {"wide.parquet": data})
    s3.bucket("bucket")
    with StaticFiles({"/wide.parquet": data}, sends_ranges=False) as plain:
        for place in (
            f"hf://datasets/org/parts@{commit}/wide.parquet",
            s3.put("bucket", "wide.parquet", data),
            f"{plain.url}/wide.parquet",
        ):
            fetched(replace(in_parts, location=Location(place)), context)
            (path,) = blobs(context)
            path.unlink()


def test_the_whole_file_is_preferred_where_it_is_here(
    in_parts: PinnedFile, site: StaticFiles, context: SourceContext
) -> None:
    (whole,) = fetch_files({}, SourcePin({}, (in_parts,)), context)
    assert content(fetched(in_parts, context)) == content(whole) == site.files["/wide.parquet"]
    assert site.requests == [""]

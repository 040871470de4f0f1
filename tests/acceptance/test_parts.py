"""Of a wide remote Parquet file, a locked dataset fetches and verifies what it reads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry import get_dataset
from registry.cli import main
from registry.decode.parquet_parts import digest_parts
from registry.errors import DigestMismatchError
from registry.lockfile.models import read_lock
from tests.decode.wide import write
from tests.servers.static import StaticFiles

ROWS = 3_900
ANSWERS = [f"answer {row:05}" for row in range(ROWS)]
GROUPS = 3
WIDTH = 20
"""Bytes of a value of the other 59 columns: enough that parts are worth their requests."""
UNUSED = b"unused 00007"
USED = b"answer 00007"
PINNED_PARTS = r"        parts: .*\n"


class Wide:
    """A catalog with one dataset of a wide file, and the server of that file."""

    def __init__(self, root: Path, site: StaticFiles, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.site = root, site
        self._monkeypatch = monkeypatch
        self._lock = root / "datasets.lock"
        self.data = self._written()
        site.files["/wide.parquet"] = self.data
        self.write()

    def _written(self) -> bytes:
        noise = pa.py_buffer(os.urandom(WIDTH * ROWS * 60))
        columns: dict[str, pa.Array] = {
            f"c{at}": pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(WIDTH), ROWS, [None, noise.slice(WIDTH * ROWS * at)]
            )
            for at in range(60)
        }
        columns["input"] = pa.array([f"question {n:05}, and some words of it" for n in range(ROWS)])
        columns["target"] = pa.array(ANSWERS)
        columns["c30"] = pa.array([f"unused {n:05}" for n in range(ROWS)])
        return write(self.root / "wide.parquet", dict(sorted(columns.items())), groups=GROUPS)

    def write(self, fields: str = "{input: input, target: target}") -> None:
        """Write the manifest."""
        (self.root / "datasets.yaml").write_text(
            f"version: 1\nhosts: [127.0.0.1]\ndatasets:\n  wide:\n    description: Wide.\n"
            f"    source: {{type: parquet, path: '{self.site.url}/wide.parquet'}}\n"
            f"    fields: {fields}\n"
        )

    def run(self, *arguments: str) -> int:
        return main([*arguments, "--root", str(self.root)])

    def lock(self, *arguments: str) -> str:
        """Lock the dataset in a cache of its own; return the text of the lockfile."""
        self.cache("of the lock")
        assert self.run("lock", *arguments) == 0
        return self._lock.read_text()

    def edit(self, text: str) -> None:
        self._lock.write_text(text)

    def cache(self, name: str) -> Path:
        """Use the cache of this name from now on; one that is new is empty."""
        path = self.root / "caches" / name
        self._monkeypatch.setenv("REGISTRY_CACHE_DIR", str(path))
        self.site.requests.clear()
        return path

    def serve(self, old: bytes, new: bytes) -> None:
        """Serve the file with other bytes in one place."""
        assert self.data.count(old) == 1
        self.site.files["/wide.parquet"] = self.data.replace(old, new)

    def targets(self) -> list[str]:
        return [str(sample.target) for sample in get_dataset("wide", root=self.root)]

    @property
    def fetched(self) -> int:
        """Bytes that were requested from the server."""
        total = 0
        for part in self.site.requests:
            found = re.fullmatch(r"bytes=(\d+)-(\d+)", part)
            total += int(found[2]) + 1 - int(found[1]) if found else len(self.data)
        return total

    @property
    def used(self) -> int:
        """Bytes of the two columns."""
        metadata = pq.read_metadata(self.root / "wide.parquet")
        groups = map(metadata.row_group, range(GROUPS))
        chunks = (group.column(at) for group in groups for at in range(metadata.num_columns))
        names = ("input", "target")
        return sum(one.total_compressed_size for one in chunks if one.path_in_schema in names)


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wide]:
    with StaticFiles() as site:
        yield Wide(tmp_path, site, monkeypatch)


def test_two_short_columns_are_all_that_is_fetched(
    wide: Wide, capsys: pytest.CaptureFixture[str]
) -> None:
    wide.lock()
    assert wide.fetched == len(wide.data)
    cache = wide.cache("cold")
    assert wide.run("sync", "--locked") == 0
    assert wide.used <= wide.fetched <= 1.3 * wide.used < len(wide.data) // 10
    wide.site.requests.clear()
    assert wide.targets() == ANSWERS
    assert wide.run("sync", "--locked", "--offline") == 0
    assert not wide.site.requests
    assert wide.run("show", "wide") == 0
    assert f"cached: {ROWS:,} samples" in capsys.readouterr().out
    assert wide.run("cache", "prune") == 0
    assert wide.run("sync", "--locked", "--offline") == 0
    lock = read_lock(wide.root / "datasets.lock")
    assert lock is not None
    (row,) = lock.pins["wide"].sources
    assert row.parts is not None
    (stated,) = get_dataset("wide", root=wide.root).provenance.pins
    assert stated.parts == row.parts
    assert (stated.parts.columns, stated.size) == (("input", "target"), len(wide.data))
    assert [path.name for path in cache.rglob("blobs/*")] == [row.parts.sha256]

    capsys.readouterr()
    assert wide.run("lock", "--check") == 0
    assert "only the parts that are read are in the cache" in capsys.readouterr().out
    wide.cache("of the lock")
    assert wide.run("lock", "--check") == 0
    assert "only the parts" not in capsys.readouterr().out


def test_parts_that_were_edited_are_found_where_the_file_is(
    wide: Wide, capsys: pytest.CaptureFixture[str]
) -> None:
    text = wide.lock()
    assert wide.run("lock", "--check") == 0
    (line,) = re.findall(PINNED_PARTS, text)
    for old, new in ((r"size: \d+", "size: 5"), (r"\[input, target\]", "[input]")):
        edited = re.sub(old, new, line)
        assert edited != line
        wide.edit(text.replace(line, edited))
        capsys.readouterr()
        assert wide.run("lock", "--check") == 1
        assert "sources[0].parts is" in capsys.readouterr().out


def test_other_bytes_in_a_column_that_is_read_are_refused(wide: Wide) -> None:
    wide.lock()
    wide.cache("cold")
    wide.serve(USED, USED.upper())
    with pytest.raises(DigestMismatchError, match="fetched twice"):
        wide.targets()
    assert wide.site.requests.count("") == 2  # the whole file decides


def test_other_bytes_in_another_column_are_not_noticed_and_change_no_sample(
    wide: Wide, capsys: pytest.CaptureFixture[str]
) -> None:
    wide.lock()
    wide.cache("cold")
    wide.serve(UNUSED, UNUSED.upper())
    assert wide.targets() == ANSWERS
    assert "" not in wide.site.requests
    capsys.readouterr()
    assert wide.run("lock", "--check", "--json") == 0
    assert '"field": "sources[0].sha256"' in capsys.readouterr().out
    assert wide.run("verify", "wide") == 1  # asks for the ETag
    assert "wide.parquet" in capsys.readouterr().out


def test_a_manifest_that_reads_another_column_has_the_whole_file(wide: Wide) -> None:
    before = wide.lock()
    wide.write("{input: input, target: c30}")
    wide.cache("cold")
    assert wide.targets()[7] == UNUSED.decode()
    assert wide.site.requests == [""]
    after = wide.lock()
    assert "columns: [c30, input]" in after
    assert "columns: [input, target]" in before
    wide.cache("colder")
    assert wide.targets()[7] == UNUSED.decode()
    assert "" not in wide.site.requests


def test_a_pin_of_an_older_release_has_the_whole_file(wide: Wide) -> None:
    text = wide.lock()
    older = re.sub(PINNED_PARTS, "", text)
    assert older != text
    wide.edit(older)
    wide.cache("cold")
    assert wide.targets() == ANSWERS
    assert wide.site.requests == [""]


def test_a_build_that_reads_more_than_the_parts_has_the_whole_file(
    wide: Wide, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = re.findall(PINNED_PARTS, text := wide.lock())
    parts = digest_parts(wide.root / "wide.parquet", ["input"])
    assert parts is not None
    less = f'{{columns: [input], size: {parts.size}, sha256: "{parts.sha256}"}}'
    wide.edit(text.replace(line, f"        parts: {less}\n"))
    wide.cache("cold")
    assert wide.run("sync", "--locked") == 0
    assert wide.site.requests[-1] == ""
    message = f"the whole file, as {wide.site.url}/wide.parquet: more of it is read than"
    assert message in capsys.readouterr().err
    assert wide.targets() == ANSWERS


def test_a_map_for_all_values_is_checked_with_the_columns_that_are_here(wide: Wide) -> None:
    wide.write("{input: input, target: {from: target, do: [{map: {answer 00001: B, '*': A}}]}}")
    wide.lock()
    wide.cache("cold")
    assert wide.targets()[:3] == ["A", "B", "A"]
    assert "" not in wide.site.requests


def test_parts_that_a_lockfile_gives_a_wrong_digest_for_change_only_its_own_samples(
    wide: Wide,
) -> None:
    true = wide.lock()
    wide.serve(USED, USED.upper())
    wide.lock("--upgrade")
    false = (wide.root / "datasets.lock").read_text()
    sha256 = r'        sha256: "[0-9a-f]{64}"\n'
    (size, *_), (digest, *_) = re.findall(r"size: \d+\n", true), re.findall(sha256, true)
    assert size in false
    wide.edit(re.sub(sha256, digest, false))
    wide.cache("shared")
    assert wide.targets()[7] == "ANSWER 00007"  # as its own lockfile says
    wide.site.files["/wide.parquet"] = wide.data
    for text in (true, "version: 1\ndatasets: {}\n"):
        wide.edit(text)
        assert wide.targets() == ANSWERS

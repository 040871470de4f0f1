"""Packs: the samples of many datasets in few objects, so that a cold machine makes few requests.

    v3/packs/<sha256>.pack                   files of samples, one after the other
    v3/packs/<digest of the lockfile>.json   their records, with pack and offset; written last

A record proves what an entry holds, wherever its bytes are. So a pack needs no trust of its own:
each part is compared with its digest, as an object of its own would be.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from registry import CacheError
from registry.api import CacheEntry, file_sha256
from registry.plugins.remote_cache.folder_store import copy_bytes
from registry.plugins.remote_cache.record import SAMPLES, Record, record_of

__all__ = ["Pack", "Window", "Windows", "collect"]

_PACK_BYTES = 64 << 20
"""A pack is closed before the file that would make it larger; a larger file is one of its own."""
_GAP_BYTES = 1 << 20
"""Less than this between two wanted files is downloaded too, which is faster than a request."""


class Pack(Struct, frozen=True):
    """Files of samples that become one object."""

    parts: Sequence[tuple[Record, Path]]

    def write(self, path: Path) -> tuple[str, list[Record]]:
        """Write the object; return its digest, and the records with their place in it.

        Raises:
            CacheError: a file is not what its record says.
            FileNotFoundError: another process has removed one.
        """
        offset, places = 0, []
        with path.open("xb") as target:
            for record, source in self.parts:
                if file_sha256(source) != record.sha256:
                    text = f"{source}: it doesn't have its digest (`registry cache verify`)"
                    raise CacheError(text)
                with source.open("rb") as file:
                    copy_bytes(file, target, record.size)
                places.append((record, offset))
                offset += record.size
        sha256 = file_sha256(path)
        return sha256, [replace(record, pack=sha256, offset=at) for record, at in places]


def collect(entries: Iterable[CacheEntry]) -> Iterator[Pack]:
    """Divide entries into packs; the same entries always give the same packs."""
    parts = {
        record.fingerprint: (record, entry.folder / SAMPLES)
        for entry in entries
        for record in [record_of(entry.meta["fingerprint"], entry.meta)]
    }
    ordered = sorted(parts.values(), key=lambda one: (one[0].meta["name"], one[0].fingerprint))
    size, pack = 0, list[tuple[Record, Path]]()
    for record, path in ordered:
        if pack and size + record.size > _PACK_BYTES:
            yield Pack(pack)
            size, pack = 0, []
        pack.append((record, path))
        size += record.size
    if pack:
        yield Pack(pack)


class Window:
    """A range of a pack that has wanted files, downloaded by the first thread that needs one."""

    def __init__(self, records: Sequence[Record], file: Path) -> None:
        self.object = records[0].samples_object
        self.start = records[0].offset
        self.size = records[-1].end - self.start
        self.file = file
        self.lock = threading.Lock()
        self._left = {record.fingerprint for record in records}

    def take(self, record: Record, path: Path) -> None:
        """Write a file of samples; the last one that is taken removes the range."""
        with self.file.open("rb") as source, path.open("xb") as target:
            source.seek(record.offset - self.start)
            copy_bytes(source, target, record.size)
        self._left.discard(record.fingerprint)
        if not self._left:
            self.file.unlink(missing_ok=True)


class Windows:
    """The records of an index, and the ranges to download for those that a run wants."""

    def __init__(
        self,
        records: Iterable[Record] = (),
        wanted: Iterable[Record] = (),
        folder: Path = Path(),
    ) -> None:
        """Plan the ranges: `wanted` are some of the records, `folder` has what is not taken yet."""
        self.records = {record.fingerprint: record for record in records}
        self._windows: dict[str, Window] = {}
        for number, group in enumerate(_ranges(wanted)):
            window = Window(group, folder / f"{number}.range")
            self._windows |= dict.fromkeys((one.fingerprint for one in group), window)

    def of(self, record: Record) -> Window | None:
        """Return the range that has the samples of a record, if it was planned for this place."""
        window = self._windows.get(record.fingerprint)
        return window if record is self.records.get(record.fingerprint) else None


def _ranges(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield records that one download fetches together."""
    ordered = sorted(
        (one for one in records if one.pack is not None),
        key=lambda one: (one.samples_object, one.offset),
    )
    for _, group in groupby(ordered, key=lambda one: one.samples_object):
        found: list[Record] = []
        for record in group:
            # The sizes are what anybody wrote there: no range is larger than a pack.
            is_far = found and record.offset - found[-1].end > _GAP_BYTES
            if is_far or (found and record.end - found[0].offset > _PACK_BYTES):
                yield found
                found = []
            found.append(record)
        yield found

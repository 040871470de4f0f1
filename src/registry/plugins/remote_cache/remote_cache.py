"""A second cache that many machines share: asked for what the local one lacks.

    v3/samples/<fingerprint>/<sha256>.arrow   the samples, by the digest of their bytes
    v3/samples/<fingerprint>/entry.json       what they are, and who wrote them; written last
    v3/packs/…                                the samples of many entries, see `record`

What is there is trusted only as far as it is proven: by a digest that the lockfile holds, or by the
signature of a writer that a setting names. Its bytes are compared with their digests, and its
samples checked, before they are published locally. Whatever is wrong with it, the source is used.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from registry import CacheError, RegistryError
from registry.api import Cache, CacheEntry, Location, Packed, Progress, Report, file_sha256
from registry.plugins.remote_cache.record import (
    ENTRY,
    MAX_INDEX_BYTES,
    MAX_RECORD_BYTES,
    SAMPLES,
    Record,
    Windows,
    Writer,
    collect,
    entry_folder,
    index_object,
    index_text,
    pack_object,
    parse_index,
    parse_record,
    record_of,
    record_text,
)
from registry.plugins.remote_cache.stores import UPLOAD_FACTOR, LimitedStore, NoAnswerError

if TYPE_CHECKING:
    from registry.api import Remote
    from registry.plugins.remote_cache.folder_store import Store, StoredObject

__all__ = [
    "Check",
    "PackWriter",
    "Pushed",
    "RemoteCache",
]


Check = Callable[[CacheEntry], None]
"""Raises a RegistryError for samples that are invalid, or not those of the lockfile."""
Pushed = Literal["pushed", "packed", "present"]

_PAUSE_SECONDS = 300.0
"""How long it is not asked after it gave no answer."""


class RemoteCache:
    """Finds, fetches and pushes samples; one per process and setting, used by any thread."""

    def __init__(self, settings: Remote, *, store: Store | None = None) -> None:
        self.settings = settings
        self._store = LimitedStore(settings.url, settings.seconds, store=store)
        self.shown = self._store.shown
        """Its location without secrets."""
        self._writers = {name: Writer(name, key.encode()) for name, key in settings.keys}
        self._signer: Writer | None = None
        if settings.signs_as is not None:
            name, key = settings.signs_as
            self._signer = Writer(name, key.encode())
        self._warned: dict[str, object] = {}
        self._paused_until = 0.0
        self._failure = ""
        self._wrong: set[str] = set()
        self._packed = Windows()

    @property
    def is_local(self) -> bool:
        """Whether it is a folder, which can be read without a request."""
        return Location(self.settings.url).is_local

    def find(self, fingerprint: str, *, pinned: int | None, dataset: str) -> Record | None:
        """Return what is known about an entry that may be used, or None.

        Args:
            fingerprint: Its fingerprint.
            pinned: The number of samples that the lockfile pins; None without a pin. An entry with
                more samples than those is not proven by it.
            dataset: Whose samples they are, for a warning.
        """
        is_usable = pinned is not None or bool(self._writers) or self.settings.trusts_all
        if not is_usable or time.monotonic() < self._paused_until or fingerprint in self._wrong:
            return None
        try:
            record = self._packed.records.get(fingerprint) or self._read_record(fingerprint)
        except CacheError as error:
            self._note_wrong(fingerprint, error, dataset)
            return None
        except NoAnswerError as error:
            self._pause(error)
            return None
        if record is None or not (
            record.meta["samples"] == pinned
            or self.settings.trusts_all
            or record.is_by(self._writers)
        ):
            return None
        return record

    def _read_record(self, fingerprint: str) -> Record | None:
        name = f"{entry_folder(fingerprint)}/{ENTRY}"
        data = self._store.call(lambda store, _: store.read(name, MAX_RECORD_BYTES + 1))
        return None if data is None else parse_record(data, fingerprint)

    def fetch(
        self,
        cache: Cache,
        record: Record,
        *,
        limit: int | None,
        check: Check,
        report: Report,
        dataset: str,
    ) -> CacheEntry | None:
        """Publish an entry locally if it is what it should be; else warn, and return None.

        Args:
            cache: The local cache.
            record: What `find` returned.
            limit: The number of first samples that the fingerprint means; None for all.
            check: Called with the samples before they are published.
            report: Called with the progress in bytes.
            dataset: Whose samples they are, for a warning.
        """
        try:
            if record.meta["limit"] != limit:
                raise CacheError("its entry.json is that of another part of the samples")
            with cache.temporary() as folder:
                self._download(record, folder / SAMPLES, report)
                check(CacheEntry(folder, record.meta))
                digests = {SAMPLES: record.sha256}
                return cache.publish(
                    folder, "samples", record.fingerprint, record.meta, digests=digests
                )
        except NoAnswerError as error:
            self._pause(error)
        except RegistryError as error:
            self._note_wrong(record.fingerprint, error, dataset)
        return None

    def _download(self, record: Record, path: Path, report: Report) -> None:
        window = self._packed.of(record)
        if window is None:
            self._get(record.samples_object, path, record.offset, record.size, report)
        else:
            with window.lock:
                if not window.file.exists():
                    part = window.file.with_suffix(".part")
                    part.unlink(missing_ok=True)
                    self._get(window.object, part, window.start, window.size, report)
                    part.rename(window.file)
                window.take(record, path)
        if path.stat().st_size != record.size or file_sha256(path) != record.sha256:
            raise CacheError("its samples don't have their digest")

    def _get(self, name: str, path: Path, start: int, size: int, report: Report) -> None:
        done = 0

        def get(store: Store, progress: Callable[[], None]) -> None:
            def moved(count: int) -> None:
                nonlocal done
                done += count
                progress()

            store.download(name, path, size, moved, start=start)

        report(Progress("fetch", 0, size))
        try:
            self._store.call(get, tick=lambda: report(Progress("fetch", done, size)))
        except NoAnswerError as error:
            # A cause is what the store answered; a silent one is not asked again.
            if error.__cause__ and self._store.size(name) is None:
                raise CacheError("its samples are gone") from error
            raise

    @contextlib.contextmanager
    def expecting(self, names: Collection[str], *, lock: str, cache: Cache) -> Iterator[None]:
        """Fetch what these datasets need in few requests, if it was packed for this lockfile.

        Args:
            names: The datasets that are about to be opened.
            lock: Digest of the lockfile's bytes.
            cache: The local cache, which may have some of them.
        """
        records = self._read_index(lock)
        wanted = [
            record
            for record in records
            if record.meta["name"] in names and cache.find("samples", record.fingerprint) is None
        ]
        if not wanted:
            yield
            return
        with cache.temporary() as folder:
            self._packed = Windows(records, wanted, folder)
            try:
                yield
            finally:
                self._packed = Windows()

    def _read_index(self, lock: str) -> Sequence[Record]:
        try:
            return self._records(index_object(lock))
        except CacheError as error:
            self._warn("", f"{error}; its entries are asked for one by one")
        except NoAnswerError as error:
            self._pause(error)
        return ()

    def _records(self, name: str) -> Sequence[Record]:
        data = self._store.call(lambda store, _: store.read(name, MAX_INDEX_BYTES + 1))
        return () if data is None else parse_index(data)

    def packing(self, *, lock: str, cache: Cache) -> PackWriter:
        """Return what collects entries of a run, to be packed at its end."""
        return PackWriter(self, lock=lock, cache=cache)

    def pack(self, entries: Iterable[CacheEntry], *, lock: str, cache: Cache) -> Packed:
        """Store local entries together, for machines that have the same lockfile.

        What was packed for this lockfile before stays. `find` needs no index: the record of each
        entry says where it is.

        Raises:
            CacheError: they can't be stored, or a local one is damaged.
            FileNotFoundError: another process has removed a local one.
        """
        found: dict[str, Record] = {}
        sizes: dict[str, int] = {}
        with self._storing():
            for pack in collect(entries):
                with cache.temporary() as folder:
                    path = folder / "pack"
                    sha256, records = pack.write(path)
                    sizes[sha256] = path.stat().st_size
                    self._upload(path, pack_object(sha256), sizes[sha256])
                found |= {one.fingerprint: one.signed_by(self._signer) for one in records}
            for record in found.values():
                self._write_record(record)
            before = {record.fingerprint: record for record in self._read_index(lock)}
            text = index_text((before | found).values())
            self._store.call(lambda store, _: store.write(index_object(lock), text))
        return Packed(len(found), len(sizes), sum(sizes.values()))

    def push(self, entry: CacheEntry, *, replace: bool = False) -> Pushed:
        """Store a local entry there, unless a good one is there already and not to be replaced.

        Raises:
            CacheError: it can't be stored, or the local one is damaged.
            FileNotFoundError: another process has removed the local one.
        """
        record = record_of(entry.meta["fingerprint"], entry.meta).signed_by(self._signer)
        path = entry.folder / SAMPLES
        with self._storing(path):
            return self._push(record, path, replace=replace)

    @contextlib.contextmanager
    def _storing(self, *paths: Path) -> Iterator[None]:
        """Turn a store that does not answer into a CacheError, unless a local file is gone.

        Raises:
            FileNotFoundError: one of the paths is gone.
        """
        try:
            if time.monotonic() < self._paused_until:
                raise NoAnswerError(self._failure)
            yield
        except NoAnswerError as error:
            for path in paths:
                path.stat()  # what is gone here is no fault of the remote cache
            self._pause_silently(error)
            raise CacheError(f"can't push to the remote cache {self.shown}: {error}") from error

    def _push(self, record: Record, path: Path, *, replace: bool) -> Pushed:
        is_wrong = replace or record.fingerprint in self._wrong
        try:
            there = self._read_record(record.fingerprint)
        except CacheError:
            there, is_wrong = None, True
        if there is not None and not is_wrong and self._is_as_good(there, record):
            return "present"
        if file_sha256(path) != record.sha256:
            raise CacheError(f"{path}: it doesn't have its digest (`registry cache verify`)")
        self._upload(path, record.samples_object, record.size, replace=is_wrong)
        # Two writers at the same time: either's record describes samples that are there.
        if there is None and not is_wrong:
            text, entry = record_text(record), f"{entry_folder(record.fingerprint)}/{ENTRY}"
            is_new = self._store.call(lambda store, _: store.write_new(entry, text))
            return "pushed" if is_new else "present"
        self._write_record(record)
        return "pushed"

    def _upload(self, path: Path, name: str, size: int, *, replace: bool = False) -> None:
        """Store a file under the name of its content, unless it is there."""
        if replace or self._store.size(name) != size:
            self._store.upload(path, name)

    def _write_record(self, record: Record) -> None:
        text, entry = record_text(record), f"{entry_folder(record.fingerprint)}/{ENTRY}"
        self._store.call(lambda store, _: store.write(entry, text))
        self._wrong.discard(record.fingerprint)

    def _is_as_good(self, there: Record, own: Record) -> bool:
        """Return whether an entry that is there is complete, and signed if ours is."""
        signer = self._signer
        if signer is not None and not there.is_by({signer.name: signer, **self._writers}):
            return False
        size = self._store.size(there.samples_object)
        return size == there.size if there.pack is None else size is not None and size >= there.end

    def objects(self) -> list[StoredObject]:
        """Return all objects of this and other formats.

        Raises:
            CacheError: they can't be listed.
        """
        try:
            return self._store.call(lambda store, _: list(store.objects()), factor=UPLOAD_FACTOR)
        except NoAnswerError as error:
            raise CacheError(f"can't list the remote cache {self.shown}: {error}") from error

    def index(self, name: str) -> Sequence[Record]:
        """Return the records of an index of packs.

        Raises:
            CacheError: it can't be read, so nobody knows which packs are in use.
        """
        try:
            return self._records(name)
        except NoAnswerError as error:
            raise CacheError(f"{self.shown}/{name}: can't be read: {error}") from error

    def remove(self, name: str) -> None:
        """Remove an object.

        Raises:
            CacheError: it can't be removed.
        """
        try:
            self._store.call(lambda store, _: store.remove(name))
        except NoAnswerError as error:
            raise CacheError(f"{self.shown}/{name}: can't be removed: {error}") from error

    def _pause(self, error: Exception) -> None:
        """Don't ask again for a while: of 1,000 datasets each would wait as long."""
        self._pause_silently(error)
        self._warn("", f"{error}; the sources are used")

    def _pause_silently(self, error: Exception) -> None:
        if time.monotonic() >= self._paused_until:
            self._paused_until = time.monotonic() + _PAUSE_SECONDS
            self._failure = str(error)

    def _note_wrong(self, fingerprint: str, error: Exception, dataset: str) -> None:
        self._wrong.add(fingerprint)
        self._warn(
            fingerprint,
            f"{dataset}: not used: {error}"
            f" (the source is used; `registry sync --push --refresh {dataset}` replaces it)",
        )

    def _warn(self, key: str, text: str) -> None:
        first = object()
        if self._warned.setdefault(key, first) is first:
            import logging  # slow to import

            logging.getLogger("registry").warning("remote cache %s: %s", self.shown, text)


class PackWriter:
    """Collects what a run pushes, and packs it at the end; used by any thread."""

    def __init__(self, remote: RemoteCache, *, lock: str, cache: Cache) -> None:
        """Store nothing yet; `lock` is the digest of the lockfile's bytes."""
        self.shown = remote.shown
        self._pack = partial(remote.pack, lock=lock, cache=cache)
        self._entries: list[CacheEntry] = []

    def push(self, entry: CacheEntry, *, replace: bool = False) -> Pushed:
        """Note an entry."""
        self._entries.append(entry)
        return "packed"

    def finish(self) -> Packed:
        """Store the packs.

        Raises:
            CacheError: they can't be stored, or a local entry is damaged.
        """
        try:
            return self._pack(self._entries)
        except FileNotFoundError as error:
            text = f"{error.filename}: another process removed it before it was packed"
            raise CacheError(f"{text} (run the command again)") from error

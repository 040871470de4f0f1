"""Read parts of a remote file: each at most once, several at a time, all of one version."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Semaphore, Thread
from typing import IO, Any, NamedTuple, TypeVar

from registry.base.locations import Location
from registry.decode.stream import PositionedFile, merged
from registry.progress import Deadline, Report, silent
from registry.sources.bodies import GONE_ON, Body, compared, is_strong, open_body, same_version
from registry.sources.filesystem import changed_error, limited_requests, source_errors
from registry.sources.retry import Meter, network_policy, short_error, status_of, with_retries

__all__ = ["REQUESTS", "RemotePart", "RemoteRanges"]

REQUESTS = 4
"""Requests at a time."""
_LEAST_TAIL, _MOST_TAIL = 1 << 16, 1 << 19
_FIRST = 1 << 20
"""Bytes of the first request for a part; each that continues it has twice as many."""
_LARGEST = 1 << 23
_NEAR = 1 << 16
"""Bytes between two parts that are read with them, as a request takes longer."""
_MOST_HELD = 1 << 26
"""Bytes that are held, or on their way, beside the end of the file."""

Result = TypeVar("Result")


class _Held(NamedTuple):
    """A part that is there, or on its way."""

    start: int
    stop: int
    data: Future[bytes]


class RemotePart:
    """A part of a remote file, read in as many attempts as it takes: all of one version."""

    def __init__(
        self,
        part: range,
        location: Location,
        deadline: Deadline,
        take: Callable[[bytes, int], object],
    ) -> None:
        """Request nothing yet; `take` will be called with bytes and their position, in order."""
        self.position = part.start
        """Where the bytes begin that are not here yet."""
        self._part = part
        self._location = location
        self._deadline = deadline
        self._take = take
        self._meter = Meter(location.public, deadline, network_policy())

    def fetch(self, open_at: Callable[[int], Body], etag: str, *, report: Report = silent) -> None:
        """Request the part; where a connection is lost, what is missing.

        `open_at` requests the rest from a position on, which must have the strong ETag.

        Raises:
            SourceError: it can't be had, or the server has another version.
        """

        def attempt() -> None:
            body = open_at(self.position)
            with contextlib.closing(body):
                if (body.start, body.etag) != (self.position, etag):
                    raise changed_error(self._location)
                self.receive(body)

        _retried(attempt, self._location, self._deadline, report=report)

    def receive(self, body: Body) -> None:
        """Read the rest of the part from an answer that begins with it."""
        self._meter.restart()
        start, stop = self.position, self._part.stop
        while self.position < stop and (chunk := body.read()):
            chunk = chunk[: stop - self.position]
            self._take(chunk, self.position)
            self.position += len(chunk)
            self._meter.add(len(chunk), self.position)
        if self.position < stop:
            raise short_error(self._location.public, self.position - start, stop - start)
        self._deadline.progress()


class RemoteRanges(PositionedFile):
    """A remote file whose parts are read, as Parquet needs them.

    The first request is for its end, where Parquet says what is where. All others are for parts of
    the version that this came from, by its strong ETag. Of a server that sends no parts, or no
    such ETag, the whole file is copied to a temporary one by that first request.
    """

    def __init__(
        self,
        location: Location,
        files: Any,
        deadline: Deadline,
        *,
        etag: str = "",
        size: int | None = None,
    ) -> None:
        """Request nothing yet; ETag and size are those that the file had when it was looked up."""
        super().__init__()
        self._location = location
        self._files = files
        self._deadline = deadline
        self._expected_etag = self._etag = etag
        self._size = size
        self._whole: IO[bytes] | None = None
        self._tail = (0, b"")
        self._held: list[_Held] = []
        self._expected: list[range] = []
        self._reads_on = False
        self._begun = False
        self._slots = Semaphore(REQUESTS)

    def expect(self, parts: Sequence[range], *, only: bool = False) -> None:
        """Request parts that will be read, each from its start on; some of them at a time.

        Of the first ones that are expected, only the first bytes are requested: who reads the start
        of a file needs no more. Of all later ones everything, as far as it fits into memory. With
        `only` nothing that is between them, and of the first ones everything, too.
        """
        self._end()
        if self._whole is not None:
            return
        self._expected = list(parts)
        most = _MOST_HELD if only or self._reads_on else _FIRST
        left = _MOST_HELD // 2
        starts = [range(part.start, min(part.stop, part.start + most)) for part in parts]
        for part in merged(starts, self._tail[0], 0 if only else _NEAR):
            for start in range(part.start, min(part.stop, part.start + left), _LARGEST):
                if self._find(start) is None:
                    self._request(start, min(part.stop, start + _LARGEST))
            left = max(0, left - len(part))
        self._reads_on = True

    def close(self) -> None:
        """Request no more."""
        if self._whole is not None:
            self._whole.close()
        self._held.clear()
        super().close()

    def _read_some(self, stop: int) -> bytes:
        start, tail = self._tail
        if self._whole is not None:
            self._whole.seek(self._position)
            return self._whole.read(stop - self._position)
        if self._position >= start:
            return tail[self._position - start : stop - start]
        held = self._find(self._position) or self._continue(stop)
        data = held.data.result()
        self._held.remove(held)
        self._held.append(held)  # the last that is dropped
        return data[self._position - held.start : stop - held.start]

    def _find(self, position: int) -> _Held | None:
        return next((one for one in self._held if one.start <= position < one.stop), None)

    def _continue(self, stop: int) -> _Held:
        """Request what is at the position: more than last time, if it follows what was read."""
        here = self._position
        before = next((one for one in self._held if one.stop == here), None)
        size = 0 if before is None else min(_LARGEST, 2 * (before.stop - before.start))
        part = next((one for one in self._expected if here in one), range(here, stop))
        return self._request(here, min(max(stop, here + size), max(part.stop, stop)))

    def _request(self, start: int, stop: int) -> _Held:
        held = _Held(start, stop, Future())
        self._held.append(held)
        # Python waits at its end for the threads of an executor, also where a server is silent.
        Thread(target=self._run, args=(held,), name="ranges", daemon=True).start()
        while len(self._held) > 1 and sum(one.stop - one.start for one in self._held) > _MOST_HELD:
            self._held.pop(0).data.cancel()
        return held

    def _end(self) -> int:
        """Return the size of the file; the first time, request its end."""
        if not self._begun:
            _retried(self._begin, self._location, self._deadline)
            self._begun = True
        return self._size or 0

    def _begin(self) -> None:
        tail = min(_MOST_TAIL, max(_LEAST_TAIL, (self._size or 0) >> 10))
        start = -tail if self._size is None else max(0, self._size - tail)
        body = self._open(start, self._size)
        if body.start is None or (body.start and not (body.size and is_strong(body.etag))):
            body.close()
            body = self._open(0, None)
        with contextlib.closing(body):
            if body.start and body.size:
                self._etag, self._size = body.etag, body.size
                part, data = self._part(body.start, body.size)
                part.receive(body)
                self._tail = body.start, bytes(data)
            else:
                self._whole = self._copied(body)
                self._size = self._whole.seek(0, io.SEEK_END)

    def _copied(self, body: Body) -> IO[bytes]:
        meter = Meter(self._location.public, self._deadline, network_policy())
        with contextlib.ExitStack() as failed:
            copy = failed.enter_context(tempfile.TemporaryFile())
            read = compared(body.read, body.digests, body.hashes(), self._location.public)
            while chunk := read():
                copy.write(chunk)
                meter.add(len(chunk), copy.tell())
            if body.size not in (None, copy.tell()):
                raise short_error(self._location.public, copy.tell(), body.size)
            body.check_end(self._location.public)
            failed.pop_all()  # `close` closes it
        return copy

    def _run(self, held: _Held) -> None:
        with self._slots:
            if self.closed or not held.data.set_running_or_notify_cancel():
                return
            try:
                part, data = self._part(held.start, held.stop)
                part.fetch(lambda position: self._open(position, held.stop), self._etag)
                held.data.set_result(bytes(data))
            except BaseException as error:  # noqa: BLE001 (raised where the bytes are read)
                held.data.set_exception(error)

    def _part(self, start: int, stop: int) -> tuple[RemotePart, bytearray]:
        """Return a part, and where its bytes will be."""
        data = bytearray()
        part = RemotePart(
            range(start, stop), self._location, self._deadline, lambda chunk, _: data.extend(chunk)
        )
        return part, data

    def _open(self, start: int, stop: int | None) -> Body:
        etag = self._etag if is_strong(self._etag) else ""
        try:
            body = open_body(self._files, self._location, start=start, stop=stop, etag=etag)
        except Exception as error:
            if etag and status_of(error) in GONE_ON:
                raise changed_error(self._location) from error
            raise
        if not same_version(self._expected_etag, body.etag):
            body.close()
            raise changed_error(self._location)
        return body


def _retried(
    attempt: Callable[[], Result],
    location: Location,
    deadline: Deadline,
    *,
    report: Report = silent,
) -> Result:
    """Return what `attempt` gives with the file system of a location, repeated if need be."""

    def translated() -> Result:
        with source_errors(location), limited_requests(location, deadline):
            return attempt()

    return with_retries(translated, deadline, report=report)

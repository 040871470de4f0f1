"""Fetch later parts of a file, several at a time, while its first bytes arrive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Condition, Thread

from registry.base.locations import Location
from registry.progress import Deadline, Progress, Report
from registry.sources.bodies import Body
from registry.sources.ranges import REQUESTS, RemotePart

__all__ = ["PartsAhead"]

_LEAST_BYTES = 1 << 25
"""For fewer, further requests may take longer than they save."""
_ROUND_BYTES = 1 << 28
"""Bytes of the parts that are fetched together; more are hashed while others still arrive."""
_MOST_ROUNDS = 4
_BUFFER = 1 << 20
_CHECK_SECONDS = 1.0
"""How long is waited at a time, before that is reported."""


@dataclass(slots=True)
class _Part:
    start: int
    stop: int
    position: int
    """Where the bytes begin that are not here yet."""
    is_taken: bool = False
    """Whether a thread fetches it, or did."""
    is_left: bool = False
    """Whether no thread fetches what is missing."""
    note: str = ""
    """What the thread waits for."""


class _LeftError(Exception):
    """A part is no longer wanted."""


class PartsAhead:
    """The later parts of a file, which threads fetch and write to their places in it.

    Whoever has the first bytes reads on up to a part that a thread has begun, and takes what is
    there in order. What a thread can't fetch is left to that reader, who knows what to do then.
    """

    def __init__(
        self,
        path: Path,
        missing: range,
        open_part: Callable[[int, int], Body],
        *,
        etag: str,
        location: Location,
        seconds: float,
    ) -> None:
        """Begin to fetch all parts but the first.

        Args:
            path: The file, which exists.
            missing: The bytes that it lacks.
            open_part: Requests the bytes from a position to another one.
            etag: The strong ETag that they must have.
            location: The URL.
            seconds: How long a part may make no progress.
        """
        rounds = min(_MOST_ROUNDS, -(-len(missing) // _ROUND_BYTES))
        size = -(-len(missing) // (REQUESTS * rounds))
        starts = range(missing.start + size, missing.stop, size)
        self._parts = [_Part(one, min(missing.stop, one + size), one) for one in starts]
        self._open_part = open_part
        self._etag = etag
        self._location = location
        self._seconds = seconds
        self._file: int | None = os.open(path, os.O_RDWR)
        self._changed = Condition()
        self._threads = 0
        for _ in range(REQUESTS - 1):
            self._start()

    @staticmethod
    def are_worth(size: int) -> bool:
        """Return whether so many bytes are fetched in parts."""
        return size >= _LEAST_BYTES

    def room(self, position: int, count: int) -> int:
        """Return how many of the next bytes have to be read by the caller."""
        with self._changed:
            for part in self._parts:
                if position <= part.start < position + count:
                    if part.position > part.start:
                        return part.start - position
                    part.is_left = True
        return count

    def chunks(self, position: int, report: Report) -> Iterator[bytes]:
        """Yield the bytes from a position on, as far as threads fetch them."""
        self._start()  # in place of the caller, who reads nothing meanwhile
        for part in self._parts:
            while part.start <= position < part.stop:
                chunk = self._next_chunk(part, position, report)
                if not chunk:
                    return
                yield chunk
                position += len(chunk)

    def arrived(self, position: int) -> int:
        """Return how many bytes behind a position are here."""
        return sum(max(0, part.position - max(part.start, position)) for part in self._parts)

    def stop(self) -> None:
        """Write nothing more."""
        with self._changed:
            if self._file is not None:
                os.close(self._file)
            self._file = None
            for part in self._parts:
                part.is_left = True

    def _next_chunk(self, part: _Part, position: int, report: Report) -> bytes:
        seconds = 0
        while True:
            with self._changed:
                if part.position > position and self._file is not None:
                    count = min(_BUFFER, part.position - position)
                    return os.pread(self._file, count, position)
                if part.is_left or not part.is_taken:
                    part.is_left = True
                    return b""
                if not self._changed.wait(_CHECK_SECONDS):
                    seconds += 1
            if seconds:
                report(Progress("wait", seconds, note=part.note))

    def _start(self) -> None:
        with self._changed:
            if self._threads == REQUESTS:
                return
            self._threads += 1
        # Python waits at its end for the threads of an executor, also where a server is silent.
        Thread(target=self._run, name="parts", daemon=True).start()

    def _run(self) -> None:
        try:
            while (part := self._take()) is not None:
                self._fetch(part)
        except Exception:  # noqa: BLE001 (the reader makes the same request, and reports it)
            with self._changed:
                for part in self._parts:  # no further one is begun: it would fail, too
                    part.is_left = part.is_left or not part.is_taken
        finally:
            with self._changed:
                self._threads -= 1

    def _take(self) -> _Part | None:
        with self._changed:
            for part in self._parts:
                if not part.is_taken and not part.is_left:
                    part.is_taken = True
                    return part
        return None

    def _fetch(self, part: _Part) -> None:
        def waiting(progress: Progress) -> None:
            part.note = progress.note
            if part.is_left:
                raise _LeftError

        def open_at(position: int) -> Body:
            if part.is_left:
                raise _LeftError
            return self._open_part(position, part.stop)

        deadline = Deadline(self._seconds)
        remote = RemotePart(
            range(part.start, part.stop), self._location, deadline, partial(self._write, part)
        )
        try:
            remote.fetch(open_at, self._etag, report=waiting)
        except _LeftError:
            pass
        finally:
            with self._changed:
                part.is_left = True
                self._changed.notify_all()

    def _write(self, part: _Part, chunk: bytes, position: int) -> None:
        with self._changed:
            if self._file is None or part.is_left:
                raise _LeftError
            remaining = memoryview(chunk)
            while remaining:
                remaining = remaining[os.pwrite(self._file, remaining, part.position) :]
                part.position = position + len(chunk) - len(remaining)
            self._changed.notify_all()

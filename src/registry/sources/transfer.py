"""Read a remote file in as many attempts as it takes: complete and unchanged, or not at all."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from registry.base.fs import HashedFile
from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.decode.bounded import HARMLESS_BYTES
from registry.errors import SourceError
from registry.progress import Deadline, Progress, Report
from registry.sources.bodies import (
    GONE_ON,
    Body,
    DamagedError,
    check_digests,
    is_strong,
    open_body,
    same_version,
)
from registry.sources.filesystem import (
    changed_error,
    limited_requests,
    option_errors,
    source_errors,
)
from registry.sources.parts_ahead import PartsAhead
from registry.sources.retry import (
    Meter,
    network_policy,
    short_error,
    status_of,
    with_retries,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["ChangedError", "RemoteFile", "Transfer"]


class ChangedError(SourceError):
    """The file is not the one that was looked up."""


class Requests(Protocol):
    """Where files are requested; a `FilesystemPool` is one."""

    @property
    def deadline(self) -> Deadline:
        """How long requests may be repeated."""

    def of(self, location: Location, /) -> Any:
        """Return the file system of a location, for `open_body`."""

    def requests(self, location: Location, /) -> AbstractContextManager[None]:
        """Translate the errors of requests to a SourceError, and limit what they take."""


class Transfer:
    """The download of one file to a path."""

    def __init__(
        self,
        location: Location,
        pool: Requests,
        path: Path,
        *,
        limits: Limits,
        report: Report,
        size: int | None = None,
        etag: str = "",
        version_id: str | None = None,
        name: str = "",
    ) -> None:
        """Prepare a download.

        Args:
            location: The URL.
            pool: Its file system.
            path: A file that does not exist.
            limits: How large it may be, and how long it may take.
            report: Called with the number of bytes.
            size: Bytes that the file had when it was looked up.
            etag: The ETag that it had then.
            version_id: Its version as an S3 object.
            name: What messages call it, if not by its location.
        """
        self.rejected = False
        """Whether all bytes arrived, and are not those that the server describes."""
        self._location = location
        self._name = name or location.public
        self._pool = pool
        self._path = path
        self._limits = limits
        self._report = report
        self._size, self._expected_etag, self._version_id = size, etag, version_id
        self._meter = Meter(self._name, pool.deadline, network_policy())
        self._file = HashedFile(path)
        self._etag = ""
        self._digests: Mapping[str, bytes] = {}
        self._hashes: dict[str, Any] = {}
        self._ahead: PartsAhead | None = None
        self._is_divisible = True
        """Whether it has not been divided yet: what failed in parts comes as one stream."""
        self._end = time.monotonic() + limits.seconds

    def run(self) -> tuple[str, int]:
        """Download the file; return its sha256 and its size.

        Raises:
            ChangedError: the file is not the one that was looked up.
            DamagedError: two downloads are not what the server describes.
            SourceError: it can't be had.
        """
        try:
            with_retries(self._attempt, self._pool.deadline, report=self._report)
        finally:
            self._stop_ahead()
            self._file.close()
        self._pool.deadline.progress()
        return self._file.sha256, self._path.stat().st_size

    def _attempt(self) -> None:
        # Maybe the connection was lost after the last byte.
        is_all = is_strong(self._etag) and self._file.tell() == self._size
        with self._pool.requests(self._location):
            try:
                while not is_all:
                    is_all = self._read_on()
                check_digests(self._digests, self._hashes, self._name)
                self.rejected = False
            except DamagedError as error:
                error.transient = not self.rejected  # a byte may have changed on the way
                self.rejected, self._etag = True, ""  # nothing to continue
                if not error.transient:
                    hint = "try again, or from another network"
                    error.args = (f"{error}, in 2 downloads (nothing is cached; {hint})",)
                raise

    def _read_on(self) -> bool:
        """Read a body, and the parts behind it that have been fetched; return whether it is all."""
        with contextlib.closing(self._open()) as body:
            size = body.size if self._size is None else self._size
            self._divide(body)
            self._meter.restart()
            if self._read(body, size):
                return True
        if self._ahead is not None:
            for chunk in self._ahead.chunks(self._file.tell(), self._report):
                self._meter.restart()  # each thread has one of its own
                self._file.add(chunk)
                self._count(chunk, size)
        return self._file.tell() == size

    def _open(self) -> Body:
        """Request the rest of the file, or all of it if the bytes so far can't be continued."""
        body = self._resume()
        if body is None:
            body = open_body(
                self._pool.of(self._location), self._location, version_id=self._version_id
            )
        self._etag = body.etag
        if body.start == 0:
            self._restart(body)
        try:
            same = same_version(self._expected_etag, body.etag)
            if not same or (None not in (self._size, body.size) and self._size != body.size):
                raise ChangedError(str(changed_error(self._location)))
            self._check_limits(body.size or 0)
        except SourceError:
            body.close()
            raise
        return body

    def _resume(self) -> Body | None:
        start = self._file.tell() if is_strong(self._etag) else 0
        if not start:
            return None
        try:
            body = open_body(
                self._pool.of(self._location),
                self._location,
                start=start,
                etag=self._etag,
                version_id=self._version_id,
            )
        except Exception as error:
            if status_of(error) in GONE_ON:
                return None
            raise
        # A server without ranges sends everything. A part of another version is of no use.
        if body.start == 0 or (body.start, body.etag) == (start, self._etag):
            return body
        body.close()
        return None

    def _stop_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.stop()
            self._ahead = None

    def _restart(self, body: Body) -> None:
        self._stop_ahead()
        if self._path.stat().st_size:  # also where only later parts are there
            self._file.close()
            self._path.unlink()
            self._file = HashedFile(self._path)
        self._digests = body.digests
        self._hashes = body.hashes()

    def _divide(self, body: Body) -> None:
        """Fetch the later parts of a large file at the same time, if its server has parts."""
        start, stop = self._file.tell(), body.size or 0
        if (
            not self._is_divisible
            or not (body.has_parts and is_strong(body.etag))
            or not PartsAhead.are_worth(stop - start)
            or stop > self._limits.unpacked_bytes
        ):
            return
        location, etag, version = self._location, body.etag, self._version_id
        files = self._pool.of(location)

        def open_part(start: int, stop: int) -> Body:
            return open_body(files, location, start=start, stop=stop, etag=etag, version_id=version)

        self._is_divisible = False
        self._ahead = PartsAhead(
            self._path,
            range(start, stop),
            open_part,
            etag=etag,
            location=location,
            seconds=self._pool.deadline.seconds,
        )

    def _read(self, body: Body, size: int | None) -> bool:
        """Read a body to its end, or to a part that a thread has begun; return whether it ended."""
        while chunk := body.read():
            count = len(chunk)
            if self._ahead is not None:
                count = self._ahead.room(self._file.tell(), count)
            self._file.write(chunk[:count])
            self._count(chunk[:count], size)
            self._check_ratio(body)
            if count < len(chunk):
                return False
        if size is not None and self._file.tell() < size:
            raise short_error(self._name, self._file.tell(), size)
        if size is None:
            body.check_end(self._name)
        return True

    def _count(self, chunk: bytes, size: int | None) -> None:
        for one in self._hashes.values():
            one.update(chunk)
        position = self._file.tell()
        self._meter.add(len(chunk), position)
        ahead = 0 if self._ahead is None else self._ahead.arrived(position)
        self._report(Progress("fetch", position + ahead, size))
        self._check_limits(position)
        if size is not None and position > size:
            raise SourceError(f"{self._name}: more than its {size:,} bytes arrived (try again)")

    def _check_ratio(self, body: Body) -> None:
        """Raise an error for a body that fills the disk with what hardly needs a network."""
        position = self._file.tell()
        if body.packed is None or position <= HARMLESS_BYTES:
            return
        if message := self._limits.ratio_fault(position, body.packed()):
            raise SourceError(f"{self._name}: {message}")

    def _check_limits(self, position: int) -> None:
        if position > self._limits.unpacked_bytes:
            message = self._limits.message("unpacked_bytes", "the file has", "bytes")
        elif time.monotonic() > self._end:
            message = self._limits.message("seconds", "the transfer takes", "seconds")
        else:
            return
        raise SourceError(f"{self._name}: {message}")


class RemoteFile(io.RawIOBase):
    """A remote file as a stream, which goes on after a lost connection."""

    def __init__(
        self, location: Location, files: Any, deadline: Deadline, *, etag: str = ""
    ) -> None:
        """Prepare a stream of the file that had this ETag when it was looked up."""
        super().__init__()
        self._expected_etag = etag
        self._spent = 0.0
        self._location = location
        self._files = files
        self._deadline = deadline
        # Whoever reads may take its time between two reads, so only these count.
        self._meter = Meter(location.public, deadline, network_policy(), clock=lambda: self._spent)
        self._body: Body | None = None
        self._position = 0
        self._etag = ""
        self._size: int | None = None
        self._digests: Mapping[str, bytes] = {}
        self._hashes: dict[str, Any] = {}
        self._left = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read what has arrived."""
        if not self._left:
            self._left = with_retries(self._next, self._deadline)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """Close the connection."""
        self._drop()
        super().close()

    def _next(self) -> bytes:
        try:
            location = self._location
            errors = source_errors if self._position else option_errors
            with errors(location), limited_requests(location, self._deadline):
                chunk = self._received()
            if not chunk:
                check_digests(self._digests, self._hashes, location.public)
            # Before they count as read: what comes too slowly is dropped, and requested again.
            self._meter.add(len(chunk), self._position + len(chunk))
            self._position += len(chunk)
            for one in self._hashes.values():
                one.update(chunk)
        except DamagedError as error:
            self._drop()
            error.transient = False  # what was read before can't be taken back
            error.args = (f"{error} (try again)",)
            raise
        except SourceError:
            self._drop()
            raise
        return chunk

    def _received(self) -> bytes:
        """Return the next bytes, b"" at the end of the file."""
        if self._body is None and self._position == self._size:
            return b""
        if self._body is None:
            self._body = self._open()
        begun = time.monotonic()
        chunk = self._body.read()
        self._spent += time.monotonic() - begun
        if not chunk and self._size not in (None, self._position):
            raise short_error(self._location.public, self._position, self._size)
        if not chunk and self._size is None:
            self._body.check_end(self._location.public)
        return chunk

    def _open(self) -> Body:
        if self._position and not is_strong(self._etag):
            # What was read can't be taken back, and may not fit to what would come now.
            raise SourceError(
                f"{self._location.public}: the connection was lost, and the server names"
                " no version that the transfer could be continued with (try again)"
            )
        body = open_body(self._files, self._location, start=self._position, etag=self._etag)
        resumed = not self._position or (body.start, body.etag) == (self._position, self._etag)
        if not resumed or not same_version(self._expected_etag, body.etag):
            body.close()
            raise changed_error(self._location)
        if not self._position:
            self._digests, self._hashes = body.digests, body.hashes()
        self._etag, self._size = body.etag, body.size
        self._meter.restart()
        return body

    def _drop(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None

"""Share the cache with other processes: lock what is made, and do again what another one undid.

The holder of a lock writes who it is into the lock file, and touches the file as long as its work
makes progress. Whoever waits reads both: for whom it waits, and whether that process is stuck.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from registry.base.cache_access import create_file, make_folder
from registry.base.conversion import decode_json
from registry.base.escape import escape_control
from registry.errors import CacheError, DamagedEntryError, count_text
from registry.progress import Progress

if TYPE_CHECKING:
    from registry.progress import Deadline, Report

__all__ = ["again_if_lost", "lock"]

_POLL_SECONDS = 0.1
_TOUCH_SECONDS = 1.0
_MAX_BYTES = 1 << 12
_FLAGS = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_Result = TypeVar("_Result")
# More than twice: a process that clears the cache in a loop may be as fast as this one.
_ATTEMPTS = 5


class _Holder(Struct, frozen=True):
    """The process that holds a lock, as it wrote itself into the file."""

    pid: int
    host: str
    dataset: str
    since: float
    """Seconds since the epoch, by the clock of its machine."""
    command: int = 0
    """The process of the command: its parent, if it is a worker. Older releases don't write it."""

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        work = f"worked on {self.dataset}" if self.dataset else "worked"
        return escape_control(f"process {self.pid} on {self.host}, which has {work} since {since}")


@contextlib.contextmanager
def lock(path: Path, *, dataset: str, report: Report, deadline: Deadline) -> Iterator[Report]:
    """Hold the lock file at `path`; yield the `report` that shows to others that work goes on.

    Correctness never depends on it: if locking fails (a file system without locks, a read-only
    cache), the work is done without a lock, at worst twice.

    Raises:
        CacheError: the process that holds it makes no progress until the deadline.
    """
    descriptor = _take(path, report, deadline)
    if descriptor is None:
        yield report  # the file system has no locks
        return
    try:
        _write_holder(descriptor, dataset)
        yield _touching(path, report, deadline)
    finally:
        try:
            # Closing is not enough while a child process has the descriptor too.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)


def _take(path: Path, report: Report, deadline: Deadline) -> int | None:
    """Acquire a lock, whoever holds it now; return its descriptor, None where there are none."""
    started, touched = time.monotonic(), None
    while True:
        try:
            if (descriptor := _take_free(path)) is not None:
                return descriptor
        except BlockingIOError:
            latest = _touched(path)
            if touched not in (None, latest):
                deadline.progress()
            touched = latest
            waited = int(time.monotonic() - started)
            # Each time, because an interrupt reaches the threads of `sync` by an error of `report`.
            report(Progress("wait", waited, note=_waited_for(path)))
            if not deadline.remaining:
                seconds = count_text(round(deadline.silence), "second")
                raise CacheError(
                    f"no progress for {seconds} by {_holder_of(path)}; it holds the lock {path}"
                    " (end it and try again; REGISTRY_DEADLINE sets how many seconds to wait)"
                ) from None
            time.sleep(_POLL_SECONDS)
        except OSError:
            return None


def _take_free(path: Path) -> int | None:
    """Acquire a lock that nobody holds; None if its file was removed or made meanwhile.

    Raises:
        BlockingIOError: somebody holds it.
        OSError: there are no locks here, or the file may not be used.
    """
    try:
        # Never through a link, which another member of the group may have put there.
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError:
        make_folder(path.parent)
        with contextlib.suppress(FileExistsError):  # another process was faster
            create_file(path).close()
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink > 0:
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _touching(path: Path, report: Report, deadline: Deadline) -> Report:
    last = time.monotonic()

    def report_and_touch(progress: Progress) -> None:
        nonlocal last
        since = time.monotonic() - last
        # Not each report is progress: a wait for a third process is some only if that makes some.
        if since >= _TOUCH_SECONDS and deadline.silence < since:
            last += since
            with contextlib.suppress(OSError):
                os.utime(path)
        report(progress)

    return report_and_touch


def _write_holder(descriptor: int, dataset: str) -> None:
    """Write this process into an open lock file."""
    import platform

    from registry.base.executor import command_pid  # slow to import

    holder = _Holder(os.getpid(), platform.node(), dataset, time.time(), command_pid())
    with contextlib.suppress(OSError):
        # Spaces overwrite what the last holder wrote: when a file that was truncated is closed,
        # ext4 begins to write it to the disk.
        os.write(descriptor, msgspec.json.encode(holder).ljust(os.fstat(descriptor).st_size))


def _waited_for(path: Path) -> str:
    """Return who holds a lock, for the user; nothing if it is of the same command."""
    import platform

    from registry.base.executor import command_pid

    holder = _read_holder(path)
    is_own = holder and (holder.host, holder.command) == (platform.node(), command_pid())
    return "" if is_own else _holder_of(path)


def _holder_of(path: Path) -> str:
    return str(_read_holder(path) or "another process")  # which has not written yet


def _read_holder(path: Path) -> _Holder | None:
    try:
        with path.open("rb") as file:
            return decode_json(file.read(_MAX_BYTES), _Holder)
    except (OSError, ValueError, RecursionError, OverflowError, msgspec.MsgspecError):
        return None


def _touched(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def again_if_lost(work: Callable[[], _Result], root: Path) -> _Result:
    """Return the result of work that finds in the cache what it reads, and makes what is missing.

    Readers take no lock. So `cache clear`, `cache prune` or `sync --refresh` of another process may
    remove an entry or a download after this one has found it and before it has opened it. So the
    work is done up to five times; `root` is the folder of the cache.

    Raises:
        CacheError: it is gone each time.
    """
    for attempt in count(1):
        try:
            return work()
        except DamagedEntryError:
            if attempt == _ATTEMPTS:
                raise
        except FileNotFoundError as error:
            # pyarrow names the file in the message only.
            if str(root) not in str(error):
                raise
            if attempt == _ATTEMPTS:
                message = f"{error} (does another process clear the cache all the time?)"
                raise CacheError(message) from error
    raise AssertionError  # `count` does not end

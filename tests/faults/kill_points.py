"""Count the system calls that change files, and do harm as a process enters one of them.

`strace -e inject=…:when=N` counts the calls of each thread and each name by itself, so that many
calls are never the first to reach their number. This counts over all threads, and only calls that
change something below the watched folders. A filter in the kernel lets all other calls pass, as
each stop costs a hundred times what the call does.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["Failure", "Trace", "missing", "traced"]

_REPOSITORY = Path(__file__).parents[2]
Where = Literal["fd", "path", "at", "created", "created at"]
"""Which arguments name the file; `created` ones count only if they may create it."""
_PLACES: dict[str, Where] = {
    "write": "fd",
    "writev": "fd",
    "pwrite64": "fd",
    "pwritev": "fd",
    "copy_file_range": "fd",
    "sendfile": "fd",
    "ftruncate": "fd",
    "fallocate": "fd",
    "fsync": "fd",
    "fdatasync": "fd",
    "fchmod": "fd",
    "rename": "path",
    "renameat": "at",
    "renameat2": "at",
    "link": "path",
    "linkat": "at",
    "symlink": "path",
    "unlink": "path",
    "unlinkat": "at",
    "mkdir": "path",
    "mkdirat": "at",
    "rmdir": "path",
    "chmod": "path",
    "fchmodat": "at",
    "truncate": "path",
    "utimensat": "at",
    "open": "created",
    "openat": "created at",
}
_CLOSE = {"x86_64": 3, "aarch64": 57}.get(platform.machine(), -1)
"""It changes nothing, but it may fail: on some network file systems a write fails only then."""
# From the kernel's tables; ARM has none of the calls that `…at` replaced.
_NUMBERS = {
    "x86_64": "write:1 writev:20 pwrite64:18 pwritev:296 copy_file_range:326 sendfile:40"
    " ftruncate:77 fallocate:285 fsync:74 fdatasync:75 fchmod:91 rename:82 renameat:264"
    " renameat2:316 link:86 linkat:265 symlink:88 unlink:87 unlinkat:263 mkdir:83 mkdirat:258"
    " rmdir:84 chmod:90 fchmodat:268 truncate:76 utimensat:280 open:2 openat:257",
    "aarch64": "write:64 writev:66 pwrite64:68 pwritev:70 copy_file_range:285 sendfile:71"
    " ftruncate:46 fallocate:47 fsync:82 fdatasync:83 fchmod:52 renameat:38 renameat2:276"
    " linkat:37 unlinkat:35 mkdirat:34 fchmodat:53 truncate:45 utimensat:88 openat:56",
}
_CALLS = {
    int(number): name
    for name, number in (pair.split(":") for pair in _NUMBERS.get(platform.machine(), "").split())
}
_TRACEME, _CONT, _SYSCALL, _SETOPTIONS, _GET_SYSCALL_INFO = 0, 7, 24, 0x4200, 0x420E
# Syscall stops are marked, forks and threads are traced too, so are the calls that the filter
# names, and nothing outlives the tracer.
_OPTIONS = 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000
_FILTERED = signal.SIGTRAP | 7 << 8
_WALL = 0x40000000
_EXIT, _SECCOMP = 2, 3
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
# Of `linux/filter.h`: load a word of `struct seccomp_data`, compare, look for a bit, return.
_LOAD, _EQUAL, _BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_STOP, _PASS = 0x7FF00000, 0x7FFF0000
_ARGUMENTS = 16
# Of `struct user` of x86_64: the number of the call, which -1 prevents, and its result.
_POKE, _CALL, _RESULT = 6, 15 * 8, 10 * 8
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)


@functools.cache
def missing() -> str:
    """Return why processes can't be traced here; empty if they can."""
    if platform.system() != "Linux" or not _CALLS:
        return f"the system calls of {platform.system()} on {platform.machine()} are not known"
    # In a process without threads, which may fork, and without children of others to wait for.
    command = [sys.executable, "-m", "tests.faults.kill_points"]
    done = subprocess.run(
        command, cwd=_REPOSITORY, capture_output=True, encoding="utf-8", check=False
    )
    last = done.stderr.strip().rpartition("\n")[2]
    return "" if done.returncode == 0 else f"processes can't be traced here: {last}"


@dataclass
class Trace:
    """What a traced process did."""

    code: int = 0
    """Its exit code; negative: the signal that ended it."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Each call that changes a file, in order, with the path; the last one is where it was killed."""
    failed: str = ""
    """The file of the call that failed."""


@dataclass
class Failure:
    """A call that fails: the n-th one of its name, counted from 1 over all threads."""

    call: str
    number: int
    error: int
    """An `errno`."""
    seen: int = 0
    thread: int = 0
    """The one that is in the call now."""

    def enter(self, thread: int, call: tuple[str, str]) -> bool:
        """Let the call of a thread fail, if it is the one; return whether it is."""
        self.seen += call[0] == self.call
        if call[0] != self.call or self.seen != self.number or self.thread:
            return False
        self.thread = thread
        if call[0] != "close":  # which closes, whatever it returns
            _ptrace(_POKE, thread, -1, at=_CALL)
        return True

    def leave(self, thread: int) -> None:
        """Replace the result of the call as its thread returns from it."""
        if thread == self.thread and _info(thread)[0] == _EXIT:
            _ptrace(_POKE, thread, -self.error, at=_RESULT)
            self.thread = -1


def traced(
    run: Callable[[], int],
    *,
    watched: Sequence[str],
    kill_at: int = 0,
    failure: Failure | None = None,
    link: str = "",
    like: str = "",
) -> Trace:
    """Run a function in a forked process, and do harm as it enters a call.

    Args:
        run: The function; it returns an exit code.
        watched: Absolute paths of folders; only calls below them count.
        kill_at: The number of the call, from 1, at which the process is killed.
        failure: A call that fails.
        link: A file. The path of the first file that is created, of those that `like` matches, is
            a link to it by then.
        like: A regular expression.
    """
    closes = failure is not None and failure.call == "close"
    program = _program(closes=closes)
    main = os.fork()
    if main == 0:
        _libc.ptrace(_TRACEME, 0, None, None)
        if not _filter(program):
            os._exit(1)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(run())
    if not os.WIFSTOPPED(os.waitpid(main, 0)[1]):
        raise OSError("the kernel takes no filter of system calls")
    _ptrace(_SETOPTIONS, main, _OPTIONS)
    _ptrace(_CONT, main, 0)
    trace = Trace()
    while True:
        try:
            thread, status = os.waitpid(-1, _WALL)
        except ChildProcessError:
            return trace
        if not os.WIFSTOPPED(status):
            if thread == main:
                trace.code = os.waitstatus_to_exitcode(status)
            continue
        stop, go = os.WSTOPSIG(status), _CONT
        if failure is not None and stop == signal.SIGTRAP | 0x80:
            failure.leave(thread)
        if status >> 8 == _FILTERED and (call := _changing(thread, watched)):
            if failure is not None and failure.enter(thread, call):
                trace.failed, go = call[1], _SYSCALL  # it stops again as the call returns
            trace.calls.append(call)
            if len(trace.calls) == kill_at:
                os.kill(main, signal.SIGKILL)
                continue
            if link and call[0].startswith("open") and re.fullmatch(like, call[1]):
                os.symlink(link, call[1])
                link = ""
        # The stops of tracing, and those of new threads, are not for the process.
        own = stop in (signal.SIGTRAP | 0x80, signal.SIGTRAP, signal.SIGSTOP)
        _ptrace(go, thread, 0 if own else stop)


def _program(*, closes: bool) -> bytes:
    """Return the filter: it stops at calls that may change a file, and at `close` if wanted."""
    steps = [(_LOAD, 0, 0, 0)]
    for number, name in [*_CALLS.items(), *[(_CLOSE, "close")] * closes]:
        place = _PLACES.get(name, "fd")
        if place.startswith("created"):
            flags = _ARGUMENTS + 8 * (1 + place.endswith("at"))
            steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, flags), (_BIT, 0, 1, os.O_CREAT)]
            steps += [(_RETURN, 0, 0, _STOP), (_RETURN, 0, 0, _PASS)]
        else:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _STOP)]
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _PASS)])


def _filter(program: bytes) -> bool:
    """Filter the calls of this process and of all that it starts; return whether that is so."""
    held = ctypes.create_string_buffer(program, len(program))
    length, at = len(program) // 8, ctypes.addressof(held)
    described = ctypes.create_string_buffer(struct.pack("HxxxxxxP", length, at))
    asked = ((_SET_NO_NEW_PRIVS, 1, 0), (_SET_SECCOMP, _FILTER, ctypes.addressof(described)))
    return all(_libc.prctl(*one, 0, 0) == 0 for one in asked)


def _ptrace(request: int, thread: int, data: int, *, at: int | None = None) -> None:
    """Do one request; a thread that was killed in between is reported by `waitpid`."""
    if _libc.ptrace(request, thread, at, data) < 0 and ctypes.get_errno() != 3:
        raise OSError(ctypes.get_errno(), "ptrace")


def _changing(thread: int, watched: Sequence[str]) -> tuple[str, str] | None:
    """Return the call that a thread enters, if that changes a file below a watched folder."""
    stop, number, *arguments = _info(thread)
    if stop != _SECCOMP:
        return None
    name = "close" if number == _CLOSE else _CALLS.get(number)
    if name is None:
        return None
    path = _path(thread, _PLACES.get(name, "fd"), arguments)
    return (name, path) if path and path.startswith(tuple(watched)) else None


def _info(thread: int) -> tuple[int, ...]:
    """Return whether a thread enters or leaves a call, its number, and its arguments."""
    info = ctypes.create_string_buffer(88)
    if _libc.ptrace(_GET_SYSCALL_INFO, thread, len(info), info) < 0:
        return (0, -1)
    return info.raw[0], *struct.unpack_from("7Q", info.raw, 24)


def _path(thread: int, where: Where, arguments: Sequence[int]) -> str:
    """Return the file that a call is about; empty if it neither creates nor changes one."""
    if where == "fd":
        return _opened(thread, arguments[0])
    at = where.endswith("at")
    if where.startswith("created") and not arguments[1 + at] & os.O_CREAT:
        return ""
    folder = ctypes.c_int(arguments[0]).value if at else -100
    name = _text(thread, arguments[at]) if arguments[at] else ""
    return os.path.normpath(os.path.join(_opened(thread, folder), name))


def _opened(thread: int, descriptor: int) -> str:
    """Return the path of a file descriptor; a negative one is the working directory."""
    name = "cwd" if descriptor < 0 else f"fd/{ctypes.c_int(descriptor).value}"
    try:
        return os.readlink(f"/proc/{thread}/{name}")
    except OSError:
        return ""


def _text(thread: int, address: int) -> str:
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        # Up to the end of the page, as the next one may not be mapped.
        data = memory.read(4096 - address % 4096)
        if b"\0" not in data:
            data += memory.read(4096)
    return os.fsdecode(data.partition(b"\0")[0])


if __name__ == "__main__":
    sys.exit(traced(lambda: 0, watched=[]).code)

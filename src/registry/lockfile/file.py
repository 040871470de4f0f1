"""The file of a lock: read its bytes safely, write them atomically."""

from __future__ import annotations

import errno
from pathlib import Path

from registry.base.fs import write_atomic
from registry.base.local_files import open_regular
from registry.errors import LockError, Problem
from registry.settings import lock_limit

__all__ = ["FIX", "NEWER", "lock_error", "read_bytes", "write_text"]

FIX = "fix it, or remove the file and run `registry lock`"
NEWER = "written by a newer release: upgrade eval-registry"


def read_bytes(path: Path, *, shown_as: str | None = None) -> bytes | None:
    """Read the bytes of a lockfile; None if the file does not exist.

    Raises:
        LockError: it can't be read, is not a regular file, or is too large.
    """
    file, most = shown_as or str(path), lock_limit()
    try:
        with open_regular(path, follow=False) as opened:
            data = opened.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        reason = "a symbolic link, which is not followed" if is_link else error.strerror
        raise lock_error([Problem(message=f"can't be read: {reason}", file=file)]) from error
    if len(data) > most:
        message = f"larger than {most >> 20} MiB"
        hint = "REGISTRY_MAX_LOCK_MIB sets another limit, if you trust it"
        raise lock_error([Problem(message=message, file=file, hint=hint)])
    return data


def write_text(path: Path, text: str) -> None:
    """Write the text of a lockfile atomically.

    Raises:
        LockError: it can't be written.
    """
    data = text.encode()
    try:
        write_atomic(path, lambda file: file.write(data))
    except OSError as error:
        raise LockError(f"{path}: can't be written: {error.strerror}") from error


def lock_error(problems: list[Problem]) -> LockError:
    """Return the error of a lockfile that is invalid, or of a newer release."""
    message = "\n".join(str(problem) for problem in problems)
    # To remove it would throw away pins that were reviewed.
    is_newer = any(NEWER in problem.hint for problem in problems)
    advice = f"The lockfile was {NEWER}" if is_newer else f"The lockfile is invalid: {FIX}"
    return LockError(f"{message}\n{advice}", problems=problems)

"""The digest of the code that understands files: what other code understood is not used again."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from registry.base.best_effort import hashed_path, read_best_effort, write_best_effort
from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.settings import builtin_root

__all__ = ["code_digest", "known_code_digest"]

_FORMAT = 1


_LOADED = time.time_ns()
"""When this process loaded its code, or began to."""


def code_digest() -> str:
    """Return the digest of Python's version and of this package's modules and schemas.

    Where one of them has changed since this process loaded its code, it is one that no other
    process has: what it runs is not what lies there.
    """
    if _are_loaded(_files()):
        return _digest()
    known_code_digest.cache_clear()
    return _own_digest()


@functools.cache
def _digest() -> str:
    files = {
        os.path.relpath(path, _package()): hashlib.sha256(Path(path).read_bytes()).hexdigest()
        for path in _files()
    }
    return digest_of([_FORMAT, sys.version, files])


@functools.cache
def _own_digest() -> str:
    return digest_of([_FORMAT, uuid.uuid4().hex])


@functools.cache
def known_code_digest(folder: Path) -> str:
    """Return `code_digest`; from `folder` where all files are in the state that it was taken in.

    Their states stand for the content as those of manifests do; to read them all takes longer than
    anything else that opens a dataset. The digest itself is of bytes, so that machines with other
    copies of the same code share what is kept.
    """
    states = _files()
    if not _are_loaded(states):
        return _own_digest()
    place = hashed_path(_package(), folder, "code")
    known = digest_of([_FORMAT, sys.version, [[path, *state] for path, state in states.items()]])
    with contextlib.suppress(ValueError, LookupError, TypeError):  # of another form
        kept = json.loads((read_best_effort(place) or b"null").splitlines()[0])
        if kept["states"] == known:
            return str(kept["digest"])
    digest = code_digest()
    if not any(state.is_racy() for state in states.values()):
        write_best_effort(place, f"{json.dumps({'states': known, 'digest': digest})}\n".encode())
    return digest


def _are_loaded(states: Mapping[str, FileState]) -> bool:
    """Return whether files are as they were when this process loaded its code."""
    # The time of the inode: that of the content may be set to anything.
    return all(state.ctime_ns < _LOADED for state in states.values())


def _files() -> dict[str, FileState]:
    """Return the modules and schemas of this package, in what state they are."""
    schemas = builtin_root().parent / "schemas"  # in a checkout they lie beside the package
    return dict(sorted((*_found(str(_package()), ".py"), *_found(str(schemas), ".json"))))


def _found(folder: str, suffix: str) -> Iterator[tuple[str, FileState]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _found(entry.path, suffix)
            elif entry.name.endswith(suffix):
                yield entry.path, FileState.of(entry.stat())


def _package() -> Path:
    return Path(__file__).parents[1]

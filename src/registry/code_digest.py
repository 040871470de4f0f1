"""The digest of the code that understands files: what other code understood is not used again."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from registry.canonical import digest_of
from registry.catalog_listing import State, is_settled, state_of
from registry.files import write_whole
from registry.settings import builtin_root

__all__ = ["code_digest", "known_code_digest"]

_FORMAT = 1


@functools.cache
def code_digest() -> str:
    """Return the digest of Python's version and of this package's modules and schemas."""
    files = {
        os.path.relpath(path, _package()): hashlib.sha256(Path(path).read_bytes()).hexdigest()
        for path in _files()
    }
    return digest_of([_FORMAT, sys.version, files])


@functools.cache
def known_code_digest(folder: Path) -> str:
    """Return `code_digest`; from `folder` where all files are in the state that it was taken in.

    Their states stand for the content as those of manifests do; to read them all takes longer than
    anything else that opens a dataset. The digest itself is of bytes, so that machines with other
    copies of the same code share what is kept.
    """
    place = folder / f"{hashlib.sha256(os.fsencode(_package())).hexdigest()}.code"
    states = _files()
    known = digest_of([_FORMAT, sys.version, [[path, *state] for path, state in states.items()]])
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(place.read_bytes())
        if kept["states"] == known:
            return str(kept["digest"])
    digest = code_digest()
    if all(is_settled(state) for state in states.values()):
        text = json.dumps({"states": known, "digest": digest}).encode()
        with contextlib.suppress(OSError):
            write_whole(place, lambda file: file.write(text))
    return digest


def _files() -> dict[str, State]:
    """Return the modules and schemas of this package, in what state they are."""
    schemas = builtin_root().parent / "schemas"  # in a checkout they lie beside the package
    return dict(sorted((*_found(str(_package()), ".py"), *_found(str(schemas), ".json"))))


def _found(folder: str, suffix: str) -> Iterator[tuple[str, State]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _found(entry.path, suffix)
            elif entry.name.endswith(suffix):
                yield entry.path, state_of(entry.stat())


def _package() -> Path:
    return Path(__file__).parent

"""One pin of a lockfile, looked up in the cache: a lockfile of thousands is parsed once."""

from __future__ import annotations

import contextlib
import hashlib
from itertools import accumulate
from pathlib import Path

import msgspec

from registry.base.best_effort import best_effort_path, read_best_effort, write_best_effort
from registry.base.conversion import decode_json
from registry.catalog.code_version import package_version_key
from registry.lockfile.models import Lock, Pin, parse_lock, read_bytes

__all__ = ["read_pin"]


def read_pin(path: Path, name: str, cache_dir: Path, *, shown_as: str | None = None) -> Pin | None:
    """Read the pin of one dataset; None if there is no lockfile, or no such dataset in it.

    Raises:
        LockError: the file is not valid.
    """
    data = read_bytes(path, shown_as=shown_as)
    if data is None:
        return None
    # The digest of 10,000 pins takes 3 ms. In return, a lockfile that was just written is not
    # parsed twice, nor one that many machines with a cache in common each have their own copy of.
    key = [package_version_key(), hashlib.sha256(data).hexdigest()]
    place = best_effort_path(path, cache_dir, "lock")
    with contextlib.suppress(ValueError, LookupError, TypeError):  # of another form
        return _find(read_best_effort(place) or b"", key, name)
    lock = parse_lock(data, shown_as or str(path))
    write_best_effort(place, _compile(lock, key))
    return lock.pins.get(name)


def _compile(lock: Lock, key: list[str]) -> bytes:
    """Return lines of JSON: a header with the offset of each pin, and the pins."""
    lines = [msgspec.json.encode(pin) + b"\n" for pin in lock.pins.values()]
    # Flat lists, because ten thousand small ones take a while to decode.
    offsets = [0, *accumulate(map(len, lines))]
    header = {"key": key, "names": list(lock.pins), "offsets": offsets}
    return b"".join([msgspec.json.encode(header), b"\n", *lines])


def _find(data: bytes, key: list[str], name: str) -> Pin | None:
    """Return a pin of a compiled lock.

    Raises:
        ValueError: it is not of this key.
    """
    start = data.index(b"\n") + 1
    header = msgspec.json.decode(data[:start])
    if header["key"] != key:
        raise ValueError("another lockfile, or other code")
    if name not in header["names"]:
        return None
    row = header["names"].index(name)  # a dict of ten thousand names would take longer
    begin, end = header["offsets"][row : row + 2]
    return decode_json(data[start + begin : start + end], Pin)

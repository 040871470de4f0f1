"""Decide whether a requested path can stand for a location, without listing any files."""

from __future__ import annotations

import fnmatch

from registry.base.locations import is_local, split_member

__all__ = ["matches"]

# fsspec writes these in several ways: `memory://a` is `memory:///a`, `s3a://a` is `s3://a`.
_SAME_PROTOCOL = {"s3a": "s3"}


def matches(requested: str, location: str) -> bool:
    """Return whether a path, folder or glob can match a location; both are portable names.

    A lockfile is edited as easily as a manifest, so the location that it has for a glob must be one
    that the glob could have found.
    """
    if requested == location:
        return True
    wanted, found = split_member(requested), split_member(location)
    if wanted is not None or found is not None:
        return (
            wanted is not None
            and found is not None
            and (wanted[0], wanted[2]) == (found[0], found[2])
            and _matches_segments(wanted[1].split("/"), found[1].split("/"))
        )
    pattern, path = _segments(requested), _segments(location)
    if is_local(requested) and path[: len(pattern)] == pattern:
        return ".." not in path[len(pattern) :]  # in a folder that `datasets` reads
    return _matches_segments(pattern, path)


def _segments(location: str) -> list[str]:
    """Return the protocol and the segments of the path."""
    protocol, mark, path = location.partition("://")
    if not mark:
        return location.removeprefix("./").rstrip("/").split("/")
    return [_SAME_PROTOCOL.get(protocol, protocol) + mark, *path.lstrip("/").split("/")]


def _matches_segments(pattern: list[str], path: list[str]) -> bool:
    """Return whether a glob matches a path: `**` any number of segments, all others one each."""
    if pattern.count("..") != path.count(".."):  # no wildcard leads up to the parent folder
        return False
    # A set of positions instead of backtracking, which a hostile pattern would make exponential.
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and _matches_one(part, path[at])}
        if not reached:
            return False
    return len(path) in reached


def _matches_one(pattern: str, name: str) -> bool:
    return pattern == name or (name not in ("", ".", "..") and fnmatch.fnmatchcase(name, pattern))

"""What a catalog reaches beyond its own files, and which of that a change adds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from registry.base.locations import PACKAGE, Location
from registry.boundary.hosts import HUB, host_of
from registry.boundary.secrets import leaves, variable_of
from registry.diff.models import REACH_KINDS, NewReach, Reach, Snapshot
from registry.errors import ReachError
from registry.manifest.expressions import MEDIA_KINDS, parse_expression, parse_operations
from registry.manifest.models import DatasetSpec
from registry.manifest.paths import strings_in
from registry.manifest.source import Source
from registry.mapping.columns_used import operations_in
from registry.mapping.operations import find_operation

__all__ = [
    "fields_of",
    "file_texts",
    "index_reach",
    "new_reach",
    "reach_of",
    "reads_files",
    "stores_of",
]

_STORES = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl")
_EXPLICIT = ("account_key", "anon", "connection_string", "key", "profile", "sas_token", "token")
"""Options that say which credentials are used, if any."""
_WITHOUT_BUCKETS = ("http", "https", "hf")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILES = ("files", "sandbox", "setup")
"""Fields whose values name files that an evaluation reads."""
_CONSTANTS = ("const", "template")
"""Keys of expressions whose texts a value may be."""
_LISTS = ("trust", "hosts", "paths")
"""Permissions of the index that are lists; the others are mappings."""


def new_reach(base: Snapshot, head: Snapshot) -> tuple[NewReach, ...]:
    """Return what some dataset of the head, or its index, reaches and nothing of the base does."""
    known = frozenset[Reach]().union(*base.reach.values())
    names: dict[Reach, list[str]] = {}
    for name in sorted(head.reach):
        for one in head.reach[name] - known:
            names.setdefault(one, []).append(name)

    def rank(one: Reach) -> tuple[int, str]:
        return REACH_KINDS.index(one.kind), one.name

    return tuple(
        NewReach(one.kind, one.name, tuple(filter(None, names[one])))
        for one in sorted(names, key=rank)
    )


# --- a dataset ---


def reach_of(spec: DatasetSpec, relative: Callable[[str], str]) -> frozenset[Reach]:
    """Return what a dataset reaches beyond the catalog's folder.

    Args:
        spec: The dataset.
        relative: Returns a path relative to the catalog's folder, if it is a name on all machines.
    """
    found: set[Reach] = set()
    for source in spec.all_sources:
        found.update(_of_source(source, str(spec.folder), relative))
    if spec.mapper is not None:
        found.add(Reach("mapper", spec.mapper))
    for name, field in fields_of(spec).items():
        for text in file_texts(field, name):
            found.update(_of_constant(text))
    if spec.companion is not None:
        found |= reach_of(spec.companion, relative)
    return frozenset(found)


def stores_of(spec: DatasetSpec) -> frozenset[str]:
    """Return the buckets and repositories that are read with the credentials of the machine.

    Those are the credentials that a client finds by itself. A manifest that names others, or none,
    is judged by `secrets`.
    """
    found = set[str]()
    for source in spec.all_sources:
        if source.repository is not None:
            found.add(source.repository.location)
        if set(_EXPLICIT).isdisjoint(source.fs_options):
            found.update(filter(None, map(_store_of, source.paths())))
        found.update(filter(None, map(_store_of, source.mirrors)))
    return frozenset(found)


def _store_of(path: str) -> str | None:
    location = Location(path).file
    protocol, _, rest = location.partition("://")
    if protocol in _STORES:
        return f"{protocol}://{rest.partition('/')[0]}"
    if protocol == "hf":  # datasets/OWNER/NAME@revision/…
        return "hf://" + "/".join(part.partition("@")[0] for part in rest.split("/")[:3])
    return None


def reads_files(spec: DatasetSpec) -> bool:
    """Return whether fields of a dataset may read or name more files than its source has."""
    if spec.companion is not None and reads_files(spec.companion):
        return True
    fields = fields_of(spec)
    return "files" in fields or any(map(_opens, fields.values()))


def _opens(field: Any) -> bool:
    calls = operations_in(parse_expression(field))
    return any(find_operation(call).reads_files for call in calls)


def fields_of(spec: DatasetSpec) -> dict[str, Any]:
    """Return the expressions in the manifest, those of metadata in a list; none beside a mapper."""
    fields = {name: getattr(spec.fields, name) for name in spec.fields.named}
    if isinstance(metadata := fields.get("metadata"), Mapping):
        fields["metadata"] = list(metadata.values())
    return fields


def file_texts(field: Any, name: str) -> Iterator[str]:
    """Yield the constants in a field that are URLs, or that name a file where one is read."""
    yield from _constants(field, name in _FILES or _opens(field))


def _of_constant(text: str) -> Iterator[Reach]:
    if _looks_outside(text):
        yield Reach("local path", text)
    elif "://" in text and not Location(text).is_local:
        yield Reach("scheme", Location(text).protocol)
        yield Reach("host", _host(text, {}))


def _of_source(source: Source, folder: str, relative: Callable[[str], str]) -> Iterator[Reach]:
    options = [value for _, value in leaves(source.fs_options)]
    hosts = {_host(path, source.fs_options) for path in source.paths()}
    hosts |= {_host(text, {}) for text in options if isinstance(text, str) and "://" in text}
    if source.repository is not None:
        yield Reach("scheme", "hf")
        hosts.add(HUB)
    for path in (*source.paths(), *source.mirrors):
        yield from _of_location(path, folder, relative)
    mirrors = {_host(mirror, {}) for mirror in source.mirrors} - {""}
    yield from (Reach("host", host) for host in mirrors - hosts)
    hosts.discard("")
    yield from (Reach("host", host) for host in hosts)
    # The same variable for another host is another reach: that host receives its value.
    receivers = [f" to {host}" for host in hosts] or [""]
    for variable in filter(None, map(variable_of, options)):
        yield from (Reach("variable", f"{variable}{receiver}") for receiver in receivers)


def _of_location(path: str, folder: str, relative: Callable[[str], str]) -> Iterator[Reach]:
    archive = Location(path).file
    for link in path.removesuffix(archive).split("::")[:-1]:
        yield Reach("scheme", link.partition("://")[0])
    protocol = archive.protocol
    if archive.is_package:
        yield Reach("package", archive.removeprefix(PACKAGE).partition("/")[0])
    elif archive.is_local:
        absolute = archive.local_path()
        if not f"{absolute}{os.sep}".startswith(folder.rstrip(os.sep) + os.sep):
            yield Reach("local path", relative(absolute))
    else:
        yield Reach("scheme", protocol)
        if protocol not in _WITHOUT_BUCKETS:  # a bucket belongs to someone, as a host does
            yield Reach("host", f"{protocol}://{_authority(archive)}")


def _host(location: str, options: Mapping[str, Any]) -> str:
    """Return the host of a URL; "" for a path."""
    try:
        return host_of(Location(location), options)
    except ReachError:  # nothing is read from it, but that a change names it is shown
        return _authority(Location(location).file)


def _authority(url: str) -> str:
    """Return the bucket of a URL, or a host that is not named plainly; without a password."""
    if Location(url).has_divided_user:
        return "…"
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    _, mark, host = authority.rpartition("@")
    return f"…@{host}" if mark else host


# --- the index ---


def index_reach(index: Mapping[str, Any]) -> frozenset[Reach]:
    """Return what the keys of an index reach or permit."""
    found = {
        Reach("permission", f"{key}: {one}") for key in _LISTS for one in _as_list(index.get(key))
    }
    for key in ("secrets", "limits"):
        values = index.get(key)
        for name, value in values.items() if isinstance(values, Mapping) else ():
            found |= {Reach("permission", f"{key}: {name} to {one}") for one in _as_list(value)}
    for pattern in map(str, _as_list(index.get("include"))):
        if pattern.startswith(PACKAGE):
            found.add(Reach("package", pattern.removeprefix(PACKAGE)))
        elif _looks_outside(os.path.normpath(pattern)):
            found.add(Reach("local path", pattern))
    return frozenset(found)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _looks_outside(path: str) -> bool:
    return path.startswith(("/", "~", "../", "file:")) or path == ".."


# --- values of unknown structure ---


def _constants(value: Any, reads: bool) -> Iterator[str]:
    """Yield the constants anywhere in an expression that are URLs.

    Args:
        value: The expression.
        reads: Whether it is for a file, so that all its texts count.
    """
    match value:
        case {"from": start}:
            yield from _constants(start, reads)
            yield from _of_steps(value.get("do", []), reads)
        case Mapping():
            for key, item in value.items():
                if key in _CONSTANTS:
                    texts = (text for _, text in strings_in(item))
                    yield from (text for text in texts if reads or _URL.match(text))
                else:
                    yield from _constants(item, reads or key in MEDIA_KINDS)
        case list() | tuple():
            for item in value:
                yield from _constants(item, reads)


def _of_steps(steps: Any, reads: bool) -> Iterator[str]:
    """Yield the constants that operations may put into their results."""
    for call in parse_operations(steps):
        operation, argument = find_operation(call), call.arguments
        yield from _constants({"const": operation.texts(argument)}, reads)
        yield from _of_steps(operation.steps(argument), reads)
        # A `key` is the name of a file in the sandbox.
        name = argument.get("key") if isinstance(argument, Mapping) else None
        values = (one for one in operation.expressions(argument) if one is not name)
        yield from _constants(list(values), reads)

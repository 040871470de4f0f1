"""Check a dataset's sources: secrets, plain HTTP, revisions that are not pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

from registry.base.escape import normal_form
from registry.base.local_files import is_device
from registry.base.locations import ARCHIVE_PROTOCOLS, MAX_ARCHIVES, Location, bad_package_path
from registry.boundary.checks import Violation, violations
from registry.boundary.hosts import is_listed, url_host
from registry.boundary.secrets import leaves
from registry.errors import ReachError, count_text
from registry.manifest.merge import Merged
from registry.manifest.paths import sources_in, strings_in
from registry.manifest.source import is_commit, revision_in
from registry.manifest.source_models import CAPTURE, source_model
from registry.rules import Finding
from registry.yamldoc.reader import DataPath

__all__ = [
    "OF_PAGES",
    "bad_location",
    "literal_secret",
    "may_be_secret",
    "plain_http",
    "refused_option",
    "refused_protocol",
    "secret_in_url",
    "secret_of",
    "unlisted_host",
    "unlisted_secret",
    "unpinned_revision",
]

OF_PAGES = ("homepage", "license", "access")
"""Keys whose addresses are those of pages; most of their queries are no secret."""
# Strings, not compiled patterns: `re` compiles and caches them on first use, and most datasets
# need none.
_SENSITIVE = (
    r"(?i)(^|_)key(_|$)|secret|passw|token|credential|(^|_)sas(_|$)|connection_string"
    r"|authorization|cookie|(api|access)-?key"
)
# Also the parameters with which cloud storage signs links and services pass credentials.
_SENSITIVE_QUERY = rf"{_SENSITIVE}|signature|(^|[-_])sig($|[-_])|(^|[-_])auth([-_]|$)"
# `?` starts the query of a URL of the web, and is a wildcard elsewhere.
_EXPANDED = re.compile(r"[*\[{]|^(?!https?://).*\?")
_WEB = ("http", "https", "ftp")
# fsspec writes `github://owner:repository@commit/path`, which looks like a password but is not.
_NO_PASSWORD = ("github", "gist")


def literal_secret(merged: Merged) -> Iterator[Finding]:
    """Report options that contain a secret instead of the name of an environment variable."""
    for path, item in _options(merged.value):
        inside = path[path.index("fs_options") + 1 :]
        # The innermost matching key: 'password' in `{client_kwargs: {password: [x]}}`.
        named = next(
            (str(key) for key in reversed(inside) if re.search(_SENSITIVE, str(key))), None
        )
        if named is not None and isinstance(item, str | int | float) and not isinstance(item, bool):
            message = f"a literal secret in '{named}'"
            yield Finding(path, message, "name an environment variable: `{env: NAME}`")


def secret_in_url(merged: Merged) -> Iterator[Finding]:
    """Report URLs that contain a password or a signature: of files, and of pages to read."""
    for key in OF_PAGES:
        for path, text in strings_in(merged.value.get(key), (key,)):
            if (named := secret_of(Location(text))) and _is_written(merged, path):
                yield Finding(path, f"a secret in the URL: {named}", "write it without")
    for path, location in _locations(merged.value):
        if not _is_written(merged, path):
            continue
        named = _secret_within(location)
        if named:
            hint = "pass it at run time: `get_dataset(name, source=URL)`, or put it in fs_options"
            yield Finding(path, f"a secret in the URL: {named}", hint)


def bad_location(merged: Merged) -> Iterator[Finding]:
    """Report paths that can't name a file, or name one only on some systems."""
    yield from _unportable(merged)
    yield from _uncounted_digests(merged)
    yield from _useless_mirrors(merged)
    for place, location in _paths(merged.value):
        member = location.member
        fault = bad_package_path(location.file) if location.is_package else ""
        if fault:
            yield Finding(place, fault, "write package:NAME/inner/path")
        if member is not None and location.count("::") > MAX_ARCHIVES:
            yield Finding(place, f"more than {MAX_ARCHIVES} archives within each other")
        elif location.protocol in ARCHIVE_PROTOCOLS:
            message = "a member needs its archive"
            yield Finding(place, message, f"write {location.protocol}://MEMBER::ARCHIVE")
        elif member is not None and not member.path:
            hint = f"write {member.protocol}://MEMBER::ARCHIVE"
            yield Finding(place, "no member of the archive", hint)
        elif (named := CAPTURE.search(location.file)) and (
            member is not None or location.protocol in ("http", "https")
        ):
            where = "in a URL of the web or in the path of an archive, where no files are listed"
            yield Finding(place, f"{named[0]} is {where}", "write each path")
        elif member is None and (kind := location.archive_protocol):
            hint = f"write {kind}://MEMBER::ARCHIVE, with * for all of its files"
            yield Finding(place, "an archive, not a file of records", hint)


def _uncounted_digests(merged: Merged) -> Iterator[Finding]:
    """Report a `sha256` that does not have one digest for each path."""
    for path, own, keys in _sources_read(merged.value):
        if not (digests := keys.get("sha256")):
            continue
        place = (*(path if "sha256" in own else ("source",)), "sha256")
        paths = [Location(text) for _, text in strings_in(keys.get("path"))]
        count = 1 if isinstance(digests, str) else len(digests)
        if count != len(paths):
            message = f"{count_text(count, 'digest')} of {count_text(len(paths), 'path')}"
            yield Finding(place, message, "write one for each path, in their order")
        for text in paths:
            if _EXPANDED.search(text.file):
                message = f"'{text}' can be any number of files, so it has no digest"
                yield Finding(place, message, "write each path; `registry lock` pins what is there")


def _useless_mirrors(merged: Merged) -> Iterator[Finding]:
    """Report mirrors of local files, and those that do not say where which file is."""
    for path, own, keys in _sources_read(merged.value):
        place = (*(path if "mirrors" in own else ("source",)), "mirrors")
        paths = [Location(text) for _, text in strings_in(keys.get("path"))]
        names = {one.file_name for one in paths}
        is_one = len(paths) == 1 and not _EXPANDED.search(paths[0].file)
        for where, mirror in strings_in(keys.get("mirrors"), place):
            if any(one.is_local for one in paths):
                message = "a mirror of a local file, which is read where it is"
                yield Finding(where, message, "give the address in `path`, or remove `mirrors`")
            elif Location(mirror).member is not None:
                hint = "write the address of the archive, without `::`"
                yield Finding(where, "a member of an archive; a mirror has whole files", hint)
            elif not mirror.endswith("/") and not is_one:
                hint = "write a folder, which ends with `/`, that has the files by their names"
                yield Finding(where, f"'{mirror}' is one file, and `path` several", hint)
            elif mirror.endswith("/") and len(names) < len({one.file for one in paths}):
                hint = "write them as parts of `concat`, each with mirrors of its own"
                yield Finding(where, "two of the paths have the same file name", hint)


def _unportable(merged: Merged) -> Iterator[Finding]:
    """Report a NUL, names of devices, and local paths that only some systems tell apart."""
    known: dict[tuple[DataPath, str], str] = {}
    for place, location in _paths(merged.value):
        # `outside-path` reports it in the path of a local file.
        if "\0" in location and not (location.is_path and "\0" in location.file):
            yield Finding(place, f"'{location}' has a NUL, which no path has", "correct the path")
        if not location.is_local:
            continue
        name = location.rpartition("/")[2]
        if is_device(name):
            yield Finding(
                place, f"Windows reserves the name '{name}' for a device", "rename the file"
            )
        folded = normal_form("NFC", location).casefold()
        other = known.setdefault((place[:-1], folded), location)
        if other != location:
            message = f"'{name}' and '{other.rpartition('/')[2]}' are one file on some systems"
            yield Finding(place, message, "rename one of them")


def refused_protocol(merged: Merged) -> Iterator[Finding]:
    """Report URLs with a protocol that manifests may not use."""
    yield from _violations(merged, "refused-protocol")


def refused_option(merged: Merged) -> Iterator[Finding]:
    """Report options of file systems that manifests may not use."""
    yield from _violations(merged, "refused-option")


def unlisted_host(merged: Merged) -> Iterator[Finding]:
    """Report hosts that need the word of the root index and don't have it."""
    yield from _violations(merged, "unlisted-host")


def unlisted_secret(merged: Merged) -> Iterator[Finding]:
    """Report variables whose values would go to hosts that the root index doesn't map them to."""
    yield from _violations(merged, "unlisted-secret")


def _violations(merged: Merged, rule: str) -> Iterator[Finding]:
    global _latest  # noqa: PLW0603 (a manifest has no place for it)
    latest = _latest
    if latest is None or latest[0] is not merged:
        latest = _latest = merged, list(_all_violations(merged))
    yield from (found for name, found in latest[1] if name == rule)


_latest: tuple[Merged, list[tuple[str, Finding]]] | None = None
"""Each violation with its rule, of the manifest that was checked last: four rules ask for them."""


def _all_violations(merged: Merged) -> Iterator[tuple[str, Finding]]:
    if merged.boundary.is_open:
        return
    for path, own, keys in _sources_read(merged.value):
        is_repository = source_model(keys).repository_of(keys) is not None
        locations = [
            (place, location)
            for place, location in _located(keys, (), "path", "data_files")
            # One mistake is one problem: `secret-in-url` reports these.
            if not location.is_local
            and not (_is_written(merged, (*path, *place)) and _secret_within(location))
        ]
        given = keys.get("fs_options")
        options = given if isinstance(given, dict) else {}  # the schema reports anything else
        mirrors = [
            (place, location)
            for place, location in _located(keys, (), "mirrors")
            if not location.is_local and not _secret_within(location)
        ]
        found = (
            _in_repository(locations)
            if is_repository
            else chain(
                violations(locations, options, merged.boundary),
                violations(mirrors, {}, merged.boundary),  # they receive none of the options
            )
        )
        for one in found:
            place = (*(path if one.path[0] in own else ("source",)), *one.path)
            # A location in a call is the user's own word; what it would receive is not.
            if one.path[0] == "fs_options" or _is_written(merged, place):
                yield one.rule, Finding(place, one.message, one.hint)


def _in_repository(locations: list[tuple[DataPath, Location]]) -> Iterator[Violation]:
    """Yield the URLs among the files of a repository, which `datasets` would request by itself."""
    for place, _ in locations:
        hint = "name a file in it, or use the builder: `path: csv` with `data_files`"
        yield Violation(
            "refused-protocol", place, "a URL in place of a file of the repository", hint
        )


def plain_http(merged: Merged) -> Iterator[Finding]:
    """Report URLs of files and services that use plain HTTP, where the index allows it."""
    listed = merged.boundary.hosts
    for path, text in (*_locations(merged.value), *_options(merged.value)):
        for part in text.split("::") if isinstance(text, str) else ():
            if Location(part).protocol.lower() != "http":
                continue
            try:
                host = url_host(part)
            except ReachError:  # that is a problem of its own
                continue
            allowed = merged.boundary.is_open or is_listed(host, listed)
            if allowed and not host.is_loopback:
                yield Finding(path, f"plain HTTP to {host.name}", "use https://")
                break


def unpinned_revision(merged: Merged) -> Iterator[Finding]:
    """Report Hub sources, and files in a repository, whose revision is not a full commit."""
    for path, own, keys in _sources_read(merged.value):
        repository = source_model(keys).repository_of(keys)
        if repository is not None:
            if not is_commit(repository.revision):
                # Without a revision, report the line of the repository, which may be inherited.
                key = "path" if repository.revision is None else "revision"
                place = path if key in own else ("source",)
                hint = "give a full commit: `revision: <40 hex digits>`"
                yield Finding((*place, key), _floating(repository.revision), hint)
            continue
        for place, location in strings_in(own.get("path"), (*path, "path")):
            revision = None if keys.get("sha256") else revision_in(Location(location))
            if revision is not None and not is_commit(revision):
                hint = "replace it with the full commit"
                yield Finding(place, _floating(revision), hint)


def _floating(revision: str | None) -> str:
    return f"the revision '{revision}' may move" if revision else "no revision"


def _is_written(merged: Merged, path: DataPath) -> bool:
    """Return whether a value is in a file; an argument of a call is in none."""
    return merged.layer(path).document is not None


def _secret_within(location: Location) -> str:
    parts = map(Location, location.split("::"))
    return next(filter(None, map(secret_of, parts)), "")


def _sources_read(
    value: dict[str, Any],
) -> Iterator[tuple[DataPath, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield those of `sources_in` that are read: not `source` beside `concat`."""
    for path, own, keys in sources_in(value):
        if keys and not (path == ("source",) and value.get("concat")):
            yield path, own, keys


def _options(value: dict[str, Any]) -> Iterator[tuple[DataPath, Any]]:
    """Yield the values, and the references to variables, in the fs_options of every source."""
    for path, source, _ in sources_in(value):
        yield from leaves(source.get("fs_options", {}), (*path, "fs_options"))


def _locations(value: dict[str, Any]) -> Iterator[tuple[DataPath, Location]]:
    """Yield the URLs of files."""
    mirrors = (
        found
        for path, source, _ in sources_in(value)
        for found in _located(source, path, "mirrors")
    )
    return (one for one in chain(_paths(value), mirrors) if not one[1].is_local)


def _paths(value: dict[str, Any]) -> Iterator[tuple[DataPath, Location]]:
    """Yield the paths and URLs of files, and the names of repositories."""
    for path, source, _ in sources_in(value):
        yield from _located(source, path, "path", "data_files")


def _located(
    source: Mapping[str, Any], path: DataPath, *keys: str
) -> Iterator[tuple[DataPath, Location]]:
    for key in keys:
        for place, text in strings_in(source.get(key), (*path, key)):
            yield place, Location(text)


def secret_of(url: Location) -> str:
    """Return the name of the secret part of a URL, never the secret itself; "" if there is none."""
    scheme = url.protocol.lower()
    authority = url.partition("://")[2].partition("/")[0]
    user, at, _ = authority.rpartition("@")
    is_user = at and scheme not in _NO_PASSWORD and (scheme in _WEB or ":" in user)
    if is_user or url.has_divided_user:
        return "a user or password before the host"
    query = url.partition("?")[2].partition("#")[0]
    for name, item in parse_qsl(query):
        if item and may_be_secret(name):
            return f"'{name}'"
    return ""


def may_be_secret(name: str) -> bool:
    """Return whether a value of this name, wherever it is, may be a secret."""
    return re.search(_SENSITIVE_QUERY, name) is not None

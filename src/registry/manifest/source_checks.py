"""Judge the sources of a dataset: secrets, plain HTTP, revisions that float."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from registry.base.locations import is_local, protocol_of
from registry.manifest.merge import Merged
from registry.manifest.source import is_commit
from registry.manifest.source_models import source_model
from registry.yamldoc.reader import DataPath

__all__ = ["Finding", "literal_secrets", "plain_http", "secrets_in_urls", "unpinned_revisions"]

Finding = tuple[DataPath, str, str]
"""Where in the dataset, what is wrong, and what to do next."""

# `re` compiles these when they are first used, and keeps them: most datasets need none.
_SENSITIVE = r"(?i)(^|_)key(_|$)|secret|passw|token|credential|(^|_)sas(_|$)|connection_string"
# Beside those: what cloud storage signs its links with, and what services call their passwords.
_SENSITIVE_QUERY = (
    rf"{_SENSITIVE}|signature|(^|[-_])sig($|[-_])|(api|access)-?key|(^|[-_])auth([-_]|$)"
)
_WEB = ("http", "https", "ftp")
# `github://owner:repository@commit/path` has the form of a password and is none.
_NO_PASSWORD = ("github", "gist")
_THIS_MACHINE = r"localhost|127(\.\d+){3}|::1"
# Files under a revision: the part of the location that names it.
_UNDER_REVISION = (
    r"hf://(?:(?:datasets|spaces|models)/)?[^/@]+/[^/@]+(?:@(?P<revision>[^/]*))?/",
    r"https?://huggingface\.co/(?:datasets/)?[^/]+/[^/]+/resolve/(?P<revision>[^/]+)/",
    r"https?://raw\.githubusercontent\.com/[^/]+/[^/]+/(?P<revision>[^/]+)/",
)


def literal_secrets(merged: Merged) -> Iterator[Finding]:
    """Yield the options that hold a secret and not the name of a variable."""
    for path, item in _options(merged.value):
        inside = path[path.index("fs_options") + 1 :]
        named = next(
            (str(key) for key in reversed(inside) if re.search(_SENSITIVE, str(key))), None
        )
        if named is not None and isinstance(item, str | int | float) and not isinstance(item, bool):
            message = f"a literal secret in '{named}'"
            yield path, message, "name an environment variable: `{env: NAME}`"


def secrets_in_urls(merged: Merged) -> Iterator[Finding]:
    """Yield the URLs of files that hold a password or a signature."""
    for path, location in _locations(merged.value):
        # What is given in Python is in no file that is kept.
        if merged.layer(path).document is None:
            continue
        for part in location.split("::"):
            named = _secret_of(part)
            if named:
                hint = "give it when it is used: `get_dataset(name, source=URL)`, or in fs_options"
                yield path, f"a secret in the URL: {named}", hint
                break


def plain_http(merged: Merged) -> Iterator[Finding]:
    """Yield the URLs, of files and of services, that anybody on the way can read and change."""
    for path, text in (*_locations(merged.value), *_options(merged.value)):
        for part in text.split("::") if isinstance(text, str) else ():
            host = _host_of(part) if protocol_of(part).lower() == "http" else None
            if host is not None and not re.fullmatch(_THIS_MACHINE, host):
                yield path, f"plain HTTP to {host}", "use https://"
                break


def unpinned_revisions(merged: Merged) -> Iterator[Finding]:
    """Yield the sources of the Hub, and files under a revision, that name no full commit."""
    for path, keys, whole in _effective_sources(merged.value):
        repository = source_model(whole).repository_of(whole)
        if repository is not None:
            if not is_commit(repository.revision):
                # Without a revision the place is that of the repository, wherever that was written.
                key = "path" if repository.revision is None else "revision"
                place = path if key in keys else ("source",)
                hint = "give a full commit: `revision: <40 hex digits>`"
                yield (*place, key), _floating(repository.revision), hint
            continue
        for place, location in _texts(keys.get("path"), (*path, "path")):
            for pattern in _UNDER_REVISION:
                found = re.match(pattern, location)
                if found and not is_commit(found["revision"]):
                    yield place, _floating(found["revision"]), "write the full commit in its place"


def _floating(revision: str | None) -> str:
    return f"the revision '{revision}' may move" if revision else "no revision"


def _effective_sources(
    value: dict[str, Any],
) -> Iterator[tuple[DataPath, dict[str, Any], dict[str, Any]]]:
    """Yield each source that is read: its path, its own keys, and those with `source`'s."""
    source = value.get("source") or {}
    parts = value.get("concat") or ()
    if not parts:
        yield ("source",), source, source
    for index, part in enumerate(parts):
        yield ("concat", index), part, {**source, **part}
    if side := (value.get("join") or {}).get("source"):
        yield ("join", "source"), side, side


def _sources(value: dict[str, Any]) -> Iterator[tuple[DataPath, dict[str, Any]]]:
    """Yield every source that is written, with its own keys."""
    yield ("source",), value.get("source") or {}
    for index, part in enumerate(value.get("concat") or ()):
        yield ("concat", index), part
    yield ("join", "source"), (value.get("join") or {}).get("source") or {}


def _options(value: dict[str, Any]) -> Iterator[tuple[DataPath, Any]]:
    """Yield what stands in the fs_options of every source."""
    for path, source in _sources(value):
        yield from _leaves(source.get("fs_options", {}), (*path, "fs_options"))


def _leaves(value: Any, path: DataPath) -> Iterator[tuple[DataPath, Any]]:
    """Yield what stands in options, except references to the environment."""
    if isinstance(value, dict):
        if set(value) == {"env"} and isinstance(value["env"], str):
            return
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _locations(value: dict[str, Any]) -> Iterator[tuple[DataPath, str]]:
    """Yield every location of files that is no path of this machine."""
    for path, source in _sources(value):
        for key in ("path", "data_files"):
            for place, text in _texts(source.get(key), (*path, key)):
                if not is_local(text):
                    yield place, text


def _texts(value: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    return ((place, item) for place, item in _leaves(value, path) if isinstance(item, str))


def _secret_of(url: str) -> str:
    """Name what is secret in a URL, or return an empty text; the secret itself is never said."""
    scheme = protocol_of(url).lower()
    authority = url.partition("://")[2].partition("/")[0]
    user, at, _ = authority.rpartition("@")
    if at and scheme not in _NO_PASSWORD and (scheme in _WEB or ":" in user):
        return "a user or password before the host"
    query = url.partition("?")[2].partition("#")[0]
    for name, item in parse_qsl(query):
        if item and re.search(_SENSITIVE_QUERY, name):
            return f"'{name}'"
    return ""


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # brackets that hold no address
        return None

"""Check where a source leads, and what it would send there, before anything is opened.

What the user passes to a loader is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.boundary.hosts import Host, address_fault, is_listed, parse_host, server_of, url_host
from registry.boundary.secrets import OptionPath, leaves, variable_of
from registry.errors import ReachError, near_or_known

__all__ = ["PROTOCOLS", "Option", "Violation", "check_location", "listed_options", "violations"]


class Violation(Struct, frozen=True):
    """What a source may not do."""

    rule: str
    """Id of the rule."""
    path: OptionPath
    """The value in the source's keys."""
    message: str
    """What is wrong, without secrets."""
    hint: str
    """What to do next."""


def check_location(location: Location, options: Mapping[str, Any], boundary: Boundary) -> None:
    """Check a location just before it is opened: globs, locks and redirects lead to more of them.

    Raises:
        ReachError: the boundary excludes it, or an option.
    """
    found = next(violations([(("path",), location)], options, boundary), None)
    if found is not None:
        place = "" if found.path == ("path",) else f"{_dotted(found.path)}: "
        shown = location.public
        raise ReachError(f"{shown}: {place}{found.message} ({found.hint})")


def violations(
    locations: Iterable[tuple[OptionPath, Location]], options: Mapping[str, Any], boundary: Boundary
) -> Iterator[Violation]:
    """Yield what a source with these locations and `fs_options` may not do."""
    if boundary.is_open:
        return
    by_protocol: dict[str, dict[str, Host]] = {}
    for path, given in locations:
        location = given.file
        if location.is_local:
            continue
        protocol = location.protocol
        is_named = _is_named(location, boundary)
        if is_named and protocol not in PROTOCOLS:
            by_protocol[protocol] = {}  # options of a manifest are refused there
            continue
        try:
            if is_named or (wrong := _bad_protocol(path, location)) is None:
                server = server_of(Location(location.public) if is_named else location, options)
                if server is not None:
                    by_protocol.setdefault(protocol, {})[str(server)] = server
                wrong = None if is_named else _bad_host(path, location, boundary)
        except ReachError as error:
            wrong = Violation("unlisted-host", path, str(error), "correct it")
        if wrong is not None:
            yield wrong
    for protocol, hosts in by_protocol.items():
        for path, value in leaves(options):
            yield from _bad_option(protocol, path, value, list(hosts.values()), boundary)


def _is_named(location: Location, boundary: Boundary) -> bool:
    """Return whether a URL has the protocol, and the server or bucket, that the user named."""
    named = Location(boundary.named).file
    return bool(named) and _server_part(location) == _server_part(named)


def _server_part(url: Location) -> tuple[str, str]:
    # A glob on `memory://b/*` finds `memory:///b/x`.
    return url.protocol, url.partition("://")[2].lstrip("/").partition("/")[0]


def listed_options(protocol: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that need listed hosts, with their paths as names."""
    found = {}
    for path, value in leaves(options):
        option = _option(protocol, path)
        if option is not None and option.listed:
            found[_dotted(path)] = value
    return found


def _bad_protocol(path: OptionPath, location: Location) -> Violation | None:
    protocol = location.protocol
    if protocol in PROTOCOLS:
        return None
    shown = protocol if re.fullmatch(r"[\w.+-]+(::[\w.+-]+)*", protocol) else "…"
    inner = shown.rpartition("::")[2]
    if inner != shown and inner in PROTOCOLS:
        hint = (
            f"write {inner}://…, as every file is cached; of chains only zip:: and tar:: are read"
        )
    else:
        known = ", ".join(PROTOCOLS)
        hint = f"use one of {known}, or name it in a call: `get_dataset(name, source=URL)`"
        if shown.lower() in PROTOCOLS:
            hint = f"write {shown.lower()}://"
    return Violation("refused-protocol", path, f"the protocol '{shown[:40]}' is not allowed", hint)


def _bad_host(path: OptionPath, location: Location, boundary: Boundary) -> Violation | None:
    scheme = location.protocol
    if scheme not in ("http", "https"):
        return None  # its server is an option, or that of the provider
    host = url_host(location)
    if host.is_loopback or is_listed(host, boundary.hosts):
        return None
    if fault := address_fault(host.name):
        return _unlisted(path, host, f"{host.name} is {fault}")
    if scheme == "http":
        return _unlisted(path, host, f"plain HTTP to {host.name}", "use https://, or ")
    return None


def _unlisted(path: OptionPath, host: Host, message: str, before: str = "") -> Violation:
    hint = f"{before}add it to the root index: `hosts: ['{host.name}']`"
    return Violation("unlisted-host", path, message, hint)


def _bad_option(
    protocol: str, inside: OptionPath, value: Any, hosts: list[Host], boundary: Boundary
) -> Iterator[Violation]:
    """Yield what is wrong with one option, and with sending it to these hosts."""
    path, name, option = ("fs_options", *inside), _dotted(inside), _option(protocol, inside)
    variable = variable_of(value)
    if option is None:
        if value not in (None, {}):
            message = f"{protocol} takes no option '{name}' from a manifest"
            known = PROTOCOLS.get(protocol, {})
            hint = near_or_known(name, known, "known")
            yield Violation("refused-option", path, message, hint)
        return
    if variable is not None and not option.secret:
        message = f"'{name}' takes no environment variable"
        yield Violation("refused-option", path, message, f"give {_kind_of(option)}")
    elif variable is not None:
        listed = boundary.secrets.get(variable, ())
        for host in hosts:
            if not is_listed(host, listed):
                entries = ", ".join(f"'{entry}'" for entry in (*listed, host.name))
                message = f"the environment variable {variable[:80]} is not for {host.name}"
                secrets = f"`secrets: {{{variable[:80]}: [{entries}]}}`"
                hint = f"if it is, write in the root index {secrets}"
                yield Violation("unlisted-secret", path, message, hint)
    elif value is not None and not _fits(value, option):
        message = f"'{name}' does not take this value"
        yield Violation("refused-option", path, message, f"give {_kind_of(option)}")
    elif option.listed and value is not None:
        yield from _bad_listed(path, name, value, option, hosts, boundary)


def _bad_listed(
    path: OptionPath, name: str, value: Any, option: Option, hosts: list[Host], boundary: Boundary
) -> Iterator[Violation]:
    try:
        named = [url_host(value) if "://" in value else parse_host(value)] if option.is_host else []
    except ReachError as error:
        yield Violation("unlisted-host", path, str(error), "correct it")
        return
    for host in dict.fromkeys([*named, *hosts]):
        if not is_listed(host, boundary.hosts):
            yield _unlisted(path, host, f"'{name}' is only for listed hosts, not for {host.name}")
            return


def _option(protocol: str, path: OptionPath) -> Option | None:
    table = PROTOCOLS.get(protocol, {})
    if not all(isinstance(key, str) for key in path):
        return None
    return table.get(_dotted(path)) or table.get(_dotted((*path[:-1], "*")))


def _fits(value: Any, option: Option) -> bool:
    if isinstance(value, bool) and bool not in option.types:
        return False
    fits = isinstance(value, option.types)
    return fits and (not option.pattern or re.fullmatch(option.pattern, str(value)) is not None)


def _kind_of(option: Option) -> str:
    named = {str: "a string", int: "a number", float: "", bool: "true or false"}
    kinds = [named[kind] for kind in option.types if named[kind]]
    kinds += ["`{env: NAME}`"] if option.secret else []
    return " or ".join(kinds) + (f" like {option.pattern}" if option.pattern else "")


def _dotted(path: OptionPath) -> str:
    return ".".join(map(str, path))


class Option(Struct, frozen=True):
    """One option of a file system."""

    types: tuple[type, ...]
    """Types of its value."""
    secret: bool = False
    """Whether the value may be `{env: NAME}`."""
    listed: bool = False
    """Whether it needs hosts that the root index lists."""
    is_host: bool = False
    """Whether the value is a URL or a host, which must be listed, too."""
    pattern: str = ""
    """What the whole value must match."""


_TEXT = Option((str,))
_NUMBER = Option((int, float))
_FLAG = Option((bool,))
_SECRET = Option((str,), secret=True)
_LISTED_FLAG = Option((bool,), listed=True)
_LISTED_NUMBER = Option((int, float), listed=True)
_LISTED_TEXT = Option((str,), listed=True)
_ENDPOINT = Option((str,), listed=True, is_host=True)

_HTTP: dict[str, Option] = {
    "headers.*": _SECRET,
    "client_kwargs.headers.*": _SECRET,
    "client_kwargs.trust_env": _LISTED_FLAG,
    "block_size": _NUMBER,
    "encoded": _FLAG,
    "proxy": _ENDPOINT,
    "ssl": _LISTED_FLAG,
}
_S3: dict[str, Option] = {
    "anon": _FLAG,
    "key": _SECRET,
    "secret": _SECRET,
    "token": _SECRET,
    "client_kwargs.aws_access_key_id": _SECRET,
    "client_kwargs.aws_secret_access_key": _SECRET,
    "client_kwargs.aws_session_token": _SECRET,
    # Part of the name of the server.
    "client_kwargs.region_name": Option((str,), pattern=r"[a-z0-9-]+"),
    "client_kwargs.endpoint_url": _ENDPOINT,
    "client_kwargs.verify": _LISTED_FLAG,
    "client_kwargs.use_ssl": _LISTED_FLAG,
    "endpoint_url": _ENDPOINT,
    "use_ssl": _LISTED_FLAG,
    "config_kwargs.signature_version": _LISTED_TEXT,
    "config_kwargs.s3.addressing_style": _LISTED_TEXT,
    "config_kwargs.connect_timeout": _LISTED_NUMBER,
    "config_kwargs.read_timeout": _LISTED_NUMBER,
    "config_kwargs.proxies.*": _ENDPOINT,
    # The owner of the credentials pays.
    "requester_pays": _LISTED_FLAG,
    "version_aware": _FLAG,
    "cache_regions": _FLAG,
    "default_block_size": _NUMBER,
    "max_concurrency": _NUMBER,
}
_HF: dict[str, Option] = {
    "token": Option((bool,), secret=True),
    "endpoint": _ENDPOINT,
    "block_size": _NUMBER,
}

PROTOCOLS: dict[str, Mapping[str, Option]] = {
    "https": _HTTP,
    "http": _HTTP,
    "s3": _S3,
    "s3a": _S3,
    "hf": _HF,
}
"""Options by protocol, with a dot between the levels; `*` is any name.

An allow-list, because a file system of fsspec can run code, follow a proxy, or send this machine's
credentials wherever its options say.

Files on this machine, in packages and in zip and tar archives take no options.
"""

"""Locations: a path or URL, taken apart once.

A location is a path, a URL, a file of an installed package (`package:NAME/inner/path`), or a member
of an archive at another location (`zip://member::ARCHIVE`, as fsspec writes it).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from registry.base.process_state import cached_property
from registry.errors import MissingDependencyError, SourceError

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = [
    "ARCHIVE_PROTOCOLS",
    "MAX_ARCHIVES",
    "PACKAGE",
    "PACKED_SUFFIXES",
    "Location",
    "Member",
    "bad_package_path",
    "find_module",
    "member_name",
    "package_file",
    "package_folders",
    "package_location",
    "places_of",
]

ARCHIVE_PROTOCOLS = ("zip", "tar")
"""Protocols of the members of archives."""

MAX_ARCHIVES = 8
"""Archives within each other, beyond which a location is invalid."""

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files."""

_ARCHIVES = {"zip": (".zip",), "tar": (".tar", ".tgz", *(f".tar{one}" for one in PACKED_SUFFIXES))}
_WEB = ("http", "https")
_PUBLIC_PARAMETERS = frozenset({"confirm", "download", "export", "id", "raw"})
"""Parameters of a query that are no secret; a catalog with a secret is not cached."""
PACKAGE = "package:"
"""The start of a location in an installed package."""


class Location(str):  # noqa: SLOT000 (what is computed is stored on it)
    """A location, whose parts are computed when they are first asked for.

    It is the str that a manifest or a call has, so that it is a key, an argument of a file system
    and JSON as it is. What is derived from one by methods of str is a str again.
    """

    # A build asks the same questions about its location some fifty times.

    @cached_property
    def member(self) -> Member | None:
        """Protocol, path and archive of `zip://path::archive`; None for anything else."""
        link, chained, archive = self.partition("::")
        protocol, marked, path = link.partition("://")
        if not (chained and marked and protocol in ARCHIVE_PROTOCOLS):
            return None
        return Member(protocol, path, Location(archive))

    @cached_property
    def file(self) -> Location:
        """The file that has its bytes: of a member, the outermost archive.

        With more than MAX_ARCHIVES within each other it is a member still, and so not readable.
        """
        file = self
        for _ in range(MAX_ARCHIVES):
            if file.member is None:
                break
            file = file.member.archive
        return file

    @cached_property
    def protocol(self) -> str:
        """The protocol of a URL, `package`, or `file` for a path; of a member, its archive's."""
        if self.file.startswith(PACKAGE):
            return "package"
        return self.file.partition("://")[0] if "://" in self.file else "file"

    @property
    def is_local(self) -> bool:
        """Whether the file is on this machine: a path, a `file://` URL, or in a package."""
        return self.protocol in ("file", "local", "package")

    @property
    def is_package(self) -> bool:
        """Whether the file is in an installed package."""
        return self.protocol == "package"

    @property
    def is_path(self) -> bool:
        """Whether it is a path of this machine, or in an archive at one."""
        return self.is_local and not self.is_package

    @cached_property
    def public(self) -> str:
        """Its form for messages and pins: a URL without user, password, query and fragment.

        A query stays if it only says which file and how, as those of Google Drive do. `?` starts a
        query only with http(s); in an S3 key it is an ordinary character.
        """
        return str(self.with_file(_public))

    @property
    def has_secret(self) -> bool:
        """Whether it has a user, a password or a query that may be secret."""
        return self.public != self

    @property
    def has_divided_user(self) -> bool:
        """Whether a password has what ends a host, as in `https://me:a/b@host`: `a` is no port."""
        scheme, _, rest = self.partition("://")
        if scheme.lower() not in _WEB:
            return False
        host = re.split("[/?#]", rest, maxsplit=1)[0]
        port = host.rpartition("]")[2].partition(":")[2]
        return "@" in rest and "@" not in host and bool(port) and not port.isdecimal()

    @property
    def file_name(self) -> str:
        """The name of the file that has its bytes."""
        name = self.without_query.rpartition("/")[2]
        return unquote(name) if self.protocol in _WEB else name

    @property
    def without_query(self) -> str:
        """The file that has its bytes, without the query and the fragment of a URL of the web."""
        file = self.file
        return file.partition("#")[0].partition("?")[0] if self.protocol in _WEB else str(file)

    @cached_property
    def packed_suffix(self) -> str:
        """The suffix of a compressed file, such as `.gz` for `x.csv.gz`; otherwise ""."""
        suffix = os.path.splitext(self._path)[1]
        return suffix if suffix in PACKED_SUFFIXES else ""

    @cached_property
    def unpacked_suffix(self) -> str:
        """The suffix before any compression suffix, such as `.jsonl` for `x.jsonl.gz?sig=…`."""
        return os.path.splitext(self._path.removesuffix(self.packed_suffix))[1]

    @property
    def archive_protocol(self) -> str:
        """The protocol of the members of the archive that it is by its name; "" if it is none."""
        return next((one for one, ends in _ARCHIVES.items() if self._path.endswith(ends)), "")

    @property
    def _path(self) -> str:
        """Its path in lower case, for suffixes."""
        if self.member is not None:
            return self.member.path.lower()
        if self.protocol in _WEB:  # not by `urlsplit`, as the URL may be invalid
            return self.without_query.partition("://")[2].partition("/")[2].lower()
        return self.lower()

    def local_path(self, folder: str | os.PathLike[str] = "") -> str:
        """Return the absolute path of a local file; `~` is the home folder.

        A relative path starts at the folder; "" is the working directory.

        Raises:
            MissingDependencyError: it is in a package that is not installed.
            SourceError: it is not a valid path within a package.
        """
        if self.is_package:
            return package_file(self.file)
        path = self.file.partition("://")[2] if "://" in self.file else self.file
        return os.path.abspath(os.path.join(folder, os.path.expanduser(path)))

    def with_file(self, change: Callable[[Location], str]) -> Location:
        """Return the location with `change` applied to the file that has its bytes."""
        return Location(self.removesuffix(self.file) + change(self.file))

    def check(self) -> None:
        """Check a location that a user names in a call; those of manifests are checked with them.

        Raises:
            SourceError: it is empty, has a NUL, or is a URL that can't be taken apart:
                `http://[::1/x.csv`.
        """
        if not self.file.rpartition("://")[2]:
            raise SourceError(f"'{self}' names no file (write its path or URL)")
        if "\0" in self:
            raise SourceError(f"{self.public!r} has a NUL, which no path has (correct it)")
        if self.is_local:
            return
        if self.file.has_divided_user:
            message = "a user or a password has a character that ends a host"
            raise SourceError(
                f"{self.public}: {message} (write `/` as %2F, `?` as %3F, `#` as %23)"
            )
        if self.protocol != (usual := self.protocol.lower()):
            raise SourceError(
                f"{self.public}: a protocol has no capital letters (write {usual}://)"
            )
        try:
            parts = urlsplit(self.file)
            if parts.scheme in _WEB:  # the name of an S3 access point has colons
                _ = parts.port
        except ValueError as error:
            raise SourceError(f"{self.public}: not a URL: {error} (correct it)") from None


class Member(NamedTuple):
    """Where a member of an archive is."""

    protocol: str
    path: str
    """Its path within the archive."""
    archive: Location
    """The archive, which may itself be a member of another one."""


def member_name(name: str) -> str:
    """Return a member's name without `./` or `/` at the start, which nobody writes."""
    return name.lstrip("/").removeprefix("./")


def _public(file: Location) -> str:
    if file.is_local:
        return file
    scheme, _, rest = file.partition("://")
    if file.has_divided_user:
        return f"{scheme}://…"
    is_web = scheme.lower() in _WEB
    rest, marked, fragment = rest.partition("#") if is_web else (rest, "", "")
    rest, asked, query = rest.partition("?") if is_web else (rest, "", "")
    host, slash, path = rest.partition("/")
    if asked and not {one.partition("=")[0] for one in query.split("&")} <= _PUBLIC_PARAMETERS:
        query = "…"
    if fragment and query != "…":
        fragment = "…"
    else:
        marked = fragment = ""
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{asked}{query}{marked}{fragment}"


def bad_package_path(location: str) -> str:
    """Return what is wrong with `package:NAME/inner/path`; "" if nothing is."""
    name, _, inner = location.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier():
        return f"'{name}' is not the name of a package"
    if not inner:
        return "no file within the package"
    if ".." in inner.split("/") or inner.startswith("/") or "\\" in inner:
        return "a path within a package has no `..` and no backslash"
    return ""


def find_module(name: str) -> ModuleSpec | None:
    """Return where a top-level package or module is, without importing it."""
    import importlib.util  # most catalogs read no package

    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module without a spec, such as `__main__`
        return None


def places_of(spec: ModuleSpec | None) -> list[str]:
    """Return the folders of a package, or the file of a module; none for a built-in module."""
    if spec is None:
        return []
    # A namespace package may have several folders.
    if spec.submodule_search_locations is not None:
        return list(spec.submodule_search_locations)
    return [spec.origin] if spec.has_location and spec.origin else []


def package_folders(name: str) -> list[str]:
    """Return the folders of a top-level package; several for a namespace package."""
    spec = find_module(name)
    folders = spec.submodule_search_locations or () if spec else ()
    return [folder for folder in folders if _is_installed(folder)]


def _is_installed(folder: str) -> bool:
    """Return whether the folder of a package is where an installer or the user put it.

    `python -m registry` also finds every folder of the working directory, and every link in it: a
    checkout under review could make `package:NAME` mean any folder of this machine.
    """
    place = os.path.dirname(folder)
    if place not in map(os.path.abspath, sys.path):  # found by the finder of an editable install
        return True
    if os.path.basename(place) in ("site-packages", "dist-packages"):
        return True
    if os.path.realpath(folder) != os.path.join(os.path.realpath(place), os.path.basename(folder)):
        return False
    is_here = os.path.realpath(place) == os.path.realpath(os.curdir)
    return not is_here or os.path.isfile(os.path.join(folder, "__init__.py"))


def package_file(location: str) -> str:
    """Return the path of `package:NAME/inner/path`, which need not exist.

    Raises:
        MissingDependencyError: the package is not installed.
        SourceError: the location is invalid.
    """
    fault = bad_package_path(location)
    if fault:
        raise SourceError(f"{location}: {fault} (write package:NAME/inner/path)")
    name, _, inner = location.removeprefix(PACKAGE).partition("/")
    folders = package_folders(name)
    if not folders:
        message = f"{location}: the package {name} is not installed"
        raise MissingDependencyError(f"{message} (`pip install {name.replace('_', '-')}`)")
    paths = [os.path.join(folder, *inner.split("/")) for folder in folders]
    return next(filter(os.path.exists, paths), paths[0])


def package_location(location: str, path: str) -> str:
    """Return the location of a file at `path`, in the package of another location."""
    name = location.removeprefix(PACKAGE).partition("/")[0]
    folder = next(folder for folder in package_folders(name) if path.startswith(folder + os.sep))
    inner = os.path.relpath(path, folder).replace(os.sep, "/")
    return f"{PACKAGE}{name}/{inner}"

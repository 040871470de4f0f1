"""The file of a bundle: a tar of plain files, compressed with zstd, that lists them at its start.

    bundle.json                      format, datasets, and name, size and sha256 of each member
    catalog/datasets.yaml …          the index, the lockfile, manifests, and local sources
    samples/<key>/entry.json         what an entry of the cache holds
    samples/<key>/samples.arrow      its samples

The reader accepts exactly what the writer writes: no links, folders, extended headers or members
that are not listed, and never more bytes than are listed. Both refuse files of the catalog that
another program may run or obey for their names.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import tarfile
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from registry.api import (
    PACKED_SUFFIXES,
    SOURCE_TYPES,
    BundleError,
    Location,
    decode_json,
    is_device,
    list_names,
    location_in,
    named_files_of,
)

if TYPE_CHECKING:
    from registry import Catalog
    from registry.api import ArrowDataset, DatasetSpec, Pin

__all__ = [
    "BUNDLE_FORMAT",
    "Contents",
    "Dataset",
    "Member",
    "Moved",
    "check_names",
    "files_of",
    "group_files",
    "listed_files",
    "needs_of",
    "read_bundle",
    "write_bundle",
]


BUNDLE_FORMAT = 1
"""Increment it when older releases can't read a bundle, or would read it wrongly."""
Moved = Callable[[int], None]
"""Called with the number of bytes of members that were read or written."""

_FIRST = "bundle.json"
_MAX_LIST = 1 << 26
_MAX_MEMBERS = 100_000
_BLOCK = 512
_PIECE = 1 << 20
_MAX_USTAR = 1 << 33
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SAMPLES = re.compile(r"samples/[0-9a-f]{64}/(entry\.json|samples\.arrow)")
# What is a name of a file on each system: no backslashes, drives, or dots and spaces at its end.
_PART = re.compile(r"[^\\:*?\"<>|/]{0,254}[^\\:*?\"<>|/. ]")
_SUFFIXES = frozenset(
    {
        *(suffix for model in SOURCE_TYPES.values() for suffix in model.suffixes),
        *(*PACKED_SUFFIXES, ".arrow", ".dat", ".data", ".tar", ".tgz", ".zip"),
        *(".yaml", ".yml", ".dockerfile", ".sh"),  # manifests, and what a sandbox is made of
        *(".docx", ".htm", ".html", ".log", ".md", ".pdf", ".pptx", ".txt", ".xlsx", ".xml"),
        *(".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp"),
        *(".flac", ".m4a", ".mov", ".mp3", ".mp4", ".mpeg", ".mpg", ".ogg", ".wav", ".webm"),
    }
)
# Of these suffixes, but package managers, build tools, CI services and coding agents look for it.
_OBEYED = frozenset(
    {
        *("action.yaml", "action.yml", "agents.md", "angular.json", "appveyor.yml"),
        *("azure-pipelines.yml", "bitbucket-pipelines.yml", "bower.json", "build.xml"),
        *("buildspec.yml", "chart.yaml", "claude.md", "cloudbuild.yaml", "cmakelists.txt"),
        *("cmakepresets.json", "codecov.yml", "composer.json", "constraints.txt", "deno.json"),
        *("environment.yaml", "environment.yml", "firebase.json", "gemini.md", "jsr.json"),
        *("lefthook.yml", "lerna.json", "meson_options.txt", "mkdocs.yaml", "mkdocs.yml"),
        *("nodemon.json", "nx.json", "package-lock.json", "package.json", "phpunit.xml"),
        *("pnpm-lock.yaml", "pnpm-workspace.yaml", "pom.xml", "project.json", "pubspec.yaml"),
        *("pyrightconfig.json", "requirements.txt", "serverless.yml", "skaffold.yaml"),
        *("skill.md", "stack.yaml", "taskfile.yaml", "taskfile.yml", "tsconfig.json"),
        *("turbo.json", "vcpkg.json", "vercel.json", "wercker.yml"),
    }
)


class Member(Struct, frozen=True):
    """One file of a bundle."""

    name: str
    size: int
    sha256: str


class Dataset(Struct, frozen=True):
    """A dataset of a bundle."""

    name: str
    fingerprint: str
    """Of its entry in the cache."""
    samples: int
    provenance: dict[str, Any] = {}
    """Where its samples come from, as a log has it; for whoever reads the file."""


class Contents(Struct, frozen=True):
    """What `bundle.json` says."""

    format: int
    cache_format: int
    datasets: tuple[Dataset, ...]
    members: tuple[Member, ...]
    notice: str = ""
    """Licenses of the datasets, for whoever reads the file."""

    @property
    def size(self) -> int:
        """Bytes of all members."""
        return sum(member.size for member in self.members)


def write_bundle(
    path: Path, contents: Contents, read: Callable[[str], IO[bytes]], moved: Moved
) -> None:
    """Write a bundle; the same contents always give the same bytes with the same zstd.

    Args:
        path: A new file.
        contents: What it has.
        read: Opens a member.
        moved: Called with the progress.

    Raises:
        BundleError: a member is not what the contents say, or a machine can't have its name.
    """
    import pyarrow as pa

    _check_members(contents.members)
    first = json.dumps(msgspec.to_builtins(contents), sort_keys=True, indent=1).encode()
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
        out.write(_header(_FIRST, len(first)) + first + _padding(len(first)))
        for member in contents.members:
            out.write(_header(member.name, member.size))
            digest, size = hashlib.sha256(), 0
            with read(member.name) as source:
                while piece := source.read(_PIECE):
                    digest.update(piece)
                    size += len(piece)
                    out.write(piece)
                    moved(len(piece))
            if (size, digest.hexdigest()) != (member.size, member.sha256):
                raise BundleError(f"{member.name}: changed while it was read (try again)")
            out.write(_padding(size))
        out.write(bytes(2 * _BLOCK))


def _header(name: str, size: int) -> bytes:
    """Return a header without owner, time and mode, which differ between machines."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    # The first has longer names, the second larger files.
    layout: Literal[0, 1] = tarfile.USTAR_FORMAT if size < _MAX_USTAR else tarfile.GNU_FORMAT
    try:
        header = info.tobuf(layout, "utf-8", "strict")
    except ValueError as error:
        raise BundleError(f"{name}: can't be in a bundle: {error}") from error
    if len(header) != _BLOCK:
        raise BundleError(f"{name}: can't be in a bundle: its name is too long")
    return header


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


def read_bundle(
    path: Path,
    sink: Callable[[Member], IO[bytes] | None],
    moved: Moved,
    *,
    check: Callable[[Contents], None] = lambda _: None,
) -> Contents:
    """Read all of a bundle, and compare each member with its digest.

    Args:
        path: The file.
        sink: Returns where a member is written, or None to only check it.
        moved: Called with the progress.
        check: Raises a BundleError for contents that are not to be read: they may have any size.

    Raises:
        BundleError: it is cut, altered, of a newer format, or no bundle.
    """
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as stream:
            contents = _read_contents(stream)
            check(contents)
            for member in contents.members:
                _read_member(stream, member, sink(member), moved)
            # Whatever comes after the end would be read by nothing, and checked by nothing.
            if _exactly(stream, 2 * _BLOCK).strip(b"\0") or stream.read(1):
                raise BundleError("something follows its last member")
    except (FileNotFoundError, PermissionError) as error:
        # Arrow's message names the path and the number of the error twice.
        raise BundleError(f"{path}: can't be read: {os.strerror(error.errno or 0)}") from error
    except (pa.ArrowException, OSError, EOFError) as error:
        # Of a damaged stream, the errors have no number; one of a full disk does.
        if isinstance(error, OSError) and error.errno is not None:
            reason = os.strerror(error.errno)
            raise BundleError(f"{path}: can't be unpacked: {reason}") from error
        raise BundleError(f"{path}: not a bundle, or cut or altered: {error}") from error
    except BundleError as error:
        raise BundleError(f"{path}: {error}") from error.__cause__
    return contents


def _read_contents(stream: IO[bytes]) -> Contents:
    name, size = _read_header(stream)
    if name != _FIRST or size > _MAX_LIST:
        raise BundleError("not a bundle of this package: it does not start with bundle.json")
    text = _exactly(stream, size)
    _exactly(stream, len(_padding(size)))
    try:
        found = decode_json(text, Contents)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        # A newer format may have other keys: that is the message then.
        _check_format(_format_in(text))
        raise BundleError(f"its bundle.json is invalid: {error}") from error
    _check_format(found.format)
    _check_members(found.members)
    return found


def _format_in(text: bytes) -> Any:
    try:
        return decode_json(text, dict[str, Any]).get("format")
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _check_format(found: Any) -> None:
    if isinstance(found, int) and found > BUNDLE_FORMAT:
        raise BundleError(
            f"its format is {found}, and this release reads up to {BUNDLE_FORMAT}"
            " (install a newer release)"
        )
    if isinstance(found, int) and found != BUNDLE_FORMAT:
        raise BundleError(f"its format is {found}, not {BUNDLE_FORMAT}")


def _check_members(members: Sequence[Member]) -> None:
    """Refuse names that lead elsewhere or are obeyed, twice the same one, and impossible sizes."""
    if len(members) > _MAX_MEMBERS:
        raise BundleError(f"it lists more than {_MAX_MEMBERS:,} members")
    names = {_key(member.name) for member in members}
    if len(names) < len(members):
        raise BundleError("it lists two members with the same name")
    for member in members:
        if not _is_safe(member.name):
            raise BundleError(
                f"it can't have a member with the name {member.name!a}"
                " (a file must be able to have it on every system)"
            )
        if member.size < 0 or not _SHA256.fullmatch(member.sha256):
            raise BundleError(f"it lists {member.name} without a size or digest")
        parents = _key(member.name).split("/")[:-1]
        if any("/".join(parents[:count]) in names for count in range(1, len(parents) + 1)):
            raise BundleError(f"it lists {member.name} inside of a file")
    catalog = [one.name for one in members if one.name.startswith("catalog/")]
    check_names({name.removeprefix("catalog/"): "" for name in catalog})


def check_names(datasets: Mapping[str, str]) -> None:
    """Refuse files of a catalog that another program may run or obey for their names.

    Args:
        datasets: Which dataset names a file, or "" if that is not known; by the file's path.

    Raises:
        BundleError: there are such files.
    """
    found = [
        f"{name} (of {dataset})" if dataset else name
        for name, dataset in datasets.items()
        if _is_obeyed(name)
    ]
    if found:
        raise BundleError(
            f"it can't have {list_names(found, 50)}: only data, text and media with the usual"
            " suffixes, under names that no other program runs or obeys (rename a file, or put its"
            " text into the data; docs/reference/scale.md has the rule)"
        )


def _key(name: str) -> str:
    """Return what is equal for names that are one file on some systems."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _is_safe(name: str) -> bool:
    """Return whether a name is that of samples, or of a file inside the catalog's folder."""
    if name.startswith("samples/"):
        return _SAMPLES.fullmatch(name) is not None
    first, *parts = name.split("/")
    return first == "catalog" and bool(parts) and all(map(_is_name, parts))


def _is_name(part: str) -> bool:
    """Return whether a file or folder may have a name, on any system."""
    return _PART.fullmatch(part) is not None and part.isprintable() and not is_device(part)


def _is_obeyed(path: str) -> bool:
    """Return whether another program may run or obey a file of the catalog for its name."""
    parts = _key(path).split("/")
    name = parts[-1]
    if any(part.startswith(".") for part in parts) or name in _OBEYED:
        return True
    if name == "dockerfile" or path == "datasets.lock":
        return False
    return os.path.splitext(name)[1] not in _SUFFIXES


def _read_member(stream: IO[bytes], member: Member, sink: IO[bytes] | None, moved: Moved) -> None:
    if _read_header(stream) != (member.name, member.size):
        raise BundleError(f"{member.name} is not where it is listed")
    digest = hashlib.sha256()
    for piece in _pieces(stream, member.size):
        digest.update(piece)
        if sink is not None:
            sink.write(piece)
        moved(len(piece))
    if digest.hexdigest() != member.sha256:
        raise BundleError(f"{member.name} doesn't have its digest")
    _exactly(stream, len(_padding(member.size)))


def _read_header(stream: IO[bytes]) -> tuple[str, int]:
    """Return name and size of the next member, which must be a plain file."""
    header = _exactly(stream, _BLOCK)
    try:
        info = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
    except (tarfile.HeaderError, UnicodeDecodeError) as error:
        raise BundleError(f"not a bundle, or altered: {error}") from error
    if info.type != tarfile.REGTYPE or info.linkname:
        raise BundleError(f"it has a member that is not a plain file: {info.name!a}")
    return info.name, info.size


def _exactly(stream: IO[bytes], size: int) -> bytes:
    return b"".join(_pieces(stream, size))


def _pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0:
        piece = stream.read(min(size, _PIECE))
        if not piece:
            raise BundleError("it ends too early")
        size -= len(piece)
        yield piece


def listed_files(catalog: Catalog) -> Iterator[Path]:
    """Yield the manifests that the index lists by name: without them it would be invalid."""
    for pattern in catalog.index_document().value.get("include", []):
        if not glob.has_magic(pattern) and not Location(pattern).is_package:
            yield Path(os.path.abspath(catalog.index.parent / pattern))


def group_files(catalog: Catalog, names: Collection[str]) -> Iterator[Path]:
    """Yield the manifests of the groups of which all datasets are among `names`."""
    for group in catalog.valid_groups():
        entry = catalog.groups[group.name]
        if entry.folder == catalog.index.parent and set(group.datasets) <= set(names):
            yield Path(os.path.abspath(entry.document.file))


def needs_of(spec: DatasetSpec, pin: Pin) -> Iterator[str]:
    """Yield what a dataset needs of packages, which are in no bundle."""
    if spec.mapper is not None:
        yield f"{spec.mapper} (the mapper of {spec.name})"
    for source in pin.sources:
        location = Location(source.location).file
        if source.revision is None and location.is_package:
            yield f"{location} (a file of {spec.name})"


def files_of(
    spec: DatasetSpec,
    catalog: Catalog,
    pin: Pin,
    dataset: ArrowDataset,
    *,
    columns: Collection[str],
) -> Iterator[Path]:
    """Yield the files that a dataset needs: manifests, local sources, and what samples name."""
    for entry in catalog.lineage(spec.name):
        yield Path(os.path.abspath(entry.document.file))
    for source in pin.sources:
        location = Location(source.location).file
        if source.revision is None and location.is_local and not location.is_package:
            yield Path(location_in(spec.folder, source.location).local_path())
    named = named_files_of(spec, dataset, columns, catalog.boundary)
    if named is not None:
        yield from map(Path, (*named.files, *named.sandbox))

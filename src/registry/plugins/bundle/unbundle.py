"""Unpack the datasets of a bundle: everything is verified before any of it is visible."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from registry import CacheError, Catalog, RegistryError
from registry.api import (
    CACHE_FORMAT,
    CLEAN,
    BundleError,
    Cache,
    CacheEntry,
    Lock,
    Opening,
    Progress,
    SourceContext,
    bars,
    check_received,
    check_unpublished,
    count_text,
    create_file,
    file_sha256,
    list_names,
    options,
    pin_sources,
    plan,
    print_json,
    print_line,
    publish_folder,
    read_lock,
    samples_id,
    size,
    write_atomic,
)
from registry.plugins.bundle.bundle_file import (
    Contents,
    Member,
    Moved,
    files_of,
    group_files,
    listed_files,
    read_bundle,
)
from registry.plugins.remote_cache.record import (
    ENTRY,
    MAX_RECORD_BYTES,
    SAMPLES,
    parse_record,
)

if TYPE_CHECKING:
    from registry.api import ArrowDataset, Pin, ReportNamed

__all__ = ["Unbundled", "command", "unbundle", "unpacked"]


@dataclass(frozen=True, kw_only=True)
class Unbundled:
    """What was taken from a bundle."""

    file: Path
    root: Path
    """Folder of the catalog."""
    datasets: tuple[str, ...]
    written: tuple[str, ...]
    """Files of the catalog that are new, relative to its folder."""
    entries: int
    """Entries of the cache, new ones and those that were there."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {**vars(self), "file": str(self.file), "root": str(self.root)}


def unbundle(
    file: Path,
    root: Path,
    cache: Cache,
    *,
    digest: str | None = None,
    most: int | None = None,
    report: ReportNamed,
) -> Unbundled:
    """Write the catalog of a bundle to a folder, and its samples to the cache.

    Args:
        file: The bundle.
        root: Folder of the catalog, which has no other files; one that is there must have the
            same content.
        cache: The cache.
        digest: The sha256 that the file must have.
        most: The bytes that it may have uncompressed; None for what fits on the disk.
        report: Called with the progress.

    Raises:
        BundleError: it is cut, altered, of a newer format, too large, or not what it says; nothing
            of it was written then, except in a temporary folder, which is gone.
    """
    if file.exists() and not file.is_file():
        raise BundleError(f"{file}: not a regular file (save it as one: it is read several times)")
    if digest is not None:
        _check_digest(file, digest)
    # All of it once without writing a byte: most of what can be wrong ends here.
    check = partial(_check_size, cache=cache, most=most)
    contents = read_bundle(file, lambda _: None, _counter(file, report), check=check)
    if conflicts := _conflicts(contents.members, root):
        names = list_names(conflicts, 3)
        raise BundleError(f"{file}: {root} already has a different {names} (choose another --root)")
    if (other := next(_others(contents.members, root), None)) is not None:
        # A harmless manifest or text may mean something to a program beside those files.
        raise BundleError(
            f"{file}: {root} has other files, such as {other}: a bundle gets a folder of its"
            " own (choose a new one with --root)"
        )
    with unpacked(file, contents, cache, report) as (folder, entries):
        with _writing(root):  # before the cache changes
            root.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            there = cache.find("samples", entry.meta["fingerprint"])
            # What is damaged there would stay, and be found out where nothing can be built.
            if there is None or not cache.verify("samples", there):
                publish_folder(entry.folder, cache.versioned / "samples" / entry.folder.name)
        written = _write_catalog(contents.members, folder, root)
    return Unbundled(
        file=file,
        root=root,
        datasets=tuple(one.name for one in contents.datasets),
        written=written,
        entries=len(entries),
    )


@contextmanager
def unpacked(
    file: Path, contents: Contents, cache: Cache, report: ReportNamed
) -> Iterator[tuple[Path, list[CacheEntry]]]:
    """Yield a private folder with the members of a bundle, and its samples as entries, verified.

    Raises:
        BundleError: it is not what its contents say.
    """
    with cache.temporary() as folder:
        _extract(file, contents, folder, report)
        staged = Cache(folder / "cache")
        entries = _stage_entries(file, contents, folder, staged)
        _check_datasets(file, contents, folder / "catalog", staged)
        yield folder, entries


def _check_digest(file: Path, digest: str) -> None:
    try:
        found = file_sha256(file)
    except OSError as error:
        raise BundleError(f"{file}: can't be read: {error}") from error
    if found != digest.lower().removeprefix("sha256:"):
        raise BundleError(f"{file}: its sha256 is {found}, not {digest}")


def _counter(file: Path, report: ReportNamed) -> Moved:
    done = 0

    def moved(count: int) -> None:
        nonlocal done
        done += count
        report(file.name, Progress("read", done))

    return moved


def _check_size(contents: Contents, *, cache: Cache, most: int | None) -> None:
    if contents.cache_format != CACHE_FORMAT:
        raise BundleError(
            f"its samples have the format {contents.cache_format} of the cache, and this"
            f" release reads {CACHE_FORMAT} (bundle them with the same release)"
        )
    existing = next(path for path in (cache.root, *cache.root.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if contents.size > (free if most is None else most):
        limit = f"{free:,} are free in {cache.root}" if most is None else f"{most:,} are allowed"
        raise BundleError(f"it has {contents.size:,} bytes uncompressed, and {limit}")


def _catalog_members(members: Sequence[Member]) -> dict[str, Member]:
    """Return the members of the catalog by their paths in its folder."""
    prefix = "catalog/"
    return {one.name[len(prefix) :]: one for one in members if one.name.startswith(prefix)}


def _conflicts(members: Sequence[Member], root: Path) -> list[str]:
    """Return the files that are there with another content, or can't be there."""
    found = []
    for name, member in _catalog_members(members).items():
        path = root / name
        parents = [one for one in path.parents if one.is_relative_to(root)]
        # A link below the root would lead what is written out of it.
        is_blocked = any(one.is_symlink() or one.is_file() for one in parents if one != root)
        is_other = path.is_symlink() or path.is_dir()
        if is_blocked or is_other or (path.exists() and file_sha256(path) != member.sha256):
            found.append(name)
    return found


def _others(members: Sequence[Member], root: Path) -> Iterator[str]:
    """Yield files and links of a folder that are no members."""
    names = _catalog_members(members)
    for folder, folders, files in os.walk(root):
        links = (name for name in folders if os.path.islink(os.path.join(folder, name)))
        for name in (*files, *links):
            path = Path(folder, name).relative_to(root).as_posix()
            if path not in names:
                yield path


def _extract(file: Path, contents: Contents, folder: Path, report: ReportNamed) -> None:
    """Write the members under a private folder; they are compared with their digests again."""
    with ExitStack() as opened:

        def create(member: Member) -> IO[bytes]:
            opened.pop_all().close()  # the one before
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            return opened.enter_context(create_file(path))

        again = read_bundle(file, create, _counter(file, report))
    if again != contents:
        raise BundleError(f"{file}: changed while it was read (try again)")


def _stage_entries(file: Path, contents: Contents, folder: Path, staged: Cache) -> list[CacheEntry]:
    """Make entries of a private cache from the samples; what they contain is checked."""
    listed = {one.name for one in contents.members}
    entries = []
    for fingerprint in sorted({one.fingerprint for one in contents.datasets}):
        name = f"samples/{fingerprint.removeprefix('sha256:')}"
        if not {f"{name}/{ENTRY}", f"{name}/{SAMPLES}"} <= listed:
            raise BundleError(f"{file}: it lacks {name}")
        try:
            with (folder / name / ENTRY).open("rb") as opened:
                record = parse_record(opened.read(MAX_RECORD_BYTES + 1), fingerprint)
            path = folder / name / SAMPLES
            if (path.stat().st_size, file_sha256(path)) != (record.size, record.sha256):
                raise CacheError("its samples don't have the digest of its entry.json")
            check_received(path, record.meta)
        except CacheError as error:
            raise BundleError(f"{file}: {name}: {error}") from error
        (folder / name / ENTRY).unlink()
        digests = {SAMPLES: record.sha256}
        entries.append(
            staged.publish(folder / name, "samples", fingerprint, record.meta, digests=digests)
        )
    return entries


def _check_datasets(file: Path, contents: Contents, root: Path, staged: Cache) -> None:
    """Open each dataset from the private cache as `get_dataset` will, offline and locked.

    Nothing is built: the samples are found, and have the digest that the lockfile pins. Files that
    no dataset needs are refused, as they may be meant for other programs: `conftest.py`, Makefile.
    """
    try:
        catalog = Catalog.open(root / "datasets.yaml", keep=False)
        lock = read_lock(root / "datasets.lock") or Lock()
        needed = {catalog.index, root / "datasets.lock", *listed_files(catalog)}
        needed.update(group_files(catalog, {one.name for one in contents.datasets}))
        for one in contents.datasets:
            needed |= _check_dataset(one.name, one.fingerprint, catalog, lock.pins, staged)
    except RegistryError as error:
        text = str(error).replace(f"{root}/", "")
        raise BundleError(f"{file}: {text}") from error
    others = [name for name in _catalog_members(contents.members) if root / name not in needed]
    if others:
        raise BundleError(f"{file}: none of its datasets needs {list_names(others, 3)}")


def _check_dataset(
    name: str, fingerprint: str, catalog: Catalog, pins: Mapping[str, Pin], staged: Cache
) -> set[Path]:
    """Check a dataset, and return the files that it needs."""
    spec = catalog[name]
    lock = pin_sources(spec, pins.get(name), locked=True)
    context = SourceContext(
        boundary=catalog.boundary, cache=staged, offline=True, lock=lock, dataset=name
    )
    found = plan(spec, context)
    # Its limit is only stated; the fingerprint is made of the one that it must be.
    if (
        found.entry is None
        or found.fingerprint != fingerprint
        or found.entry.meta["limit"] != found.limit
    ):
        raise BundleError(f"{name}: the samples in it are not those of its manifest and lockfile")
    files: set[Path] = set()
    columns = found.entry.meta["columns"]

    def check(dataset: ArrowDataset) -> None:
        if samples_id(dataset) != pins[name].samples_id:
            message = "the samples in it are not those that its datasets.lock pins"
            raise BundleError(f"{name}: {message}")
        files.update(files_of(spec, catalog, pins[name], dataset, columns=columns))

    check_unpublished(found.entry, Opening.of(spec, catalog.boundary), staged, check)
    return files


def _write_catalog(members: Sequence[Member], folder: Path, root: Path) -> tuple[str, ...]:
    """Write what is not there yet; the index last, so that no catalog is ever seen in part."""
    names = [name for name in _catalog_members(members) if not (root / name).exists()]
    for name in sorted(names, key=lambda name: (name == "datasets.yaml", name)):
        with _writing(root / name), (folder / "catalog" / name).open("rb") as source:
            write_atomic(root / name, partial(shutil.copyfileobj, source))
    return tuple(sorted(names))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BundleError(f"can't write {path}: {error.strerror or error}") from error


@click.command(
    "unbundle",
    epilog="\b\nExample: registry unbundle demo.tar.zst --root datasets\n"
    "REGISTRY_ROOT=datasets registry preview demo-mcq --offline",
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--root",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the catalog: a new or empty one.",
)
@click.option(
    "--digest",
    metavar="SHA256",
    help="Refuse any other file; `registry bundle` prints its digest.",
)
@click.option(
    "--max-size",
    callback=size,
    metavar="SIZE",
    help="Refuse a bundle that has more bytes uncompressed. Default: what is free on the disk.",
)
@options.as_json
def command(file: Path, root: Path, digest: str | None, max_size: int | None, as_json: bool) -> int:
    """Write the catalog of a bundle to a folder, and its samples to the cache.

    Everything is verified before anything is written: the format, the digest of each member, that
    the samples are those that its datasets.lock pins, and that each dataset opens offline. The
    folder may have no other files; names that other programs run or obey are refused.
    """
    cache = Cache(options.settings_of(None).cache_dir)
    with bars(as_json=as_json) as report:
        done = unbundle(file, root.absolute(), cache, digest=digest, most=max_size, report=report)
    if as_json:
        print_json(done.to_dict())
        return CLEAN
    print_line(
        f"{count_text(len(done.datasets), 'dataset')} in {root}: {list_names(done.datasets, 3)}"
    )
    print_line(f"{count_text(len(done.written), 'new file')}; samples are in {cache.root}")
    return CLEAN

"""Write datasets, with everything that opens them without a network, to one file."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from registry.api import (
    CACHE_FORMAT,
    CLEAN,
    PROBLEMS,
    BundleError,
    Lock,
    Progress,
    again_if_lost,
    bars,
    count_text,
    file_sha256,
    list_names,
    load,
    lock_text,
    notice_text,
    options,
    pin_sources,
    print_json,
    print_line,
    print_table,
    size_text,
    write_atomic,
)
from registry.plugins.bundle.bundle_file import (
    BUNDLE_FORMAT,
    Contents,
    Dataset,
    Member,
    check_names,
    files_of,
    group_files,
    listed_files,
    needs_of,
    write_bundle,
)
from registry.plugins.bundle.unbundle import unpacked
from registry.plugins.remote_cache.record import ENTRY, SAMPLES, record_of, record_text

if TYPE_CHECKING:
    from registry import Catalog
    from registry.api import Cache, LoadResult, Pin, ReportNamed

__all__ = ["Bundled", "bundle", "command"]


@dataclass(frozen=True, kw_only=True)
class Bundled:
    """What was put into a bundle."""

    file: Path
    bytes: int
    sha256: str
    """Digest of the file."""
    datasets: tuple[Dataset, ...]
    members: int
    needs: tuple[str, ...]
    """What must be on the other machine: packages with mappers or with files."""
    without_samples: tuple[str, ...]
    """Other datasets of the manifests that are in it: they can't be opened offline."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        datasets = [
            {"name": one.name, "fingerprint": one.fingerprint, "samples": one.samples}
            for one in self.datasets
        ]
        return {**vars(self), "file": str(self.file), "datasets": datasets}


@dataclass
class _Parts:
    """The members of a bundle, as bytes or as files, by name."""

    texts: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    """Those that are known."""
    named_by: dict[str, str] = field(default_factory=dict)
    """The dataset that names a file of the catalog, by its path there."""

    def open(self, name: str) -> IO[bytes]:
        """Open a member."""
        return io.BytesIO(self.texts[name]) if name in self.texts else self.files[name].open("rb")

    def members(self) -> Iterator[Member]:
        """Yield the members, sorted by name: the catalog is before the samples."""
        import hashlib

        for name in sorted({*self.texts, *self.files}):
            if name in self.texts:
                text = self.texts[name]
                yield Member(name, len(text), hashlib.sha256(text).hexdigest())
            else:
                path = self.files[name]
                digest = self.digests.get(name) or file_sha256(path)
                yield Member(name, path.stat().st_size, digest)


def bundle(
    names: Sequence[str],
    catalog: Catalog,
    cache: Cache,
    pins: dict[str, Pin],
    file: Path,
    *,
    offline: bool = False,
    report: ReportNamed,
) -> Bundled:
    """Write a bundle of datasets; what is not cached is built first.

    Args:
        names: The datasets.
        catalog: Their catalog.
        cache: Where their samples are.
        pins: The pins of the lockfile; each dataset needs one for its current manifest.
        file: Where to write; the file appears only when it is complete.
        offline: Make no request.
        report: Called with the progress.

    Raises:
        LockStaleError: a dataset is not locked.
        BundleError: it needs a file that is outside the catalog's folder, can't be written, or
            would be refused by `unbundle`.
    """
    # Another process may remove samples before they are read.
    return again_if_lost(
        lambda: _bundle(names, catalog, cache, pins, file, offline=offline, report=report),
        cache.root,
    )


def _bundle(
    names: Sequence[str],
    catalog: Catalog,
    cache: Cache,
    pins: dict[str, Pin],
    file: Path,
    *,
    offline: bool,
    report: ReportNamed,
) -> Bundled:
    parts, found, needs = _Parts(), [], set[str]()
    _add_catalog(parts, catalog, {name: pins[name] for name in names if name in pins})
    for path in group_files(catalog, names):
        _add_file(parts, path, catalog.index.parent)
    for name in names:
        spec = catalog[name]
        lock = pin_sources(spec, pins.get(name), locked=True)
        with catalog.locating(name):
            opened = load(
                spec,
                cache,
                boundary=catalog.boundary,
                offline=offline,
                verify=True,
                lock=lock,
                report=partial(report, name),
            )
        found.append(_add_samples(parts, opened, name))
        needs |= set(needs_of(spec, pins[name]))
        columns = opened.entry.meta["columns"]
        for path in files_of(spec, catalog, pins[name], opened.dataset, columns=columns):
            _add_file(parts, path, catalog.index.parent, dataset=name)
    check_names(parts.named_by)
    notice = notice_text(catalog[name] for name in names)
    members = tuple(parts.members())
    contents = Contents(BUNDLE_FORMAT, CACHE_FORMAT, tuple(found), members, notice)
    _write(file, contents, parts, cache, report)
    return Bundled(
        file=file,
        bytes=file.stat().st_size,
        sha256=file_sha256(file),
        datasets=tuple(found),
        members=len(contents.members),
        needs=tuple(sorted(needs)),
        without_samples=_others(catalog, names, parts),
    )


def _add_catalog(parts: _Parts, catalog: Catalog, pins: dict[str, Pin]) -> None:
    """Add the index, the manifests that it lists by name, and a lockfile with the pins."""
    parts.files["catalog/datasets.yaml"] = catalog.index
    parts.texts["catalog/datasets.lock"] = lock_text(Lock(pins)).encode()
    for path in listed_files(catalog):
        _add_file(parts, path, catalog.index.parent)


def _others(catalog: Catalog, names: Sequence[str], parts: _Parts) -> tuple[str, ...]:
    """Return the other datasets of the manifests, such as parents."""
    files = {*parts.files.values()}
    return tuple(
        name
        for name, entry in sorted(catalog.entries.items())
        if name not in names and name in catalog and Path(entry.document.file).absolute() in files
    )


def _write(
    file: Path, contents: Contents, parts: _Parts, cache: Cache, report: ReportNamed
) -> None:
    done, total = 0, contents.size

    def moved(count: int) -> None:
        nonlocal done
        done += count
        report(file.name, Progress("read", done, total))

    # The writer of a compressed stream wants a path of its own.
    def write(output: Any) -> None:
        temporary = Path(output.name)
        write_bundle(temporary, contents, parts.open, moved)
        try:
            with unpacked(temporary, contents, cache, lambda _, now: report(file.name, now)):
                pass
        except BundleError as error:  # found out here, not where there is no network
            reason = str(error).removeprefix(f"{temporary}: ")
            raise BundleError(f"`registry unbundle` would refuse {file}: {reason}") from error

    try:
        write_atomic(file, write)
    except OSError as error:
        read = {str(path): name for name, path in parts.files.items()}.get(str(error.filename), "")
        if isinstance(error, FileNotFoundError) and read.startswith("samples/"):
            raise  # another process has removed them: they are built again
        reason = f"{error.filename}: {error.strerror}" if read else error.strerror or error
        raise BundleError(f"can't write {file}: {reason}") from error


def _add_samples(parts: _Parts, opened: LoadResult, name: str) -> Dataset:
    record = record_of(opened.entry.meta["fingerprint"], opened.entry.meta)
    folder = f"samples/{record.fingerprint.removeprefix('sha256:')}"
    parts.texts[f"{folder}/{ENTRY}"] = record_text(record)
    parts.files[f"{folder}/{SAMPLES}"] = opened.entry.folder / SAMPLES
    parts.digests[f"{folder}/{SAMPLES}"] = record.sha256
    provenance = opened.dataset.provenance.as_data()
    return Dataset(name, record.fingerprint, opened.entry.meta["samples"], provenance)


def _add_file(parts: _Parts, path: Path, folder: Path, *, dataset: str = "") -> None:
    prefix = f"{dataset}: " if dataset else ""
    if not path.is_file():
        what = "a folder" if path.is_dir() else "missing"
        raise BundleError(f"{prefix}{path} is {what}, so it can't be bundled")
    # As it is written, not where links lead: the other machine has no links.
    if not path.is_relative_to(folder):
        raise BundleError(
            f"{prefix}{path} is outside the catalog's folder {folder}, so it can't be bundled"
            " (move it there)"
        )
    inner = path.relative_to(folder).as_posix()
    name = f"catalog/{inner}"
    if name not in parts.texts:
        parts.files[name] = path
        parts.named_by.setdefault(inner, dataset)


@click.command(
    "bundle",
    epilog="\b\nExample: registry bundle demo-mcq -o demo.tar.zst\n"
    "registry bundle --tag demo -o demo.tar.zst",
)
@options.names
@click.option(
    "-o",
    "--out",
    "output",
    required=True,
    metavar="FILE",
    type=options.OutFile(dir_okay=False, path_type=Path),
    help="The file to write, such as data.tar.zst.",
)
@options.tags
@options.offline
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    output: Path,
    tags: tuple[str, ...],
    offline: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Write all datasets of the catalog, or NAMES, into one file for a machine without a network.

    The file has the index, the manifests and the pins of these datasets, local files that they
    read, and their samples; what is not cached is built first. Each dataset must be locked. On the
    other machine `registry unbundle` verifies it.
    """
    opened = options.open_catalog(root, offline=offline)
    catalog, cache, settings = opened
    if not names and options.print_stray_problems(catalog):
        return PROBLEMS
    chosen = options.choose(opened, names, tags)
    lock = opened.pins.rows(chosen)
    with bars(as_json=as_json) as report:
        for name in filter(catalog.is_member, (one for one in names if not catalog.is_group(one))):
            opened.call_of(name).load()  # a member without samples is an error, cached or not
        done = bundle(
            chosen,
            catalog,
            cache,
            dict(lock.pins),
            output,
            offline=settings.offline,
            report=report,
        )
    if as_json:
        print_json(done.to_dict())
        return CLEAN
    rows = [(one.name, f"{one.samples:,}", one.fingerprint[7:19]) for one in done.datasets]
    print_table(("dataset", "samples", "fingerprint"), rows)
    print_line(f"{output}: {count_text(len(rows), 'dataset')}, {size_text(done.bytes)}")
    print_line(f"sha256: {done.sha256}")
    if done.without_samples:
        print_line(
            f"listed in its catalog, but without samples: {list_names(done.without_samples, 3)}"
            " (`registry sync --pinned` leaves them out there)",
            err=True,
        )
    for need in done.needs:
        print_line(f"needed on the other machine, too: {need}", err=True)
    return CLEAN

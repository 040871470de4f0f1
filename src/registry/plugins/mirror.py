"""`mirror`: copy pinned files to a folder or bucket, where licenses allow it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from registry.api import (
    CLEAN,
    PROBLEMS,
    ExportError,
    FileSource,
    Location,
    SourceContext,
    bars,
    count_text,
    denied_by,
    fetch_blob_of,
    file_sha256,
    flow_text,
    notice_text,
    options,
    pin_sources,
    print_error,
    print_json,
    print_line,
    reader_of,
    remote_seconds,
    staleness,
    valid_specs,
)
from registry.plugins.remote_cache.stores import LimitedStore, NoAnswerError, public_url

if TYPE_CHECKING:
    from registry.api import DatasetSpec, Pin

__all__ = ["Mirrored", "command", "refusal"]

_DENIED = ("none", "LicenseRef")
"""What no copy for others may be made of: terms that are not known, or are of the owner's own."""


class Mirrored(Struct, frozen=True, kw_only=True):
    """What became of one dataset."""

    name: str
    mirror: str = ""
    """The folder to write under `mirrors`; empty if it was refused."""
    copied: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    """Files that the folder had with the same bytes."""
    refused: str = ""
    """Why there is no copy."""


def refusal(spec: DatasetSpec, pin: Pin | None) -> str:
    """Return why a dataset can't be copied for others; empty if it can."""
    if spec.access is not None and spec.access.url:
        return f"access is {spec.access}: whoever wants it accepts the terms at {spec.access.url}"
    if word := denied_by(spec, _DENIED):
        what = "no license is known" if word == "none" else f"its license is {spec.license}"
        return f"{what}, which does not say that copies may be given to others"
    if pin is None:
        return f"its bytes are not verified (`registry lock {spec.name}` pins them)"
    if not pin.agrees(spec):
        reason, hint = staleness(spec, pin)
        return f"datasets.lock pins it {reason} ({hint})"
    remote = [one for one in spec.all_sources if one.is_remote]
    if any(not isinstance(one, FileSource) for one in remote):
        return "it is a repository of the Hub; only files have mirrors"
    return "" if remote else "all of its files are in the catalog"


def _copies(spec: DatasetSpec, context: SourceContext) -> Iterator[tuple[str, Path]]:
    """Yield the name of each pinned file, and its bytes in the cache.

    Raises:
        ExportError: two files have the same name.
    """
    seen: dict[str, str] = {}
    for source in filter(lambda one: isinstance(one, FileSource), spec.all_sources):
        for file in reader_of(source).pin(context).files:
            location, name = file.location.file, file.location.file_name
            if location.is_local or seen.get(name) == location:
                continue
            if name in seen:
                both = f"{Location(seen[name]).public} and {Location(location).public}"
                raise ExportError(f"{spec.name}: {both} have the same file name")
            seen[name] = location
            yield name, fetch_blob_of(source, replace(file, location=location), context)


def _copy(spec: DatasetSpec, to: str, context: SourceContext) -> Mirrored:
    copied, present = [], []
    mirror = f"{to}{spec.name}/"
    if Location(mirror).is_local:
        Path(Location(mirror).local_path()).mkdir(parents=True, exist_ok=True)
    store = LimitedStore(mirror, remote_seconds())
    for name, path in _copies(spec, context):
        size = store.size(name)
        if size is None:
            store.upload(path, name)
            copied.append(name)
        elif size == path.stat().st_size and _has_bytes(store, name, path, context):
            present.append(name)
        else:
            hint = "remove it, or choose another place"
            raise ExportError(f"{store.shown}{name}: is there with other bytes ({hint})")
    store.call(lambda store, _: store.write("NOTICE", notice_text([spec]).encode()))
    shown = store.shown  # without a password, which no manifest may have
    return Mirrored(name=spec.name, mirror=shown, copied=tuple(copied), present=tuple(present))


def _has_bytes(store: LimitedStore, name: str, path: Path, context: SourceContext) -> bool:
    """Return whether a file that is there, of the same size, has the bytes of a path."""
    with context.cache.temporary() as folder:
        there, size = folder / "there", path.stat().st_size
        store.call(lambda store, progress: store.download(name, there, size, lambda _: progress()))
        return file_sha256(there) == file_sha256(path)


@click.command(
    "mirror", epilog="\b\nExample: registry mirror gsm8k mgsm-en --out s3://our-copies/datasets"
)
@options.names
@click.option(
    "--out",
    "to",
    required=True,
    metavar="URL",
    help="Folder or bucket, which gets a folder per dataset.",
)
@options.as_json
@options.root
def command(names: tuple[str, ...], to: str, as_json: bool, root: str | None) -> int:
    """Copy the files that the lockfile pins for NAMES to a folder or bucket, with a NOTICE.

    Prints the lines to add to the manifests. Files that are there with the same bytes are not
    copied again. Datasets whose license or access does not permit copies for others are refused,
    and the exit code is 1.
    """
    opened = options.open_catalog(root)
    catalog, cache, settings = opened
    if not (names and to):
        raise click.UsageError("name the datasets to copy, and where to")
    specs, has_invalid = valid_specs(catalog, options.choose(opened, names, ()))
    found = []
    place = (to if "://" in to else Path(Location(to).local_path()).as_posix()).rstrip("/") + "/"
    with bars(as_json=as_json) as report:
        for spec in specs:
            pin = opened.pins.get(spec.name)
            if why := refusal(spec, pin):
                found.append(Mirrored(name=spec.name, refused=why))
                continue
            context = SourceContext(
                boundary=catalog.boundary,
                cache=cache,
                offline=settings.offline,
                lock=pin_sources(spec, pin, locked=True),
                dataset=spec.name,
                report=partial(report, spec.name),
            )
            try:
                found.append(_copy(spec, place, context))
            except (OSError, NoAnswerError) as error:
                shown = public_url(f"{place}{spec.name}/")
                raise ExportError(f"{shown}: can't be written: {error}") from error
    if as_json:
        print_json([to_builtins(one) for one in found])
    else:
        _print(found)
    return PROBLEMS if has_invalid or any(one.refused for one in found) else CLEAN


def _print(found: list[Mirrored]) -> None:
    for one in found:
        if one.refused:
            print_error(one.name, f"not copied: {one.refused}")
            continue
        count = f"{count_text(len(one.copied), 'file')} copied, {len(one.present)} there before"
        print_line(f"{one.name}:  # {count}")
        print_line("  source:")
        print_line(f"    mirrors: {flow_text([one.mirror])}")

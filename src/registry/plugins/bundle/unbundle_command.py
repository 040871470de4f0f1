"""`unbundle`: take the datasets of a bundle."""

from __future__ import annotations

from pathlib import Path

import click

from registry.api import (
    CLEAN,
    Cache,
    bars,
    count_text,
    list_names,
    options,
    print_json,
    print_line,
    size,
)
from registry.plugins.bundle.unbundle import unbundle

__all__ = ["command"]


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

"""`bundle`: write datasets, with all that opens them offline, into one file."""

from __future__ import annotations

from pathlib import Path

import click

from registry.api import (
    CLEAN,
    Lock,
    bars,
    count_text,
    list_names,
    options,
    print_json,
    print_line,
    print_table,
    read_lock,
    size_text,
)
from registry.plugins.bundle.bundle import bundle

__all__ = ["command"]


@click.command(
    "bundle",
    epilog="\b\nExample: registry bundle demo-mcq -o demo.tar.zst\n"
    "registry bundle --tag demo -o demo.tar.zst",
)
@options.names
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
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
    catalog, cache, settings = options.open_catalog(root, offline=offline)
    chosen = options.choose(catalog, names, tags)
    lock = read_lock(settings.lock_file) or Lock()
    with bars(as_json=as_json) as report:
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
            f"listed in its catalog, but without samples: {list_names(done.without_samples, 3)}",
            err=True,
        )
    for need in done.needs:
        print_line(f"needed on the other machine, too: {need}", err=True)
    return CLEAN

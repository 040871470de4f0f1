"""`show`: a dataset with nothing left open, and where its cache is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
import yaml

from registry.base.locations import public_location
from registry.catalog.catalog import Catalog, shown
from registry.cli import CLEAN, options
from registry.cli.output import print_json, print_table, size_text
from registry.diff.escape import display_value, escape_control
from registry.load import find_cached
from registry.lockfile.models import read_documents
from registry.lockfile.pinned import pin_sources
from registry.lockfile.provenance import lock_origins
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.provenance import Origin, origins_of
from registry.manifest.serialize import data_of, is_said
from registry.scaffold.codegen import loader_call
from registry.settings import lock_file_of

if TYPE_CHECKING:
    from registry.cache import CacheEntry
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec

__all__ = ["command"]

_SHOWN_SOURCES = 3

_EXAMPLES = """\b
Example: python -m registry show demo-mcq-small
python -m registry show demo-mcq-small --call
python -m registry show demo-mcq-small --origin
"""


@click.command("show", epilog=_EXAMPLES)
@click.argument("name")
@click.option("--call", is_flag=True, help="Print the equivalent loader call as Python.")
@click.option("--origin", is_flag=True, help="Print where each value comes from: file and layer.")
@options.locked
@options.frozen
@options.as_json
@options.root
def command(
    name: str,
    call: bool,
    origin: bool,
    locked: bool | None,
    frozen: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Show a dataset with extends and defaults applied, whether it is cached, and its pin."""
    catalog, cache, settings = options.open_catalog(root, locked=locked, frozen=frozen)
    spec = catalog[name]
    if origin:
        _print_origins(spec, catalog, as_json=as_json)
        return CLEAN
    if call:
        print(loader_call(spec))
        return CLEAN
    pin = options.pin_of(settings, name)
    entry = find_cached(
        spec, cache, pin_sources(spec, pin, locked=settings.locked, frozen=settings.frozen)
    )
    if as_json:
        cached, pinned = _cache_data(entry), _pin_data(spec, pin)
        print_json({"spec": _spec_data(spec), "cache": cached, "pin": pinned})
    else:
        print(_as_yaml(spec), end="")
        print(f"# {_pin_line(spec, pin)}")
        print(f"# {_cache_line(name, entry)}")
    return CLEAN


def _pin_data(spec: DatasetSpec, pin: Pin | None) -> dict[str, Any] | None:
    if pin is None:
        return None
    return {**data_of(pin, keep=is_said), "stale": not pin.agrees(spec_digest(spec))}


def _pin_line(spec: DatasetSpec, pin: Pin | None) -> str:
    if pin is None:
        return f"not pinned (python -m registry lock {spec.name})"
    versions = ", ".join(source.short for source in pin.sources[:_SHOWN_SOURCES])
    more = len(pin.sources) - _SHOWN_SOURCES
    text = f"{versions}{f' and {more} more' if more > 0 else ''}, {pin.samples:,} samples"
    if pin.agrees(spec_digest(spec)):
        return f"pinned: {text}"
    return f"pinned for another manifest: {text} (python -m registry lock {spec.name})"


def _print_origins(spec: DatasetSpec, catalog: Catalog, *, as_json: bool) -> None:
    """Print each value with the file, line and layer that it comes from."""
    lock = lock_file_of(catalog.index)
    pins = lock_origins(read_documents(lock, shown_as=shown(lock)))
    origins = [*origins_of(spec, catalog.entries), *pins.get(spec.name, ())]
    if as_json:
        print_json([asdict(one) for one in origins])
        return
    rows = [
        (escape_control(one.key), display_value(one.value), _layer(one), one.place)
        for one in origins
    ]
    print_table(("key", "value", "layer", "where"), rows, wide=1)


def _layer(origin: Origin) -> str:
    return f"parent {origin.dataset}" if origin.layer == "parent" else origin.layer


def _spec_data(spec: DatasetSpec) -> dict[str, Any]:
    """Return the spec as a manifest writes it, without what says nothing."""
    data = data_of(spec, without={"folder", "name"}, keep=is_said)
    view = {key: value for key, value in data.pop("view").items() if value is not False}
    # A field that is null is not read, where one that is left out reads its own column.
    data["fields"] = data_of(spec.fields)
    data["source"] = _source_data(data["source"])
    data["concat"] = [_part_data(_source_data(part), data["source"]) for part in data["concat"]]
    if "join" in data:
        data["join"]["source"] = _source_data(data["join"]["source"])
    return {key: value for key, value in {**data, **view}.items() if value not in ({}, [])}


def _part_data(part: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """Return what a part of `concat` changes of the source; null is what it takes away."""
    changed = {key: item for key, item in part.items() if item != source.get(key)}
    return {**{key: None for key in source if key not in part}, **changed}


def _source_data(source: dict[str, Any]) -> dict[str, Any]:
    """Return a source with its type first, and its URLs without what may be secret."""
    path = source["path"]
    shown = path if isinstance(path, str) else [public_location(one) for one in path]
    kept = {key: value for key, value in source.items() if value != {}}
    return {"type": source["type"], **kept, "path": shown}


def _as_yaml(spec: DatasetSpec) -> str:
    document = {"datasets": {spec.name: _spec_data(spec)}}
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)


def _cache_data(entry: CacheEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    samples = entry.meta["samples"]
    return {"folder": str(entry.folder), "samples": samples, "bytes": entry.size}


def _cache_line(name: str, entry: CacheEntry | None) -> str:
    if entry is None:
        return f"not cached (python -m registry sync {name})"
    return f"cached: {entry.meta['samples']:,} samples, {size_text(entry.size)}, {entry.folder}"

"""`show`: show a dataset fully resolved, its pin, and where its samples are cached."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from registry.base.escape import escape_control
from registry.base.local_files import display_path
from registry.base.locations import Location
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import package_of
from registry.cli import CLEAN, options
from registry.cli.datasets import open_dataset, show_group
from registry.cli.output import print_json, print_line, print_table, size_text, warning_line
from registry.cli.problems import end_of, lines_of
from registry.cli.terminal import columns_of, paint, print_styled
from registry.diff.summary import display_value
from registry.errors import ManifestError, count_text, list_names
from registry.lockfile.models import CommitPin, Pin, read_documents
from registry.lockfile.origins import pin_origins
from registry.lockfile.pinned import staleness, state_of
from registry.manifest.origins import Origin, origins_by_path, origins_of
from registry.manifest.serialize import data_of, is_set
from registry.pipeline.expectations import quality_warnings
from registry.scaffold.codegen import loader_call
from registry.yamldoc.reader import DataPath, parse_yaml
from registry.yamldoc.writer import block_text

if TYPE_CHECKING:
    from registry.cache.cache import CacheEntry
    from registry.load.call import OpenCatalog
    from registry.manifest.models import DatasetSpec

__all__ = ["command", "comment_start", "marked_yaml", "without_defaults"]


_SHOWN_DEPENDENTS = 20
_PIPE = 1000
"""Columns of a line with its comment in a pipe, where nobody counts them."""

_EXAMPLES = """\b
Example: registry show demo-mcq-small
registry show demo-mcq-small --call
registry show demo-mcq-small --origin
registry show demo-mcq-small --provenance
registry show demo-mcq-small --all
registry show mmlu-subjects
"""

_LONGEST, _WORD = 100, 20
_HAS_SPACE = re.compile(r" *(?:- )*(?:[^ :]+: +)?\S+ ")
"""A line with a space in its value, where it can be folded."""
_COMMENT = re.compile(r"(?:^ *|  )\# (?:default|from [^'\"]*)$")


@click.command("show", epilog=_EXAMPLES)
@options.name
@options.split
@click.option("--call", is_flag=True, help="Print the equivalent loader call as Python.")
@click.option(
    "--origin", is_flag=True, help="Print the file, line and layer that each value comes from."
)
@click.option(
    "--provenance",
    is_flag=True,
    help="Print which samples it has, made of which bytes, as a log has it; builds them if needed.",
)
@click.option("--all", "show_all", is_flag=True, help="Show defaults that nobody wrote, too.")
@options.fewshot
@options.locked
@options.frozen
@options.as_json
@options.root
def command(
    name: str,
    call: bool,
    origin: bool,
    provenance: bool,
    show_all: bool,
    fewshot: int | None,
    locked: bool | None,
    frozen: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Show a dataset with `extends` and defaults applied, its pin, and whether it is cached.

    Comments name the file and line of values that are not in the dataset's own entry. Of a group,
    its members are shown, with their weights and states.
    """
    ways = {"--call": call, "--origin": origin, "--provenance": provenance}
    options.refuse_several(ways)
    if call and as_json:
        raise click.UsageError("--json is not for --call, which prints Python")
    overrides = options.overrides_of(fewshot=fewshot)
    opened = options.open_catalog(root, locked=locked, frozen=frozen)
    catalog = opened.catalog
    if provenance:
        _, found = open_dataset(name, opened, as_json=as_json, overrides=overrides)
        data = found.dataset.provenance.as_data()
        if as_json:
            print_json(data)
            return CLEAN
        for line in lines_of(block_text(data).removesuffix("\n")):
            print_line(line)
        return CLEAN
    if catalog.is_group(name) and not (call or origin or overrides):  # which are of one dataset
        return show_group(catalog.group(name), opened, as_json=as_json)
    asked = options.call_of(opened, name, overrides)
    spec = asked.spec
    options.check_members([name], opened)
    name = spec.name
    if origin:
        _print_origins(spec, opened, as_json=as_json)
        return CLEAN
    if call:
        print(loader_call(spec))
        return CLEAN
    pin, commit = opened.pins.get(name), opened.pins.commit(name)
    stale = pin is not None and not pin.agrees(catalog[name])
    _, entry = asked.find()
    warnings = [] if entry is None else quality_warnings(spec, entry.meta)
    if as_json:
        cached = entry and {
            "folder": str(entry.folder),
            "samples": entry.meta["samples"],
            "bytes": entry.size,
            "warnings": [warning.to_dict() for warning in warnings],
        }
        pinned = pin and {**data_of(pin, keep=is_set), "stale": stale}
        state = state_of(catalog[name], pin)
        data = {"name": name, "spec": _spec_data(spec), "cache": cached, "pin": pinned}
        print_json({**data, "state": state, **_override_data(name, catalog)})
        return CLEAN
    _print_spec(spec, catalog, show_all=show_all)
    for line in _override_lines(name, catalog):
        print_line(f"# {line}")
    print_line(f"# {_pin_line(catalog[name], pin, commit, stale=stale)}")
    print_line(f"# {_cache_line(name, entry)}")
    for warning in warnings:
        print_line(f"# warning: {warning_line(warning)}")
    return CLEAN


def _print_spec(spec: DatasetSpec, catalog: Catalog, *, show_all: bool) -> None:
    origins = dict(origins_by_path(spec, catalog.entries))
    if _is_builtin(origins["only",]):  # or that of a member of a group, which is in no entry
        del origins["only",]
    data = _spec_data(spec)
    data = data if show_all else without_defaults(data, origins)
    width = columns_of(sys.stdout) if sys.stdout.isatty() else _PIPE
    text = marked_yaml(data, spec.name, origins, width=width).removesuffix("\n")
    for line in text.split("\n"):
        start = comment_start(line)
        print_styled(line[:start] + paint(line[start:], sys.stdout, dim=True), sys.stdout)


def _override_data(name: str, catalog: Catalog) -> dict[str, Any]:
    """Return what a dataset overrides, and what extends it; {} if it overrides nothing."""
    if not (places := catalog.entries[name].overridden):
        return {}
    found = [
        {"package": package_of(one.folder), "file": one.file, "line": one.line} for one in places
    ]
    return {"overrides": found, "extended_by": catalog.dependents(name)}


def _override_lines(name: str, catalog: Catalog) -> Iterator[str]:
    """Yield what a dataset overrides, and what extends it."""
    places = catalog.entries[name].overridden
    for place in places:
        yield f"overrides that of package {package_of(place.folder)}: {place.file}:{place.line}"
    if places and (names := catalog.dependents(name)):
        yield f"extended by {list_names(names, _SHOWN_DEPENDENTS)}"


def _pin_line(spec: DatasetSpec, pin: Pin | None, commit: CommitPin | None, *, stale: bool) -> str:
    name = spec.name
    if pin is None and commit is not None and not commit.agrees(spec):
        reason, hint = staleness(spec, commit)
        return f"pinned {reason} ({hint})"
    if pin is None and spec.has_commit:
        return f"commit: the manifest names that of its bytes (registry lock {name} verifies them)"
    if pin is None:
        return f"floating: not pinned (registry lock {name})"
    if pin.is_newer:
        how = f"pinned in format {pin.format}, of a newer release"
        return f"{how}: {pin.summary} (upgrade eval-registry)"
    if stale:
        return f"pinned for an older manifest: {pin.summary} (registry lock {name})"
    return f"verified: {pin.summary}"


def _cache_line(name: str, entry: CacheEntry | None) -> str:
    if entry is None:
        return f"not cached (registry sync {name})"
    samples = count_text(entry.meta["samples"], "sample")
    return f"cached: {samples}, {size_text(entry.size)}, {entry.folder}"


def _print_origins(spec: DatasetSpec, opened: OpenCatalog, *, as_json: bool) -> None:
    """Print each value with the file, line and layer that it comes from."""
    lock = opened.pins.lock_file(spec.name)
    pins = pin_origins(read_documents(lock, shown_as=display_path(lock)))
    origins = [*origins_of(spec, opened.catalog.entries), *pins.get(spec.name, ())]
    if as_json:
        print_json([asdict(origin) for origin in origins])
        return
    rows = []
    for origin in origins:
        layer = f"parent {origin.dataset}" if origin.layer == "parent" else origin.layer
        rows.append((escape_control(origin.key), display_value(origin.value), layer, origin.place))
    print_table(("key", "value", "layer", "where"), rows, wide=1)


def _spec_data(spec: DatasetSpec) -> dict[str, Any]:
    """Return the spec with the keys of a manifest, without those at their defaults."""
    hidden = {"folder", "name", "split", "companion", "is_original"}
    data = data_of(spec, without=hidden, keep=is_set)
    # A manifest writes `shuffle`, `seed` and `limit` beside the source, not below a `view`.
    view = {key: value for key, value in data.pop("view").items() if value is not False}
    # A null field is kept: it reads nothing, while an omitted one reads the column of its name.
    data["fields"] = data_of(spec.fields)
    data["source"] = source = _source_data(data["source"])
    # A part of `concat` has only the keys that differ from the source; null removes a key.
    data["concat"] = [
        {key: None for key in source if key not in part}
        | {key: value for key, value in part.items() if value != source.get(key)}
        for part in map(_source_data, data["concat"])
    ]
    if "join" in data:
        data["join"]["source"] = _source_data(data["join"]["source"])
    if "eval" in data:
        data["eval"] = {key: value for key, value in data["eval"].items() if value != []}
    return {key: value for key, value in {**data, **view}.items() if value not in ({}, [])}


def _source_data(source: dict[str, Any]) -> dict[str, Any]:
    """Return a source with its type first, and without secrets in its URLs."""
    public = {
        key: [Location(one).public for one in source[key]]
        for key in ("path", "mirrors")
        if isinstance(source.get(key), list | tuple)
    }
    given = {key: value for key, value in {**source, **public}.items() if value not in ({}, [])}
    return {"type": source["type"], **given}


def without_defaults(data: Any, origins: Mapping[DataPath, Origin]) -> Any:
    """Return the data of a dataset without what only the program itself says."""
    defaults = {path for path, origin in origins.items() if _is_builtin(origin)}
    return _without(data, (), defaults)


def marked_yaml(data: Any, name: str, origins: Mapping[DataPath, Origin], *, width: int) -> str:
    """Return the manifest of a dataset with comments at values that its own entry does not have.

    Args:
        data: The data of the dataset.
        name: Its name.
        origins: Where its values come from, by their paths.
        width: Columns for a line and its comment, which is above the line if it does not fit.
    """
    text = _folded({"datasets": {name: data}}, min(width, _LONGEST))
    try:
        positions = parse_yaml(text, file="").positions
    except ManifestError:  # larger than any manifest may be
        return text
    lines = [*lines_of(text)]
    for path, origin in origins.items():
        found = positions.get(("datasets", name, *path))
        if found is not None and (mark := _mark(origin)):
            line, start = lines[found.line - 1], found.column - 1
            lines[found.line - 1] = _marked(line, start, mark, text, found.line, width)
    return "\n".join(lines)


def _folded(data: Any, width: int) -> str:
    """Return YAML whose lines fit a width, where there is a space to fold them at."""
    # PyYAML folds a line at the first space behind its width.
    for narrower in range(width, max(width - _WORD, _WORD), -1):
        text = block_text(data, width=narrower)
        if all(len(line) <= width for line in lines_of(text) if _HAS_SPACE.match(line)):
            return text
    return block_text(data, width=max(width - _WORD, _WORD))


def comment_start(line: str) -> int:
    """Return where the comment of a line begins, or its length."""
    found = _COMMENT.search(line)
    return len(line) if found is None else found.start()


def _marked(line: str, start: int, mark: str, text: str, number: int, width: int) -> str:
    comment = f"# {mark}"
    # In a value that goes on in the next line, a comment would be a part of it.
    ends = [end_of(text, number, start, key_only=True), end_of(text, number, start, key_only=False)]
    is_complete = len(line) == ends[1] or (line.endswith(":") and len(line) - 1 == ends[0])
    if is_complete and len(line) + len(comment) + 2 <= width:
        return f"{line}  {comment}"
    return f"{' ' * start}{comment}\n{line}" if line[:start].isspace() else line


def _mark(origin: Origin) -> str:
    if _is_builtin(origin):
        return "default"
    if origin.layer == "own":
        return ""
    return escape_control(f"from {origin.place}")


def _is_builtin(origin: Origin) -> bool:
    return origin.layer == "default" and not origin.file


def _without(value: Any, path: DataPath, left_out: set[DataPath]) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {
        key: _without(item, (*path, key), left_out)
        for key, item in value.items()
        if (*path, key) not in left_out
    }
    return {key: item for key, item in kept.items() if item != {} or value[key] == {}}

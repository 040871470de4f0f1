"""What a manifest and the lockfile say of a dataset."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from registry import Catalog
from registry.api import (
    DatasetSpec,
    Entry,
    Origin,
    OwnColumn,
    Pin,
    count_text,
    display_path,
    list_names,
    mapping_dependencies,
    origins_of,
)
from registry.plugins.site.text import cut, shorten
from registry.plugins.site.views.dataset_view import DatasetView, SpecRow

__all__ = ["ShownPaths", "column_names", "described", "pin_rows"]

_MOST_URL = 2_000
_MOST_VALUE = 600


def described(
    view: DatasetView,
    spec: DatasetSpec,
    entries: Mapping[str, Entry],
    pin: Pin | None,
    paths: ShownPaths,
) -> DatasetView:
    """Add what the manifest says, with the place of every value, before the facts of a view."""
    homepage = spec.homepage or ""
    origins = origins_of(spec, entries)
    is_link = homepage.startswith(("http://", "https://")) and len(homepage) <= _MOST_URL
    return replace(
        view,
        description=spec.description or "",
        homepage=homepage if is_link else "",
        license=spec.license or "",
        tags=tuple(map(str, spec.tags)),
        facts=(*_facts(spec, pin, paths), *view.facts),
        columns=column_names(spec, pin),
        spec=tuple(_row(one, paths) for one in origins if one.file or one.layer != "default"),
        defaults=tuple(
            _row(one, paths) for one in origins if not one.file and one.layer == "default"
        ),
    )


def pin_rows(origins: Iterable[Origin], paths: ShownPaths) -> tuple[SpecRow, ...]:
    """Return the values of a pin."""
    return tuple(_row(one, paths) for one in origins)


def column_names(spec: DatasetSpec, pin: Pin | None) -> tuple[str, ...]:
    """Return the names of columns that someone may look for: those read, and those there are."""
    read = None if spec.mapper else mapping_dependencies(spec.fields, spec.where)
    # A field that is not written reads the column of its name, which records need not have.
    named = (one for one in read or () if not isinstance(one, OwnColumn))
    keys = spec.fields.metadata if isinstance(spec.fields.metadata, dict) else ()
    return tuple(sorted({*named, *keys, *(pin.columns if pin else ())}))


def _facts(spec: DatasetSpec, pin: Pin | None, paths: ShownPaths) -> Iterator[tuple[str, str]]:
    view = spec.view
    order = [
        f"shuffled (seed {view.seed})" if view.shuffle else "",
        f"choices shuffled (seed {view.shuffle_choices})" if view.shuffle_choices else "",
        f"the first {view.limit:,}" if view.limit is not None else "",
        f"{spec.sample.n:,} selected (seed {spec.sample.seed})" if spec.sample else "",
    ]
    yield "Source", paths.shorten(f"{spec.source.type}: {spec.location}")
    if any(order):
        yield "Selection", ", ".join(filter(None, order))
    if spec.eval and spec.eval.scorer:
        yield "Scored by", ", ".join(one.name for one in spec.eval.scorer)
    yield "Pin", _pin_text(spec, pin)


def _pin_text(spec: DatasetSpec, pin: Pin | None) -> str:
    if pin is None:
        return "none"
    versions = list_names([source.short for source in pin.sources], 3)
    text = f"{versions}, {count_text(pin.samples, 'sample')}"
    return text if pin.agrees(spec) else f"{text}, of an older manifest"


def _row(origin: Origin, paths: ShownPaths) -> SpecRow:
    value = origin.value
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, ensure_ascii=False, default=str)
    return SpecRow(
        key=cut(origin.key, _MOST_VALUE)[0],
        value=shorten(paths.shorten(text), _MOST_VALUE),
        layer=f"parent {origin.dataset}" if origin.layer == "parent" else origin.layer,
        place=paths.shorten(origin.place),
    )


class ShownPaths:
    """The folders of a catalog, as paths and as messages name them."""

    def __init__(self, catalog: Catalog) -> None:
        folders = {catalog.index.parent, *(one.parent for one in catalog.indexes)}
        self._folders = tuple(
            (f"{folder}{os.sep}", f"{display_path(folder)}{os.sep}")
            for folder in sorted(folders, reverse=True)
        )

    def shorten(self, text: str) -> str:
        """Return a text without the folders in it."""
        for folder, shown in self._folders:
            # A relative path is sure to be one only where a text begins with the place.
            text = text.replace(folder, "").removeprefix(shown)
        return text

"""What the pages show of one dataset, as values: its spec with places, and what it extends."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from registry import Catalog, Sample
from registry.api import (
    DatasetSpec,
    Entry,
    Origin,
    OwnColumn,
    Pin,
    display_path,
    mapping_dependencies,
    origins_of,
    samples_of,
    state_of,
)
from registry.plugins.site.compare_page import Comparison
from registry.plugins.site.environment import cut, shorten
from registry.plugins.site.manifest_lines import ManifestPart
from registry.plugins.site.sample_table import SampleTable

__all__ = [
    "DatasetView",
    "Family",
    "PlotView",
    "ShownPaths",
    "SpecRow",
    "children_of",
    "column_names",
    "described",
    "family_of",
    "is_about_code",
    "pin_rows",
    "summarized",
]


_MOST_RELATIVES = 100
_PAPER = re.compile(
    r"https?://(?:www\.)?(?:arxiv\.org|aclanthology\.org|doi\.org|openreview\.net)/"
)
_MOST_DEEP = 8

_MOST_URL = 2_000
_MOST_VALUE = 600


@dataclass(frozen=True, kw_only=True)
class SpecRow:
    """A value of the resolved spec or of the pin, and where it is written."""

    key: str
    value: str
    layer: str
    place: str


@dataclass(frozen=True, kw_only=True)
class PlotView:
    """A bar chart."""

    svg: Markup
    is_counted: bool
    """Whether the groups of the table say the same."""


@dataclass(frozen=True, kw_only=True)
class DatasetView:
    """What the page of a dataset shows."""

    name: str
    description: str = ""
    homepage: str = ""
    """An HTTP or HTTPS URL."""
    license: str = ""
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why it can't be used or built."""
    is_blocked: bool = False
    """Whether these are problems of other datasets in its files."""
    excerpt: str = ""
    """The lines that problems are about, marked as `validate` does."""
    is_last: bool = False
    """Whether all else is as it was before its file could not be read."""
    warnings: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    """Source, samples, pin and others, by their labels."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Where some of them lead, by their labels."""
    columns: tuple[str, ...] = ()
    """Columns of the records that are read."""
    spec: tuple[SpecRow, ...] = ()
    """What is written in files."""
    defaults: tuple[SpecRow, ...] = ()
    """What is not."""
    is_pinned: bool = False
    pin: tuple[SpecRow, ...] = ()
    samples: tuple[Sample, ...] | None = None
    """The first ones, or those from `first` on; None if they are not cached."""
    first: int = 1
    """The number of the first of these samples."""
    records: tuple[tuple[int, Mapping[str, Any]] | None, ...] = ()
    """The number and the record of each sample; empty if none can be read without a request."""
    reports: tuple[str, ...] = ()
    """The row that reports a fault of each sample, or the command that prints it."""
    expected: int | None = None
    """The number of samples of the view, as it is pinned, or as the manifest expects it."""
    source: str = ""
    """The type of its source."""
    lock: str = ""
    """How far its samples are determined: `floating`, `commit` or `verified`."""
    file: str = ""
    """The manifest, relative to the index."""
    is_withheld: bool = False
    """Whether the samples are left out because they are behind terms."""
    total: int | None = None
    """The number of samples; None if they are not built, and these only a preview."""
    plots: tuple[PlotView, ...] = ()
    table: SampleTable | None = None
    """The samples that can be searched and sorted on a page without a server."""
    manifest: tuple[ManifestPart, ...] = ()
    """The YAML: its own, then that of what it extends."""
    comparisons: tuple[Comparison, ...] = ()
    """What its samples can be seen beside."""
    family: Family | None = None
    """What it extends and what extends it; None if nothing does."""

    @property
    def is_code(self) -> bool:
        """Whether it is about code, as its tags say: then less is asked of a line of code."""
        return is_about_code(self.tags)

    @property
    def is_paper(self) -> bool:
        """Whether the homepage is that of a paper."""
        return bool(_PAPER.match(self.homepage))

    @property
    def states(self) -> tuple[str, ...]:
        """What `is:` finds it by."""
        states = {
            "broken": self.problems and not self.is_blocked,
            "cached": self.samples is not None,
            "pinned": self.is_pinned,
            "warned": self.warnings,
        }
        return tuple(name for name, has in states.items() if has)


@dataclass(frozen=True, kw_only=True)
class Family:
    """A dataset in the tree of those it extends and of those that extend it."""

    name: str
    is_here: bool
    """Whether it is the dataset of the page."""
    has_page: bool = True
    """Whether it can be linked: a site may have a part of a catalog."""
    children: tuple[Family, ...] = ()
    more: int = 0
    """How many children are left out."""


def is_about_code(tags: Iterable[object]) -> bool:
    """Return whether tags say that samples are code."""
    return not {"code", "coding", "programming"}.isdisjoint(str(tag).lower() for tag in tags)


def children_of(parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the datasets that directly extend each, sorted, from the parent of each."""
    children: dict[str, list[str]] = {}
    for name in sorted(parents):
        children.setdefault(parents[name], []).append(name)
    return children


def family_of(
    name: str,
    ancestors: Sequence[str],
    children: Mapping[str, Sequence[str]],
    *,
    pages: Collection[str],
) -> Family | None:
    """Return the family of a dataset, from its first ancestor down; None if it is alone.

    Args:
        name: The dataset.
        ancestors: What it extends, the nearest first.
        children: The datasets that directly extend each, all of which have a page.
        pages: The datasets that have a page.
    """
    if not ancestors and not children.get(name):
        return None
    # A part of a large family: siblings are on the page of their parent.
    names = {*ancestors, name}
    family = _family(name, name, children, _MOST_DEEP, seen=names)
    for ancestor in ancestors:
        more = len(children.get(ancestor, ())) - (family.name in pages)
        family = Family(
            name=ancestor,
            is_here=False,
            has_page=ancestor in pages,
            children=(family,),
            more=max(more, 0),
        )
    return family


def _family(
    name: str, here: str, children: Mapping[str, Sequence[str]], deep: int, *, seen: set[str]
) -> Family:
    below = [one for one in children.get(name, ()) if one not in seen]
    shown = below[: max(0, _MOST_RELATIVES - len(seen))] if deep else []
    seen.update(shown)
    return Family(
        name=name,
        is_here=name == here,
        children=tuple(_family(one, here, children, deep - 1, seen=seen) for one in shown),
        more=len(below) - len(shown),
    )


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
        homepage=homepage if is_link else "",
        **_known_of(spec, pin),
        facts=(*_facts(spec, pin, paths), *view.facts),
        links=_links(spec),
        spec=tuple(_row(one, paths) for one in origins if one.file or one.layer != "default"),
        defaults=tuple(
            _row(one, paths) for one in origins if not one.file and one.layer == "default"
        ),
    )


def summarized(view: DatasetView, spec: DatasetSpec, pin: Pin | None) -> DatasetView:
    """Add what the list shows of a dataset."""
    return replace(view, **_known_of(spec, pin))


def _known_of(spec: DatasetSpec, pin: Pin | None) -> dict[str, Any]:
    """Return what the list and the page show of a manifest."""
    state = state_of(spec, pin)
    return {
        "description": spec.summary,
        "license": str(spec.license or ""),
        "tags": tuple(map(str, spec.tags)),
        "languages": tuple(map(str, spec.languages)),
        "columns": column_names(spec, pin),
        "expected": samples_of(spec, pin if state == "verified" else None, None),
        "source": spec.source.type,
        "lock": state,
    }


def _links(spec: DatasetSpec) -> dict[str, str]:
    """Return where facts lead: the repository on the Hub, and the license."""
    links = {}
    if spec.source.type == "hf" and "/" in spec.location:
        revision = getattr(spec.source, "revision", None) or "main"
        repository = spec.location.partition("@")[0]
        links["Source"] = (
            f"https://huggingface.co/datasets/{quote(repository)}/tree/{quote(revision)}"
        )
    url = spec.license.url if spec.license else None
    if url and url.startswith(("http://", "https://")):
        links["License"] = url
    elif spec.license and spec.license.spdx and re.fullmatch(r"[A-Za-z0-9.-]+", spec.license.spdx):
        links["License"] = f"https://spdx.org/licenses/{spec.license.spdx}.html"
    return links


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
        *(f"{key} {value}" for key, value in (view.only or {}).items()),
        f"shuffled (seed {view.seed})" if view.shuffle else "",
        f"choices shuffled (seed {view.shuffle_choices})" if view.shuffle_choices else "",
        f"the first {view.limit:,}" if view.limit is not None else "",
        f"{spec.sample.n:,} selected (seed {spec.sample.seed})" if spec.sample else "",
    ]
    parts = [getattr(spec.source, key, None) for key in ("name", "split")]
    where = ", ".join([spec.location, *(one for one in parts if isinstance(one, str))])
    yield "Source", paths.shorten(f"{spec.source.type}: {where}")
    if any(order):
        yield "Selection", ", ".join(filter(None, order))
    if spec.eval and spec.eval.scorer:
        yield "Scored by", ", ".join(one.name for one in spec.eval.scorer)
    if spec.languages:
        yield "Languages", ", ".join(spec.languages)
    yield "State", state_of(spec, pin)
    yield "Pin", _pin_text(spec, pin)


def _pin_text(spec: DatasetSpec, pin: Pin | None) -> str:
    if pin is None:
        return "to the commit in the manifest" if spec.has_commit else "none"
    if pin.agrees(spec):
        return pin.summary
    return f"{pin.summary}, {'by a newer release' if pin.is_newer else 'of an older manifest'}"


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

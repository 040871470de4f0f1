"""What the pages show of one dataset, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from registry import Sample
from registry.plugins.site.views.lineage import Family

__all__ = ["DatasetView", "SpecRow"]


@dataclass(frozen=True, kw_only=True)
class SpecRow:
    """A value of the resolved spec or of the pin, and where it is written."""

    key: str
    value: str
    layer: str
    place: str


@dataclass(frozen=True, kw_only=True)
class DatasetView:
    """What the page of a dataset shows."""

    name: str
    description: str = ""
    homepage: str = ""
    """An HTTP or HTTPS URL."""
    license: str = ""
    tags: tuple[str, ...] = ()
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
    total: int | None = None
    """The number of samples; None if they are not built, and these only a preview."""
    plots: tuple[Markup, ...] = ()
    """SVG."""
    family: Family | None = None
    """What it extends and what extends it; None if nothing does."""

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

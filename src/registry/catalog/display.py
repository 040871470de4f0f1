"""A catalog in a notebook: the first datasets, and how many have which tag."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from registry.catalog.names import Names
from registry.display.html import MOST_BYTES, Allowance, block, plots_html, table
from registry.errors import count_text
from registry.manifest.models import NO_LICENSE
from registry.plots import frequencies

__all__ = ["catalog_html"]

_DATASETS = 30
_COUNTED = 2_000
"""Datasets whose tags are counted: each is decoded."""
_BYTES = 14_000
_CELL = 300


def catalog_html(catalog: Names, index: str) -> str:
    """Return a catalog as HTML, with the name of its index.

    Nothing is resolved, so a dataset with problems is shown too.
    """
    room = Allowance(_BYTES)
    problems = count_text(len(catalog.problems), "problem")
    parts = [
        f"<b>{room.line(index, 500)}</b> · {count_text(len(catalog), 'dataset')}",
        f" · {problems}, see <code>registry validate</code>" if catalog.problems else "",
        table(
            [_row(catalog, name, room) for name in islice(catalog, _DATASETS)],
            headers=("dataset", "description", "license", "tags"),
        ),
    ]
    rest = len(catalog) - _DATASETS
    if rest > 0:
        parts.append(f"<i>… {count_text(rest, 'more dataset')}</i>")
    counted = list(islice(catalog, _COUNTED))
    tags = Counter(tag for name in counted for tag in sorted(catalog.tags_of(name)))
    note = f"of the first {_COUNTED:,} datasets" if len(catalog) > _COUNTED else ""
    plots = [frequencies("Tags", tags)] if tags else []
    left = MOST_BYTES - len(block(*parts).encode())
    return block(*parts, plots_html(plots, note, most=left))


def _row(catalog: Names, name: str, room: Allowance) -> list[str]:
    tags = ", ".join(sorted(catalog.tags_of(name)))
    stated = catalog.written_value(name, "license")
    stated = stated.get("spdx", NO_LICENSE) if isinstance(stated, dict) else stated
    cells = (name, catalog.written_value(name, "description"), stated, tags)
    return [room.line("" if one is None else str(one), _CELL) for one in cells]

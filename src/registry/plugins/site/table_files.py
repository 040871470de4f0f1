"""The table of a dataset as scripts, which pages of file:// can read: data they can't."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from registry.api import file_stem
from registry.plugins.site.sample_table import SampleTable

__all__ = ["fitting_table", "table_file", "table_scripts"]

_FIRST_SIZE, _PART_SIZE = 40_000, 400_000
"""Bytes of the samples in the first script, which each visitor loads, and in each other."""
_CELL_TEXT = 20_000
_encode = msgspec.json.Encoder().encode


def table_file(name: str, part: int) -> str:
    """Return the file of a part of the table of a dataset."""
    return f"tables/{file_stem(name)}@{part}.js"


def fitting_table(table: SampleTable, most: int) -> SampleTable:
    """Return as many of the first samples as their scripts have room for in so many bytes."""
    rows = 0
    while rows < table.rows:
        most -= len(_encode(table.cells(rows, _CELL_TEXT))) + 4 * len(table.columns)
        if most < 0:
            break
        rows += 1
    return table.first(rows)


def table_scripts(table: SampleTable) -> Iterator[str]:
    """Yield the scripts of a table; the first one has its columns and groups, too."""
    parts = [_script(rows) for rows in _parts(table)]
    head = _encode(table.head() | {"parts": len(parts)}).decode()
    for number, part in enumerate(parts):
        yield part if number else f"registryTable({head});\n{part}"


def _script(rows: list[bytes]) -> str:
    lines = b",\n".join(rows).decode()
    return f"registryPart([\n{lines}\n]);\n"


def _parts(table: SampleTable) -> Iterator[list[bytes]]:
    """Yield the rows of each part as JSON: the cells, and the group of each facet."""
    part: list[bytes] = []
    left = _FIRST_SIZE
    codes = [facet.codes.tolist() for facet in table.facets]
    for place in range(table.rows):
        row = _encode([table.cells(place, _CELL_TEXT), [one[place] for one in codes]])
        if part and len(row) > left:
            yield part
            part, left = [], _PART_SIZE
        part.append(row)
        left -= len(row)
    yield part

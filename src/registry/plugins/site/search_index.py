"""The rows of the search, as scripts: a page of file:// can load a script, and can't fetch JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from registry.plugins.site.home_page import ListRow
from registry.plugins.site.text import visible

__all__ = ["search_chunks", "search_script"]

_CHUNK_SIZE = 250_000


def search_chunks(rows: Iterable[ListRow]) -> Iterator[str]:
    """Yield scripts that give `search.js` its rows, each of limited size."""
    lines: list[str] = []
    size = 0
    for row in rows:
        line = _line(row)
        if lines and size + len(line) > _CHUNK_SIZE:
            yield _script(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 2
    if lines:
        yield _script(lines)


def search_script(rows: Iterable[ListRow]) -> str:
    """Return one script with all rows, for a page that is made on this machine."""
    return _script(list(map(_line, rows)))


def _script(lines: list[str]) -> str:
    return "registryRows([\n" + ",\n".join(lines) + "\n]);\n"


def _line(row: ListRow) -> str:
    """Return a row as JSON in ASCII, which is JavaScript too."""
    values = [
        row.name,
        visible(row.description),
        [visible(tag) for tag in row.tags],
        visible(row.license),
        row.samples,
        row.states,
        [visible(column) for column in row.columns],
    ]
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c")

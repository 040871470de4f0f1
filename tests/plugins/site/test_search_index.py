"""The rows of the search."""

from __future__ import annotations

import json

from registry.plugins.site.home_page import ListRow
from registry.plugins.site.search_index import search_chunks


def rows_of(chunk: str) -> list[list[object]]:
    """Return the rows of a script."""
    rows: list[list[object]] = json.loads(chunk.removeprefix("registryRows(").removesuffix(");\n"))
    return rows


def test_rows_are_data_in_ascii() -> None:
    row = ListRow(
        name="qa",
        description="é </script>\u202e\u2028\ud800",
        tags=("a",),
        license="mit",
        samples=3,
        states=("cached",),
        columns=("q", "<b>"),
    )
    (chunk,) = search_chunks([row])
    assert chunk.isascii()
    assert "<" not in chunk
    shown = "é </script>\\u{202e}\\u{2028}\\u{d800}"
    assert rows_of(chunk) == [["qa", shown, ["a"], "mit", 3, ["cached"], ["q", "<b>"]]]


def test_chunks_are_of_limited_size_and_have_every_row_once() -> None:
    rows = [ListRow(name=f"d{n}", description="x" * 300) for n in range(3_000)]
    chunks = list(search_chunks(rows))
    assert len(chunks) > 1
    assert max(map(len, chunks)) < 300_000
    assert [one[0] for chunk in chunks for one in rows_of(chunk)] == [row.name for row in rows]


def test_no_rows_need_no_script() -> None:
    assert list(search_chunks([])) == []

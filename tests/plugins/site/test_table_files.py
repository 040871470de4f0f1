"""The scripts of a table."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from registry import MemoryDataset, Sample
from registry.plugins.site.sample_table import SampleTable
from registry.plugins.site.table_files import fitting_table, table_file, table_scripts


def table(count: int, length: int = 500) -> SampleTable:
    some = [Sample("word " * (length // 5), id=n, metadata={"k": n % 3}) for n in range(count)]
    return SampleTable.of(MemoryDataset(some))


def read(scripts: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """Return the head and the rows of scripts, as a browser would get them."""
    head = re.match(r"registryTable\((.*)\);\n", scripts[0])
    assert head
    rows: list[Any] = []
    for text in (scripts[0][head.end() :], *scripts[1:]):
        part = re.fullmatch(r"registryPart\((.*)\);\n", text, re.DOTALL)
        assert part
        rows += json.loads(part[1])
    return json.loads(head[1]), rows


def test_scripts_have_all_rows_in_parts_of_limited_size() -> None:
    of = table(3_000)
    scripts = list(table_scripts(of))
    head, rows = read(scripts)
    assert head["parts"] == len(scripts) > 3
    assert len(scripts[0]) < 50_000
    assert max(map(len, scripts)) < 410_000
    assert (head["rows"], head["total"]) == (3_000, 3_000)
    assert [cells for cells, _ in rows] == [of.cells(place) for place in range(3_000)]
    assert [codes for _, codes in rows[:4]] == [[0, 0], [0, 1], [0, 2], [0, 0]]
    assert head["facets"][-1]["groups"] == [["0", 1_000], ["1", 1_000], ["2", 1_000]]


@pytest.mark.parametrize("most", [0, 10_000, 300_000])
def test_table_has_the_first_samples_that_there_is_room_for(most: int) -> None:
    part = fitting_table(table(1_000), most)
    scripts = list(table_scripts(part)) if part.rows else []
    size = sum(map(len, scripts))
    assert most * 0.9 - 1_000 <= size <= most * 1.1 + 1_000
    if part.rows:
        head, rows = read(scripts)
        assert head["rows"] == len(rows) == part.rows < head["total"] == 1_000
        assert sum(count for _, count in head["facets"][-1]["groups"]) == part.rows


def test_hostile_and_huge_texts_stay_texts() -> None:
    hostile = "</script><script>alert(1)</script>\u202e\u2028"
    scripts = list(table_scripts(SampleTable.of(MemoryDataset([Sample(hostile + "x" * 90_000)]))))
    _, rows = read(scripts)
    assert rows[0][0][0].startswith("</script><script>alert(1)</script>\\u{202e}")
    assert rows[0][0][0].endswith("not shown)")
    assert sum(map(len, scripts)) < 21_000


def test_files_are_named_by_the_dataset() -> None:
    assert table_file("qa:test", 3) == "tables/qa+test@3.js"

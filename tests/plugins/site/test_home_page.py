"""The list of datasets."""

from __future__ import annotations

import json
import re

from registry.plugins.site.about import About
from registry.plugins.site.dataset_view import DatasetView
from registry.plugins.site.home_page import (
    ListRow,
    folded,
    list_filters,
    list_pages,
    list_row,
    search_chunks,
    unfolded,
)
from registry.samples.sample import Sample


def test_row_has_short_texts() -> None:
    view = DatasetView(
        name="qa",
        description="d" * 10_000,
        tags=tuple("t" * 100 + str(n) for n in range(100)),
        columns=tuple(f"c{n}" for n in range(20_000)),
        samples=(Sample("q"),),
        total=7,
    )
    row = list_row(view)
    assert row.description == "d" * 300 + "…"
    assert (len(row.tags), len(row.tags[0]), len(row.columns)) == (20, 61, 60)
    assert (row.samples, row.states) == (7, ("cached",))


def test_small_catalog_has_one_page() -> None:
    rows = [ListRow(name="a", tags=("x", "y")), ListRow(name="b", tags=("x",), states=("broken",))]
    problems = ("x.yaml: <bad>",)
    ((file, page),) = list_pages(rows, about=About(title="A & B"), chunks=1, problems=problems)
    assert file == "index.html"
    for part in (
        "<h1>A &amp; B</h1>",
        "2 datasets, 0 with samples, 0 pinned, 1 broken",
        "x.yaml: &lt;bad&gt;",
        'href="datasets/a.html"',
        'data-chunks="1"',
        'x <span class="quiet">2</span>',
    ):
        assert part in page
    assert 'class="pager"' not in page


def test_families_are_folded_and_all_can_be_found() -> None:
    members = tuple(ListRow(name=f"m{n:03}", samples=n) for n in range(205))
    listed = folded([ListRow(name="m"), *members], [("m", [one.name for one in members])])
    assert [(row.name, len(row.members)) for row in listed] == [("m", 205)]
    ((_, page),) = list_pages(listed, about=About(title="t"), chunks=1)
    assert "206 datasets" in page
    assert "205 datasets extend it" in page
    assert 'href="datasets/m199.html"' in page
    assert 'href="datasets/m200.html"' not in page
    assert 'and 5 more: <a class="needs-script" href="index.html#q=family%3Am">' in page
    rows = [row for chunk in search_chunks(unfolded(listed)) for row in rows_of(chunk)]
    assert [(row[0], row[10]) for row in rows[:2]] == [("m", ""), ("m000", "m")]


def test_filters_count_values_whatever_their_case() -> None:
    rows = [
        ListRow(name=name, license=named, source="hf", lock="commit", states=("cached",))
        for name, named in (("a", "MIT"), ("b", "mit"), ("c", "MIT"), ("d", ""))
    ]
    licenses = ("License", "license", [("MIT", 3), ("none", 1)])
    assert list_filters(rows) == [licenses, ("State", "is", [("cached", 4)])]


def test_page_says_which_state_of_the_catalog_it_shows() -> None:
    about = About(
        title="Ours",
        description="What we measure.",
        logo="data:image/png;base64,AA==",
        repository="https://example.org/o/n",
        release="1.2",
        commit="c" * 40,
        date="2026-01-02",
    )
    rows = [ListRow(name="a", samples=1_172, lock="commit", changed="2026-01-01")]
    ((_, page),) = list_pages(rows, about=about, chunks=1)
    for part in (
        '<img class="logo" src="data:image/png;base64,AA==" alt="">',
        "What we measure.",
        f'<a href="https://example.org/o/n/tree/{"c" * 40}"',
        "commit cccccccccc</a> of 2026-01-02",
        "Made by <code>registry</code> 1.2",
        "1,172 samples",
        "pinned to a commit",
        "changed 2026-01-01",
    ):
        assert part in page


def test_large_catalog_is_divided_into_linked_pages() -> None:
    rows = [ListRow(name=f"d{n:05}", description="x" * 80) for n in range(1_001)]
    pages = dict(list_pages(rows, about=About(title="t"), chunks=2))
    assert list(pages) == ["index.html", *(f"list/{n}.html" for n in range(2, 7))]
    assert 'href="list/6.html"' in pages["index.html"]
    assert 'href="../datasets/d01000.html"' in pages["list/6.html"]
    assert 'href="../index.html"' in pages["list/6.html"]
    assert 'id="search"' not in pages["list/2.html"]
    named = [name for page in pages.values() for name in re.findall(r">(d\d{5})</a>", page)]
    assert named == [row.name for row in rows]


def test_pages_stay_below_300_kb_whatever_the_texts_are() -> None:
    view = DatasetView(
        name="a",
        description="\u202e" * 999,
        license="<" * 99,
        tags=tuple("\U000e0001" * 99 for _ in range(99)),
    )
    rows = [list_row(view)] * 50
    about = About(title="\u202e" * 10_000)
    pages = dict(list_pages(rows, about=about, chunks=1, problems=("<" * 9_999,) * 99))
    assert len(pages) > 1
    assert max(len(page.encode()) for page in pages.values()) < 300_000
    assert "and 79 more" in pages["index.html"]


def test_all_tags_are_on_the_page_if_there_is_room() -> None:
    rows = [ListRow(name=f"d{n}", tags=(f"team-{n}", "all")) for n in range(400)]
    page = dict(list_pages(rows, about=About(title="t"), chunks=1))["index.html"]
    open_tags, _, more = page.partition("More tags")
    assert open_tags.index("all <span") < open_tags.index("team-0 <span")
    assert all(f">team-{n} <span" in open_tags + more for n in range(400))
    assert "not listed" not in page
    rows = [ListRow(name="d", tags=tuple(f"{n:050}" for n in range(2_000)))]
    ((_, page),) = list_pages(rows, about=About(title="t"), chunks=1)
    (listed, left_out) = page.count("%3A"), re.findall(r"([\d,]+) more tags are not listed", page)
    assert left_out
    assert listed > 0


def test_empty_catalog_has_a_page() -> None:
    ((file, page),) = list_pages([], about=About(title="t"), chunks=0)
    assert (file, "0 datasets" in page) == ("index.html", True)


def rows_of(chunk: str) -> list[list[object]]:
    """Return the rows of a script."""
    rows: list[list[object]] = json.loads(chunk.removeprefix("registryRows(").removesuffix(");\n"))
    return rows


def test_rows_are_data_in_ascii() -> None:
    row = ListRow(
        name="qa",
        description="é </script>\u202e\u2028\ud800",
        tags=("a",),
        languages=("te",),
        license="mit",
        samples=3,
        states=("cached",),
        columns=("q", "<b>"),
    )
    (chunk,) = search_chunks([row])
    assert chunk.isascii()
    assert "<" not in chunk
    shown = "é </script>\\u{202e}\\u{2028}\\u{d800}"
    assert rows_of(chunk) == [
        ["qa", shown, ["a"], "mit", 3, ["cached"], ["q", "<b>"], "", "", "", "", ["te"]]
    ]


def test_chunks_are_of_limited_size_and_have_every_row_once() -> None:
    rows = [ListRow(name=f"d{n}", description="x" * 300) for n in range(3_000)]
    chunks = list(search_chunks(rows))
    assert len(chunks) > 1
    assert max(map(len, chunks)) < 300_000
    assert [one[0] for chunk in chunks for one in rows_of(chunk)] == [row.name for row in rows]


def test_no_rows_need_no_script() -> None:
    assert list(search_chunks([])) == []

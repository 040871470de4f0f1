"""The page of a diff: complete, escaped, self-contained and bounded."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from registry.base.escape import escape_lines
from registry.diff.models import CatalogDiff, Chunk, Example, FieldChange
from registry.diff.severity import ChangeClass
from registry.errors import Problem
from registry.plugins.site.assets import STYLE, asset
from registry.plugins.site.diff_page import diff_page
from tests.cli.formats.diffs import EVIL, change, diff_of, untrusted_diff

HOSTILE = "</script></style><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\ud800'\""


class Elements(HTMLParser):
    """Collects the elements of a page, and checks that each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.ids: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in {"meta", "link", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    elements.close()
    assert elements.open == []
    assert len(set(elements.ids)) == len(elements.ids)
    return elements


def test_page_has_what_the_other_formats_have() -> None:
    problem = Problem(message="bad key", file="m.yaml", line=3)
    page = diff_page(diff_of(change("d", "old", "new"), base_problems=(problem,)))
    parsed(page)
    for text in (
        "<h1>1 dataset changed: 1 inputs; 1 problem</h1>",
        "<code>main (1234567)</code> → <code>work tree</code>",
        "bad key</li>",
        "<del><code>old</code></del>",
        "<ins><code>new</code></ins>",
        "3 → 4: 1 added, 1 changed (input); matched by id",
        "blank target: new",
    ):
        assert text in page


def test_page_without_differences_says_so() -> None:
    page = diff_page(diff_of())
    assert "<h1>no differences</h1>" in page
    assert "toolbar" not in page.partition("<body>")[2].partition("<script>")[0]


@pytest.mark.parametrize("text", [EVIL, HOSTILE])
def test_untrusted_text_is_harmless_everywhere(text: str) -> None:
    page = diff_page(untrusted_diff(text))
    elements = parsed(page)
    assert elements.names.count("script") == 2  # theme.js and diff.js
    assert "img" not in elements.names
    assert not elements.attributes & {"onerror", "style", "src"}
    assert not set(page) & set("\u202e\x1b\r\ud800")


def test_page_is_self_contained_under_a_strict_policy() -> None:
    page = diff_page(diff_of(change("d", "old", "new")))
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:,", "#main"]
    assert "default-src &#39;none&#39;" in page


def test_what_is_printed_is_the_page_as_it_was_made() -> None:
    # stdout escapes commands of a CI: were there any in our own files, their hashes would be wrong.
    for name in (STYLE, "theme.js", "diff.css", "diff.js"):
        assert escape_lines(asset(name)) == asset(name)


def test_filters_are_the_classes_that_occur_with_their_counts() -> None:
    page = diff_page(
        diff_of(
            change("a", "x", "y", kinds=(ChangeClass.TARGETS, ChangeClass.DOCUMENTATION)),
            change("b", "x", "y", kinds=(ChangeClass.TARGETS,)),
            replace(change("c", "x", "y", kinds=()), status="added"),
        )
    )
    found = re.findall(r'value="([^"]+)" checked> \S.*?<span class="quiet small">(\d+)<', page)
    assert found == [("targets", "2"), ("documentation only", "1"), ("added", "1")]
    assert re.findall(r'data-kinds="([^"]+)"', page) == [
        "targets;documentation only",
        "targets",
        "added",
    ]


def large_diff(datasets: int, examples: int, text: str) -> CatalogDiff:
    chunks = (Chunk("=", "Some words before "), Chunk("-", "old"), Chunk("+", text))
    fields = (FieldChange("input", chunks), FieldChange("target", chunks))
    many = tuple(Example("changed", f"id {n}", fields) for n in range(examples))
    one = change("d", "a", "b")
    assert one.samples is not None
    return diff_of(
        *(
            replace(one, name=f"d{n}", samples=replace(one.samples, examples=many))
            for n in range(datasets)
        )
    )


def test_diff_of_many_samples_is_cut_with_a_note() -> None:
    page = diff_page(large_diff(4, 1_500, "new " * 200))
    parsed(page)
    assert 2_000_000 < len(page.encode()) < 5_000_000
    notes = re.findall(r"([\d,]+) more examples not shown, as the page is full", page)
    shown = page.count('class="example"')
    assert sum(int(note.replace(",", "")) for note in notes) + shown == 6_000
    assert len(notes) == 4


def test_diff_of_many_datasets_is_cut_with_a_note() -> None:
    made = large_diff(1, 1, "new")
    page = diff_page(replace(made, changes=made.changes * 20_000))
    assert len(page.encode()) < 5_000_000
    shown = page.count('<section class="change"')
    assert f"{20_000 - shown:,} more datasets not shown" in page


def test_hostile_size_anywhere_stays_below_the_limit() -> None:
    page = diff_page(untrusted_diff("\u202e" * 50_000))
    assert len(page.encode()) < 5_000_000

"""The page of a diff: complete, escaped, self-contained and bounded."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count

import pytest

from registry import Sample
from registry.base.escape import escape_lines
from registry.diff.models import CatalogDiff, Chunk, Example, FieldChange
from registry.diff.samples import field_change
from registry.diff.severity import ChangeClass
from registry.diff.words import word_diff
from registry.errors import Problem
from registry.plugins.site.diff_page import by_importance, diff_page, examples_html
from registry.plugins.site.environment import STYLE, asset
from tests.cli.diffs import EVIL, change, diff_of, untrusted_diff

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
        "<h1><code>d</code>: 1 input of 3 samples changes, 1 added; mapping of <code>input</code> · 1 problem</h1>",
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


def example(status: str, *fields: str, label: str = "id 1", text: str = "a") -> Example:
    sign = {"changed": "-", "added": "+", "removed": "-"}[status]
    changes = tuple(FieldChange(one, (Chunk(sign, text),)) for one in fields)  # type: ignore[arg-type]
    return Example(status, label, changes)  # type: ignore[arg-type]


def html(*examples: Example, most: int = 1_000_000) -> str:
    return "".join(examples_html(examples, count(1), most=most))


def sides(text: str) -> list[str]:
    return re.findall(r'<span class="label">\w+</span>(.*?)</div>', text, re.DOTALL)


def test_sides_have_their_own_words_marked() -> None:
    change = FieldChange("input", word_diff("What is two & two?", "What is <b>three</b>?"))
    before, after = sides(html(Example("changed", "id 1", (change,))))
    assert before.strip() == "What is <del>two &amp; two</del>?"
    assert after.strip() == "What is <ins>&lt;b&gt;three&lt;/b&gt;</ins>?"


def test_added_and_removed_samples_are_whole_and_without_marks() -> None:
    made = html(example("added", "input", text="new"), example("removed", "target", text="old"))
    assert "<ins>" not in made
    assert "<del>" not in made
    assert re.findall(r'side whole">\s*(\w+)\s*<', made) == ["new", "old"]


def test_removed_samples_are_first_then_by_the_field_that_matters_most() -> None:
    mixed = [
        example("added", "input", label="5"),
        example("changed", "metadata", label="4"),
        example("changed", "target", "metadata", label="3"),
        example("changed", "input", label="2"),
        example("removed", "input", label="1"),
    ]
    assert [one.label for one in by_importance(mixed)] == ["1", "2", "3", "4", "5"]


def test_long_text_is_cut_and_the_rest_is_counted() -> None:
    made = html(example("added", "input", text="x" * 10_000_000))
    assert len(made) < 10_000
    assert " …9,994,100 more characters… " in made


def test_many_changes_in_one_field_are_cut_and_counted() -> None:
    chunks = tuple(Chunk("-" if n % 2 else "=", f"w{n} ") for n in range(10_000))
    made = html(Example("changed", "id 1", (FieldChange("input", chunks),)))
    assert len(made) < 20_000
    assert "9,600 more parts of the change not shown" in made


def test_long_unchanged_text_around_many_changes_is_cut_and_counted() -> None:
    chunks = tuple(Chunk("-" if n % 2 else "=", f"{n} {'y' * 200}") for n in range(300))
    made = html(Example("changed", "id 1", (FieldChange("input", chunks),)))
    assert re.search(r"[\d,]+ more characters not shown", made)
    assert len(made) < 20_000


def test_examples_stop_when_there_is_no_room() -> None:
    many = [example("added", "input", text="x" * 100) for _ in range(100)]
    size = len(html(many[0]).encode())
    made = list(examples_html(many, count(1), most=10 * size + 50))
    assert len(made) == 10


def test_samples_are_raw_at_first_and_rendered_by_one_click() -> None:
    old, new = (Sample(f"**Is** it {n}?", choices=["a", HOSTILE], target=n) for n in "AB")
    fields = tuple(field_change(old, new, name) for name in ("input", "target"))
    made = html(Example("changed", "id 1", fields, (old, new)))
    raw, rendered = made.split('<details class="rendered"><summary>Rendered</summary>')
    assert "**Is** it <del>A</del>?" in raw
    assert rendered.count("<strong>Is</strong> it") == 2
    assert rendered.count("target</span>") == 2  # beside the choices that it means
    assert not {"script", "img"}.intersection(parsed(made).names)


def test_no_example_is_left_out_for_one_that_is_rendered() -> None:
    sample = Sample("word " * 1_000)
    many = [
        Example("added", f"id {n}", (FieldChange("input", (Chunk("+", "x"),)),), (sample,))
        for n in range(100)
    ]
    made = html(*many, most=100_000)
    assert made.count("<article") == 100
    assert 2 < made.count("<summary>Rendered") < 20
    assert made.count("Not rendered, as the page is full") == 100 - made.count("<summary>Rendered")

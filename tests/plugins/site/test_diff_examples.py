"""Samples of a diff as HTML: marked word by word, bounded, the worst first."""

from __future__ import annotations

import re
from itertools import count

from registry.diff.models import Chunk, Example, FieldChange
from registry.diff.words import word_diff
from registry.plugins.site.diff_examples import by_importance, examples_html


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

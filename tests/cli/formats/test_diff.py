"""How a review is printed: on terminals of any width, and as one comment that data can't break."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.cli.formats.markdown import MAX_BYTES, as_markdown, code_span
from registry.cli.formats.text import as_text
from registry.diff.models import (
    CatalogDiff,
    Chunk,
    DatasetChange,
    Example,
    FieldChange,
    InheritedChange,
    KeyChange,
    SampleChange,
)
from registry.diff.severity import ChangeClass
from registry.errors import Problem
from registry.manifest.provenance import Origin

EVIL = "``` `` ` | <b>&amp;</b> @octocat #1 </details> <!-- \n```\n# heading\n\x1b[31m\u202e*x* _y_ ~~z~~ [a](b)"


def origin(key: str, value: Any, line: int = 1) -> Origin:
    return Origin(key=key, value=value, layer="own", file="m.yaml", line=line, dataset="d")


def change(
    name: str, old: str, new: str, *, kind: ChangeClass = ChangeClass.INPUTS, **more: Any
) -> DatasetChange:
    key = KeyChange(
        key="fields.input",
        kind=kind,
        old=origin("fields.input", old),
        new=origin("fields.input", new, 2),
    )
    chunks = (Chunk("=", f"{new} "), Chunk("-", old), Chunk("+", new))
    example = Example("changed", f"id {name}", (FieldChange("input", chunks),))
    added = Example("added", f"id {name}", (FieldChange("input", (Chunk("+", new),)),))
    samples = SampleChange(
        old=3,
        new=4,
        matched_by="id",
        added=1,
        changed=1,
        fields={"input": 1},
        examples=(example, added),
    )
    given = {"keys": (key,), "kinds": (kind,), "samples": samples, "place": "m.yaml:1"}
    return DatasetChange(name=name, status="changed", **{**given, **more})


def review(*changes: DatasetChange, **more: Any) -> CatalogDiff:
    return CatalogDiff(base="main (1234567)", head="work tree", changes=changes, **more)


# --- Markdown ---


def rendered_text(markdown: str) -> str:
    """Return what a host reads as Markdown: all but code."""
    without_fences = re.sub(r"(?ms)^(`{3,})diff$.*?^\1$", "", markdown)
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", without_fences)


def of(text: str) -> CatalogDiff:
    """Make a review with a text of a stranger wherever one can be."""
    problem = Problem(message=text, file=text, line=1)
    new = DatasetChange(
        name=text, status="added", facts={"description": origin("description", text)}, place=text
    )
    renamed = DatasetChange(name=text, status="renamed", old_name=text, place=text)
    inherited = replace(change(text, text, text), inherited=(InheritedChange(text, text),))
    filler = [change(f"filler-{n}", "a", "b") for n in range(6)]
    return CatalogDiff(
        base=text,
        head=text,
        changes=(inherited, new, renamed, *filler, inherited, new, renamed),
        shared=(
            KeyChange(key=text, kind="", old=None, new=origin(text, text), inherited_by=(text,)),
        ),
        base_problems=(problem,),
        not_compared=(text,),
    )


def is_harmless(markdown: str) -> None:
    """Assert that what is no code has only signs and words of our own."""
    outside = re.sub(r"<code>[^<`]*</code>", "", rendered_text(markdown))
    for tag in ("<details><summary>", "</summary>", "</details>"):
        outside = outside.replace(tag, "")
    assert not set(outside) & set("<>@`|\x1b\u202e\u2066"), outside
    assert not set(markdown) & set("\x1b\u202e\u2066\r")


def test_nothing_in_data_breaks_the_comment() -> None:
    is_harmless(as_markdown(of(EVIL)))


@given(st.text(st.sampled_from("`|<>@#\n\r \\-+*_~[]&;a\x1b\u202e"), max_size=30))
def test_no_text_breaks_the_comment(text: str) -> None:
    markdown = as_markdown(of(text))
    is_harmless(markdown)
    assert markdown.count("<details>") == markdown.count("</details>")


@given(st.text(max_size=20))
def test_a_code_span_has_its_text_as_it_is_shown(text: str) -> None:
    span = code_span(text)
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "\n" not in span


def test_a_block_can_t_be_ended_by_what_is_in_it() -> None:
    lines = as_markdown(review(change("d", "a\n````\nb", "x"))).splitlines()
    start = lines.index("`````diff")
    assert lines[start + 1 : start + 7] == [
        "@@ id d: input @@",
        "- x [-a⏎````⏎b-]",
        "+ x {+x+}",
        "@@ id d: input @@",
        "+ x",
        "`````",
    ]


def test_the_first_are_open_and_the_rest_is_folded() -> None:
    markdown = as_markdown(review(*(change(f"d{n}", "a", "b") for n in range(8))))
    assert markdown.splitlines()[0] == "### 8 datasets changed: 8 inputs"
    assert re.findall(r"^#### `(\w+)` · inputs$", markdown, re.MULTILINE) == [
        f"d{n}" for n in range(5)
    ]
    folded = re.findall(r"<details><summary><code>(\w+)</code> · inputs</summary>\n\n", markdown)
    assert folded == ["d5", "d6", "d7"]


@pytest.mark.parametrize("count", [1, 50, 400, 5000])
@pytest.mark.parametrize("text", ["x", "日本語 " * 300, EVIL * 50], ids=["short", "wide", "evil"])
def test_a_comment_fits(count: int, text: str) -> None:
    changes = [change(f"dataset-{n}", text, f"{text} y") for n in range(count)]
    markdown = as_markdown(review(*changes))
    assert len(markdown.encode()) <= MAX_BYTES
    shown = set(re.findall(r"dataset-(\d+)", markdown))
    assert shown == {str(n) for n in range(len(shown))}, "the worst come first"
    rest = re.search(r"^…and ([\d,]+) more datasets?: ", markdown, re.MULTILINE)
    assert len(shown) + (int(rest[1].replace(",", "")) if rest else 0) == count


def test_problems_and_shared_changes_fit_too() -> None:
    problem = Problem(message=EVIL * 100, file="m.yaml", line=1)
    shared = KeyChange(
        key="x", kind="", old=None, new=origin("x", 1), inherited_by=tuple(map(str, range(10_000)))
    )
    made = review(
        shared=(shared,) * 100,
        head_problems=(problem,) * 1000,
        not_compared=tuple(map(str, range(10_000))),
    )
    markdown = as_markdown(made)
    assert len(markdown.encode()) <= MAX_BYTES
    assert "…and 990 more problems" in markdown
    assert " and 9,980 more" in markdown


# --- text ---


def text(made: CatalogDiff, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return list(as_text(made, terminal=True))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_lines_are_no_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = review(change("a-dataset-with-a-name", "some words " * 30, "other words " * 30))
    lines = [click.unstyle(line) for line in text(made, width, monkeypatch)]
    assert max(map(len, lines)) <= width
    assert '    - "some words' in "\n".join(lines)


def test_what_is_wide_stands_below_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made = review(replace(change("d", "one template", "another template"), samples=None))
    narrow = [click.unstyle(line) for line in text(made, 60, monkeypatch)]
    wide = [click.unstyle(line) for line in text(made, 80, monkeypatch)]
    assert narrow[4:] == [
        "  fields.input:",
        "    - one template",
        "    + another template",
        "    m.yaml:1 → m.yaml:2",
    ]
    assert wide[4:] == ["  fields.input: one template → another template  m.yaml:1 → m.yaml:2"]


def test_a_terminal_has_colours_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = review(change("d", "old", "new"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = "\n".join(text(made, 80, monkeypatch))
    assert "\x1b[31mold\x1b[0m → \x1b[32mnew\x1b[0m" in coloured
    plain = "\n".join(as_text(made, terminal=False))
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "\n".join(text(made, 80, monkeypatch))


def test_data_does_not_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = text(of(EVIL), 80, monkeypatch)
    assert not set("".join(lines)) & set("\x1b\u202e\n\r")

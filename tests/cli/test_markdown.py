"""A diff as one comment of a pull request, which untrusted text can't break."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.base.cells import cell_len
from registry.cli.markdown import MAX_COMMENT_BYTES, as_markdown, code_span
from registry.diff.models import Example, FieldChange, KeyChange, NewReach, SampleChange
from registry.diff.words import word_diff
from registry.errors import Problem
from tests.cli.diffs import EVIL, change, diff_of, origin, untrusted_diff


def rendered_text(markdown: str) -> str:
    """Return what a host reads as Markdown: all but code."""
    without_fences = re.sub(r"(?ms)^(`{3,})diff$.*?^\1$", "", markdown)
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", without_fences)


def is_harmless(markdown: str) -> None:
    """Assert that all text outside code is ours."""
    outside = re.sub(r"<code>[^<`]*</code>", "", rendered_text(markdown))
    for tag in ("<details><summary>", "</summary>", "</details>"):
        outside = outside.replace(tag, "")
    assert not set(outside) & set("<>@`|\x1b\u202e\u2066"), outside
    assert not set(markdown) & set("\x1b\u202e\u2066\r")


def test_untrusted_text_does_not_break_the_comment() -> None:
    is_harmless(as_markdown(untrusted_diff(EVIL)))


@given(st.text(st.sampled_from("`|<>@#\n\r \\-+*_~[]&;a\x1b\u202e"), max_size=30))
def test_any_text_leaves_the_comment_intact(text: str) -> None:
    markdown = as_markdown(untrusted_diff(text))
    is_harmless(markdown)
    assert markdown.count("<details>") == markdown.count("</details>")


@given(st.text(max_size=20))
def test_code_span_can_not_be_closed_by_its_text(text: str) -> None:
    span = code_span(text)
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inner)
    assert "\n" not in span


def test_code_block_can_not_be_closed_by_its_content() -> None:
    lines = as_markdown(diff_of(change("d", "a\n````\nb", "x"))).splitlines()
    start = lines.index(
        "`````diff", lines.index("- samples: `3 → 4: 1 added, 1 changed (input); matched by id`")
    )
    assert lines[start + 1 : start + 7] == [
        "@@ id d: input @@",
        "  x",
        "- a",
        "- ````",
        "- b",
        "+ x",
    ]


EFFECT = "1 input of 3 samples changes, 1 added; mapping of `input`"


def test_first_five_datasets_are_unfolded() -> None:
    markdown = as_markdown(diff_of(*(change(f"d{n}", "a", "b") for n in range(8))))
    assert markdown.splitlines()[0] == (
        "### " + " · ".join(f"`d{n}`: {EFFECT}" for n in range(3)) + " · 5 more datasets changed"
    )
    assert re.findall(r"^#### `(\w+)` · inputs$", markdown, re.MULTILINE) == [
        f"d{n}" for n in range(5)
    ]
    folded = re.findall(r"<details><summary><code>(\w+)</code> · inputs</summary>\n\n", markdown)
    assert folded == ["d5", "d6", "d7"]


@pytest.mark.parametrize("count", [1, 50, 400, 5000])
@pytest.mark.parametrize("text", ["x", "日本語 " * 300, EVIL * 50], ids=["short", "wide", "evil"])
def test_comment_fits_the_limit_of_github(count: int, text: str) -> None:
    changes = [change(f"dataset-{n}", text, f"{text} y") for n in range(count)]
    markdown = as_markdown(diff_of(*changes))
    assert len(markdown.encode()) <= MAX_COMMENT_BYTES
    shown = set(re.findall(r"dataset-(\d+)", markdown))
    assert shown == {str(n) for n in range(len(shown))}, "the most severe come first"
    rest = re.search(r"^…and ([\d,]+) more datasets?: ", markdown, re.MULTILINE)
    assert len(shown) + (int(rest[1].replace(",", "")) if rest else 0) == count


def test_problems_and_changes_of_the_index_fit_too() -> None:
    problem = Problem(message=EVIL * 100, file="m.yaml", line=1)
    shared = KeyChange(
        key="x", kind="", old=None, new=origin("x", 1), inherited_by=tuple(map(str, range(10_000)))
    )
    made = diff_of(
        shared=(shared,) * 100,
        head_problems=(problem,) * 1000,
        not_compared=tuple(map(str, range(10_000))),
    )
    markdown = as_markdown(made)
    assert len(markdown.encode()) <= MAX_COMMENT_BYTES
    assert "…and 990 more problems" in markdown
    assert " and 9,980 more" in markdown


def test_dataset_that_does_not_fit_is_shown_without_examples() -> None:
    text = "x y " * 200
    markdown = as_markdown(diff_of(change("d", text, f"{text} z")), max_bytes=2_100)
    assert "#### `d` · inputs" in markdown
    assert "@@" not in markdown
    assert "… 1 more changed, 1 more added (`registry diff` shows them)" in markdown


def test_part_that_is_too_long_is_replaced_by_a_hint() -> None:
    markdown = as_markdown(diff_of(not_compared=tuple(map(str, range(99)))), max_bytes=550)
    assert "…too long to show here: run `registry diff` to see it." in markdown


def test_new_warnings_stand_below_the_samples() -> None:
    lines = as_markdown(diff_of(change("d", "old", "new"))).splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith("- samples: ")]
    assert lines[place + 1] == f"- warning: {code_span('blank target: new')}"


def test_new_reach_is_shown_however_much_there_is() -> None:
    long = "\U0001f600" * 300
    reach = tuple(NewReach("host", f"{n}{long}", (long,) * 9) for n in range(1_000))
    markdown = as_markdown(diff_of(change("d", "a", "b"), reach=reach))
    assert len(markdown.encode()) <= MAX_COMMENT_BYTES
    assert "**New reach:**\n\n- host `0" in markdown
    assert "- …and 980 more" in markdown
    assert "<code>d</code> · inputs" in markdown


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "**New reach:** none beyond what the base reaches"),
        (
            {"not_compared": ("x",)},
            "**New reach:** none beyond what the base reaches (in what could be read)",
        ),
    ],
)
def test_no_new_reach_is_said_as_far_as_it_is_known(more: dict[str, Any], line: str) -> None:
    assert line in as_markdown(diff_of(change("d", "a", "b"), **more)).splitlines()


def test_equal_sides_need_no_word_on_reach() -> None:
    assert "reach" not in as_markdown(diff_of())


def test_no_line_of_a_code_block_needs_scrolling() -> None:
    text = "some words " * 60 + "日本語" * 60 + "x" * 300
    template = {"template": text, "do": [{"map": {text: "y"}}]}
    key = KeyChange(key="fields.input", kind="", old=origin("x", 1), new=origin("x", template))
    markdown = as_markdown(diff_of(change("d", text, f"{text} z", keys=(key,))))
    blocks = re.findall(r"```diff\n(.*?)```", markdown, re.DOTALL)
    assert len(blocks) == 2
    widths = {cell_len(line) for block in blocks for line in block.splitlines()}
    assert 70 < max(widths) <= 90


def test_marks_of_words_are_not_doubled_and_the_rest_is_counted() -> None:
    samples = SampleChange(
        old=2_000,
        new=2_000,
        matched_by="id",
        changed=7,
        fields={"target": 7},
        examples=(
            Example("changed", "id 1", (FieldChange("target", word_diff("2,125", "2125")),)),
        ),
    )
    markdown = as_markdown(diff_of(change("d", "a", "b", samples=samples)))
    assert "@@ id 1: target @@\n- 2,125\n+ 2125\n```" in markdown
    assert "\n… 6 more changed (`registry diff` shows them)\n" in markdown
    assert "🟨⬜⬜⬜⬜⬜⬜⬜⬜⬜ 7 targets of 2,000 samples change; mapping of `input`" in markdown


def test_terms_of_a_headline_are_code_as_all_that_others_wrote() -> None:
    old, new = (origin("license", text) for text in ("MIT", "<b> @octocat"))
    key = KeyChange(key="license", kind="", old=old, new=new)
    markdown = as_markdown(diff_of(change("d", "a", "b", keys=(key,))))
    assert "license changed from `MIT` to `<b> @octocat` (`d`)" in markdown.splitlines()[0]
    is_harmless(markdown)


def test_renamed_dataset_says_its_classes_and_versions_as_others_do() -> None:
    version = KeyChange(
        key="pin.version",
        kind="",
        old=origin("pin.version", "1-A"),
        new=origin("pin.version", "2-A"),
    )
    made = change("d", "old", "new", status="renamed", old_name="c", keys=(version,))
    assert "#### `d` · renamed; inputs; version 1-A → 2-A\n" in as_markdown(diff_of(made))

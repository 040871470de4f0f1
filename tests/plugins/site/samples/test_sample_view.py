"""A sample on a page: every kind of content, and none of it harmful or large."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from registry.plugins.site.environment import render
from registry.plugins.site.samples.blocks import Allowance
from registry.plugins.site.samples.sample_view import SampleView, sample_view
from registry.samples.content import (
    ContentImage,
    ContentText,
)
from registry.samples.messages import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ToolCall,
)
from registry.samples.sample import Sample

PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def html(sample: Sample, size: int = 24_000) -> str:
    return shown(sample_view(sample, 1, Allowance(size, pictures=30_000)))


def shown(view: SampleView) -> str:
    return str(render("sample.html", sample=view))


def test_letters_of_the_target_mark_choices() -> None:
    view = sample_view(
        Sample("q", choices=["x", "y", "z"], target=["A", "C"]), 1, Allowance(24_000)
    )
    assert [(one.letter, one.is_target) for one in view.choices] == [
        ("A", True),
        ("B", False),
        ("C", True),
    ]
    assert view.targets == ()


@pytest.mark.parametrize(
    ("choices", "target", "marked"),
    [
        (["x", "y"], "b", [1]),
        (["red", "blue"], "blue", [1]),
        (["B", "A"], "A", [0]),  # the letter counts
        (["x"] * 30, "2", [27]),
        (["3", "4"], "4", [1]),
    ],
)
def test_target_is_a_letter_or_the_text_of_a_choice(
    choices: list[str], target: str, marked: list[int]
) -> None:
    view = sample_view(Sample("q", choices=choices, target=target), 1, Allowance(24_000))
    assert [index for index, one in enumerate(view.choices) if one.is_target] == marked
    assert view.targets == ()


@pytest.mark.parametrize(("choices", "target"), [(["x"], "B"), (["x"] * 50, "20"), (None, "t")])
def test_target_that_is_no_shown_choice_is_shown_beside_them(
    choices: list[str] | None, target: str
) -> None:
    view = sample_view(Sample("q", choices=choices, target=target), 1, Allowance(24_000))
    assert list(view.targets) == [f'<div class="text">{target}</div>']
    assert not any(one.is_target for one in view.choices)


def test_metadata_of_every_type_is_shown() -> None:
    metadata = {"n": 1, "none": None, "deep": {"a": [1]}, "raw": b"\x00\x01", "picture": PNG}
    text = html(Sample("q", metadata=metadata, setup="run me", files={"a": "b"}))
    for part in ("metadata.n", "null", "2 bytes", "run me", "metadata.picture", "<img", "setup"):
        assert part in text


@pytest.mark.parametrize(
    "sample",
    [
        lambda: Sample("<&>\"'" * 2_000_000),
        lambda: Sample("\u202e\U000e0001" * 1_000_000),
        lambda: Sample("q", choices=["日本語" * 5_000] * 3_000, target="A"),
        lambda: Sample("q", metadata={f"key {n}": "v" * 2_000 for n in range(20_000)}),
        lambda: Sample("q", metadata={"k" * 1_000_000: ["v" * 1_000_000]}),
        lambda: Sample("q", target=["t" * 10_000] * 1_000, id="i" * 1_000_000),
        lambda: Sample([ChatMessageUser(content="x" * 100_000) for _ in range(1_000)]),
        lambda: Sample([ChatMessageUser(content=[ContentText(text="y" * 9_000)] * 1_000)]),
        lambda: Sample([ChatMessageUser(content=[ContentImage(image=PNG + "A" * 10_000_000)])]),
        lambda: Sample([ChatMessageTool(content="x" * 9_000, function="f" * 1_000_000)]),
        lambda: Sample(
            [
                ChatMessageAssistant(
                    content="x" * 9_000,
                    tool_calls=[ToolCall(id="1", function="f" * 1_000_000, arguments={})],
                )
            ]
        ),
        lambda: Sample("q" * 9_000, metadata={f"{n}" + "\u202e" * 999: 1 for n in range(60)}),
    ],
    ids=str.split(
        "markup bidi choices keys key targets messages parts picture function call bidi-keys"
    ),
)
def test_large_sample_is_cut_with_a_note(sample: Callable[[], Sample]) -> None:
    text = html(sample())
    assert len(text.encode()) < 60_000
    assert "not shown" in text or "…" in text


def test_record_is_shown_with_its_number() -> None:
    view = sample_view(Sample("q"), 1, Allowance(24_000), (1_234, {"a": b"\x00", "b": "<i>"}))
    text = shown(view)
    assert "The record it was made of" in text
    assert "record 1,234" in text
    assert '"1 byte"' in text
    assert "&lt;i&gt;" in text
    assert "The record it was made of" not in html(Sample("q"))


def test_controls_and_surrogates_are_codes() -> None:
    text = html(Sample("a\x1b[31m\ud800\u202eb", id="x\x00", metadata={"\u2066k": "\u200b"}))
    text.encode()
    for part in ("\\u{1b}[31m\\u{d800}\\u{202e}b", "x\\u{0}", "metadata.\\u{2066}k", "\\u{200b}"):
        assert part in text
    assert 'href="#sample=x%5Cu%7B0%7D"' in text

"""A sample as pages, notebooks and rich show it: every field, none of it harmful or large."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from registry import Sample
from registry.display.html import MOST_BYTES, Allowance
from registry.samples.checkpoint import CheckpointSampleConfig, TurnInterval
from registry.samples.messages import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentAudio,
    ContentData,
    ContentDocument,
    ContentImage,
    ContentReasoning,
    ContentText,
    ContentToolUse,
    ToolCall,
    ToolCallError,
)
from registry.samples.shown_sample import sample_body
from tests.gallery import GALLERY, picture, sound, uri

HOSTILE = "<script>alert(1)</script>\u202e&\ud800\x1b]0;x\x07"
PNG = uri("image/png", picture())


def html(sample: Sample, size: int = 24_000) -> str:
    return sample_body(sample, Allowance(size, pictures=30_000))


def printed(value: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(value)
    return out.getvalue()


def test_objects_of_classes_are_shown_as_their_data() -> None:
    checkpoint = CheckpointSampleConfig(trigger=TurnInterval(every=3), max_consecutive_failures=1)
    shown = html(Sample(input="q", sandbox="docker", checkpoint=checkpoint))
    assert '{"type": "docker"}' in shown
    trigger = '{"every": 3, "type": "TurnInterval"}'
    assert f'{{"trigger": {trigger}, "max_consecutive_failures": 1}}' in shown


@pytest.mark.parametrize(
    ("choices", "target", "marked"),
    [
        (["x", "y", "z"], ["A", "C"], ["A", "C"]),
        (["x", "y"], "b", ["B"]),
        (["red", "blue"], "blue", ["B"]),
        (["B", "A"], "A", ["A"]),  # the letter counts
        (["x"] * 30, "2", ["2"]),
        (["3", "4"], "4", ["B"]),
    ],
)
def test_target_is_a_letter_or_the_text_of_a_choice(
    choices: list[str], target: str | list[str], marked: list[str]
) -> None:
    text = html(Sample("q", choices=choices, target=target))
    for letter in marked:
        assert f'<li class="target"><span class="letter">{letter}</span>' in text
    assert text.count("<li class") == text.count(">target</span>") == len(marked)
    assert "<dt" not in text


@pytest.mark.parametrize(("choices", "target"), [(["x"], "B"), (["x"] * 50, "20"), (None, "t")])
def test_target_that_is_no_shown_choice_is_shown_beside_them(
    choices: list[str] | None, target: str
) -> None:
    text = html(Sample("q", choices=choices, target=target))
    assert f'<dd class="target"><div class="text" dir="auto">{target}</div></dd>' in text
    assert "<li class" not in text


def test_metadata_of_every_type_is_shown() -> None:
    metadata = {
        "n": 1,
        "none": None,
        "deep": {"a": [1]},
        "raw": b"\x00\x01",
        "uri": PNG,
        "b": picture(),
    }
    text = html(Sample("q", metadata=metadata, setup="run me", files={"a": "b"}))
    for part in ("metadata.n", "null", "2 bytes", "run me", "metadata.uri", "setup", '{"a": "b"}'):
        assert part in text
    assert text.count("<img") == 2


def test_conversation_shows_roles_calls_and_errors() -> None:
    call = ToolCall(id="1", function="py", arguments={"q": 1, "code": "import os\nimport sys\n"})
    messages: list[ChatMessage] = [
        ChatMessageSystem(content="be brief"),
        ChatMessageUser(content=[ContentText(text="look"), ContentImage(image=PNG)]),
        ChatMessageAssistant(content=[ContentReasoning(reasoning="hm")], tool_calls=[call]),
        ChatMessageTool(
            content="no", function="find", error=ToolCallError(type="timeout", message="slow")
        ),
    ]
    text = html(Sample(messages))
    for part in (
        *('<span class="role">system', '<span class="role">user', '<span class="role">assistant'),
        *('<span class="role">tool find', '<span class="label">reasoning', "be brief", "slow"),
        *('<span class="label">call of py', '{"q": 1}', '<span class="label">code', "error"),
        *(f'src="{PNG}"', '<span class="k">import</span> os'),
    ):
        assert part in text


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (ContentImage(image="pictures/x.png"), "pictures/x.png"),
        (ContentAudio(audio="a.wav", format="wav"), "a.wav"),
        (ContentAudio(audio=uri("audio/wav", sound()), format="wav"), "<audio"),
        (ContentDocument(document="data:application/pdf;base64,AAAA"), "application/pdf, a data"),
        (ContentDocument(document="a.pdf"), "a.pdf"),
        (ContentData(data={"a": 1}), '{"a": 1}'),
        (
            ContentToolUse(
                tool_type="web_search", id="1", name="web", arguments="x", result="found"
            ),
            "→ found",
        ),
        (ContentReasoning(reasoning="secret", summary="short", redacted=True), "short"),
    ],
)
def test_parts_of_every_kind_are_shown_or_named(part: Any, shown: str) -> None:
    text = html(Sample([ChatMessageUser(content=[part])]))
    assert shown in text
    assert "secret" not in text


LARGE: dict[str, Callable[[], Sample]] = {
    "markup": lambda: Sample("<&>\"'" * 2_000_000),
    "bidi": lambda: Sample("\u202e\U000e0001" * 1_000_000),
    "choices": lambda: Sample("q", choices=["日本語" * 5_000] * 3_000, target="A"),
    "keys": lambda: Sample("q", metadata={f"key {n}": "v" * 2_000 for n in range(20_000)}),
    "key": lambda: Sample("q", metadata={"k" * 1_000_000: ["v" * 1_000_000]}),
    "targets": lambda: Sample("q", target=["t" * 10_000] * 1_000),
    "messages": lambda: Sample([ChatMessageUser(content="x" * 100_000) for _ in range(1_000)]),
    "parts": lambda: Sample([ChatMessageUser(content=[ContentText(text="y" * 9_000)] * 1_000)]),
    "picture": lambda: Sample([ChatMessageUser(content=[ContentImage(image=PNG + "A" * 10**7)])]),
    "function": lambda: Sample([ChatMessageTool(content="x" * 9_000, function="f" * 1_000_000)]),
    "call": lambda: Sample(
        [
            ChatMessageAssistant(
                content="x" * 9_000,
                tool_calls=[ToolCall(id="1", function="f" * 10**6, arguments={"a": "b\n" * 10**6})],
            )
        ]
    ),
    "bidi-keys": lambda: Sample(
        "q" * 9_000, metadata={f"{n}" + "\u202e" * 999: 1 for n in range(60)}
    ),
    "formulas": lambda: Sample("$\\frac{x}{y}$ " * 100_000, choices=["$x^2$" * 500] * 50),
    "fields": lambda: Sample(
        HOSTILE * 100_000,
        ["&" * 10_000] * 100,
        ["A"] * 10_000,
        id=HOSTILE * 100,
        metadata={HOSTILE: [HOSTILE] * 1_000},
        files={str(n): HOSTILE * 10 for n in range(1_000)},
        setup="'" * 100_000,
        description="<" * 100_000,
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_sample_is_cut_with_a_note(name: str) -> None:
    sample = LARGE[name]()
    text = html(sample)
    assert len(text.encode()) < 60_000
    assert "not shown" in text or "…" in text
    notebook = sample._repr_html_()
    assert len(notebook.encode()) < MOST_BYTES
    for one in (text, notebook):
        assert "<script" not in one
        assert not set(one) & set("\u202e\x1b\x07\ud800")
    shown = printed(sample)
    assert len(shown) < 200_000
    assert not set(shown) & set("\u202e\x1b\x07")


@pytest.mark.parametrize("record", GALLERY, ids=lambda one: one["key"])
def test_gallery_is_harmless_in_a_notebook(record: dict[str, Any]) -> None:
    text = Sample(
        record["input"], record["choices"], record["target"], record["key"], record["metadata"]
    )._repr_html_()
    body = text.partition("</style>")[2]
    assert not any(
        one in body for one in ("<script", "onerror=alert(1)>", "<iframe", "href=", " style=")
    )
    assert record["key"] in body


def test_rich_prints_fields_that_have_a_value() -> None:
    assert printed(Sample("Q?", id=3)) == "Sample(input='Q?', target='', id=3)\n"


def test_equality_and_repr_of_samples_stay_as_pydantic_makes_them() -> None:
    assert repr(Sample("Q?")).startswith("Sample(input='Q?', choices=None, target='', id=None")


def test_metadata_is_folded_and_not_cut() -> None:
    lines = "".join(f"line {number}\n" for number in range(200))
    html = sample_body(Sample("q", metadata={"long": lines}), Allowance(24_000))
    assert "line 199" in html
    assert "all 200 lines" in html
    assert "not shown" not in html


def test_whole_sample_is_cut_by_its_size_alone() -> None:
    sample = Sample(
        [ChatMessageUser(content=f"turn {number}") for number in range(60)],
        choices=[f"choice {number}" for number in range(60)],
        metadata={f"key {number}": "x" * 12_000 + f"end {number}" for number in range(80)},
    )
    shown = sample_body(sample, Allowance(24_000))
    whole = sample_body(sample, Allowance(2_000_000, is_whole=True))
    for text in ("turn 59", "choice 59", "end 79"):
        assert (text in shown, text in whole) == (False, True)
    assert ("not shown" in shown, "not shown" in whole) == (True, False)
    assert "not shown" in sample_body(sample, Allowance(100_000, is_whole=True))

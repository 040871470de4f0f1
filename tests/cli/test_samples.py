"""Samples and records are printed field by field, in frames on a terminal."""

from __future__ import annotations

import re

import pytest

from registry import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CheckpointSampleConfig,
    ContentImage,
    ContentText,
    Sample,
)
from registry.cli import samples
from registry.cli.samples import print_sample, record_lines
from registry.samples.messages import ContentReasoning, ToolCall, ToolCallError
from tests.cli.invocation import TerminalStream, on_terminal

Capture = pytest.CaptureFixture[str]


SAMPLES: dict[str, tuple[Sample, list[str]]] = {
    "text": (
        Sample(input="2 + 2?\nBe brief.", target="4"),
        ["2 + 2?", "Be brief.", "", "target    4"],
    ),
    "a conversation": (
        Sample(input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="2 + 2?")]),
        ["system: Be brief.", "user: 2 + 2?", "", "target    "],
    ),
    "calls, results and parts": (
        Sample(
            input=[
                ChatMessageUser(content=[ContentImage(image="a.png"), ContentText(text="2 + 2?")]),
                ChatMessageAssistant(
                    content=[ContentReasoning(reasoning="s1g", summary="Add.", redacted=True)],
                    tool_calls=[ToolCall(id="c", function="add", arguments={"all": [2, 2]})],
                ),
                ChatMessageTool(content="4", function="add", tool_call_id="c"),
                ChatMessageTool(content="", error=ToolCallError(type="timeout", message="late")),
            ]
        ),
        [
            *("user: [image, 5 characters]", "2 + 2?", "assistant: [reasoning: Add.]"),
            *('[call of add: {"all": [2, 2]}]', "tool add: 4", "tool: [error: late]"),
            *("", "target    "),
        ],
    ),
    "choices": (
        Sample(input="2 + 2?", choices=["3", "4"], target="B"),
        ["2 + 2?", "", "  A) 3", "✓ B) 4", "", "target    B"],
    ),
    "several targets": (
        Sample(input="q", target=["4", "four"]),
        ["q", "", 'target    ["4", "four"]'],
    ),
    "a target in brackets": (Sample(input="q", target="[4]"), ["q", "", 'target    "[4]"']),
    "a target of one bracket": (Sample(input="q", target="[4"), ["q", "", "target    [4"]),
    "a target of two lines": (Sample(input="q", target="é\nb"), ["q", "", 'target    "é\\nb"']),
    "everything else": (
        Sample(
            input="q",
            metadata={"m": 1},
            sandbox="docker",
            files={"a": "b"},
            setup="true",
            description="Add",
            checkpoint=CheckpointSampleConfig(max_consecutive_failures=1),
        ),
        [
            *("q", "", "target    ", "description Add", "metadata:", "  m: 1"),
            *("sandbox:", "  type: docker", "files:", "  a: b"),
            *("setup     true", "checkpoint:", "  max_consecutive_failures: 1"),
        ],
    ),
}


@pytest.mark.parametrize(("sample", "lines"), SAMPLES.values(), ids=SAMPLES)
def test_sample_is_printed_field_by_field(
    capsys: Capture, sample: Sample, lines: list[str]
) -> None:
    print_sample(sample, 3)
    assert capsys.readouterr().out.splitlines() == ["── sample 3", *lines, ""]


def test_title_has_the_id(capsys: Capture) -> None:
    for one in (0, "a"):
        print_sample(Sample(input="q", id=one), 1)
        assert capsys.readouterr().out.startswith(f"── sample 1 · id {one}\n")


def test_long_metadata_is_truncated(capsys: Capture) -> None:
    print_sample(Sample(input="q", metadata={"long": "x" * 100_000}), 1)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  long: ")]
    assert line.startswith("  long: xxx")
    assert line.endswith("x… (90,000 more)")


def test_sample_has_a_frame_on_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch, samples, 40)
    print_sample(Sample(input="[bold]q[/bold]", id="a"), 1)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("╭─ sample 1 · id a ─")
    assert any("[bold]q[/bold]" in line for line in rest)


def test_names_and_what_is_right_have_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = TerminalStream()
    on_terminal(monkeypatch, samples, 20, stdout=stream)
    choices = ["wrong", "right and folded over lines"]
    sample = Sample(input=[ChatMessageUser(content="q")], choices=choices, target="B")
    sample.metadata = {"m": "x: y"}
    print_sample(sample, 1)
    blue, green = (
        re.findall(rf"\x1b\[{code}m(.*?)\x1b\[0m", stream.getvalue()) for code in (34, 32)
    )
    assert blue == ["user:", "metadata:", "  m:"]
    assert green == ["✓ B) right and", "folded over", "lines", "target    B"]


RECORD = {
    "q": "2 + 2?",
    "code": "a\n\nb",
    "n": [1, None],
    "image": b"1234",
    "byte": b"1",
    "empty": "",
}


def test_record_has_its_values_as_the_source_has_them() -> None:
    assert list(record_lines(RECORD)) == [
        "q: 2 + 2?",
        *("code:", "  a", "  ", "  b"),
        "n: [1, null]",
        "image: (4 bytes)",
        "byte: (1 byte)",
        "empty: ",
    ]
    (line,) = record_lines({"long": "x" * 10_003})
    assert line.endswith("x… (3 more)")


def test_record_follows_the_sample_in_a_pipe(capsys: Capture) -> None:
    print_sample(Sample(input="q"), 1, (1234, {"q": "2 + 2?"}))
    assert capsys.readouterr().out.splitlines() == [
        *("── sample 1", "q", "", "target    ", ""),
        *("── record 1,234 of the source", "q: 2 + 2?", ""),
    ]


@pytest.mark.parametrize(("columns", "beside"), [(120, True), (70, False)])
def test_record_is_beside_the_sample_where_there_is_room(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, columns: int, beside: bool
) -> None:
    on_terminal(monkeypatch, samples, columns)
    print_sample(Sample(input="long " * 30), 1, (2, {"q": "raw " * 30}))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert any("sample 1" in line and "record 2" in line for line in lines) == beside


def test_control_characters_of_a_record_are_escaped(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_terminal(monkeypatch, samples, 70)
    print_sample(Sample(input="q"), 1, (2, {"q\x1b": "\x1b[31mred\u202e"}))
    assert "\x1b[31m" not in capsys.readouterr().out

"""What a command leaves on a terminal, with its colours."""

from __future__ import annotations

import pytest

pytest.importorskip("pyte", reason="pyte, which draws the screen, is not installed")

from tests.screenshots.terminal_svg import screen_text


def test_text_is_the_final_screen() -> None:
    assert screen_text("old line\r\x1b[2Knew\r\n  second\r\n", 20).plain == "new\n  second"


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("31", "red"),
        ("1;33", "bold yellow"),
        ("92", "bright_green"),
        ("38;5;208", "#ff8700"),
        ("4", "underline"),
    ],
)
def test_colours_are_kept(codes: str, style: str) -> None:
    text = screen_text(f"a \x1b[{codes}mb\x1b[0m c", 20)
    assert text.plain == "a b c"
    (span,) = [one for one in text.spans if str(one.style) not in ("none", "")]
    assert (text.plain[span.start : span.end], str(span.style)) == ("b", style)

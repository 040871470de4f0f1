"""The recording shows what the commands print today, and moves only for those who want it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("pyte", reason="pyte, which draws the screen, is not installed")

from tests.screenshots.recording import RECORDING, SCENES, recorded, svg_of


def words(svg: str) -> str:
    """Return the texts of a picture without progress, times, commits and digests."""
    found = re.findall("<text[^>]*>([^<]*)</text>", svg)
    found = [one for one in found if "Steps:" not in one]  # as often as it took
    return re.sub(r"\S*\d\S*", "#", "\n".join(found))


def test_the_commands_still_print_what_the_recording_shows() -> None:
    # Inspect has a socket below its home, for which the folder of a test is too long a path.
    with tempfile.TemporaryDirectory() as folder:
        made = svg_of(list(recorded(Path(folder))))
    assert words(made) == words(RECORDING.read_text(encoding="utf-8"))


def test_recording_is_small_and_stands_still_for_those_who_want_no_motion() -> None:
    svg = RECORDING.read_text(encoding="utf-8")
    assert "prefers-reduced-motion:reduce" in svg
    assert all(f"@keyframes s{number}" in svg for number in range(len(SCENES)))
    assert len(re.findall('class="m [^"]*still"', svg)) == 2
    assert not re.search("/work/|/home/|/tmp/|Traceback", svg)

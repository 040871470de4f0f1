"""The gallery in the terminal and in notebooks, as captures; pages have theirs in tests/browser.

`WRITE_CAPTURES=1 pytest tests/cli/test_gallery.py` writes them: look at them.
"""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from registry import Sample
from registry.base.cells import cell_len
from registry.cli import samples
from registry.cli.samples import print_sample
from tests.cli.invocation import on_terminal
from tests.gallery import GALLERY
from tests.terminal.screens import compare

_MOST = 200
"""Characters of a text of a page that are compared."""
_NOTED = ("math", "img", "audio", "details", "table", "pre")

Show = Callable[[Sample, int], str]


def sample_of(record: dict[str, Any]) -> Sample:
    return Sample(
        input=record["input"],
        choices=record["choices"],
        target=record["target"],
        id=record["key"],
        metadata=record["metadata"],
    )


class Seen(HTMLParser):
    """The texts of a page in lines, with directions and what is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag == "style"
        name = dict(attrs).get("dir")
        if tag in _NOTED or name:
            self.lines.append(f"<{tag}{f' dir={name}' if name else ''}>")

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag == "style"

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._skipped:
            self.lines.append(f"  {data.strip()!r:.{_MOST}}")


def seen(html: str) -> str:
    parser = Seen()
    parser.feed(html)
    return "\n".join(parser.lines[:60])


@pytest.fixture
def surfaces(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Show]:
    on_terminal(monkeypatch, samples, 80)

    def terminal(sample: Sample, number: int) -> str:
        print_sample(sample, number)
        text = capsys.readouterr().out
        assert "\x1b" not in text
        assert {cell_len(line) for line in text.rstrip("\n").split("\n")} == {80}, text
        return text.rstrip("\n")

    return {"terminal": terminal, "notebook": lambda sample, _: seen(sample._repr_html_())}


@pytest.mark.parametrize("surface", ["terminal", "notebook"])
def test_gallery_is_shown_as_it_was_looked_at(surfaces: dict[str, Show], surface: str) -> None:
    show = surfaces[surface]
    shown = (show(sample_of(record), number) for number, record in enumerate(GALLERY, 1))
    compare("\n".join(shown), f"gallery-{surface}")

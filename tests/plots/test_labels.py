"""Labels fit where they are put."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.plots.labels import cell_width, fit, label_line

cells = pytest.importorskip("rich.cells")


@pytest.mark.parametrize("text", ["", "plain", "日本語", "é", "e\u0301", "한국", "👍"])
def test_width_is_that_of_terminals(text: str) -> None:
    assert cell_width(text) == cells.cell_len(text)


@settings(deadline=None)
@given(st.text(), st.integers(1, 20))
def test_texts_are_cut_to_the_width(text: str, width: int) -> None:
    line = label_line(text)
    assert cell_width(fit(line, width)) <= width
    assert fit(line, cell_width(line)) == line


def test_labels_are_one_line_without_control_characters() -> None:
    assert label_line("a\n  b\x1b[31m\u202e") == "a b\\u{1b}[31m\\u{202e}"
    assert label_line("x" * 2000) == "x" * 1000 + "…"

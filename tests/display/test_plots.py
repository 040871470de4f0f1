"""Plots below an object fit into its budget."""

from __future__ import annotations

from registry.display.plots import plots_html, plots_text
from registry.plots.plot import Plot, frequencies

PLOTS = [frequencies(f"Plot {n}", {"<a>": 3, "b": n}) for n in range(1, 4)]


def test_all_plots_are_drawn_where_there_is_room() -> None:
    html = plots_html(PLOTS, "a & b", most=10_000)
    assert html.count("<svg") == html.count("</svg>") == 3
    assert html.endswith("<i>a &amp; b</i>")
    assert "<a>" not in html


def test_plots_that_do_not_fit_are_counted() -> None:
    most = len(plots_html(PLOTS, "", most=10_000)) - 100
    html = plots_html(PLOTS, "", most=most)
    assert len(html.encode()) <= most
    shown = html.count("<svg")
    assert shown == 2
    assert html.endswith("<i>1 more plot: too long to show here</i>")


def test_long_note_is_cut() -> None:
    html = plots_html(PLOTS, "\u202e<" * 1_000, most=10_000)
    assert html.count("<svg") == 3
    assert len(html.partition("</div>")[2]) < 600
    assert "more characters" in html


def test_nothing_to_draw_is_nothing() -> None:
    assert plots_html([], "", most=100) == ""
    assert list(plots_text([], "", width=80, ascii_only=False)) == []


def test_text_has_an_empty_line_before_each_plot() -> None:
    plots: list[Plot] = PLOTS[:2]
    lines = list(plots_text(plots, "a note\x1b", width=60, ascii_only=True))
    assert [n for n, line in enumerate(lines) if not line] == [0, 4, 8]
    assert lines[-1] == "a note\\u{1b}"
    assert max(map(len, lines)) <= 60

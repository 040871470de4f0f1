"""A sample on a page: its JSON, its record and its link, all of it bounded."""

from __future__ import annotations

from registry.display.html import Allowance
from registry.plugins.site.environment import render
from registry.plugins.site.sample_view import SampleView, sample_view
from registry.samples.sample import Sample


def shown(view: SampleView) -> str:
    return str(render("sample.html", sample=view, rest=""))


def test_record_is_shown_with_its_number() -> None:
    view = sample_view(Sample("q"), 1, Allowance(24_000), (1_234, {"a": b"\x00", "b": "<i>"}))
    text = shown(view)
    assert "The record it was made of" in text
    assert "record 1,234" in text
    assert '"1 byte"' in text
    assert "&lt;i&gt;" in text
    assert "The record it was made of" not in shown(sample_view(Sample("q"), 1, Allowance(24_000)))


def test_controls_and_surrogates_are_codes() -> None:
    sample = Sample("a\x1b[31m\ud800\u202eb", id="x\x00", metadata={"\u2066k": "\u200b"})
    text = shown(sample_view(sample, 1, Allowance(24_000)))
    text.encode()
    for part in ("\\u{1b}[31m\\u{d800}\\u{202e}b", "x\\u{0}", "metadata.\\u{2066}k", "\\u{200b}"):
        assert part in text
    assert 'href="#sample=x%5Cu%7B0%7D"' in text


def test_long_id_is_cut() -> None:
    view = sample_view(Sample("q", id="i" * 1_000_000), 1, Allowance(24_000))
    assert view.id == "i" * 200 + "…"
    assert len(shown(view)) < 10_000


def test_only_notes_say_that_a_sample_is_cut() -> None:
    said = Sample('<p class="quiet small">5 more lines not shown</p>', target="not shown")
    assert not sample_view(said, 1, Allowance(24_000)).is_cut
    long = Sample("q", metadata={"a": "x" * 30_000})
    assert sample_view(long, 1, Allowance(24_000)).is_cut
    assert not sample_view(long, 1, Allowance(8_000_000, is_whole=True)).is_cut

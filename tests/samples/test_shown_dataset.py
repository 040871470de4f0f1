"""A dataset in a notebook and as rich prints it: small, escaped, with plots."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from registry import Catalog, ChatMessageUser, MemoryDataset, Sample, get_dataset
from registry.display.html import MOST_BYTES
from registry.samples.shown_dataset import dataset_html
from registry.store.arrow_dataset import ArrowDataset

HOSTILE = "<script>alert(1)</script>\u202e&\x1b]0;x\x07"


def printed(value: object, width: int = 60) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(value)
    return out.getvalue()


def test_html_has_numbers_first_samples_and_plots() -> None:
    html = get_dataset("demo-mcq")._repr_html_()
    assert "<b>demo-mcq</b> · 50 samples · " in html
    assert ">demo-001</td>" in html
    assert "… 45 more samples" in html
    assert html.count("<img alt=") >= 3


def test_html_has_only_columns_with_values() -> None:
    html = MemoryDataset([Sample("one"), Sample("two", target=["x", "y"])])._repr_html_()
    assert re.findall(r"<th [^>]*>(\w+)</th>", html) == ["input", "target"]
    assert ">x\ny</td>" in html
    assert "more sample" not in html


@pytest.mark.parametrize("shown", ["dataset", "description", "catalog"])
def test_notebook_that_is_not_trusted_loses_nothing_but_colors(shown: str) -> None:
    """JupyterLab 4.6 then drops `<style>`, and the tags alone of `<svg>` (seen in Chromium)."""
    dataset = get_dataset("demo-mcq")
    objects = {"dataset": dataset, "description": dataset.describe(), "catalog": Catalog.open()}
    html = objects[shown]._repr_html_()  # type: ignore[attr-defined]
    assert "<svg" not in html
    cells = re.findall(r"<t[dh] [^>]*>", html)
    assert len(cells) >= 15
    assert all('style="text-align:left"' in one for one in cells)
    # The picture of a plot is in the attribute itself, and in words for those who don't see it.
    (words, drawing), *_ = re.findall(
        r'<img alt="([^"]+)" src="data:image/svg\+xml,([^"]+)">', html
    )
    title, label, count, *_ = re.findall(r">([^<]+)</text>", unquote(drawing))
    assert words.startswith(title)
    assert f"\n{label}: {count}\n" in words


def test_empty_dataset_is_its_name_and_size() -> None:
    html = MemoryDataset([], name="none")._repr_html_()
    assert html.endswith("<b>none</b> · 0 samples</div>")


def test_hostile_dataset_is_small_and_harmless() -> None:
    samples = [
        Sample([ChatMessageUser(content=HOSTILE * 1_000)], [HOSTILE] * 300, HOSTILE * n, id=HOSTILE)
        for n in range(1, 60)
    ]
    dataset = MemoryDataset(samples, name=HOSTILE * 100, location=HOSTILE * 100)
    html = dataset._repr_html_()
    assert len(html.encode()) < MOST_BYTES
    assert "<script" not in html
    assert not set(html) & set("\u202e\x1b\x07")
    assert not set(printed(dataset)) & set("\u202e\x1b\x07")


def test_plots_of_a_large_dataset_say_of_what_they_are() -> None:
    dataset = MemoryDataset([Sample("x" * n) for n in range(30)])
    html = dataset_html(dataset, most=20)
    assert "of the first 20 samples; `describe()` counts all" in html
    assert "of the first" not in dataset_html(dataset, most=30)


def test_what_can_not_be_counted_is_said() -> None:
    dataset = MemoryDataset([Sample("x", metadata={"key": object()})])
    html = dataset._repr_html_()
    assert "<i>no plots: " in html
    assert "metadata" in html


@pytest.mark.parametrize("width", [40, 60, 120])
def test_rich_prints_plots_as_wide_as_the_console(width: int) -> None:
    text = printed(get_dataset("demo-mcq"), width)
    assert text.startswith("demo-mcq: 50 samples\n\nInput length\n")
    assert max(map(len, text.splitlines())) <= width
    assert "Targets" in text


def test_rich_prints_one_line_inside_of_other_values() -> None:
    dataset = MemoryDataset([Sample("x")], name="d", shuffled=True)
    assert printed([dataset]) == "[MemoryDataset(name='d', samples=1, shuffled=True)]\n"


def test_large_samples_are_described_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (f'{{"q": "{n} {"x" * 200_000}", "a": "y"}}\n' for n in range(40))
    (tmp_path / "d.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\ndatasets: {d: {source: {type: json, path: d.jsonl}, auto_id: true,"
        " fields: {input: q, target: a}}}\n",
        encoding="utf-8",
    )
    dataset = get_dataset("d", root=tmp_path)
    assert "of the first" not in dataset._repr_html_()
    monkeypatch.setattr("registry.store.arrow_dataset._PREFETCH_BYTES", 1 << 22)
    assert isinstance(dataset, ArrowDataset)
    assert f"of the first {dataset._rows_at_once} samples" in dataset._repr_html_()
    assert dataset._rows_at_once < 30

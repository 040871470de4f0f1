"""Progress of a build in a notebook: a bar of tqdm, and nothing elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from registry import get_dataset
from registry.display import notebook
from registry.display.notebook import notebook_progress
from registry.progress import Progress


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend to be in a kernel without ipywidgets, where tqdm draws with text on stderr."""
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(notebook, "_DELAY_SECONDS", 0)
    monkeypatch.setattr(notebook, "_INTERVAL_SECONDS", 0)


def test_stages_have_a_bar_each(kernel: None, capsys: pytest.CaptureFixture[str]) -> None:
    with notebook_progress("my\x1b-data") as report:
        assert report is not None
        report(Progress("fetch", 0, 4_000))
        report(Progress("fetch", 4_000, 4_000))
        report(Progress("parse", 60))
        report(Progress("map", 70))
        report(Progress("write", 80, 80))
        report(Progress("wait", 0, note="nothing yet"))
        report(Progress("wait", 3, note="example.org"))
    text = capsys.readouterr().err
    assert "my\\u{1b}-data: download" in text
    assert "4.00k/4.00k" in text
    assert "60 records" in text
    assert "70 samples" in text
    assert "80/80" in text
    assert "my\\u{1b}-data: waiting for example.org" in text
    assert "nothing yet" not in text
    assert "\x1b-" not in text


def failing_build() -> None:
    with notebook_progress("d") as report:
        assert report is not None
        report(Progress("map", 1, 2))
        raise ValueError("stop")


def test_bar_goes_when_the_build_ends_also_with_an_error(
    kernel: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="stop"):
        failing_build()
    assert capsys.readouterr().err.rpartition("\r")[0].endswith(" ")


def test_nothing_is_shown_outside_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    with notebook_progress("d") as report:
        assert report is None
    # A terminal of IPython has no kernel.
    shell: Any = SimpleNamespace(get_ipython=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    with notebook_progress("d") as report:
        assert report is None


def test_build_of_a_dataset_is_drawn(
    kernel: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.jsonl").write_text('{"q": "a"}\n' * 5, encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\ndatasets: {d: {source: {type: json, path: d.jsonl}, fields: {input: q},"
        " auto_id: true, accept: [blank_targets]}}\n",
        encoding="utf-8",
    )
    assert len(get_dataset("d", root=tmp_path)) == 5
    assert "5 samples" in capsys.readouterr().err

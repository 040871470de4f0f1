"""Showing a dataset reads no more of it than can be read in a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import get_dataset
from registry.store.arrow_dataset import ArrowDataset


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

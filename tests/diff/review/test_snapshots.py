"""The reviewed state of two snapshots: which samples are known, without running new code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.diff.review.snapshots import reviewed_state
from registry.diff.review.state import ReviewedSide
from registry.diff.snapshot import open_snapshots
from registry.load.dataset import get_dataset

MANIFEST = """\
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
  coded:
    source: {type: csv, path: qa.csv}
    mapper: codedpackage.mapping:to_sample
"""
CODE = """\
from registry import Sample


def to_sample(record):
    return Sample(input=record["q"], target=record["a"])
"""


def catalog(folder: Path, trust: str) -> Path:
    folder.mkdir()
    (folder / "datasets.yaml").write_text(f"version: 1\ninclude: [m.yaml]\n{trust}")
    (folder / "m.yaml").write_text(MANIFEST)
    (folder / "qa.csv").write_text("q,a\nOne?,1\n")
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site" / "codedpackage"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "mapping.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder.parent))
    for name in ("codedpackage", "codedpackage.mapping"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def heads(base: Path, head: Path, cache: Path) -> ReviewedSide:
    with open_snapshots(str(base), str(head), head / "datasets.yaml") as (old, new):
        return reviewed_state(old, new, Cache(cache)).head


def test_cached_samples_are_known(tmp_path: Path, cache_dir: Path, package: None) -> None:
    trust = "trust: ['codedpackage.mapping:to_sample']\n"
    base, head = (catalog(tmp_path / name, trust) for name in ("base", "head"))
    assert {one.samples for one in heads(base, head, cache_dir).datasets.values()} == {None}
    for name in ("qa", "coded"):
        get_dataset(name, root=head)
    found = heads(base, head, cache_dir).datasets
    assert [one.samples and one.samples.number for one in found.values()] == [1, 1]


def test_code_that_only_the_head_trusts_is_not_imported(
    tmp_path: Path, cache_dir: Path, package: None
) -> None:
    base = catalog(tmp_path / "base", "")
    head = catalog(tmp_path / "head", "trust: ['codedpackage.mapping:to_sample']\n")
    found = heads(base, head, cache_dir).datasets
    assert "codedpackage.mapping" not in sys.modules
    assert found["coded"].samples is None
    assert "mapper codedpackage.mapping:to_sample" in found["coded"].reach

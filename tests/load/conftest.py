"""A cache, and the spec of a file of lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache
from registry.manifest.models import DatasetSpec, to_spec

Spec = Callable[..., DatasetSpec]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    """Return the spec of a file of lines; the keywords are keys of the dataset."""

    def make(lines: str = '{"input": "a"}\n{"input": "b"}\n', **keys: Any) -> DatasetSpec:
        path = tmp_path / "data.jsonl"
        if not path.exists() or path.read_text(encoding="utf-8") != lines:
            path.write_text(lines, encoding="utf-8")
            os.utime(path, (1_000_000_000, 1_000_000_000))
        source = {"type": "json", "path": [str(path)]}
        return to_spec({"name": "d", "folder": tmp_path, "source": source, **keys})

    return make

"""Datasets with a mapper in a package of its own."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.manifest.models import DatasetSpec, to_spec

_numbers = itertools.count()

MakeMapped = Callable[..., DatasetSpec]


@pytest.fixture
def mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeMapped:
    """Return a dataset of files of JSON Lines, whose mapper is the function `f` of some code."""

    def make(*files: bytes, code: str, suffix: str = "jsonl") -> DatasetSpec:
        paths = [tmp_path / f"{number}.{suffix}" for number, _ in enumerate(files)]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        package = f"mapper_{next(_numbers)}"
        (tmp_path / f"{package}.py").write_text(code)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, package, raising=False)
        source = {"type": "json", "path": [str(path) for path in paths]}
        keys = {"name": "d", "source": source, "mapper": f"{package}:f", "folder": tmp_path}
        return to_spec(keys)

    return make

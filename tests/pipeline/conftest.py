"""Datasets of local JSON Lines files, resolved and pinned, or with a mapper in a package of its own."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.fingerprint import pin_all
from registry.sources.pins import Pins, SourceContext
from registry.sources.source_type import reader_of


@dataclass(frozen=True)
class Prepared:
    """What a build starts from."""

    spec: DatasetSpec
    pins: Pins
    context: SourceContext

    def files(self) -> list[SourceBytes]:
        """Return the files of the only source."""
        return reader_of(self.spec.source).fetch(self.pins.sources[0], self.context)


_numbers = itertools.count()

MakeMapped = Callable[..., DatasetSpec]
Prepare = Callable[..., Prepared]


@pytest.fixture
def prepare(tmp_path: Path) -> Prepare:
    """Write one file for each list of records; the keywords are keys of the dataset."""

    def make(*files: list[dict[str, Any]], **keys: Any) -> Prepared:
        paths = []
        for number, records in enumerate(files):
            path = tmp_path / f"{number}.jsonl"
            path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
            paths.append(str(path))
        source = {"type": "json", "path": paths}
        spec = to_spec({"name": "d", "source": source, "folder": tmp_path, **keys})
        context = SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))
        return Prepared(spec, pin_all(spec, context), context)

    return make


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

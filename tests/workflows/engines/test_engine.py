"""The table of engines: each is there, and says what it lacks."""

from __future__ import annotations

import sys

import pytest

from registry.errors import MissingDependencyError
from registry.workflows.engines.engine import ENGINES, engine_of


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - {"dask"}))
def test_engine_needs_no_package(name: str) -> None:
    assert callable(engine_of(name).run)


def test_engine_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'eval-registry\[dask\]'"):
        engine_of("dask", "tcp://127.0.0.1:1")

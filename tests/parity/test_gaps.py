"""The evaluations that docs/reference/datasets.md names are those of the installed inspect_evals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gaps.page import datasets_page, read_gaps

package = pytest.importorskip("inspect_evals", reason="`make parity` installs it")


def test_the_evaluations_without_a_dataset_exist() -> None:
    evaluations = {
        folder.name
        for folder in Path(package.__file__ or "").parent.iterdir()
        if folder.is_dir() and folder.name not in ("utils", "__pycache__")
    }
    gaps = read_gaps()

    assert set(gaps.inspect_evals) - evaluations == set()
    assert f"has {len(evaluations)} evaluations" in datasets_page(gaps)

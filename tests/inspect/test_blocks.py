"""The `eval` blocks of the built-in catalog: a model that knows the answers scores 1.0.

`make inspect` runs this; the program that it starts tries every block by Inspect's own `eval`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from tests.inspect.conftest import IS_OLDEST, ROOT, Run

LEAST = 250
"""Number of built-in datasets with a block at least."""


pytest.importorskip("latex2sympy2_extended", reason="`make inspect` installs it")


@pytest.mark.skipif(IS_OLDEST, reason="takes a minute, and tries no code of ours")
def test_right_answers_score_one_and_wrong_ones_zero(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("tests.inspect.blocks", str(tmp_path)))
    assert found.keys() == {
        name for name, spec in Catalog.open(ROOT).items() if spec.eval and ":" not in name
    }
    assert len(found) >= LEAST
    wrong = {
        name: results
        for name, results in found.items()
        if sorted(results)
        != [
            ["block/right", "success", None, [1.0] * len(results[0][3])],
            ["block/wrong", "success", None, [0.0] * len(results[0][3])],
        ]
        or not results[0][3]
    }
    assert wrong == {}

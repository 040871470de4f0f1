"""The counts in docs/reference/interop.md are those of the installed packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

from tests.interop.page import PAGE

pytest.importorskip("lm_eval", reason="`make interop` installs it")
pytest.importorskip("inspect_evals", reason="`make interop` installs it")

from tests.interop.counts import PACKAGES, count

# Kind → the name of its row.
ROWS = {"lm-eval": "lm_eval {}, `tasks/`", "inspect": "inspect_evals {}"}


@pytest.mark.parametrize("kind", ROWS)
def test_the_page_has_what_becomes_of_the_files_of_a_package(kind: str) -> None:
    spec = importlib.util.find_spec(PACKAGES[kind])
    assert spec is not None
    assert spec.origin is not None
    found = count(kind, Path(spec.origin).parent)
    name = ROWS[kind].format(importlib.metadata.version(PACKAGES[kind]))
    numbers = (found.files, found.whole, found.partly, found.refused)
    assert f"| {name} | {' | '.join(f'{one:,}' for one in numbers)} |" in PAGE.read_text("utf-8")

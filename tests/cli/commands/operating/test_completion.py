"""`completion` prints the script of a shell; tests/cli/test_completion_scripts.py runs them."""

from __future__ import annotations

import pytest

from registry.cli.completion_scripts import SCRIPTS
from tests.cli.invocation import Run


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_printed(run: Run, name: str) -> None:
    assert run("completion", name).out == SCRIPTS[name]


def test_other_shells_are_refused(run: Run) -> None:
    result = run("completion", "tcsh")
    assert result.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.err

"""The datasets that commands list are the valid ones, and what is wrong with others is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.cli.opening import valid_specs
from tests.cli.invocation import write


def test_all_problems_are_printed_once(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own, "bad", "datasets:\n  bad: {bogus: 1, limit: few}\n  worse: {extends: bad}\n")
    specs, has_invalid = valid_specs(Catalog.open(own), ["qa", "bad", "worse"])
    assert ([one.name for one in specs], has_invalid) == (["qa"], True)
    paths = [line.split()[2] for line in capsys.readouterr().err.splitlines()]
    assert paths == ["$.datasets.bad:", "$.datasets.bad.bogus:", "$.datasets.bad.limit:"]

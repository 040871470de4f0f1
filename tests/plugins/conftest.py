"""Fixtures of the packages that the plugins serve: of the command line, and of engines."""

from __future__ import annotations

from tests.cli.conftest import demo, own, run, shipped
from tests.workflows.conftest import make_catalog

__all__ = ["demo", "make_catalog", "own", "run", "shipped"]

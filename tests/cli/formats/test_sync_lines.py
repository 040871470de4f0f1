"""Results of `sync` as lines: when they are printed, and how wide they are."""

from __future__ import annotations

import sys

import pytest

from registry.cli.formats.sync_lines import SyncLines
from registry.errors import RegistryError
from registry.workflows.sync import SyncResult

BUILT = SyncResult(name="qa", status="built", samples=1200, bytes=4200, seconds=1.23)
FAILED = SyncResult(name="a-name", status="failed", error=RegistryError("why"))
TITLE = "dataset  status      samples      size     time"
BUILT_LINE = "qa       built         1,200    4.2 kB    1.2 s"


@pytest.fixture(params=[(out, err) for out in (True, False) for err in (True, False)], ids=str)
def terminals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Make stdout and stderr terminals, or pipes."""
    out, err = request.param
    monkeypatch.setattr(sys.stdout, "isatty", lambda: out)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: err)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    return out, err


def test_line_is_printed_at_once_unless_bars_are_on_another_stream(
    terminals: tuple[bool, bool],
) -> None:
    lines = SyncLines(["qa", "a-name"])
    now, late = list(lines.of(BUILT)), list(lines.late([BUILT]))
    assert (late, now) == (
        ([TITLE, BUILT_LINE], []) if terminals == (False, True) else ([], [TITLE, BUILT_LINE])
    )


def test_failure_is_a_line_in_a_pipe_only(terminals: tuple[bool, bool]) -> None:
    lines = SyncLines(["qa", "a-name"])
    made = [*lines.of(FAILED), *lines.late([FAILED])]
    assert [line.split()[:2] for line in made[1:]] == (
        [] if terminals[0] else [["a-name", "failed"]]
    )

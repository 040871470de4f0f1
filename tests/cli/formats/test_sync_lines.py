"""Results of `sync` as lines: when they are printed, and how wide they are."""

from __future__ import annotations

import sys

import pytest

from registry.cli.formats.sync_lines import SyncLines, print_failures
from registry.errors import ManifestError, MappingError, OfflineError, Problem, RegistryError
from registry.workflows.sync import SyncResult

BUILT = SyncResult(name="qa", status="built", samples=1200, bytes=4200, seconds=1.23)
FAILED = SyncResult(name="a-name", status="failed", error=RegistryError("why"))
TITLE = "dataset  status      samples      size     time"
BUILT_LINE = "qa       built         1,200    4.2 kB    1.2 s"
Capture = pytest.CaptureFixture[str]


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


def test_cause_without_its_location_is_printed_once(capsys: Capture) -> None:
    failures = [(f"d{one}", OfflineError(f"org/n{one}: not in the cache")) for one in range(15)]
    print_failures([("a", RegistryError("a: something else")), *failures])
    assert capsys.readouterr().err.splitlines() == [
        "error: a: something else",
        "error: 15 datasets: not in the cache",
        "  " + ", ".join(f"d{one}" for one in range(15)),
    ]


def test_few_failures_keep_their_locations(capsys: Capture) -> None:
    print_failures([(f"d{one}", OfflineError(f"org/n{one}: gone")) for one in range(2)])
    assert capsys.readouterr().err.splitlines() == [
        "error: d0: org/n0: gone",
        "error: d1: org/n1: gone",
    ]


def test_equal_location_is_kept(capsys: Capture) -> None:
    print_failures([(f"d{one}", OfflineError("org/n: gone")) for one in range(7)])
    assert capsys.readouterr().err.splitlines() == [
        "error: 7 datasets: org/n: gone",
        "  d0, d1, d2, d3, d4, d5, d6",
    ]


def test_terminal_has_only_the_first_names(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    print_failures([(f"dataset-{one}", OfflineError("x: gone")) for one in range(15)])
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 30
    assert " ".join(" ".join(lines).split()).endswith("and 3 more")


def test_problems_of_one_file_stop_several_datasets(capsys: Capture) -> None:
    error = ManifestError([Problem(message="one", file="m.yaml"), Problem(message="two")])
    print_failures([(name, error) for name in "abcdef"])
    assert capsys.readouterr().err.splitlines() == [
        "error: 6 datasets: m.yaml $: one",
        "error: 6 datasets: $: two",
        "  a, b, c, d, e, f",
    ]


def test_problems_of_one_file_are_printed_once_for_few_datasets(capsys: Capture) -> None:
    error = ManifestError([Problem(message="one", file="m.yaml"), Problem(message="two")])
    print_failures([(name, error) for name in "ab"])
    assert capsys.readouterr().err.splitlines() == [
        "error: 2 datasets: m.yaml $: one",
        "error: 2 datasets: $: two",
        "  a, b",
    ]


def test_other_messages_differ_by_what_they_are_about(capsys: Capture) -> None:
    print_failures([(name, MappingError("no input", field=name)) for name in ("a", "b")])
    assert capsys.readouterr().err.splitlines() == [
        "error: a: field a: no input",
        "error: b: field b: no input",
    ]

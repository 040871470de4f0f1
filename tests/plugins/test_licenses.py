"""`licenses`: what licences the datasets have, and a policy for CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.invocation import Run, write

DATASETS = """\
datasets:
  free:
    description: Free.
    license: {spdx: CC-BY-4.0, read-at: 'https://example.org/free'}
    access: open
    source: {type: csv, path: qa.csv}
  narrow: {extends: free, license: CC-BY-NC-SA-4.0, access: {gated: 'https://example.org/terms'}}
  choice: {extends: free, license: 'MIT OR CC-BY-NC-4.0'}
  silent: {extends: free, license: {none-stated: 2026-11-23, looked-at: 'https://example.org/silent'}}
  foreign: {extends: free, license: whatever}
"""


@pytest.fixture(autouse=True)
def catalog(own: Path) -> Path:
    (own / "m" / "qa.yaml").unlink()
    write(own, "a", DATASETS)
    return own


def test_lists_each_licence_with_its_datasets(run: Run) -> None:
    result = run("licenses")
    assert result.code == 0
    assert [line.split() for line in result.lines] == [
        ["license", "access", "datasets", "which"],
        ["CC-BY-4.0", "open", "1", "free"],
        ["CC-BY-NC-SA-4.0", "gated", "1", "narrow"],
        ["MIT", "OR", "CC-BY-NC-4.0", "open", "1", "choice"],
        ["NONE", "open", "1", "silent"],
        ["whatever", "open", "1", "foreign"],
    ]


@pytest.mark.parametrize(
    ("deny", "names"),
    [
        ("NC", ["foreign", "narrow"]),
        ("nc,none", ["foreign", "narrow", "silent"]),
        ("MIT,NC", ["choice", "foreign", "narrow"]),
        ("CC-BY-4.0", ["foreign", "free"]),
        ("GPL", ["foreign"]),
    ],
)
def test_denied_licences_are_exit_code_1(run: Run, deny: str, names: list[str]) -> None:
    result = run("licenses", "--deny", deny)
    assert (result.code, [line.split(":")[0] for line in result.lines]) == (1, names)
    assert result.err == f"{len(names)} of 5 datasets denied\n"


def test_line_of_a_denied_dataset_says_why_and_where(run: Run) -> None:
    result = run("licenses", "--deny", "none", "--deny", "NC", "narrow", "silent", "foreign")
    assert result.lines == [
        "narrow: CC-BY-NC-SA-4.0 (NC): m/a.yaml:7",
        "silent: NONE (none): m/a.yaml:9",
        "foreign: whatever (no SPDX expression): m/a.yaml:10",
    ]


def test_nothing_denied_is_exit_code_0(run: Run) -> None:
    result = run("licenses", "free", "choice", "--deny", "NC,ND,none")
    assert (result.code, result.out, result.err) == (0, "", "0 of 2 datasets denied\n")


def test_json_has_where_each_was_read(run: Run) -> None:
    free, silent = run("licenses", "free", "silent", "--json", "--deny", "NC").json
    assert free == {
        "name": "free",
        "license": "CC-BY-4.0",
        "read_at": "https://example.org/free",
        "none_stated": None,
        "looked_at": None,
        "access": "open",
        "access_url": None,
        "denied_by": None,
    }
    assert (silent["license"], silent["none_stated"]) == ("NONE", "2026-11-23")
    assert silent["looked_at"] == "https://example.org/silent"


def test_notice_is_text_for_a_copy(run: Run) -> None:
    out = run("licenses", "free", "narrow", "--notice").out
    assert (
        out
        == """\
Datasets in this copy, their licenses, and where these were read.

free
  description: Free.
  license: CC-BY-4.0
  read at: https://example.org/free

narrow
  description: Free.
  license: CC-BY-NC-SA-4.0
  access: gated, see https://example.org/terms
"""
    )


def test_word_that_denies_nothing_is_a_usage_error(run: Run) -> None:
    result = run("licenses", "--deny", "NC,DN")
    assert result.code == 2
    assert "'DN' is none of none, NC, ND" in result.err
    assert "did you mean 'ND'?" in result.err
    assert run("licenses", "--notice", "--json").code == 2

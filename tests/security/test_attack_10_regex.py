"""Attack 10: a pattern that backtracks without end on data of the same pull request."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli import main
from registry.mapping import regex
from tests.git_repository import GitRepository, write_files
from tests.security.measured import run_measured

EVIL = "^(a+)+$"
WHERE = f"where: {{value: q, regex: '{EVIL}'}}, fields: {{input: q}}"
MAPPINGS = {
    WHERE: f"where: the pattern '{EVIL}' takes more than 1 s (does it repeat what",
    f"fields: {{input: {{from: q, do: [{{regex: '{EVIL}'}}]}}}}": "input, operation regex(",
    f"fields: {{input: {{from: q, do: [{{sub: {{pattern: '{EVIL}', to: b}}}}]}}}}": "input, operation sub(",
    f"fields: {{input: {{if: {{value: q, regex: '{EVIL}'}}, then: q, else: q}}}}": "input",
}


def files(mapping: str) -> dict[str, str]:
    return {
        "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n",
        "m/d.yaml": f"datasets:\n  d: {{source: {{type: json, path: d.jsonl}}, {mapping}}}\n",
        "d.jsonl": f'{{"q": "a"}}\n{{"q": "{"a" * 60}b"}}\n',
    }


@pytest.fixture
def _one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pattern take a second; the process that applies it is started before."""
    assert regex.compile_pattern(EVIL).found("a")
    monkeypatch.setattr(regex, "SECONDS", 1.0)


@pytest.mark.usefixtures("_one_second")
@pytest.mark.parametrize(
    ("mapping", "place"), MAPPINGS.items(), ids=["where", "regex", "sub", "if"]
)
def test_a_pattern_without_end_is_an_error_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mapping: str, place: str
) -> None:
    write_files(tmp_path, files(mapping))
    assert main(["sync", "d", "--root", str(tmp_path)]) == 1
    assert f"d: record 2, field {place}" in capsys.readouterr().err


@pytest.mark.usefixtures("_one_second")
def test_the_diff_of_a_change_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = files("fields: {input: q}")
    repository = GitRepository.make(tmp_path / "repository", base)
    repository.write(files(WHERE))
    monkeypatch.chdir(repository.folder)
    main(["diff", "main", "--build", "--offline"])
    assert f"the pattern '{EVIL}' takes more than 1 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "pattern",
    ["((a{1000}){1000}){1000}", "(" * 2000, "a{99999999999}", "(?:" * 500 + ")" * 500, "x" * 10**6],
    ids=["repeats", "parentheses", "number", "groups", "length"],
)
def test_a_pattern_that_is_hard_to_compile_does_not_stop_validate(
    tmp_path: Path, pattern: str
) -> None:
    folder = write_files(tmp_path / "catalog", files(WHERE.replace(EVIL, pattern[:900_000])))
    result = run_measured(folder, "validate", cache=tmp_path / "cache")
    assert result.seconds < 10
    assert result.bytes < 500_000_000
    assert result.code == (0 if pattern.startswith("((a") else 1)

"""Attack 10: a pattern that backtracks without end on data of the same pull request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.cli import main
from registry.mapping import regex
from tests.git_repository import GitRepository
from tests.security.installed import Machine
from tests.security.measured import run_measured

SOURCE = "    source: {type: json, path: d.jsonl}\n"
EVIL = "^(a+)+$"
MAPPINGS = {
    "where": ("    where: {value: q, regex: '^(a+)+$'}\n    fields: {input: q}\n", "field where"),
    "regex": (
        "    fields: {input: {from: q, do: [{regex: '^(a+)+$'}]}}\n",
        "field input, operation regex(",
    ),
    "sub": (
        "    fields: {input: {from: q, do: [{sub: {pattern: '^(a+)+$', to: b}}]}}\n",
        "field input, operation sub(",
    ),
    "if": (
        "    fields:\n      input: {if: {value: q, regex: '^(a+)+$'}, then: q, else: q}\n",
        "field input",
    ),
}


def files(mapping: str) -> dict[str, str]:
    records = [{"q": "a"}, {"q": "a" * 60 + "b"}]
    return {
        "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n",
        "m/d.yaml": f"datasets:\n  d:\n{SOURCE}{mapping}",
        "d.jsonl": "".join(json.dumps(record) + "\n" for record in records),
    }


def test_a_pattern_without_end_is_an_error(tmp_path: Path) -> None:
    repository = GitRepository.make(tmp_path / "repository", files(MAPPINGS["where"][0]))
    outcome = Machine(tmp_path).run(repository.folder, "sync", "d")
    assert outcome.code == 1
    assert f"the pattern '{EVIL}' takes more than 5 s (does it repeat what" in outcome.err


@pytest.mark.parametrize(("mapping", "place"), MAPPINGS.values(), ids=MAPPINGS)
def test_the_error_names_the_place_of_the_pattern(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mapping: str,
    place: str,
) -> None:
    monkeypatch.setattr(regex, "SECONDS", 2.0)  # a process starts in them
    for name, text in files(mapping).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["sync", "d", "--root", str(tmp_path)]) == 1
    assert f"d: record 2, {place}" in capsys.readouterr().err


def test_the_diff_of_a_change_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(regex, "SECONDS", 2.0)  # a process starts in them
    base = files("    fields: {input: q}\n")
    repository = GitRepository.make(tmp_path / "repository", base)
    repository.write(files(MAPPINGS["where"][0]))
    monkeypatch.chdir(repository.folder)
    main(["diff", "main", "--build", "--offline"])
    assert f"the pattern '{EVIL}' takes more than 2 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "pattern",
    ["((a{1000}){1000}){1000}", "(" * 2000, "a{99999999999}", "(?:" * 500 + ")" * 500, "x" * 10**6],
    ids=["repeats", "parentheses", "number", "groups", "length"],
)
def test_a_pattern_that_is_hard_to_compile_does_not_stop_validate(
    tmp_path: Path, pattern: str
) -> None:
    mapping = f"    where: {{value: q, regex: '{pattern[:900_000]}'}}\n    fields: {{input: q}}\n"
    repository = GitRepository.make(tmp_path / "repository", files(mapping))
    result = run_measured(repository.folder, "validate", cache=tmp_path / "cache")
    assert "Traceback" not in result.text
    assert result.seconds < 10
    assert result.bytes < 500_000_000
    assert result.code == (0 if pattern.startswith("((a") else 1)

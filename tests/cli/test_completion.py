"""What may follow the words of a command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from registry.cli import command
from registry.cli.completion import VARIABLE
from tests.cli.invocation import write
from tests.conftest import REPOSITORY


def items(*words: str) -> list[CompletionItem[str]]:
    """Return what may follow some words, of which the last is incomplete."""
    *before, current = words
    return ShellComplete(command, {}, "registry", VARIABLE).get_completions(before, current)


def values(*words: str) -> list[str]:
    return [item.value for item in items(*words) if item.type == "plain"]


def test_verbs_come_with_their_meaning() -> None:
    (found,) = items("pre")
    assert (found.value, "sample" in (found.help or "")) == ("preview", True)
    assert {"cache", "sync", "--version"}.isdisjoint(values("cache", ""))
    assert values("cache", "ver") == ["verify"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["preview", "--off"], ["--offset", "--offline"]),
        (["diff", "--format", "mark"], ["markdown"]),
        (["preview", "--seed", ""], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_options_and_values(words: list[str], expected: list[str]) -> None:
    assert sorted(values(*words)) == sorted(expected)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["validate", ""], "file"),
        (["preview", "x", "--from", ""], "file"),
        (["preview", "x", "--root", "a"], "file"),
        (["site", "--out", ""], "dir"),
    ],
)
def test_paths_are_left_to_the_shell(own: Path, words: list[str], kind: str) -> None:
    assert [item.type for item in items(*words)] == [kind]


def test_names_of_datasets_and_tags_are_those_of_the_catalog(own: Path) -> None:
    assert values("show", "q") == ["qa", "qa-one"]
    assert values("sync", "qa", "") == ["qa-one"]
    assert values("export", "qa-") == ["qa-one"]
    assert values("lock", "--upgrade", "qa-") == ["qa-one"]
    assert values("list", "--tag", "") == ["small", "text"]
    assert values("list", "--tag", "small", "--tag", "") == ["text"]
    assert values("add", "q") == []
    groups = "{board: {datasets: [qa-one, parts]}, parts: {from: qa, by: a, values: ['1', x]}}"
    write(own, "groups", f"groups: {groups}\n")
    assert values("show", "") == ["qa", "qa-one", "board", "parts"]
    assert values("show", "board/") == ["board/qa-one", "board/parts/1", "board/parts/x"]
    assert values("show", "board/parts/x") == ["board/parts/x"]


@pytest.mark.parametrize("name", ["qa\\n$(touch x) #", "--force", "qa\\tx", "$(touch x)"])
def test_invalid_names_never_reach_a_shell(own: Path, name: str) -> None:
    manifest = own / "m" / "qa.yaml"
    manifest.write_text(f'{manifest.read_text()}  "{name}": {{extends: qa}}\n')
    assert values("show", "") == ["qa", "qa-one"]


def test_tags_that_a_shell_would_have_to_quote_are_not_offered(own: Path) -> None:
    source = "source: {type: csv, path: qa.csv}"
    write(own, "odd", f"datasets:\n  odd: {{tags: ['a b', \"x\\ny\", '$(id)', c:d], {source}}}\n")
    assert values("list", "--tag", "") == ["c:d", "small", "text"]


def test_root_of_the_command_line_counts(own: Path, tmp_path: Path) -> None:
    assert "demo-mcq" in values("show", "--root", str(REPOSITORY), "demo-m")
    assert "demo-mcq" in values("show", f"--root={REPOSITORY}", "demo-m")
    assert values("show", "--root", str(tmp_path / "nothing"), "") == []


def test_invalid_catalog_completes_nothing(own: Path) -> None:
    (own / "datasets.yaml").write_text("version: [", encoding="utf-8")
    assert values("show", "") == values("list", "--tag", "") == []


def test_completing_a_command_imports_none(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from registry.cli import main; main();"
        "print([name for name in sys.modules if '.commands.' in name or 'catalog' in name])"
    )
    monkeypatch.setenv(VARIABLE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "registry pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines() == ["plain,preview", "[]"]

"""What may follow the words of a command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from registry.cli.completion import VARIABLE, completion_lines, find_completion
from tests.cli.invocation import Run, write
from tests.conftest import REPOSITORY


def values(*words: str) -> list[str]:
    return [value for value, _ in find_completion(words).values]


def test_verbs_come_with_their_meaning() -> None:
    found = dict(find_completion(["pre"]).values)
    assert found == {"preview": found["preview"]}
    assert "sample" in found["preview"]
    assert {"cache", "sync", "--version"}.isdisjoint(values("cache", ""))
    assert values("cache", "ver") == ["verify"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["preview", "--off"], ["--offset", "--offline"]),
        (["diff", "--format", "mark"], ["markdown"]),
        (["diff", "--format=mark"], ["--format=markdown"]),
        (["schema", "m"], ["manifest"]),
        (["preview", "--seed", ""], []),
        (["nothing", ""], []),
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
        (["preview", ""], "values"),
    ],
)
def test_paths_are_left_to_the_shell(own: Path, words: list[str], kind: str) -> None:
    assert find_completion(words).kind == kind


def test_names_of_datasets_and_tags_are_those_of_the_catalog(own: Path) -> None:
    assert values("show", "q") == ["qa", "qa-one"]
    assert values("sync", "qa", "") == ["qa-one"]
    assert values("show", "qa", "") == []
    assert values("lock", "--upgrade", "qa-") == ["qa-one"]
    assert values("list", "--tag", "") == ["small", "text"]
    assert values("list", "--tag", "small", "--tag", "") == ["text"]
    assert values("add", "q") == []
    write(
        own,
        "other",
        (own / "m" / "qa.yaml")
        .read_text()
        .replace("qa", "new")
        .replace("new.csv", "qa.csv")
        .replace("text", "more"),
    )
    assert values("show", "n") == ["new", "new-one"]
    assert values("list", "--tag", "m") == ["more"]


@pytest.mark.parametrize("name", ["qa\\n$(touch x) #", "--force", "qa\\tx", "$(touch x)"])
def test_invalid_names_never_reach_a_shell(own: Path, name: str) -> None:
    manifest = own / "m" / "qa.yaml"
    manifest.write_text(f'{manifest.read_text()}  "{name}": {{extends: qa}}\n')
    assert values("show", "") == ["qa", "qa-one"]


def test_root_of_the_command_line_counts(own: Path, tmp_path: Path) -> None:
    assert "demo-mcq" in values("show", "--root", str(REPOSITORY), "demo-m")
    assert "demo-mcq" in values("show", f"--root={REPOSITORY}", "demo-m")
    assert values("show", "--root", str(tmp_path / "nothing"), "") == []


def test_invalid_catalog_completes_nothing(own: Path) -> None:
    (own / "datasets.yaml").write_text("version: [", encoding="utf-8")
    assert values("show", "") == values("list", "--tag", "") == []


def test_lines_are_in_the_form_of_each_shell(own: Path) -> None:
    write(
        own,
        "odd",
        "datasets:\n  odd: {tags: ['a b:c', \"x\\ny\", '$(id)'], source: {type: csv, path: qa.csv}}\n",
    )
    words = ["list", "--tag", "a"]
    assert list(completion_lines(words, "bash")) == ["values", "'a b:c'"]
    assert list(completion_lines(["list", "--tag", "$"], "bash")) == ["values", "'$(id)'"]
    assert list(completion_lines(words, "zsh")) == ["values", "a b\\:c"]
    assert list(completion_lines(words, "fish")) == ["values", "a b:c\t"]
    assert values("list", "--tag", "x") == []


def test_bash_divides_words_at_equals_signs() -> None:
    for words in (["diff", "--format", "=", "mark"], ["diff", "--format", "mark"]):
        assert list(completion_lines(words, "bash")) == ["values", "markdown"]
    assert "json" in list(completion_lines(["diff", "--format", "="], "bash"))


def test_completion_imports_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from registry.cli import main; sys.argv = ['registry', 'preview', '--']; main();"
        "print([name for name in sys.modules if '.commands.' in name or 'catalog' in name])"
    )
    monkeypatch.setenv(VARIABLE, "bash")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines()[0] == "values"
    assert done.stdout.splitlines()[-1] == "[]"


def test_click_s_own_variable_prints_no_other_command(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "bash")
    monkeypatch.setattr(sys, "argv", ["registry", "show", "q"])
    result = run("sync")
    assert (result.code, result.lines) == (0, ["values", "qa", "qa-one"])

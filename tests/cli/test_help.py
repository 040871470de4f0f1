"""What `--help` shows at any width, and what may follow the words of a command line."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete
from click.testing import CliRunner

from registry.cli import command
from registry.cli.help import VARIABLE, with_help_text
from tests.cli.invocation import Run, verbs, write
from tests.command_line import install
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


WAIT = 60
"""Seconds until an answer of a shell is taken to be missing."""
PROMPT = "ready> "


def shell(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


@pytest.fixture
def environment(tmp_path: Path, demo: Path, cache_dir: Path) -> dict[str, str]:
    """Return variables with which `registry` is a command."""
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder)
    (tmp_path / "home").mkdir()
    (demo / "given.csv").write_text("q,a\n", encoding="utf-8")
    return {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
        "REGISTRY_CACHE_DIR": str(cache_dir),
        "PS1": PROMPT,
    }


class Typed:
    """A shell in a pseudo-terminal, to type into."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process, self.terminal, self.seen = process, terminal, ""

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def wait_for(self, text: str) -> str:
        """Return what was shown up to a text."""
        end = time.monotonic() + WAIT
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], 1)
            if ready:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            assert time.monotonic() < end, f"no {text!r} in {self.seen!r}"
            assert ready or self.process.poll() is None, self.seen
        before, _, self.seen = self.seen.partition(text)
        return before


@contextmanager
def typed(arguments: list[str], environment: dict[str, str]) -> Iterator[Typed]:
    """Start a shell in a pseudo-terminal."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        arguments,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Typed(process, own)
    finally:
        process.kill()
        process.wait()
        os.close(own)


INTERACTIVE = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i", "+o", "prompt_sp"],
}


@pytest.mark.parametrize("name", INTERACTIVE)
def test_tab_completes_what_is_typed(
    name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    if name == "bash":  # once as the wheel installs it
        script = "import sys\nfrom registry.cli import main\nsys.exit(main())\n"
        (tmp_path / "bin" / "registry").write_text(f"#!{sys.executable}\n{script}")
    with typed([shell(name), *INTERACTIVE[name]], environment) as one:
        one.wait_for(PROMPT)
        start = "autoload -Uz compinit; compinit -u; " if name == "zsh" else ""
        one.type(f"{start}source <(registry completion {name}); echo lo''aded\n")
        one.wait_for("loaded")
        # Each Tab inserts the rest of the only word that is possible, and a space.
        one.type("registry prev\tdemo-ch\t--offs\t49 --js\t\n")
        assert '"difficulty"' in one.wait_for('"hints"')
        one.type("registry preview demo-mcq --from giv\t\n")
        one.wait_for("--from given.csv")


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("registry prev", "preview\tShow samples"),
        ("registry show demo-ch", "demo-chat"),
        ("registry diff --format mark", "markdown"),
        ("registry list --tag dem", "demo"),
        ("registry preview demo-mcq --from giv", "given.csv"),
    ],
)
def test_fish_completes(environment: dict[str, str], line: str, first: str) -> None:
    script = f"registry completion fish | source; complete -C '{line}'"
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", script],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.startswith(first), done.stderr


def test_other_shells_are_refused(run: Run) -> None:
    result = run("completion", "tcsh")
    assert result.code == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.err


EPILOG = """\b
Example: registry verb some/long/path.csv --option value --other 'a quoted value' --last
SETTING=on registry verb another/long/path.csv --option value --to the-end-of-this-line

\b
A remark that is so long that no narrow terminal has room for all the words of it:
  key: value  # which stays
"""


@pytest.fixture
def verb() -> click.Command:
    @click.command("verb", epilog=EPILOG)
    def verb() -> None:
        """Do something."""

    return with_help_text(verb)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_folded_commands_are_the_same_commands(verb: click.Command, width: int) -> None:
    result = CliRunner().invoke(verb, ["--help"], terminal_width=width, max_content_width=width)
    assert max(map(len, result.output.splitlines())) <= width
    text = result.output.replace("\\\n", " ")
    for line in EPILOG.splitlines()[1:3]:
        words = shlex.split(line.removeprefix("Example: "))
        assert any(
            shlex.split(one.replace("Example:", "")) == words
            for one in text.splitlines()
            if "registry" in one
        )
    assert "    key: value  # which stays" in result.output.splitlines()


@pytest.mark.parametrize(("width", "flag"), [(60, "--help"), (80, "-h")])
@pytest.mark.parametrize("words", ["", *verbs()])
def test_help_of_every_command_fits_and_has_an_example(
    run: Run, words: str, width: int, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*words.split(), flag)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"Usage: registry {words}".rstrip())
    example = " ".join(shown.out.partition("Example: ")[2].split())
    assert f"registry {words}".strip() in example
    assert [line for line in shown.lines if len(line) > width] == []

"""Documents and command line agree: verbs, options, environment variables, in both directions."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.invocation import CONTEXT, verbs

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "registry"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (
        *(
            ROOT / "README.md",
            ROOT / "CONTRIBUTING.md",
            ROOT / "AGENTS.md",
            *(ROOT / "docs").rglob("*.md"),
        ),
        *(ROOT / ".github").rglob("*.md"),
        *(ROOT / ".github").rglob("*.yml"),
    )
}
GENERATED = "docs/reference/command-line.md"

OTHER_PROGRAMS = {
    "benchmarks": "--only --quick --rounds --write-docs",
    "gh": "--body-file --comment --generate-notes --head --jq --search --state --title --verify-tag",
    "git": "--create --exit-code --initial-branch --message --quiet --unshallow",
    "inspect eval": "--epochs --limit --log-dir --model --model-role --sample-id --sample-shuffle",
    "lm_eval": "--include --log --output --tasks",  # with an underscore: --log_samples
    "make soak": "--minutes",
    "pip": "--disable-pip-version-check --editable --find-links --no-index",
    "pytest": "--numprocesses",
    "towncrier": "--draft",
    "uv": "--trusted-publishing",
}
OPTIONS_OF_OTHER_PROGRAMS = " ".join(OTHER_PROGRAMS.values()).split()
VARIABLES_OF_LIBRARIES = {"HF_TOKEN": "huggingface_hub"}
"""Variables that a library reads for us."""
VARIABLES_OF_WRITERS = {"REGISTRY_REMOTE_KEY_", "REGISTRY_REMOTE_KEY_CI"}
"""Those whose names end with a writer's; in general, and of the one in examples."""
VARIABLES_OF_TESTS = {
    "REGISTRY_SHARED_DATA": "tests/conftest.py",
    "REGISTRY_EVIDENCE_DATA": "tests/evidence/rows.py",
    "REGISTRY_FAULTS": "tests/faults/conftest.py",
}


VERBS = verbs()


def options_of(verb: click.Command) -> set[str]:
    given = [one for one in verb.params if isinstance(one, click.Option)]
    # The other half of a pair, such as `--header / --no-header`, is in the same row.
    names = {name for one in given for name in (*one.opts, *one.secondary_opts)}
    return {*names, "--help", "-h"}


EVERY_OPTION = {name for verb in VERBS.values() for name in options_of(verb)} | {"--version"}


def variables_read() -> dict[str, str]:
    """Return the environment variables that the code reads, each with a module that does."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"environ|envvar|\bis_on\(", text):
            continue
        for node in ast.walk(ast.parse(text)):
            is_read = isinstance(node, ast.Call | ast.Subscript)
            reads = is_read and re.search(r"environ|^is_on\(", ast.unparse(node))
            if reads or (isinstance(node, ast.keyword) and node.arg == "envvar"):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Constant) and re.fullmatch(
                        r"[A-Z]+(_[A-Z]+)+", str(inner.value)
                    ):
                        found[str(inner.value)] = path.relative_to(SOURCE).as_posix()
    options = (one for verb in VERBS.values() for one in verb.params)
    return found | {one.envvar: "cli" for one in options if isinstance(one.envvar, str)}


VARIABLES = variables_read()


def invocations() -> Iterator[tuple[str, str, str]]:
    """Yield page, verb and the rest of each command line that a document shows."""
    for page, text in PAGES.items():
        for line in text.splitlines():
            for words, rest in re.findall(
                r"(?:python -I -m registry|^ *registry|`registry) ((?:cache )?[a-z]+)\b([^`#>]*)",
                line,
            ):
                yield page, words, rest


SHOWN = sorted(set(invocations()))


# --- Everything that exists is documented ---


@pytest.mark.parametrize("words", VERBS)
def test_commands_are_documented_with_all_their_options(words: str) -> None:
    section = PAGES[GENERATED].partition(f"\n## {words}\n")[2].partition("\n## ")[0]
    assert section
    # Those of many commands are described once, and named in each section.
    shared = PAGES[GENERATED].partition("\n## Options of many commands\n")[2].partition("\n## ")[0]
    for name in options_of(VERBS[words]) - {"--help", "-h"}:
        described = rf"\| `[^`|]*(?<!\w){name}\b"
        named = re.search(rf"^(Also|It takes) .*`{name}`", section, re.MULTILINE)
        assert re.search(described, section) or (named and re.search(described, shared)), name


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_environment_variable_is_documented(variable: str) -> None:
    assert f"`{variable}`" in PAGES["docs/reference/environment.md"]


def test_variables_of_the_settings_are_found() -> None:
    """Check that the search above finds known variables, so that it can't pass by finding none."""
    assert {"REGISTRY_ROOT", "REGISTRY_CACHE_DIR", "HF_HUB_OFFLINE", "HF_ENDPOINT"} <= set(
        VARIABLES
    )


# --- Everything documented exists ---


@pytest.mark.parametrize(("page", "words", "rest"), SHOWN)
def test_documented_command_lines_are_valid(page: str, words: str, rest: str) -> None:
    verb = VERBS[words]
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest))
    assert named <= options_of(verb), f"{page}: {words}{rest}"


@pytest.mark.parametrize("page", PAGES)
def test_documented_options_exist(page: str) -> None:
    named = set(re.findall(r"(?<![\w`|-])--[a-z][a-z-]*|(?<=`)--[a-z][a-z-]*", PAGES[page]))
    assert named <= EVERY_OPTION.union(OPTIONS_OF_OTHER_PROGRAMS)


@pytest.mark.parametrize("option", OPTIONS_OF_OTHER_PROGRAMS)
def test_options_of_other_programs_are_still_mentioned(option: str) -> None:
    assert any(option in text for text in PAGES.values())


@pytest.mark.parametrize("page", PAGES)
def test_documented_environment_variables_are_used(page: str) -> None:
    named = set(re.findall(r"\b(?:REGISTRY|HF)_[A-Z_]+\b", PAGES[page]))
    known = VARIABLES.keys() | VARIABLES_OF_LIBRARIES.keys() | VARIABLES_OF_TESTS.keys()
    assert named <= known | VARIABLES_OF_WRITERS


# --- Help ---


@pytest.mark.parametrize("words", VERBS)
def test_examples_in_the_help_are_accepted(words: str) -> None:
    examples = re.findall(rf"registry {words}\b([^\n)>|`]*)", VERBS[words].epilog or "")
    assert examples
    for arguments in examples:
        VERBS[words].make_context(words, shlex.split(arguments), parent=CONTEXT)

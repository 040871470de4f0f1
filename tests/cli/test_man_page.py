"""The page for `man` is that of the commands, and readers of such pages accept it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from registry.cli.man_page import man_page
from registry.docgen import manual_page

PAGE = Path(__file__).parents[2] / "docs" / "registry.1"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(arguments[0]) is None:
        pytest.skip(f"{arguments[0]} is not installed")
    environment = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    return subprocess.run(
        arguments, capture_output=True, encoding="utf-8", env=environment, check=False
    )


def test_page_is_up_to_date_with_make_docs() -> None:
    assert PAGE.read_text(encoding="utf-8") == manual_page()


def test_mandoc_finds_nothing_wrong() -> None:
    done = run("mandoc", "-T", "lint", "-W", "warning", str(PAGE))
    assert (done.returncode, done.stdout) == (0, "")


def test_groff_finds_nothing_wrong() -> None:
    done = run("groff", "-man", "-Tutf8", "-ww", "-z", str(PAGE))
    assert (done.returncode, done.stderr) == (0, "")


def test_man_shows_commands_options_and_examples() -> None:
    done = run("mandoc", "-T", "ascii", "-O", "width=78", str(PAGE))
    shown = done.stdout.replace("\b", "")
    for text in ("--json", "--plain", "datasets.lock", "EXIT", "130", "registry preview"):
        assert text in shown or "".join(one * 2 for one in text) in shown


@click.group()
def group() -> None:
    """Odd."""


@group.command(epilog="Example: odd --x '.'\n\n.Not a macro, ünïcode.")
@click.option("--x", help="'A' \\n -- `code`.")
def odd() -> None:
    """.TH is no macro here.

    'Nor is this.
    """


def test_nothing_in_a_text_is_a_macro() -> None:
    page = man_page(group, exit_codes=[("0", "[fine](docs/x.md)")], variables=[])
    lines = page.splitlines()
    assert r"\&.TH is no macro here." in lines
    assert r"\&'Nor is this." in lines
    assert r"\&.Not a macro, \[u00FC]n\[u00EF]code." in lines
    assert r"\&'A' \en \-\- code." in lines
    assert r"odd \-\-x '.'" in lines
    assert "fine" in lines
    assert page.isascii()

"""What the pages show: fenced blocks, which run in order, in one folder, as a reader would run them.

A block with a title is a file; `sh` runs, `console` runs too and shows what is printed, `text` is what
the block above it printed, and `python` runs in a process of its own. `…` stands for any text of a line,
and a line of only that for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from registry.manifest.validation import validate
from registry.yamldoc.reader import parse_yaml
from tests.command_line import install
from tests.conftest import REPOSITORY

__all__ = ["DOCS", "PAGES", "TOKENIZER", "Block", "Reader", "blocks", "check_manifest", "sections"]

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
"""The pages of which every block runs."""

_FENCE = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# An installation needs a network, and a checkout that is not this one.
_INSTALLS = ("git clone", "python -m pip", "pip install")
# Inspect's mock model counts tokens with a vocabulary that it downloads.
TOKENIZER = """class get_encoding:
    def __init__(self, name): pass
    def encode(self, text, **options): return list(text.encode())
"""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    title: str
    """The name of its file, if it is one."""
    text: str


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(*found) for found in _FENCE.findall(text)]


def sections(text: str) -> dict[str, list[Block]]:
    """Return the blocks below each heading of a page."""
    parts = re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: blocks(part) for part in parts}


def check_manifest(text: str, name: str) -> None:
    """Assert that a manifest or an index of a page is valid."""
    document = parse_yaml(text, file=name)
    index = "version" in document.value
    assert validate(document, "index" if index else "manifest") == []


class Reader:
    """Somebody with an empty home and an empty folder, who does what a page shows."""

    def __init__(self, folder: Path) -> None:
        self.home, self.folder = folder / "home", folder / "work"
        self.stubs = folder / "stubs"
        for one in (self.home, self.folder, self.stubs):
            one.mkdir()
        (self.stubs / "tiktoken.py").write_text(TOKENIZER, encoding="utf-8")
        install(self.stubs)
        self.printed = ""

    def follow(self, block: Block) -> None:
        """Write the file or run the commands of a block, and compare what is printed."""
        if block.title:
            file = self.folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            if not block.text.startswith(_INSTALLS):
                self.printed = self.run("sh", "-e", "-c", block.text)
        elif block.language == "python":
            self.printed = self.run("python", "-c", block.text)
        elif block.language == "console":
            # Each command after a `$`, with what it prints.
            for command, expected in _COMMAND.findall(block.text):
                # What fails is shown on purpose: its message is compared.
                same(expected, self.run("sh", "-c", command, check=False), command)
        elif block.language == "text":
            same(block.text, self.printed, "the block above")
        else:
            raise AssertionError(f"a block of {block.language!r} without a title does nothing")

    def run(self, *arguments: str, check: bool = True) -> str:
        """Run a command as in an activated environment; return its output, or else its error."""
        programs = (str(self.stubs), str(Path(sys.executable).parent), os.environ["PATH"])
        names = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Ada")
        mails = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ada@example.org")
        hermetic = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            arguments,
            cwd=self.folder,
            env={
                "PATH": os.pathsep.join(programs),
                "HOME": str(self.home),
                "PYTHONPATH": str(self.stubs),
                "INSPECT_DISPLAY": "plain",
                "PYTHONWARNINGS": "ignore",
                **names,
                **mails,
                **hermetic,
            },
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0 or not check, done.stdout + done.stderr
        # Progress goes to stderr too, and depends on how fast the machine is.
        return done.stdout or (done.stderr if done.returncode else "")


def same(expected: str, printed: str, what: str) -> None:
    """Assert that lines are those of the page, of which `…` matches any text."""
    lines = [
        "(?s:.*)" if line == "…" else re.escape(line).replace("…", ".*")
        for line in expected.strip().splitlines()
    ]
    if not re.fullmatch("\n".join(lines), printed.strip()):
        assert printed.strip() == expected.strip(), what

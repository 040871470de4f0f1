"""Every block of the README, the tutorial and the how-to pages runs; pages are short, and found."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from registry import errors
from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, PAGES, Block, Reader, blocks

ALL = [
    *(path for path in REPOSITORY.glob("*.md") if path.name != "CHANGELOG.md"),
    *DOCS.rglob("*.md"),
    *(REPOSITORY / ".github").rglob("*.md"),
]
SITE: Any = tomllib.loads((REPOSITORY / "zensical.toml").read_text("utf-8"))["project"]


def name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(page.read_text(encoding="utf-8")):
        reader.follow(block)


@pytest.mark.parametrize("page", PAGES[1:], ids=name)
def test_pages_have_no_code_that_does_not_run(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\n\n    \S.*", text) == []


def test_readers_see_what_is_wrong(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow(Block("csv", "a/x.csv", "q\n"))
    reader.follow(Block("console", "", "$ cat a/x.csv\n…\n$ echo one\none\n"))
    reader.follow(Block("sh", "", "echo two\n"))
    for block in (
        Block("console", "", "$ cat a/x.csv\nz\n"),
        Block("text", "", "three\n"),
        Block("sh", "", "false\n"),
        Block("python", "", "1 / 0\n"),
        Block("json", "", "{}\n"),
    ):
        with pytest.raises(AssertionError):
            reader.follow(block)


# --- Short ---


@pytest.mark.parametrize("page", sorted((DOCS / "how-to").glob("*.md")), ids=name)
def test_how_to_pages_have_at_most_600_words(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= 600


def test_readme_has_at_most_150_lines() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


# --- Found ---


def in_navigation(items: list[Any]) -> Iterator[str]:
    for item in items:
        for target in [item] if isinstance(item, str) else item.values():
            yield from [target] if isinstance(target, str) else in_navigation(target)


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [path for path in in_navigation(SITE["nav"]) if not path.startswith("https://")]
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted(pages)


def test_the_site_names_the_repository_of_the_package() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert SITE["repo_url"] == project["urls"]["Source"]
    linked = [path for path in in_navigation(SITE["nav"]) if path.startswith("https://")]
    assert all(path.startswith(f"{SITE['repo_url']}/blob/main/") for path in linked)
    for path in linked:
        assert (REPOSITORY / path.removeprefix(f"{SITE['repo_url']}/blob/main/")).is_file()


@cache
def anchors(path: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ALL, ids=name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"(https?|mailto):", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or file.suffix != ".md" or anchor in anchors(file), target


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_pages_of_the_site_link_to_pages_of_the_site(page: Path) -> None:
    """Check what the strict build refuses: the site consists of `docs/` only."""
    for target in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8")):
        if not re.match(r"(https?|mailto):", target):
            assert (page.parent / target).resolve().is_relative_to(DOCS), target


# --- Errors ---

ERRORS = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^\| `+ ?(\S.*? .*?) ?`+ \|", ERRORS, re.MULTILINE)


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    assert (errors.__doc__ or "").split("\n\n")[1] in ERRORS


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_on_the_page_are_those_of_the_code(message: str) -> None:
    for part in re.split(r" ?'?…'? ?", message):
        assert part in source(), part


@cache
def source() -> str:
    """Return the source with the texts joined that are written in several lines."""
    files = (REPOSITORY / "src" / "registry").rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(files))
    return re.sub(r'"\n\s*f?"', "", text)

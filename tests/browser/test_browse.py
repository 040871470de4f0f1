"""`registry browse` in Chromium: a saved file changes the page that shows it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Visit, address_of, browse
from tests.plugins.browse.catalogs import MANIFEST, write_catalog


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return write_catalog(tmp_path / "catalog")


@pytest.fixture
def process(manifest: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the command, and yield its process."""
    with browse(manifest.parent, tmp_path / "cache") as process:
        yield process


@pytest.fixture
def address(process: subprocess.Popen[str]) -> str:
    return address_of(process)


def save(manifest: Path, old: str, new: str) -> None:
    assert old in MANIFEST
    manifest.write_text(MANIFEST.replace(old, new), encoding="utf-8")


def test_page_follows_each_save(address: str, manifest: Path, visit: Visit) -> None:
    page = visit(address)
    page.wait_for_url("**/")
    assert "token" not in page.url
    page.get_by_role("link", name="planets", exact=True).click()
    page.get_by_text("Which has rings?").first.wait_for()

    save(manifest, "input: question", "input: {template: 'Say it: {question}'}")
    page.get_by_text("Say it: Which has rings?").first.wait_for()

    save(manifest, "input: question", "input: qestion")
    page.locator(".notice.bad", has_text="qestion").wait_for()
    assert page.locator("article").count() == 0

    manifest.write_text(MANIFEST, encoding="utf-8")
    page.get_by_text("Which has rings?").first.wait_for()
    with (manifest.parent / "planets.csv").open("a", encoding="utf-8") as file:
        file.write("Which is blue?,Neptune\n")
    page.get_by_text("Which is blue?").first.wait_for()
    assert page.locator(".notice.bad").count() == 0

    page.get_by_role("link", name="Datasets").click()
    save(manifest, "Questions about planets.", "Questions about our planets.")
    page.get_by_text("Questions about our planets.").wait_for()


def test_page_says_when_the_server_is_gone(
    process: subprocess.Popen[str], address: str, chromium: object
) -> None:
    # Without `visit`, which takes the failed connection for a fault.
    context = chromium.new_context()  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(address)
    page.wait_for_url("**/")
    page.get_by_text("Questions about planets.").wait_for()
    process.terminate()
    process.wait(timeout=20)
    page.get_by_text("registry browse does not answer").wait_for()
    context.close()

"""The gallery where it changes while one looks: on the page of a review, and in `browse`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Visit, address_of, browse
from tests.gallery import write_gallery

RUNNING = ":is(script, iframe, a[href^=javascript], [style])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the gallery, and again with a word more in each target and text."""
    folder = tmp_path_factory.mktemp("gallery")
    write_gallery(folder / "a")
    records = write_gallery(folder / "b") / "gallery.jsonl"
    changed = []
    for record in map(json.loads, records.read_text(encoding="utf-8").splitlines()):
        record["target"] = f"{record['target']} again"
        if isinstance(record["input"], str):
            record["input"] += " again"
        changed.append(json.dumps(record) + "\n")
    records.write_text("".join(changed), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def review(folder: Path) -> Path:
    """Make the page of the review, by the command."""
    file = folder / "review.html"
    command = [sys.executable, "-m", "registry", "diff", "a", "b", "--build", "--format", "html"]
    with file.open("wb") as out:
        environment = {**os.environ, "REGISTRY_CACHE_DIR": str(folder / "cache")}
        done = subprocess.run(command, stdout=out, cwd=folder, env=environment, check=False)
    assert done.returncode == 1
    return file


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Run `browse`, and yield the address that it prints."""
    with browse(folder / "a", folder / "cache") as process:
        yield address_of(process)


@pytest.mark.parametrize("width", [360, 830, 1280])
def test_review_fits_the_page_and_runs_nothing(review: Path, visit: Visit, width: int) -> None:
    page = visit(review.as_uri(), viewport={"width": width, "height": 900})
    page.locator("article").nth(49).wait_for()
    for one in page.get_by_text("Rendered", exact=True).all():
        one.click()
    assert page.locator("article math:visible").count() > 20
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.title().startswith("Review")
    assert page.locator(f"article {RUNNING}").count() == 0
    assert review.stat().st_size < 300_000


def test_browse_fits_the_page_and_runs_nothing(address: str, visit: Visit) -> None:
    page = visit(address)
    page.get_by_role("link", name="gallery", exact=True).click()
    page.locator("[data-id=telugu]").wait_for()
    seen = 0
    while True:
        for width in (360, 830, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.title() != "owned"
        assert page.locator(f"article {RUNNING}").count() == 0
        seen += page.locator("article").count()
        if not page.locator("[rel=next]").count():
            break
        page.locator("[rel=next]").first.click()
        page.locator(f"#sample-{seen + 1}").wait_for()
    assert seen == 60


def test_axe_finds_nothing_in_rendered_samples(review: Path, visit: Visit) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page = visit(review.as_uri())
    for one in page.get_by_text("Rendered", exact=True).all():
        one.click()
    results = axe.Axe().run(page)
    assert results.violations_count == 0, results.generate_report()

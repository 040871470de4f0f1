"""The gallery where it changes while one looks: on the page of a review, and in `browse`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Visit, address_of, assert_axe_finds_nothing, browse
from tests.gallery import write_gallery

COMMENT = """
body {margin: 16px; font: 14px/1.5 "Noto Sans", Helvetica, Arial, sans-serif}
code {padding: .2em .4em; font: 85% "Liberation Mono", monospace; white-space: break-spaces}
pre {padding: 16px; overflow: auto}
pre code {padding: 0; font-size: 11.9px; white-space: pre}
"""
"""How GitHub shows a comment, as far as it decides what fits."""
TAGS = "[...new Set([...document.querySelectorAll('body *')].map((one) => one.tagName))]"
WIDER = """
[...document.querySelectorAll("body, pre")]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.tagName)
"""
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


def diff(folder: Path, *options: str) -> str:
    """Return what `diff` prints of the two."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", "diff", "a", "b", "--build", *options],
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "REGISTRY_CACHE_DIR": str(folder / "cache")},
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    return done.stdout


@pytest.fixture(scope="module")
def review(folder: Path) -> Path:
    """Make the page of the review, by the command."""
    file = folder / "review.html"
    file.write_text(diff(folder, "--format", "html"), encoding="utf-8")
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


def test_markdown_of_a_review_fits_a_comment_and_stays_text(folder: Path, visit: Visit) -> None:
    cmark = pytest.importorskip("cmarkgfm", reason="cmarkgfm is not installed")
    text = diff(folder, "--format", "markdown", "-n", "60")
    # Without its filter of tags, so that a text that became a tag would be one.
    body = cmark.markdown_to_html_with_extensions(
        text, cmark.Options.CMARK_OPT_UNSAFE, ["table", "strikethrough", "autolink"]
    )
    file = folder / "comment.html"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{COMMENT}</style>'
    file.write_text(f"{head}<title>Comment</title>{body}", encoding="utf-8")
    page = visit(file.as_uri(), viewport={"width": 830, "height": 900})
    assert body.count("@@ id ") == 60 + 52
    assert set(page.evaluate(TAGS)) == {"CODE", "H3", "H4", "LI", "P", "PRE", "STRONG", "UL"}
    assert page.evaluate(WIDER) == []
    assert page.title() == "Comment"


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
    page = visit(review.as_uri())
    for one in page.get_by_text("Rendered", exact=True).all():
        one.click()
    assert_axe_finds_nothing(page)

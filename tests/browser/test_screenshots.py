"""Screenshots look as they did; without the one to compare, it is made, to be looked at."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit

BASELINES = Path(__file__).parent / "baselines"
VIEWS = {
    "home": ("index.html", 1000, "light"),
    "search-narrow": ("index.html#q=planets", 360, "light"),
    "planets": ("datasets/planets.html", 1000, "light"),
    "planets-dark": ("datasets/planets.html", 1000, "dark"),
    "talks-narrow": ("datasets/talks.html", 360, "dark"),
    "broken": ("datasets/broken.html", 1000, "light"),
    **{
        f"gallery-{number}-{width}": (f"{file}.html#samples", width, scheme)
        for number, file in enumerate(
            ("datasets/gallery", "samples/gallery@21", "samples/gallery@41")
        )
        for width, scheme in ((360, "light"), (830, "dark"), (1280, "light"))
    },
}
WIDTH = 60
"""Pixels of a baseline: shapes and colours, in which the fonts of a machine make no difference."""
MOST = 4.0
"""The mean difference of a channel, of 255."""


def taken(page: Any) -> Any:
    """Return a small screenshot of what is seen first."""
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    page.wait_for_load_state()
    picture = image.open(io.BytesIO(page.screenshot())).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    return picture.resize((WIDTH, height), image.Resampling.BOX)


def difference(one: Any, other: Any) -> float:
    """Return the mean difference of all channels of two pictures of a size."""
    chops = pytest.importorskip("PIL.ImageChops", reason="pillow is not installed")
    stat = pytest.importorskip("PIL.ImageStat", reason="pillow is not installed")
    mean: list[float] = stat.Stat(chops.difference(one, other)).mean
    return sum(mean) / len(mean)


@pytest.mark.parametrize("name", VIEWS)
def test_page_looks_as_before(site: Path, visit: Visit, name: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    path, width, scheme = VIEWS[name]
    page = visit(
        f"{site.as_uri()}/{path}",
        viewport={"width": width, "height": 3_000 if "gallery" in name else 900},
        color_scheme=scheme,
    )
    if "#q" in path:
        page.locator("#search-status", has_text="dataset").wait_for()
    picture = taken(page)
    file = BASELINES / f"{name}.png"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        picture.save(file, optimize=True)
        pytest.fail(f"{file} was missing, and is made now: look at it")
    before = image.open(file).convert("RGB")
    assert picture.size == before.size
    assert difference(picture, before) < MOST


def test_other_page_looks_different() -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    pictures = [image.open(file).convert("RGB") for file in sorted(BASELINES.glob("*.png"))]
    assert len(pictures) == len(VIEWS)
    for one in pictures:
        for other in pictures:
            if one is not other and one.size == other.size:
                assert difference(one, other) > MOST

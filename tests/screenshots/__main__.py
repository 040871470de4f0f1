"""Make the pictures of docs/images/: pages in Chromium as PNG, commands on a terminal as SVG."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.conftest import REPOSITORY
from tests.screenshots.changes import broken_catalog, builtin_catalog, changed_catalog
from tests.screenshots.terminal_svg import command_svg

IMAGES = REPOSITORY / "docs" / "images"
_SIZE = {"width": 1100, "height": 760}
_COLORS = 128
"""Of a palette: pages have few, and a picture of them is a third of the size."""


def main() -> None:
    """Make all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="registry-screenshots-") as name:
        folder = Path(name)
        environment = {"REGISTRY_CACHE_DIR": str(folder / "cache"), "REGISTRY_OFFLINE": "1"}
        # Pages have the name of the catalog's folder.
        catalog = builtin_catalog(folder / "evaluations")
        terminals(catalog, folder, environment)
        pages(catalog, folder, environment)


def terminals(catalog: Path, folder: Path, environment: dict[str, str]) -> None:
    """Make the pictures of commands."""
    made = {
        "sync": (["sync", "--tag", "demo"], catalog, 80),
        "list": (["list", "--search", "biology"], catalog, 120),
        "validate": (["validate"], broken_catalog(folder / "broken"), 100),
    }
    for name, (arguments, where, columns) in made.items():
        svg = command_svg(arguments, folder=where, columns=columns, environment=environment)
        save(f"{name}.svg", svg.encode())


def pages(catalog: Path, folder: Path, environment: dict[str, str]) -> None:
    """Make the pictures of pages."""
    site, review = folder / "site", folder / "review.html"
    registry(["sync", "--tag", "demo"], catalog, environment)
    registry(["site", "--out", str(site)], catalog, environment)
    changed = changed_catalog(folder / "changed")
    command = ["diff", "HEAD", "--build", "--format", "html"]
    review.write_bytes(registry(command, changed, environment))
    views = {
        "site": (f"{site.as_uri()}/index.html#q=tag%3Amath", "light"),
        "dataset": (f"{site.as_uri()}/datasets/demo-mcq.html", "light"),
        "diff": (review.as_uri(), "light"),
    }
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        for name, (url, scheme) in views.items():
            save(f"{name}.png", screenshot(browser, url, scheme))
        browser.close()


def screenshot(browser: Any, url: str, scheme: str) -> bytes:
    """Return a page as PNG in few colours."""
    context = browser.new_context(viewport=_SIZE, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(url)
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    out = io.BytesIO()
    picture.quantize(_COLORS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def registry(arguments: list[str], folder: Path, environment: dict[str, str]) -> bytes:
    """Run the command line, which may find differences; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"registry {' '.join(arguments)} failed")
    return done.stdout


def save(name: str, data: bytes) -> None:
    """Write a picture, and say how large it is."""
    (IMAGES / name).write_bytes(data)
    print(f"docs/images/{name}: {len(data):,} bytes")


if __name__ == "__main__":
    main()

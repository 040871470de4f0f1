"""Chromium, and a site for it: whatever a page does wrong fails the test that visits it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.catalog import write_catalog

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Each violation of the policy, as the page itself hears of it.
WATCH = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start Chromium."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        # Whoever has installed the one wants these tests to run.
        pytest.fail("playwright is installed and Chromium is not (apt-get install chromium)")
    # Its sandbox refuses to run as root, as in a container of the CI.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the catalog."""
    root = tmp_path_factory.mktemp("browser") / "catalog"
    write_catalog(root)
    return root


@pytest.fixture(scope="session")
def site(catalog: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the site of the catalog, by the command."""
    out = tmp_path_factory.mktemp("browser") / "site"
    environment = {**os.environ, "REGISTRY_CACHE_DIR": str(out.parent / "cache")}
    command = [sys.executable, "-m", "registry", "site", "--build", "--samples", "100"]
    done = subprocess.run(
        [*command, "--out", str(out), "--root", str(catalog)],
        env=environment,
        cwd=catalog,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1, done.stderr  # two of the datasets are broken
    assert "2 broken" in done.stdout
    return out


@contextlib.contextmanager
def browse(root: Path, cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `registry browse`, whose first line is its address, and end it."""
    command = [sys.executable, "-m", "registry", "browse", "--no-open", "--port", "0"]
    with subprocess.Popen(
        [*command, "--root", str(root)],
        env={**os.environ, "REGISTRY_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        yield process
        process.terminate()
        process.communicate(timeout=20)
        assert process.returncode == 0


def address_of(process: subprocess.Popen[str]) -> str:
    """Return the address that `registry browse` prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


Visit = Callable[..., Any]
"""Opens a page in a new context; keyword arguments are those of the context."""


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    """Open pages, and fail at the end if one of them violated its policy, or made a request."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_page(url: str, **options: Any) -> Any:
        options = {
            "viewport": {"width": 1000, "height": 800},
            "reduced_motion": "reduce",
            **options,
        }
        context = chromium.new_context(**options)
        contexts.append(context)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        origin = re.sub(r"/((compare|datasets|list|samples)/)?[^/]*$", "/", url)

        def check(request: Any) -> None:
            if not request.url.startswith((origin, "data:")):
                faults.append(f"request: {request.url[:200]}")

        page.on("request", check)
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            if (
                page.url.startswith(("file:", "http:"))
                and page.evaluate("typeof violations") != "undefined"
            ):
                faults += page.evaluate("violations")
        context.close()
    assert faults == []


def assert_axe_finds_nothing(page: Any) -> None:
    """Look with axe-core for what hinders people on a page."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    # Preloaded, styles are read by a request, which the policy does not allow. To describe each
    # element that is right takes half of the time.
    options = {"preload": False, "resultTypes": ["violations"]}
    results = axe.Axe().run(page, options=options)
    assert results.violations_count == 0, results.generate_report()

"""The pictures of the documentation: small, shown somewhere, and loading nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

IMAGES = REPOSITORY / "docs" / "images"
PAGES = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]


def shown() -> set[Path]:
    """Return the pictures that pages show."""
    return {
        (page.parent / name).resolve()
        for page in PAGES
        for name in re.findall(
            r'(?:\]\(|src=")([\w./-]*images/[\w.-]+)', page.read_text(encoding="utf-8")
        )
    }


def test_pages_show_all_pictures_and_no_others() -> None:
    assert shown() == set(IMAGES.iterdir())


def test_pictures_of_pages_say_what_is_on_them() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'!\[\]\(|<img(?![^>]*alt="[^"]+")[^>]*>', text)


@pytest.mark.parametrize("image", sorted(IMAGES.iterdir()), ids=lambda image: image.name)
def test_pictures_are_small_and_load_nothing(image: Path) -> None:
    data = image.read_bytes()
    assert len(data) < 60_000
    if image.suffix == ".svg":
        text = data.decode()
        assert not re.search(r"<script|@font-face|url\((?!#)|href=", text)
        assert set(re.findall(r"https?://[^\"\s<]*", text)) <= {
            "http://www.w3.org/2000/svg",
            "https://www.textualize.io",
        }
    else:
        assert data.startswith(b"\x89PNG")

"""What a policy denies, and the text of a NOTICE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.catalog.licenses import denied_by, is_denial, license_class, notice_text
from registry.manifest.models import DatasetSpec, to_spec


def spec(license_: str | None, **more: Any) -> DatasetSpec:
    source = {"type": "csv", "path": ["a.csv"]}
    stated = None if license_ is None else {"spdx": license_}
    keys = {"name": "d", "folder": Path("/c"), "source": source, "license": stated}
    return to_spec({**keys, **more})


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("CC-BY-NC-4.0", ["NC"], "NC"),
        ("cc-by-nc-4.0", ["nc"], "nc"),
        ("CC-BY-4.0", ["NC", "ND"], ""),
        ("MIT", ["none"], ""),
        (None, ["none"], "none"),
        (None, ["NC"], ""),
        ("MIT AND CC-BY-NC-4.0", ["NC"], "NC"),
        ("MIT OR CC-BY-NC-4.0", ["NC"], ""),
        ("CC-BY-NC-3.0 OR CC-BY-NC-4.0", ["NC"], "NC"),
        ("(MIT OR CC-BY-NC-4.0) AND CC-BY-ND-4.0", ["NC", "ND"], "ND"),
        ("(MIT OR CC-BY-NC-4.0) AND CC-BY-4.0", ["NC", "ND"], ""),
        ("MIT AND CC-BY-NC-4.0 OR Apache-2.0", ["NC"], ""),
        ("GPL-3.0-only WITH GCC-exception-3.1", ["GPL"], "GPL"),
        ("LGPL-3.0-only", ["GPL"], ""),
        ("LicenseRef-Mine", ["LicenseRef"], "LicenseRef"),
        ("LicenseRef-Mine", ["LicenseRef-mine"], "LicenseRef-mine"),
        ("all rights reserved", ["NC"], "no SPDX expression"),
        ("all rights reserved", [], ""),
    ],
)
def test_denied_licences(text: str | None, words: list[str], found: str) -> None:
    assert denied_by(spec(text), words) == found


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("none", True),
        *((part, True) for part in ("NC", "ND", "SA", "BY", "GPL", "LGPL", "AGPL", "LicenseRef")),
        ("mit", True),
        ("LicenseRef-x", True),
        ("CN", False),
        ("", False),
    ],
)
def test_words_that_can_deny(word: str, known: bool) -> None:
    assert is_denial(word) is known


def test_notice_says_what_is_known_on_one_line_each() -> None:
    stated = {"none_stated": "2026-11-23", "looked_at": "https://x.org"}
    text = notice_text(
        [
            spec("MIT", description="Two\nlines.", homepage="https://y.org"),
            spec(None),
            spec(None, license=stated, access={"agreement": "https://z.org"}),
        ]
    )
    assert text == (
        "Datasets in this copy, their licenses, and where these were read.\n\n"
        "d\n  description: Two⏎lines.\n  homepage: https://y.org\n  license: MIT\n\n"
        "d\n  license: not known\n\n"
        "d\n  license: none stated at https://x.org on 2026-11-23\n"
        "  access: agreement, see https://z.org\n"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MIT", "any use"),
        ("CC-BY-4.0 AND CC0-1.0", "any use"),
        ("MIT AND CC-BY-NC-ND-4.0", "not commercial"),
        ("CC-BY-ND-4.0", "unchanged only"),
        ("CC-BY-SA-3.0", "share alike"),
        ("MIT OR GPL-3.0-only", "any use"),
        ("LicenseRef-Mine", "terms of its own"),
        ("all rights reserved", "terms of its own"),
        (None, "not looked for"),
    ],
)
def test_what_a_licence_allows(text: str | None, found: str) -> None:
    assert license_class(spec(text)) == found


def test_a_licence_that_nobody_states_is_a_class_of_its_own() -> None:
    looked = {"none_stated": "2026-11-23", "looked_at": "https://example.org"}
    assert license_class(spec(None, license=looked)) == "none stated"

"""The content of `meta.json` is checked for its kind."""

from __future__ import annotations

import msgspec
import pytest

from registry.cache.meta import check_meta

FINGERPRINT = "sha256:ab"
META = {
    "fingerprint": FINGERPRINT,
    "files": {"rows.npy": {"size": 3, "sha256": "c"}},
    "first_bad": None,
    "checksums": {},
    "samples": "",
}


def test_sizes_of_the_files_are_returned() -> None:
    assert check_meta(META, "views", FINGERPRINT) == {"rows.npy": 3}


def test_meta_of_another_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        check_meta(META, "records", FINGERPRINT)


def test_meta_of_another_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="it describes sha256:ab"):
        check_meta(META, "views", "sha256:cd")

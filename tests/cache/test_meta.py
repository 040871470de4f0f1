"""The content of `meta.json` is checked for its kind."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from registry.cache.meta import check_meta, checksum, seal, unseal

FINGERPRINT = "sha256:ab"
META = {
    "fingerprint": FINGERPRINT,
    "files": {"rows.npy": {"size": 3, "sha256": "c"}},
    "first_bad": None,
    "checksums": {},
    "samples": "",
}
DATA = {"text": "é", "number": 1, "list": [1, {"x": None}]}
# Numbers and text that not every parser reads, as `meta.json` quotes values of samples.
ODD = {"text": "\ud800", "number": 1 << 70, "list": [1e300, -0.0, float("inf")]}


def test_sizes_of_the_files_are_returned() -> None:
    assert check_meta(META, "views", FINGERPRINT) == {"rows.npy": 3}


def test_meta_of_another_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        check_meta(META, "records", FINGERPRINT)


def test_meta_of_another_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="it describes sha256:ab"):
        check_meta(META, "views", "sha256:cd")


def test_checksum_is_that_of_xxh3() -> None:
    assert checksum(b"") == 0x2D06800538D394C2
    assert checksum(memoryview(b"abc")[1:]) == checksum(b"bc") != checksum(b"cb")


@pytest.mark.parametrize("data", [DATA, ODD])
def test_sealed_data_is_json_and_restored(data: dict[str, Any]) -> None:
    assert unseal(seal(data)) == data
    assert json.loads(seal(data)) == {**data, "checksum": seal(data)[13:29].decode()}


@pytest.mark.parametrize("bit", range(8))
def test_every_flipped_bit_is_found(bit: int) -> None:
    text = seal(DATA)
    for position in range(len(text)):
        damaged = bytearray(text)
        damaged[position] ^= 1 << bit
        with pytest.raises(ValueError, match="checksum"):
            unseal(bytes(damaged))


@pytest.mark.parametrize("text", [b"", b"{}", b"[" * 100_000, seal(DATA)[:-1], seal(DATA) + b" "])
def test_other_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="checksum"):
        unseal(text)

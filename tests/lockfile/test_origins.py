"""Each value of a pin has the file and line where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.lockfile.models import read_documents
from registry.lockfile.origins import PinOrigins, pin_origins

DIGITS = "0123456789abcdef" * 4
LOCK = f"""\
version: 1
datasets:
  child:
    spec: sha256:{DIGITS}
    sources:
      - location: b.csv
        size: 3
        sha256: {DIGITS}
    samples: 4
    columns: [q, a]
    ordered: sha256:{DIGITS}
    unordered: sha256:{DIGITS}
    format: 1
"""


def test_each_value_of_a_pin_has_a_line_number(path: Path) -> None:
    path.write_text(LOCK, encoding="utf-8")
    origins = pin_origins(read_documents(path, shown_as="datasets.lock"))["child"]
    assert {one.place.partition(":")[0] for one in origins} == {"datasets.lock"}
    assert {(one.layer, one.dataset) for one in origins} == {("lock", "child")}
    assert {one.key: (one.value, one.line) for one in origins} == {
        "pin.spec": (f"sha256:{DIGITS}", 4),
        "pin.sources[0].location": ("b.csv", 6),
        "pin.sources[0].size": (3, 7),
        "pin.sources[0].sha256": (DIGITS, 8),
        "pin.samples": (4, 9),
        "pin.columns": (["q", "a"], 10),
        "pin.ordered": (f"sha256:{DIGITS}", 11),
        "pin.unordered": (f"sha256:{DIGITS}", 12),
        "pin.format": (1, 13),
    }


def test_the_digest_of_a_named_file_is_found_by_its_location(path: Path) -> None:
    named = f"""\
    files:
      - location: images/a.png
        size: 3
        sha256: {DIGITS}
"""
    path.write_text(LOCK + named, encoding="utf-8")
    origins = pin_origins(read_documents(path))["child"]
    found = {one.key: (one.value, one.line) for one in origins if one.key.startswith("pin.files")}
    assert found == {"pin.files.images/a.png": (DIGITS, 17)}


def test_without_a_lockfile_there_is_no_provenance(path: Path) -> None:
    assert pin_origins(read_documents(path)) == {}


def test_line_numbers_refer_to_the_file_in_every_chunk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.lockfile.text._CHUNK", 200)
    head, _, pin = LOCK.partition("  child:")
    path.write_text(f"{head}  child:{pin}  other:{pin}  third:{pin}", encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    found = pin_origins(read_documents(path))
    assert list(found) == ["child", "other", "third"]
    for origins in found.values():
        for one in origins:
            assert one.key.rpartition(".")[2] in lines[one.line - 1]


@pytest.mark.parametrize("comment", ["", "# by hand\n"])
def test_provenance_of_one_pin_is_that_of_the_whole_file(path: Path, comment: str) -> None:
    head, _, pin = LOCK.partition("  child:")
    text = f'{head}  "2":{pin}{comment}  child:{pin}  "child:dev":{pin}  third-1.0:{pin}'
    path.write_text(text, encoding="utf-8")
    known = pin_origins(read_documents(path, shown_as="datasets.lock"))
    assert list(known) == ["2", "child", "child:dev", "third-1.0"]
    origins = PinOrigins(path, shown_as="datasets.lock")
    assert {name: origins.of(name) for name in known} == known


def test_one_pin_of_a_large_file_is_parsed_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = LOCK.partition("  child:")[2]
    path.write_text(f'{LOCK}  "child:dev":{pin}', encoding="utf-8")
    monkeypatch.delattr("registry.lockfile.origins.read_documents")
    origins = PinOrigins(path, shown_as="x")
    assert [origins.of(name)[0].place for name in ("child", "child:dev")] == ["x:4", "x:15"]

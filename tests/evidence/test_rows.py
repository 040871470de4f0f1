"""Every dataset of the catalog has one row of evidence, and the rows are consistent."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from registry import list_datasets
from registry.base.locations import Location
from registry.catalog.catalog import Catalog
from registry.lockfile.models import read_lock
from tests.evidence.conversions import BY_FILE, CONVERSIONS
from tests.evidence.page import PAGE, evidence_page
from tests.evidence.rows import LEVELS, REPOSITORY, Row, read_families, read_rows, write_rows

CATALOG = Catalog.open(REPOSITORY / "datasets.yaml")
ROWS = read_rows()
FILE = {
    "name": "test.jsonl",
    "origin": f"github:openai/data@{'0' * 40}:test.jsonl",
    "sha256": "0" * 64,
    "bytes": 1,
    "rows": 1,
}
REAL = {"grade": "real-records", "files": [FILE], "samples": 1, "digest": f"sha256:{'0' * 64}"}


def shipped() -> list[str]:
    """Return all datasets but the demos, whose data is in this repository."""
    return [name for name in list_datasets(root=REPOSITORY) if not name.startswith("demo-")]


def test_every_dataset_has_a_row_in_the_file_of_its_manifest() -> None:
    by_manifest: dict[str, list[str]] = {}
    for name in sorted(shipped()):
        by_manifest.setdefault(Path(CATALOG.entries[name].document.file).stem, []).append(name)

    assert {family: list(rows) for family, rows in read_families().items()} == by_manifest


def test_whole_files_have_the_number_of_samples_that_the_manifest_expects() -> None:
    wrong = [
        (name, row.samples, spec.expect.samples)
        for name, row in ROWS.items()
        for spec in [CATALOG.resolve(name)]
        if row.grade == "whole-file"
        and spec.view.limit is None
        and row.samples != spec.expect.samples
    ]
    assert wrong == []


def test_the_lockfile_pins_the_files_that_were_compared() -> None:
    lock = read_lock(REPOSITORY / "datasets.lock")
    assert lock is not None
    pinned = {name: pin for name, pin in lock.pins.items() if name in ROWS}
    assert len(pinned) >= 13
    for name, pin in pinned.items():
        row = ROWS[name]
        # Of corrected samples others have no code; the corrections are a file of the catalog.
        assert row.grade == "whole-file" or CATALOG[name].corrections is not None
        files = [(file.sha256, file.bytes) for file in row.files]
        read = [one for one in pin.sources if not Location(one.location).is_local]
        assert [(source.sha256, source.size) for source in read] == files
        assert (pin.samples, pin.ordered) == (row.samples, row.digest)


def test_fewer_than_ten_real_records_are_a_few() -> None:
    few, enough = (replace(read_real(), samples=number) for number in (9, 10))

    assert (few.level, enough.level) == ("few", "real-records")
    assert replace(few, grade="whole-file").level == "whole-file"


def test_the_page_counts_each_level_with_its_number_of_samples() -> None:
    page = evidence_page()
    counts = Counter(row.level for row in ROWS.values())
    for level in LEVELS:
        assert re.search(rf"^\| {level} \| .* \| {counts[level]} \|$", page, re.MULTILINE)
    for name, row in ROWS.items():
        shown = f"`{name}` ({row.samples:,})" if row.samples else f"`{name}`"
        (line,) = (line for line in page.splitlines() if f"`{name}`" in line)
        assert shown in line
        assert f" | {row.level} | " in line or line.startswith("Selected from these")


def test_conversions_exist_and_are_used() -> None:
    assert {row.convert for row in ROWS.values() if row.convert} == {*BY_FILE, *CONVERSIONS}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == evidence_page()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (REAL, "why there is none"),
        ({**REAL, "grade": "whole-file"}, "code of others"),
        ({**REAL, "grade": "none"}, "real data"),
        ({**REAL, "samples": None}, "real data"),
        ({"grade": "none"}, "says why"),
        ({"grade": "own-records"}, "why there is none"),
        ({"grade": "certain"}, "certain"),
        ({**REAL, "files": [{**FILE, "origin": "github:openai/data@main:test.jsonl"}]}, "origin"),
        ({**REAL, "files": [{**FILE, "sha256": "0"}]}, "sha256"),
        ({**REAL, "notes": "x"}, "notes"),
    ],
)
def test_invalid_rows_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    (tmp_path / "math.yaml").write_text(yaml.safe_dump({"gsm": row}))

    with pytest.raises(ValueError, match=rf"math\.yaml: gsm: .*{message}"):
        read_rows(tmp_path)


def test_a_written_row_is_read_again_and_replaces_the_old_one(tmp_path: Path) -> None:
    other, new = Row(grade="none", note="x"), read_real()
    write_rows("math", {"gsm": other, "aime": other}, tmp_path)
    write_rows("math", {"gsm": new}, tmp_path)

    assert read_rows(tmp_path) == {"aime": other, "gsm": new}


def read_real() -> Row:
    from registry.base.conversion import convert

    return convert({**REAL, "against": "math:read"}, Row)

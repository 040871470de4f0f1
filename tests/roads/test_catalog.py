"""Both pipelines give the same samples, or the same error, for the mappings of the catalog.

Each is built from more records of the forms in tests/parity/records.yaml, sound ones and damaged
ones, and from the real files of the evidence that are on this machine. Of the datasets that are
mapped alike, one is.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.replay import converted
from tests.evidence.rows import Row, find_file, read_rows
from tests.parity.expand import expanded
from tests.roads.catalog_files import FORMS, RECORDS, Record, case_of, catalog, written
from tests.roads.outcome import Case, Outcome, by_columns, by_parts, run_both_pipelines
from tests.thorough import THOROUGH

COUNT = 24
DAMAGED = 12
"""Number of the record that is damaged: in a block after the first, whose types are known."""
DAMAGES = 6
"""Number of damages for each mapping; `make faults` tests all."""
_MISSING = object()
_VALUES: tuple[Any, ...] = (
    *(_MISSING, None, True, 0, 7, 2.0, 0.5, 10**20, "", " \r\n\u2028é\0", "7"),
    *([], ["x"], ["x", None], [1, "x"], {}, {"x": 1}, [{"x": [0.5]}]),
)
_MAPPING = (
    *("source", "concat", "join", "explode", "where", "fields", "mapper"),
    *("on_duplicate", "corrections", "sample"),
)
"""The keys of a dataset that say how records become samples."""


def distinct(names: Iterable[str]) -> list[str]:
    """Return names of datasets without those that are mapped as an earlier one."""
    found: dict[str, str] = {}
    for name in names:
        spec = catalog().resolve(name, source="d.jsonl")
        found.setdefault(repr([getattr(spec, key) for key in _MAPPING]), name)
    return list(found.values())


NAMES = distinct(RECORDS)


def by_both(case: Case) -> Outcome:
    """Return the common outcome of both pipelines."""
    columns, records, _ = run_both_pipelines(case)
    assert columns.error == records.error
    assert columns.samples == records.samples
    assert columns == records
    return columns


# ---------------------------------------------------------------- sound records


@pytest.mark.parametrize("name", NAMES)
def test_sound_records_give_the_same_samples(name: str) -> None:
    records = list(expanded(RECORDS[name], COUNT))
    compared = 0
    for file in FORMS:
        data = written(records, file)
        if data is not None:
            # CSV has texts only, which some mappings refuse.
            compared += by_both(case_of(name, data, file, auto_id=True)).error is None
    assert compared


@pytest.mark.parametrize("name", NAMES)
def test_repeated_ids_give_the_same_samples_or_the_same_error(name: str) -> None:
    records = list(expanded(RECORDS[name], COUNT))
    file, data = next(
        (one, data) for one in ("d.jsonl", "d.parquet") if (data := written(records, one))
    )
    by_both(replace(case_of(name, data, file), block=1 << 16))


@THOROUGH
@pytest.mark.parametrize("name", NAMES)
def test_parts_give_the_same_samples_or_the_same_error(name: str, tmp_path: Path) -> None:
    damages = list(_damages(RECORDS[name][DAMAGED % len(RECORDS[name])]))
    for damaged in (None, *random.Random(name).sample(damages, DAMAGES)):
        records = list(expanded(RECORDS[name], COUNT))
        records[DAMAGED] = records[DAMAGED] if damaged is None else damaged
        for file in ("d.jsonl", "d.parquet"):
            if (data := written(records, file)) is not None:
                case = case_of(name, data, file, auto_id=True)
                assert by_parts(case, tmp_path) == by_columns(case, tmp_path)


# ---------------------------------------------------------------- damaged records


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_record_gives_the_same_samples_or_the_same_error(name: str) -> None:
    damages = list(_damages(RECORDS[name][DAMAGED % len(RECORDS[name])]))
    for number, damaged in enumerate(random.Random(name).sample(damages, DAMAGES)):
        if cases := _cases(name, damaged):
            by_both(cases[number % len(cases)])


@THOROUGH
@pytest.mark.parametrize("name", NAMES)
def test_every_damage_gives_the_same_samples_or_the_same_error(name: str) -> None:
    for damaged in _damages(RECORDS[name][DAMAGED % len(RECORDS[name])]):
        for case in _cases(name, damaged):
            by_both(case)


def _cases(name: str, damaged: Record) -> list[Case]:
    """Return files with a damaged record: lines in several blocks and in one, and Parquet."""
    records = list(expanded(RECORDS[name], COUNT))
    records[DAMAGED] = damaged
    cases = []
    if (data := written(records, "d.jsonl")) is not None:
        cases.append(case_of(name, data, "d.jsonl", auto_id=True))
        cases.append(replace(case_of(name, data, "d.jsonl"), block=1 << 16))
    if (data := written(records, "d.parquet")) is not None:
        cases.append(case_of(name, data, "d.parquet", auto_id=True))
    return cases


def _damages(record: Record) -> Iterator[Record]:
    """Yield copies of a record with one of its values, at any depth, replaced or left out."""
    for key, old in record.items():
        rest = {name: value for name, value in record.items() if name != key}
        for new in (*_VALUES, *_damaged_items(old)):
            yield rest if new is _MISSING else {**record, key: new}


def _damaged_items(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from _damages(value)
    if isinstance(value, list):
        for place, old in enumerate(value[:2]):
            for new in (*_VALUES[1:], *_damaged_items(old)):
                yield [*value[:place], new, *value[place + 1 :]]


def test_damages_reach_every_depth() -> None:
    damages = list(_damages({"a": {"b": [1]}}))
    assert {} in damages
    assert {"a": {"b": [None]}} in damages
    assert {"a": {}} in damages
    assert {"a": None} in damages


# ---------------------------------------------------------------- real files

ROWS = read_rows()


@pytest.mark.parametrize("name", distinct(name for name, row in ROWS.items() if row.files))
def test_a_real_file_gives_the_same_samples(name: str, tmp_path: Path) -> None:
    file = _real_file(name, ROWS[name], tmp_path)
    suffixes = "".join(file.suffixes)
    case = case_of(name, file.read_bytes(), f"d{suffixes}")
    assert by_both(replace(case, block=1 << 16, rows=1 << 10)).error is None


def _real_file(name: str, row: Row, folder: Path) -> Path:
    files = []
    for file in row.files:
        path = find_file(name, file)
        if path is None:
            pytest.skip(f"{file.name} of {name} is not on this machine")
        files.append(folder / file.name)
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].symlink_to(path.resolve())
    found = converted(files, row.convert, folder)
    if not isinstance(found, Path):
        pytest.skip("several files")
    return found

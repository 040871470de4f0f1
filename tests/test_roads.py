"""Both roads from records to samples end in the same: by whole columns, and record by record."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.roads.files import arrow_cases, csv_cases, json_cases
from tests.roads.outcome import Case, roads_of

BY_COLUMN: dict[str, int] = {}

exact = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def compare(case: Case) -> None:
    found, wanted, rows = roads_of(case)
    BY_COLUMN[case.source["type"]] = BY_COLUMN.get(case.source["type"], 0) + bool(rows)
    assert found == wanted


@settings(exact, max_examples=900)
@given(json_cases())
def test_json_lines_give_the_same_by_both_roads(case: Case) -> None:
    compare(case)


@settings(exact, max_examples=600)
@given(csv_cases())
def test_csv_gives_the_same_by_both_roads(case: Case) -> None:
    compare(case)


@settings(exact, max_examples=600)
@given(arrow_cases())
def test_arrow_tables_give_the_same_by_both_roads(case: Case) -> None:
    compare(case)

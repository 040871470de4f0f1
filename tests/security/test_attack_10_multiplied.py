"""Attack 10: few bytes that the mapping multiplies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.measured import Measured, run_measured

LIMITS = "limits: {records: 1000, seconds: 60, sample_bytes: 50MB}\n"
Records = list[dict[str, object]]


def refused(
    tmp_path: Path, keys: str, records: Records, message: str, limits: str = LIMITS, **more: int
) -> Measured:
    """Build a dataset, which is refused in bounded memory."""
    dataset = f"{{source: {{type: json, path: d.jsonl}}, {keys}}}"
    index = f"version: 1\n{limits}datasets: {{d: {dataset}}}\n"
    lines = "".join(json.dumps(record) + "\n" for record in records)
    folder = write_files(tmp_path / "catalog", {"datasets.yaml": index, "d.jsonl": lines})
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert result.code == 1
    assert message in result.text
    assert result.bytes < more.get("most", 10**9)
    return result


CASES: dict[str, tuple[str, str]] = {
    "template": (
        f"fields: {{input: {{template: '{'{q}' * 1000}'}}}}",
        "d: record 1, field input: gives a string of more than 268,435,456 characters",
    ),
    "list": (
        f"fields: {{input: i, metadata: {{a: [{', '.join(['q'] * 1000)}]}}}}",
        "d: record 1: the sample has more than 268,435,456 bytes (`limits: {sample_bytes: …}`",
    ),
    "replace": (
        "fields: {input: {from: q, do: [{replace: {x: xxxxxxxxxx}}, {replace: {x: xxxxxxxx}}]}}",
        "gives a string of more than 268,435,456 characters",
    ),
}


@pytest.mark.parametrize(("keys", "message"), CASES.values(), ids=CASES)
def test_a_sample_that_repeats_its_record_is_refused(
    tmp_path: Path, keys: str, message: str
) -> None:
    refused(tmp_path, keys, [{"q": "x" * 10_000_000, "i": "?"}], message, limits="")


def test_a_record_that_explodes_stays_in_bounds(tmp_path: Path) -> None:
    """Each of the samples has the text; only their number is limited."""
    record: dict[str, object] = {"q": "x" * 500_000, "items": list(range(100_000))}
    message = "d: its records give more than 700 samples (`limits: {records: …}` in the root"
    limits, most = "limits: {records: 700}\n", 600_000_000
    refused(tmp_path, "explode: items, fields: {input: q}", [record], message, limits, most=most)


def test_records_that_are_dropped_count(tmp_path: Path) -> None:
    keys = "where: {value: q, equals: never}, fields: {input: q}"
    message = "d.jsonl: the dataset has more than 1,000 records (`limits: {records: …}`"
    refused(tmp_path, keys, [{"q": "x"}] * 1001, message)


def test_the_time_of_a_dataset_is_limited(tmp_path: Path) -> None:
    # Each value takes some time, and none takes too long.
    keys = "fields: {input: {from: q, do: [{sub: {pattern: '(x+x+)(?=y)', to: z}}]}}"
    records: Records = [{"q": f"{'x' * 180}{number}"} for number in range(1000)]
    message = "is not mapped after more than 1 s (`limits: {seconds: …}` in the root"
    result = refused(tmp_path, keys, records, message, LIMITS.replace("60,", "1,"))
    assert result.seconds < 30


def test_many_sources_of_one_file_are_read_within_the_limits(tmp_path: Path) -> None:
    keys = f"concat: [{', '.join(['{}'] * 2000)}], fields: {{input: q}}"
    refused(tmp_path, keys, [{"q": "x"}], "more than 1,000")

"""Attack 10: few bytes that the mapping multiplies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.security.measured import run_measured

TEXT = "x" * 10_000_000
LIMITS = "limits: {records: 1000, seconds: 60, sample_bytes: 50MB}\n"


def catalog(folder: Path, keys: str, records: list[dict[str, object]], limits: str = "") -> Path:
    folder.mkdir()
    (folder / "datasets.yaml").write_text(
        f"version: 1\n{limits}datasets:\n  d:\n    source: {{type: json, path: d.jsonl}}\n{keys}",
        encoding="utf-8",
    )
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "d.jsonl").write_text(lines, encoding="utf-8")
    return folder


CASES: dict[str, tuple[str, str]] = {
    "template": (
        f"    fields: {{input: {{template: '{'{q}' * 1000}'}}}}\n",
        "d: record 1, field input: gives a string of more than 268,435,456 characters",
    ),
    "list": (
        f"    fields: {{input: i, metadata: {{a: [{', '.join(['q'] * 1000)}]}}}}\n",
        "d: record 1: the sample has more than 268,435,456 bytes (`limits: {sample_bytes: …}`",
    ),
    "replace": (
        "    fields: {input: {from: q, do: [{replace: {x: xxxxxxxxxx}}, {replace: {x: xxxxxxxx}}]}}\n",
        "gives a string of more than 268,435,456 characters",
    ),
}


@pytest.mark.parametrize(("keys", "message"), CASES.values(), ids=CASES)
def test_a_sample_that_repeats_its_record_is_refused(
    tmp_path: Path, keys: str, message: str
) -> None:
    folder = catalog(tmp_path / "catalog", keys, [{"q": TEXT, "i": "?"}])
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert message in result.text
    assert result.code == 1
    assert result.bytes < 1_000_000_000


def test_a_record_that_explodes_stays_in_bounds(tmp_path: Path) -> None:
    """Each of the samples has the text; only their number is limited."""
    keys = "    explode: items\n    fields: {input: q}\n"
    record: dict[str, object] = {"q": "x" * 500_000, "items": list(range(100_000))}
    folder = catalog(tmp_path / "catalog", keys, [record], "limits: {records: 700}\n")
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert "d: its records give more than 700 samples (`limits: {records: …}` in" in result.text
    assert result.code == 1
    assert result.bytes < 600_000_000


def test_records_that_are_dropped_count(tmp_path: Path) -> None:
    keys = "    where: {value: q, equals: never}\n    fields: {input: q}\n"
    records: list[dict[str, object]] = [{"q": "x"}] * 1001
    folder = catalog(tmp_path / "catalog", keys, records, LIMITS)
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert "d.jsonl: the dataset has more than 1,000 records (`limits: {records: …}`" in result.text
    assert result.code == 1


def test_the_time_of_a_dataset_is_limited(tmp_path: Path) -> None:
    # Each value takes some time, and none takes too long.
    keys = "    fields: {input: {from: q, do: [{sub: {pattern: '(x+x+)(?=y)', to: z}}]}}\n"
    records: list[dict[str, object]] = [{"q": f"{'x' * 180}{number}"} for number in range(1000)]
    folder = catalog(tmp_path / "catalog", keys, records, LIMITS.replace("60,", "1,"))
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert "is not mapped after more than 1 s (`limits: {seconds: …}` in the root" in result.text
    assert result.code == 1
    assert result.seconds < 30


def test_many_sources_of_one_file_are_read_within_the_limits(tmp_path: Path) -> None:
    parts = ", ".join(["{}"] * 2000)
    keys = f"    concat: [{parts}]\n    fields: {{input: q}}\n"
    folder = catalog(tmp_path / "catalog", keys, [{"q": "x"}], LIMITS)
    result = run_measured(folder, "sync", "d", cache=tmp_path / "cache")
    assert "more than 1,000" in result.text
    assert result.code == 1

"""A build from pinned files to the samples file: restarts, steps, files left, and workers."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.executor import Workers
from registry.decode import json_batches
from registry.errors import MappingError
from registry.pipeline import builder
from registry.pipeline.builder import build, build_by_worker
from registry.pipeline.pipeline import compile_pipeline
from registry.progress import Progress
from registry.store.arrow_dataset import ArrowDataset
from tests.pipeline.conftest import Prepare, Prepared

RECORDS = [{"q": f"q{n}", "a": str(n)} for n in range(20_000)]
FIELDS = {"input": "q", "target": "a"}


def metadata_of(prepared: Prepared, folder: Path, **keys: Any) -> list[dict[str, Any] | None]:
    folder.mkdir()
    result = build(prepared.spec, prepared.pins, prepared.context, folder, **keys)
    assert [path.name for path in folder.iterdir()] == ["samples.arrow"]
    assert result.path == folder / "samples.arrow"
    return [sample.metadata for sample in ArrowDataset(result.open(), name="d", location="")]


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the JSON keys of each attempt, over blocks so small that types change between them."""
    monkeypatch.setattr(json_batches, "_BATCH_BYTES", 16)
    seen: list[Any] = []

    def compiled(*args: Any, json_keys: Any, limit: Any) -> Any:
        seen.append(json_keys)
        return compile_pipeline(*args, json_keys=json_keys, limit=limit)

    monkeypatch.setattr(builder, "compile_pipeline", compiled)
    monkeypatch.setattr("registry.pipeline.pipeline._CHUNK_ROWS", 1)
    return seen


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        ({"n": 1, "m": 1}, {"n": 2, "m": 2}, []),
        ({"n": "1", "m": 1}, {"n": "", "m": 2}, []),
        ({"n": 1, "m": 1}, {"n": "x", "m": 2}, [{"n"}]),
        ({"n": 1, "m": 1}, {"n": 2**63, "m": 2}, [{"n"}]),
        ({"n": 1, "m": 1}, {"n": "x", "m": "y"}, [{"n"}, None]),
    ],
    ids=str,
)
def test_a_key_that_changes_its_type_is_stored_as_json_and_a_second_makes_all_json(
    prepare: Prepare, tmp_path: Path, attempts: list[Any], first: Any, second: Any, again: list[Any]
) -> None:
    records = [{"input": "a", **first}, {"input": "b", **second}]
    found = metadata_of(prepare(records, fields={"metadata": ["n", "m"]}), tmp_path / "out")
    assert list(map(repr, found)) == [repr(first), repr(second)]
    assert attempts == [set(), *again]


def test_steps_run_in_their_order_and_leave_one_file(prepare: Prepare, tmp_path: Path) -> None:
    records = [{"input": str(n), "id": n % 4, "n": n} for n in range(8)]
    prepared = prepare(
        records, fields={"metadata": ["n"]}, on_duplicate="drop", sample={"n": 2, "seed": 1}
    )
    found = metadata_of(prepared, tmp_path / "out")
    assert len(found) == 2
    assert all(item is not None and item["n"] < 4 for item in found)


def test_quality_is_that_of_the_subsample_without_dropped_samples(
    prepare: Prepare, tmp_path: Path
) -> None:
    records = [{"input": " ", "id": n % 4} for n in range(8)]
    prepared = prepare(records, on_duplicate="drop", sample={"n": 2, "seed": 1})
    (tmp_path / "out").mkdir()
    built = build(prepared.spec, prepared.pins, prepared.context, tmp_path / "out")
    assert built.quality["blank_inputs"]["count"] == 2


def test_questionable_samples_are_in_the_file_of_their_record(
    prepare: Prepare, tmp_path: Path
) -> None:
    records = [{"input": "a", "target": "x"}, {"input": "b", "target": " "}]
    prepared = prepare(records, records, fields={"target": "target"})
    (tmp_path / "out").mkdir()
    built = build(prepared.spec, prepared.pins, prepared.context, tmp_path / "out")
    assert built.quality == {
        "blank_targets": {
            "count": 2,
            "first": [
                {"record": 2, "id": None, "value": " ", "file": "0.jsonl"},
                {"record": 4, "id": None, "value": " ", "file": "1.jsonl"},
            ],
        }
    }


def test_a_limit_ends_within_a_batch(prepare: Prepare, tmp_path: Path) -> None:
    prepared = prepare([{"input": str(n)} for n in range(9)], [{"input": "x"}])
    assert len(metadata_of(prepared, tmp_path / "out", limit=4)) == 4


def test_a_late_value_in_a_column_that_no_field_reads_is_noticed(
    prepare: Prepare, tmp_path: Path
) -> None:
    records: list[dict[str, Any]] = [{"input": str(number)} for number in range(900)]
    prepared = prepare(records, [*records, {"input": "x", "setup": "echo"}])
    (tmp_path / "out").mkdir()
    built = build(prepared.spec, prepared.pins, prepared.context, tmp_path / "out")
    assert built.quality["unused_columns"] == {"count": 1, "first": [{"value": "setup"}]}


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "_LEAST_BYTES", 1)


def built(prepared: Prepared, folder: Path, workers: Workers | None) -> tuple[Any, list[Progress]]:
    """Return the result without its path, and the progress."""
    seen: list[Progress] = []
    context = replace(prepared.context, workers=workers, report=seen.append)
    folder.mkdir()
    if workers is None:
        result = build(prepared.spec, prepared.pins, context, folder)
    else:
        found = build_by_worker(prepared.spec, prepared.pins, context, folder, limit=None)
        assert found is not None
        result = found
    assert [path.name for path in folder.iterdir()] == ["samples.arrow"]
    assert result.path == folder / "samples.arrow"
    return replaced(result, path=Path()), seen


def test_a_worker_builds_the_same_file(prepare: Prepare, tmp_path: Path) -> None:
    prepared = prepare(RECORDS, fields=FIELDS)
    expected = built(prepared, tmp_path / "here", None)
    with Workers(1) as workers:
        assert built(prepared, tmp_path / "there", workers) == expected
        # The worker is used again.
        assert built(prepared, tmp_path / "again", workers) == expected
    here, there = tmp_path / "here" / "samples.arrow", tmp_path / "there" / "samples.arrow"
    assert here.read_bytes() == there.read_bytes()


def test_the_error_of_a_worker_is_that_of_the_build(prepare: Prepare, tmp_path: Path) -> None:
    prepared = prepare([*RECORDS[:5], {"q": None, "a": "x"}], fields=FIELDS)
    with pytest.raises(MappingError) as expected:
        built(prepared, tmp_path / "here", None)
    with Workers(1) as workers, pytest.raises(MappingError) as raised:
        built(prepared, tmp_path / "there", workers)
    assert str(raised.value) == str(expected.value)
    assert raised.value.record == 6


def test_little_work_and_no_workers_are_left_to_this_process(
    prepare: Prepare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare(RECORDS[:2], fields=FIELDS)
    with Workers(1) as one:
        for workers, least in ((None, 1), (one, 1 << 20)):
            monkeypatch.setattr(builder, "_LEAST_BYTES", least)
            context = replace(prepared.context, workers=workers)
            given = prepared.spec, prepared.pins, context, tmp_path
            assert build_by_worker(*given, limit=None) is None


def test_a_killed_worker_leaves_an_empty_folder(
    prepare: Prepare, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    prepared = prepare(RECORDS, fields=FIELDS)
    folder = tmp_path / "there"
    folder.mkdir()
    with Workers(1) as workers:

        def kill(progress: Progress) -> None:
            for process_id in workers.process_ids:
                os.kill(process_id, signal.SIGKILL)

        context = replace(prepared.context, workers=workers, report=kill)
        given = prepared.spec, prepared.pins, context, folder
        assert build_by_worker(*given, limit=None) is None
    assert list(folder.iterdir()) == []
    assert "was killed by signal 9; it is built by this process" in caplog.text


def test_what_can_not_be_sent_is_built_here(prepare: Prepare, tmp_path: Path) -> None:
    prepared = prepare(RECORDS[:2], fields=FIELDS)
    with Workers(1) as workers:
        context = replace(prepared.context, workers=workers, lock=lambda: json)
        given = prepared.spec, prepared.pins, context, tmp_path / "empty"
        (tmp_path / "empty").mkdir()
        assert build_by_worker(*given, limit=None) is None

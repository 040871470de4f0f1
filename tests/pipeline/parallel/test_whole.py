"""Whole builds in workers: the same samples, progress and errors as in this process."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.processes.executor import Workers
from registry.errors import MappingError
from registry.pipeline.builder import build
from registry.pipeline.parallel import whole
from registry.pipeline.parallel.whole import build_by_worker
from registry.progress import Progress
from tests.pipeline.conftest import Prepare, Prepared

RECORDS = [{"q": f"q{n}", "a": str(n)} for n in range(20_000)]
FIELDS = {"input": "q", "target": "a"}


@pytest.fixture(autouse=True)
def _any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "_LEAST_BYTES", 1)


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
            monkeypatch.setattr(whole, "_LEAST_BYTES", least)
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

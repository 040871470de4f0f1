"""Plans are executed: samples are built once, and compared with what the manifest expects."""

from __future__ import annotations

import os
from typing import Any

import pytest

from registry.errors import DecodeError, ExpectationError, SourceError
from registry.pipeline import builder
from registry.pipeline.execute import LoadResult, execute
from registry.pipeline.plan import plan
from registry.sources import files
from tests.pipeline.conftest import Prepare, Prepared

RECORDS = [{"input": "a"}, {"input": "b"}]


def run(prepared: Prepared) -> LoadResult:
    return execute(plan(prepared.spec, prepared.context), prepared.spec, prepared.context)


def test_samples_are_built_once(prepare: Prepare) -> None:
    built, opened = run(prepare(RECORDS)), run(prepare(RECORDS))
    assert (built.cached, opened.cached) == (False, True)
    assert [sample.input for sample in opened.dataset] == ["a", "b"]


@pytest.mark.parametrize("samples", [1, 3])
def test_unexpected_sample_count_is_an_error_even_if_cached(prepare: Prepare, samples: int) -> None:
    message = rf"d: expect\.samples is {samples}, the source gives 2 \(has the source changed\?"
    for _ in range(2):
        with pytest.raises(ExpectationError, match=message):
            run(prepare(RECORDS, expect={"samples": samples}))
    assert run(prepare(RECORDS, expect={"samples": 2})).cached


def test_values_that_fail_are_an_error_even_if_cached(prepare: Prepare) -> None:
    for _ in range(2):
        with pytest.raises(ExpectationError, match=r"d: expect\.unique_ids fails: no id in all 2"):
            run(prepare(RECORDS, expect={"unique_ids": True}))
    assert run(prepare(RECORDS)).cached


def test_empty_dataset_is_an_error_unless_expected(prepare: Prepare) -> None:
    with pytest.raises(DecodeError, match="no samples come out of the source"):
        run(prepare([]))
    assert len(run(prepare([], expect={"samples": 0})).dataset) == 0


def test_first_samples_of_a_file_that_changes_during_the_build_are_discarded(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SMALL_LOCAL_BYTES", 1)
    build = builder.build
    prepared = prepare(RECORDS, view={"limit": 1})
    path = prepared.pins.sources[0].files[0].location
    os.utime(path, (1_000_000_000, 1_000_000_000))

    def slow_build(*arguments: Any, **options: Any) -> Any:
        result = build(*arguments, **options)
        os.utime(path, (1_000_000_001, 1_000_000_001))
        return result

    monkeypatch.setattr(builder, "build", slow_build)
    with pytest.raises(SourceError, match=r"0\.jsonl: changed while it was read \(try again\)"):
        run(prepared)
    assert list(prepared.context.cache.entries("samples")) == []

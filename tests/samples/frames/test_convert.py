"""Samples in memory become batches of a size; a package that is missing is an error that says so."""

from __future__ import annotations

from typing import Any

import pytest

from registry import MissingDependencyError, Sample
from registry.samples.frames.convert import check_arguments, frames_of, require

SAMPLES = [Sample(input=f"q{n}", metadata={"n": n}) for n in range(5)]


@pytest.mark.parametrize(("size", "counts"), [(2, [2, 2, 1]), (5, [5]), (9, [5]), (None, [5])])
def test_batches_have_the_size(size: int | None, counts: list[int]) -> None:
    frames = frames_of(SAMPLES, size, "json")
    batches = list(frames.batches)
    assert [len(batch) for batch in batches] == counts
    assert {batch.schema for batch in batches} == {frames.schema}
    inputs = [text for batch in batches for text in batch.column("input").to_pylist()]
    assert inputs == [sample.input for sample in SAMPLES]


def test_struct_has_the_types_of_all_samples() -> None:
    samples = [*SAMPLES, Sample(input="x", metadata={"n": "five"})]
    frames = frames_of(samples, 2, "struct")
    assert [row for batch in frames.batches for row in batch.column("metadata").to_pylist()] == [
        *({"n": str(n)} for n in range(5)),
        {"n": '"five"'},
    ]


@pytest.mark.parametrize(
    ("size", "metadata", "message"),
    [(0, "json", "at least one row, not 0"), (1, "rows", "'json' or 'struct', not 'rows'")],
)
def test_wrong_arguments_are_errors(size: int, metadata: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_arguments(size, metadata)


def test_missing_package_is_an_error_with_the_command_that_installs_it() -> None:
    with pytest.raises(MissingDependencyError, match="`to_x` needs no_such: pip install no_such"):
        require("no_such", "to_x")


def test_installed_package_is_returned() -> None:
    assert require("pyarrow", "to_x").__name__ == "pyarrow"

"""What a manifest expects of its samples: met, or the first that don't meet it are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.build import expectations
from registry.build.expectations import check_samples
from registry.errors import ExpectationError
from registry.manifest.models import Expect
from registry.store import writer as sample_writer
from registry.store.reader import SampleFile
from registry.store.schema import batch_of, schema_of
from registry.store.writer import SampleWriter

Row = dict[str, Any]


def file_of(path: Path, rows: list[Row], *, batch: int = 2) -> SampleFile:
    """Write samples, a few in each batch; records are numbered by tens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_writer, "_BATCH_ROWS", 0)
        with SampleWriter(path, schema_of({}), lambda one: None) as writer:
            for start in range(0, len(rows), batch):
                part = rows[start : start + batch]
                fields = {
                    "input": ["q"] * len(part),
                    "target": [row.get("target", "") for row in part],
                    "choices": [row.get("choices") for row in part],
                    "id": [row.get("id") for row in part],
                }
                numbers = [10 * (start + place + 1) for place in range(len(part))]
                writer.write(batch_of(fields, numbers, {}))
    return SampleFile(path, writer.batches)


def problem(path: Path, rows: list[Row], repeated: set[Any] | None = None, **expect: Any) -> str:
    """Return what is said of samples; empty where they are as expected."""
    file = file_of(path / "f.arrow", rows)
    try:
        check_samples(file, Expect(**expect), frozenset(repeated or ()), dataset="d")
    except ExpectationError as error:
        return str(error)
    return ""


def test_nothing_expected_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of(tmp_path / "f.arrow", [{}])
    monkeypatch.setattr(SampleFile, "batch", lambda *_: pytest.fail("a batch was read"))
    check_samples(file, Expect(), frozenset(), dataset="d")


@pytest.mark.parametrize(
    ("ids", "repeated", "offenders"),
    [
        ([1, 2, 3], [], []),
        (["a", "b", "c"], [], []),
        (["1", 1, "a"], [], []),
        ([1, None, 2], [], ["record 20 (id None, target '')"]),
        (["a", "b", "a"], ["a"], ["record 30 (id 'a', target '')"]),
        ([1, 1, 1], [1], ["record 20 (id 1, target '')", "record 30 (id 1, target '')"]),
        ([0, "", 0], [0], ["record 30 (id 0, target '')"]),
    ],
)
def test_unique_ids(
    tmp_path: Path, ids: list[Any], repeated: list[Any], offenders: list[str]
) -> None:
    found = problem(tmp_path, [{"id": one} for one in ids], set(repeated), unique_ids=True)
    wanted = f"d: expect.unique_ids fails for {', '.join(offenders)}" if offenders else ""
    assert found == wanted


AB = ["x", "y"]
TARGETS: list[tuple[Any, Any, bool]] = [
    *[("A", AB, True), ("B", AB, True), ("C", AB, False), ("x", AB, True), ("a", AB, True)],
    *[
        ("", AB, False),
        ("", ["", "x"], True),
        ("A", None, False),
        ("A", [], False),
        ("AB", AB, False),
    ],
    *[(["A", "B"], AB, True), (["A", "C"], AB, False), ([], AB, True), (["x", "B"], AB, True)],
    *[
        ("@", AB, False),
        ("[", AB, False),
        ("É", AB, False),
        ("É", ["É"], True),
        ("Z", ["o"] * 26, True),
    ],
    *[("1", ["o"] * 27, True), ("1", ["o"] * 26, False), ("\0", AB, False)],
]
NONEMPTY: list[tuple[Any, bool]] = [
    *[("x", True), ("", False), (" \n", False), ("\u3000", False), ("\u3000x", True), ("é", True)],
    *[(["x", "y"], True), (["x", " "], False), ([], False), ([""], False), ("\x7f", True)],
]


@pytest.mark.parametrize(("target", "choices", "holds"), TARGETS)
@pytest.mark.parametrize(
    "beside", [{"target": "A", "choices": AB}, {"target": ["A"], "choices": AB}]
)
def test_target_in_choices(
    tmp_path: Path,
    target: Any,
    choices: Any,
    holds: bool,
    beside: Row,
) -> None:
    rows = [beside, {"target": target, "choices": choices, "id": 5}]
    found = problem(tmp_path, rows, target_in_choices=True)
    shown = f"d: expect.target_in_choices fails for record 20 (id 5, target {target!r})"
    assert found == ("" if holds else shown)


@pytest.mark.parametrize(("target", "holds"), NONEMPTY)
@pytest.mark.parametrize("beside", [{"target": "A"}, {"target": ["A"]}])
def test_nonempty_targets(tmp_path: Path, target: Any, holds: bool, beside: Row) -> None:
    found = problem(tmp_path, [beside, {"target": target, "id": "i"}], nonempty_targets=True)
    shown = f"d: expect.nonempty_targets fails for record 20 (id 'i', target {target!r})"
    assert found == ("" if holds else shown)


def test_three_offenders_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    found = problem(tmp_path, [{"id": number} for number in range(5)], nonempty_targets=True)
    shown = ", ".join(f"record {10 * (number + 1)} (id {number}, target '')" for number in range(3))
    assert found == f"d: expect.nonempty_targets fails for {shown} and 2 more"


def test_all_failed_expectations_are_reported_together(tmp_path: Path) -> None:
    rows: list[Row] = [{"id": 1}, {"id": 1, "target": "x"}]
    found = problem(
        tmp_path, rows, {1}, unique_ids=True, target_in_choices=True, nonempty_targets=True
    )
    assert found.split("; ") == [
        "d: expect.unique_ids fails for record 20 (id 1, target 'x')",
        "d: expect.target_in_choices fails for record 10 (id 1, target ''), record 20 (id 1, target 'x')",
        "d: expect.nonempty_targets fails for record 10 (id 1, target '')",
    ]


def test_an_empty_file_meets_all_expectations_but_the_count(tmp_path: Path) -> None:
    assert (
        problem(tmp_path, [], unique_ids=True, target_in_choices=True, nonempty_targets=True) == ""
    )


def test_single_letters_are_checked_without_reading_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expectations, "_row", lambda *_: pytest.fail("a row was read"))
    rows: list[Row] = [
        {"target": "AB"[number % 2], "choices": AB, "id": number} for number in range(9)
    ]
    assert (
        problem(tmp_path, rows, unique_ids=True, target_in_choices=True, nonempty_targets=True)
        == ""
    )

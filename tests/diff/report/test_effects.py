"""What a change does, in one sentence and one bar."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff.models import (
    Chunk,
    DatasetChange,
    Example,
    InheritedChange,
    KeyChange,
    SampleChange,
)
from registry.diff.report.effects import bar_of, effect, effect_text, left_out, row_of
from registry.diff.severity import ChangeClass

EFFECTS: dict[str, dict[str, Any]] = {
    "no sample of 9 changes": {},
    "1 target of 9 samples changes": {"changed": 1, "fields": {"target": 1}},
    "2 targets, 1 input and 1 metadata record of 9 samples change": {
        "changed": 3,
        "fields": {"input": 1, "metadata": 1, "target": 2},
    },
    "3 of 9 samples removed": {"removed": 3, "new": 6},
    "3 samples added to 9": {"added": 3, "new": 12},
    "3 of 9 samples removed, 3 added, 1 moved": {"added": 3, "removed": 3, "moved": 1},
    "5 of 9 samples moved": {"moved": 5},
    "1 choice list of 9 samples changes, 1 removed, 1 added": {
        "changed": 1,
        "fields": {"choices": 1},
        "removed": 1,
        "added": 1,
    },
}


def samples(**more: Any) -> SampleChange:
    return SampleChange(**{"old": 9, "new": 9, "matched_by": "id", **more})


@pytest.mark.parametrize("text", EFFECTS)
def test_samples_are_one_sentence(text: str) -> None:
    assert effect_text(samples(**EFFECTS[text])) == text


def changed(*keys: str, **more: Any) -> DatasetChange:
    found = tuple(KeyChange(key=key, kind="", old=None, new=None) for key in keys)
    return DatasetChange(**{"name": "d", "status": "changed", "keys": found, **more})


SENTENCES: dict[str, DatasetChange] = {
    "no sample of 9 changes; mapping of `target`, `metadata`; `limit`": changed(
        *("fields.target", "fields.metadata.a", "fields.metadata.b", "limit", "pin.ordered"),
        samples=samples(),
    ),
    "samples not compared (offline); mapping of `input`": changed(
        samples=SampleChange(note="…", obstacle="offline"),
        inherited=(InheritedChange("fields.input", "p"),),
    ),
    "samples not compared (not cached); source bytes": changed(
        "bytes.a.csv",
        samples=SampleChange(note="…", obstacle="not cached"),
        kinds=(ChangeClass.SOURCE,),
    ),
    "no sample changes; `license`": changed("license", kinds=(ChangeClass.DOCUMENTATION,)),
    "renamed; no sample of 9 changes": changed("pin", status="renamed", samples=samples()),
    "removed, 9 samples": changed(status="removed", samples=SampleChange(old=9)),
    "added": changed(status="added"),
    "source bytes": changed(kinds=(ChangeClass.SOURCE,)),
}


@pytest.mark.parametrize("text", SENTENCES)
def test_keys_that_changed_follow_the_samples(text: str) -> None:
    assert effect(SENTENCES[text]) == text


counts = st.integers(0, 100_000)


@given(counts, counts, counts, counts, st.integers(5, 200))
def test_each_fate_has_a_cell_of_the_bar_and_the_row_is_full(
    removed: int, edited: int, added: int, moved: int, cells: int
) -> None:
    kept = edited + moved // 2
    made = samples(
        old=removed + kept,
        new=kept + added,
        removed=removed,
        added=added,
        changed=edited,
        moved=moved,
    )
    bar = bar_of(made)
    row = row_of(made, cells)
    assert sum(row.values()) == (cells if bar else 0)
    assert set(bar) == {word for word, count in row.items() if count}
    assert sum(bar.values()) == removed + kept + added


def test_bar_is_for_compared_samples() -> None:
    assert bar_of(None) == bar_of(SampleChange(note="x")) == bar_of(SampleChange(new=3)) == {}


def test_what_is_no_example_is_counted() -> None:
    examples = (Example("changed", "id 1", ()), Example("added", "id 2", ()))
    made = samples(changed=1, added=1_201, removed=2, examples=examples)
    assert left_out(made) == "… 1,200 more added, 2 more removed"
    assert left_out(made, 0) == "… 1 more changed, 1,201 more added, 2 more removed"
    assert left_out(samples(examples=(Example("changed", "a", ((Chunk("=", "x"),),)),))) == ""  # type: ignore[arg-type]

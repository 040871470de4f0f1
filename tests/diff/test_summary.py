"""The texts of a diff that all formats share: what a change does, the headline, and each line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff.models import (
    CatalogDiff,
    Chunk,
    DatasetChange,
    DatasetStatus,
    Example,
    InheritedChange,
    KeyChange,
    SampleChange,
)
from registry.diff.severity import ChangeClass
from registry.diff.summary import (
    bar_of,
    counts,
    display_value,
    effect,
    effect_text,
    headline,
    inherited_keys,
    left_out,
    places,
    row_of,
    sample_line,
    value_text,
    verdict,
)
from registry.errors import Problem
from registry.manifest.origins import Origin

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

PROBLEM = Problem(message="bad", file="m.yaml", line=1)
KEY = KeyChange(key="trust", kind="", old=None, new=None)
VALUES = [
    ("plain", "plain"),
    ("", '""'),
    (" x", '" x"'),
    ("null", '"null"'),
    ("1e5", '"1e5"'),
    (None, "null"),
    (True, "true"),
    (["a", 1], '["a",1]'),
    ('["a",1]', '"[\\"a\\",1]"'),
    ("0o7", '"0o7"'),
    ("sha256:" + "ab" * 32, "sha256:abababababab…"),
    ("0123456789abcdef" * 2 + "01234567", "0123456789ab…"),
    ("x" * 400, "x" * 78 + " …244 more characters… " + "x" * 78),
]


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


COUNTS = st.integers(0, 100_000)


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.integers(5, 200))
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


# --- the headline, and the lines below it ---


def classed(*kinds: ChangeClass, status: DatasetStatus = "changed") -> DatasetChange:
    return DatasetChange(name="d", status=status, kinds=kinds)


def diff(*changes: DatasetChange, **more: Any) -> CatalogDiff:
    return CatalogDiff(base="a", head="b", changes=changes, **more)


ADDED, REMOVED = classed(status="added"), classed(status="removed")
SUBSET, INPUTS = classed(ChangeClass.SUBSET), classed(ChangeClass.INPUTS, ChangeClass.IDS)
COMPARED = SampleChange(old=2_000, new=2_000, changed=5, fields={"input": 1, "target": 4})
MAPPED = KeyChange(key="fields.target", kind=ChangeClass.TARGETS, old=None, new=None)
EFFECT = replace(INPUTS, name="gsm8k", samples=COMPARED, keys=(MAPPED,))
HEADLINES = [
    (diff(), "no differences"),
    (diff(INPUTS), "d: inputs, ids"),
    (
        diff(EFFECT),
        "gsm8k: 4 targets and 1 input of 2,000 samples change; mapping of `target`",
    ),
    (
        diff(SUBSET, EFFECT),
        "gsm8k: 4 targets and 1 input of 2,000 samples change; mapping of `target` · d: subset",
    ),
    (diff(*[SUBSET] * 5), "d: subset · d: subset · d: subset · 2 more datasets changed"),
    (diff(ADDED), "1 dataset added (d)"),
    (
        diff(ADDED, REMOVED, replace(REMOVED, samples=SampleChange(old=12))),
        "2 datasets removed (d; d, 12 samples) · 1 dataset added (d)",
    ),
    (diff(*[ADDED] * 1200), "1,200 datasets added (d; d; d; and 1,197 more)"),
    (diff(shared=(KEY,)), "the index changed"),
    (diff(base_problems=(PROBLEM,), head_problems=(PROBLEM,)), "2 problems"),
    (diff(not_compared=("a", "b")), "2 datasets not compared"),
]


@pytest.mark.parametrize(("made", "line"), HEADLINES, ids=[line for _, line in HEADLINES])
def test_headline_begins_with_the_effect(made: CatalogDiff, line: str) -> None:
    assert headline(made) == line


def test_datasets_are_counted_by_their_most_severe_class() -> None:
    found = counts(diff(SUBSET, INPUTS, ADDED, REMOVED))
    assert list(found.items()) == [("inputs", 1), ("subset", 1), ("removed", 1), ("added", 1)]


VERDICTS = [
    (classed(ChangeClass.ORDER), "order only"),
    (classed(ChangeClass.ORDER, ChangeClass.DOCUMENTATION), "order, documentation"),
    (ADDED, "added"),
    (DatasetChange(name="d", status="renamed", old_name="c"), "renamed from c"),
]


@pytest.mark.parametrize(("change", "text"), VERDICTS)
def test_verdict_names_classes_or_status(change: DatasetChange, text: str) -> None:
    assert verdict(change) == text


def origin(value: Any, line: int = 1, **more: Any) -> Origin:
    return Origin(key="k", value=value, layer="own", **{"file": "m.yaml", "line": line, **more})


@pytest.mark.parametrize(
    ("value", "text"), [(None, "(none)"), (origin(None), "(none)"), (origin(""), '""')]
)
def test_missing_value_differs_from_an_empty_one(value: Origin | None, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (origin(1), origin(2), "m.yaml:1"),
        (origin(1), origin(2, line=3), "m.yaml:1 → m.yaml:3"),
        (None, origin(2), "m.yaml:1"),
        (origin(1), origin(2, file="a\nb"), "m.yaml:1 → a⏎b:1"),
    ],
)
def test_places_of_old_and_new_value(old: Origin | None, new: Origin, text: str) -> None:
    assert places(KeyChange(key="k", kind="", old=old, new=new)) == text


def test_inherited_keys_are_grouped_by_dataset() -> None:
    inherited = (InheritedChange("a", "p"), InheritedChange("b", ""), InheritedChange("c", "p"))
    change = DatasetChange(name="d", status="changed", inherited=inherited)
    assert list(inherited_keys(change)) == [("a, c", "p"), ("b", "the index")]


SAMPLES = {
    "not compared: why": SampleChange(note="not compared: why"),
    "1,200": SampleChange(new=1200),
    "3; head is built for this": SampleChange(new=3, note="head is built for this"),
    "no difference in 3": SampleChange(old=3, new=3, matched_by="id"),
    "3 → 4: 2 added, 1 removed; matched by id": SampleChange(
        old=3, new=4, matched_by="id", added=2, removed=1
    ),
    "3 → 3: 2 changed (input, target of 1), 1 moved; matched by content": SampleChange(
        old=3, new=3, matched_by="content", changed=2, moved=1, fields={"input": 2, "target": 1}
    ),
}


@pytest.mark.parametrize("line", SAMPLES)
def test_samples_are_summed_up_in_one_line(line: str) -> None:
    assert sample_line(SAMPLES[line]) == line


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_value_is_one_short_line(value: object, expected: str) -> None:
    assert display_value(value) == expected

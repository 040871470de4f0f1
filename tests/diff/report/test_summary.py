"""The texts of a diff that all formats share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from registry.diff.models import (
    CatalogDiff,
    DatasetChange,
    DatasetStatus,
    InheritedChange,
    KeyChange,
    SampleChange,
)
from registry.diff.report.summary import (
    counts,
    display_value,
    headline,
    inherited_keys,
    places,
    sample_line,
    value_text,
    verdict,
)
from registry.diff.severity import ChangeClass
from registry.errors import Problem
from registry.manifest.origins import Origin

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


def changed(*kinds: ChangeClass, status: DatasetStatus = "changed") -> DatasetChange:
    return DatasetChange(name="d", status=status, kinds=kinds)


def diff(*changes: DatasetChange, **more: Any) -> CatalogDiff:
    return CatalogDiff(base="a", head="b", changes=changes, **more)


ADDED, REMOVED = changed(status="added"), changed(status="removed")
SUBSET, INPUTS = changed(ChangeClass.SUBSET), changed(ChangeClass.INPUTS, ChangeClass.IDS)
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
    (changed(ChangeClass.ORDER), "order only"),
    (changed(ChangeClass.ORDER, ChangeClass.DOCUMENTATION), "order, documentation"),
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

"""Two sides in, their differences out: classes, renames, and what is inherited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from registry.diff.compare import compare
from registry.diff.models import DatasetChange, Snapshot
from registry.diff.summary import headline, verdict
from registry.errors import Problem
from registry.manifest.provenance import Origin

Values = dict[str, Any]
"""Key → value, or value and the dataset that gives it."""


def side(datasets: Mapping[str, Mapping[str, Any]], **more: Any) -> Snapshot:
    return Snapshot(
        label="side",
        datasets={
            name: {key: origin(name, key, value) for key, value in values.items()}
            for name, values in datasets.items()
        },
        **more,
    )


def origin(name: str, key: str, value: Any) -> Origin:
    value, owner = value if isinstance(value, tuple) else (value, name)
    if owner == "defaults":
        return Origin(key=key, value=value, layer="default", file="datasets.yaml", line=3)
    if owner == "built in":
        return Origin(key=key, value=value, layer="default")
    layer = "own" if owner == name else "parent"
    return Origin(key=key, value=value, layer=layer, file="m.yaml", line=1, dataset=owner)


def only_change(old: Values, new: Values) -> DatasetChange:
    (change,) = compare(side({"d": old}), side({"d": new})).changes
    return change


def test_changed_key_is_reported_with_its_class() -> None:
    change = only_change({"fields.target": 1, "seed": 1}, {"fields.target": 2, "seed": 2})
    assert change.kinds == ("targets", "order only")
    assert [(one.key, one.kind) for one in change.keys] == [
        ("fields.target", "targets"),
        ("seed", "order only"),
    ]


@pytest.mark.parametrize("key", ["seed", "shuffle"])
@pytest.mark.parametrize("limits", [(2, 2), (None, 2), (2, None)])
def test_another_order_under_a_limit_is_another_selection(key: str, limits: Any) -> None:
    change = only_change({key: 1, "limit": limits[0]}, {key: 2, "limit": limits[1]})
    assert change.kinds == ("subset",)


SAME: list[tuple[Any, Any]] = [
    (None, None),
    ({}, None),
    ([], {}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_what_says_the_same_is_no_difference(old: Any, new: Any) -> None:
    assert compare(side({"d": {"where": old}}), side({"d": {"where": new}})).is_clean
    assert compare(side({"d": {}}), side({"d": {"where": None}})).is_clean


@pytest.mark.parametrize(("old", "new"), [(1, True), (0, False), (1, "1"), (0, None), ("", None)])
def test_values_of_another_type_differ(old: Any, new: Any) -> None:
    assert only_change({"where": old}, {"where": new}).kinds == ("subset",)


def test_a_key_that_moved_to_another_line_or_layer_is_no_difference() -> None:
    old, new = {"limit": (1, "built in")}, {"limit": 1}
    assert compare(side({"d": old}), side({"d": new})).is_clean


# --- inheritance ---


def test_a_change_is_told_once_where_it_stands() -> None:
    old: dict[str, Values] = {
        "a": {"limit": 1},
        "b": {"limit": (1, "a")},
        "c": {"limit": (1, "a"), "seed": 1},
    }
    new: dict[str, Values] = {
        "a": {"limit": 2},
        "b": {"limit": (2, "a")},
        "c": {"limit": (2, "a"), "seed": 2},
    }
    a, b, c = compare(side(old), side(new)).changes
    assert [(one.key, one.inherited_by) for one in a.keys] == [("limit", ("b", "c"))]
    assert (b.keys, [(one.key, one.dataset) for one in b.inherited]) == ((), [("limit", "a")])
    assert [one.key for one in c.keys] == ["seed"]
    assert {change.kinds[0] for change in (a, b, c)} == {"subset"}


def test_what_changes_by_another_parent_is_told_at_the_child() -> None:
    old: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": 2}, "c": {"limit": (1, "a")}}
    new: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": 2}, "c": {"limit": (2, "b")}}
    (change,) = compare(side(old), side(new)).changes
    assert (change.name, [one.key for one in change.keys]) == ("c", ["limit"])


def test_a_key_that_a_parent_no_longer_gives_is_told_at_the_parent() -> None:
    old: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": (1, "a")}}
    new: dict[str, Values] = {
        "a": {"limit": (None, "built in")},
        "b": {"limit": (None, "built in")},
    }
    a, b = compare(side(old), side(new)).changes
    assert a.keys[0].inherited_by == ("b",)
    assert b.keys == ()


def test_defaults_of_the_index_are_told_apart_from_datasets() -> None:
    old = {name: {"on_duplicate": ("error", "defaults")} for name in "ab"}
    new = {name: {"on_duplicate": ("drop", "defaults")} for name in "ab"}
    review = compare(side(old), side(new))
    (shared,) = review.shared
    assert (shared.key, shared.inherited_by) == ("on_duplicate", ("a", "b"))
    assert [change.keys for change in review.changes] == [(), ()]
    assert headline(review) == "2 datasets changed: 2 subset; the index changed"


def test_trust_of_the_index_is_a_difference_of_its_own() -> None:
    trusting = {"trust": Origin(key="trust", value=["os"], layer="index", file="i.yaml", line=2)}
    review = compare(side({}), side({}, index=trusting))
    assert [(one.key, one.old, one.new) for one in review.shared] == [
        ("trust", None, trusting["trust"])
    ]
    assert not review.is_clean


# --- come, gone, renamed ---


def test_what_is_on_one_side_only_came_or_went() -> None:
    review = compare(side({"a": {"limit": 1}}), side({"b": {"limit": 2}}))
    assert [(one.name, one.status) for one in review.changes] == [("a", "removed"), ("b", "added")]
    assert headline(review) == "1 dataset removed; 1 added"


def test_the_same_under_another_name_and_description_is_renamed() -> None:
    old, new = {"limit": 1, "description": "x"}, {"limit": 1, "description": "y", "pin.samples": 3}
    (change,) = compare(side({"old-name": old}), side({"new-name": new})).changes
    assert (change.name, change.status, change.old_name) == ("new-name", "renamed", "old-name")
    assert verdict(change) == "renamed from old-name"


def test_of_several_the_nearest_name_is_the_renamed_one() -> None:
    old = {"mmlu-1": {"limit": 1}, "quiz-1": {"limit": 1}}
    new = {"quiz-2": {"limit": 1}, "mmlu-2": {"limit": 1}, "third": {"limit": 1}}
    found = {one.name: one.old_name for one in compare(side(old), side(new)).changes}
    assert found == {"mmlu-2": "mmlu-1", "quiz-2": "quiz-1", "third": ""}


# --- pins ---


def pin(revision: str, ordered: str = "o", unordered: str = "u", **more: Any) -> Values:
    return {
        "pin.spec": f"spec of {revision}{ordered}{unordered}{more}",
        "pin.sources[0].revision": revision,
        "pin.samples": more.get("samples", 4),
        "pin.ordered": ordered,
        "pin.unordered": unordered,
    }


PINS = {
    "another source": (pin("1"), pin("2", "p", "v"), ("source bytes",)),
    "another order": (pin("1"), pin("1", "p"), ("order only",)),
    "other samples for no reason": (pin("1"), pin("1", "p", "v"), ("source bytes",)),
    "samples that follow": (
        {**pin("1"), "limit": 1},
        {**pin("1", "p", "v"), "limit": 2},
        ("subset",),
    ),
    "a first pin": ({}, pin("1"), ("source bytes",)),
    "no pin any more": (pin("1"), {}, ("source bytes",)),
}


@pytest.mark.parametrize("case", PINS)
def test_a_pin_says_what_kind_of_change_it_is(case: str) -> None:
    old, new, kinds = PINS[case]
    assert only_change(old, new).kinds == kinds


def test_digests_of_samples_that_follow_are_not_told() -> None:
    old, new = {**pin("1"), "limit": 1}, {**pin("1", "p", "v", samples=3), "limit": 2}
    assert [one.key for one in only_change(old, new).keys] == ["limit", "pin.samples"]


def test_a_first_pin_is_one_line() -> None:
    (key,) = only_change({}, pin("1")).keys
    assert key.new is not None
    assert (key.key, key.old, key.new.value) == ("pin", None, {"sources[0].revision": "1"})


def test_the_digest_of_the_manifest_alone_is_no_difference() -> None:
    old, new = {"pin.spec": "1", "pin.samples": 1}, {"pin.spec": "2", "pin.samples": 1}
    assert compare(side({"d": old}), side({"d": new})).is_clean


# --- what can't be compared ---


def test_broken_datasets_are_neither_gone_nor_new() -> None:
    problem = Problem(message="bad", file="m.yaml", line=1)
    old, new = (
        side({"a": {}, "b": {"limit": 1}}),
        side({"b": {"limit": 2}}, problems=(problem,), broken=frozenset("a")),
    )
    review = compare(old, new)
    assert [change.name for change in review.changes] == ["b"]
    assert (review.not_compared, review.head_problems) == (("a",), (problem,))
    assert headline(review) == "1 dataset changed: 1 subset; 1 problem"


def test_an_index_that_can_t_be_read_says_nothing_of_datasets() -> None:
    problem = Problem(message="bad", file="datasets.yaml", line=1)
    review = compare(side({"a": {}}), side({}, problems=(problem,), unreadable=True))
    assert review.changes == ()
    assert not review.is_clean


def test_the_worst_come_first() -> None:
    keys = ["description", "seed", "limit", "fields.metadata.a", "fields.id", "fields.target"]
    keys += ["fields.input", "source.path"]
    old = {**{f"d{n}": {key: 1} for n, key in enumerate(keys)}, "gone": {"where": 1}}
    new = {**{f"d{n}": {key: 2} for n, key in enumerate(keys)}, "new": {"where": 2}}
    order = [change.name for change in compare(side(old), side(new)).changes]
    assert order == ["gone", "d7", "d6", "d5", "d4", "d3", "d2", "d1", "new", "d0"]

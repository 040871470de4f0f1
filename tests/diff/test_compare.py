"""The differences between two snapshots: classes, renames, and inherited changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from registry.diff.compare import compare
from registry.diff.models import DatasetChange, Snapshot
from registry.diff.summary import headline, verdict
from registry.errors import Problem
from registry.manifest.origins import Origin

Values = dict[str, Any]
"""Key → value, or value and the dataset that gives it."""


def snapshot(datasets: Mapping[str, Mapping[str, Any]], **more: Any) -> Snapshot:
    return Snapshot(
        label="snapshot",
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
    (change,) = compare(snapshot({"d": old}), snapshot({"d": new})).changes
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
def test_new_order_under_a_limit_is_a_change_of_the_subset(key: str, limits: Any) -> None:
    change = only_change({key: 1, "limit": limits[0]}, {key: 2, "limit": limits[1]})
    assert change.kinds == ("subset",)


@pytest.mark.parametrize("empty", [None, {}, []])
def test_equivalent_values_are_equal(empty: Any) -> None:
    old, new = {"where": {"a": 1, "b": 2}}, {"where": {"b": 2, "a": 1}}
    assert compare(snapshot({"d": old}), snapshot({"d": new})).is_clean
    assert compare(snapshot({"d": {}}), snapshot({"d": {"where": empty}})).is_clean


DIFFERENT = [(1, True), (0, False), (1, "1"), (0, None), ("", None), ([], None), ([], {})]


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_values_of_different_types_differ(old: Any, new: Any) -> None:
    assert only_change({"where": old}, {"where": new}).kinds == ("subset",)


def test_new_line_or_layer_is_no_difference() -> None:
    old, new = {"limit": (1, "built in")}, {"limit": 1}
    assert compare(snapshot({"d": old}), snapshot({"d": new})).is_clean


# --- inheritance ---


def test_change_is_reported_once_where_it_was_edited() -> None:
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
    a, b, c = compare(snapshot(old), snapshot(new)).changes
    assert [(one.key, one.inherited_by) for one in a.keys] == [("limit", ("b", "c"))]
    assert (b.keys, [(one.key, one.dataset) for one in b.inherited]) == ((), [("limit", "a")])
    assert [one.key for one in c.keys] == ["seed"]
    assert {change.kinds[0] for change in (a, b, c)} == {"subset"}


def test_change_by_a_new_parent_is_reported_at_the_child() -> None:
    old: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": 2}, "c": {"limit": (1, "a")}}
    new: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": 2}, "c": {"limit": (2, "b")}}
    (change,) = compare(snapshot(old), snapshot(new)).changes
    assert (change.name, [one.key for one in change.keys]) == ("c", ["limit"])


def test_key_removed_from_a_parent_is_reported_at_the_parent() -> None:
    old: dict[str, Values] = {"a": {"limit": 1}, "b": {"limit": (1, "a")}}
    new: dict[str, Values] = {
        "a": {"limit": (None, "built in")},
        "b": {"limit": (None, "built in")},
    }
    a, b = compare(snapshot(old), snapshot(new)).changes
    assert a.keys[0].inherited_by == ("b",)
    assert b.keys == ()


def test_defaults_of_the_index_are_reported_apart_from_datasets() -> None:
    old = {name: {"on_duplicate": ("error", "defaults")} for name in "ab"}
    new = {name: {"on_duplicate": ("drop", "defaults")} for name in "ab"}
    diff = compare(snapshot(old), snapshot(new))
    (shared,) = diff.shared
    assert (shared.key, shared.inherited_by) == ("on_duplicate", ("a", "b"))
    assert [change.keys for change in diff.changes] == [(), ()]
    assert headline(diff) == "a: `on_duplicate` · b: `on_duplicate` · the index changed"


def test_trust_in_the_index_is_a_difference() -> None:
    trusting = {"trust": Origin(key="trust", value=["os"], layer="index", file="i.yaml", line=2)}
    diff = compare(snapshot({}), snapshot({}, index=trusting))
    assert [(one.key, one.old, one.new) for one in diff.shared] == [
        ("trust", None, trusting["trust"])
    ]
    assert not diff.is_clean


# --- added, removed, renamed ---


def test_dataset_of_one_snapshot_is_added_or_removed() -> None:
    diff = compare(snapshot({"a": {"limit": 1}}), snapshot({"b": {"limit": 2}}))
    assert [(one.name, one.status) for one in diff.changes] == [("a", "removed"), ("b", "added")]
    assert headline(diff) == "1 dataset removed (a) · 1 dataset added (b)"


def test_equal_dataset_with_a_new_name_and_description_is_renamed() -> None:
    old, new = {"limit": 1, "description": "x"}, {"limit": 1, "description": "y", "pin.samples": 3}
    (change,) = compare(snapshot({"old-name": old}), snapshot({"new-name": new})).changes
    assert (change.name, change.status, change.old_name) == ("new-name", "renamed", "old-name")
    assert verdict(change) == "renamed from old-name; documentation only"
    assert [
        (one.key, one.old.value, one.new.value) for one in change.keys if one.old and one.new
    ] == [("description", "x", "y")]


@pytest.mark.parametrize(("location", "kind"), [("a.csv", "lock only"), ("u.csv", "source bytes")])
def test_pin_of_a_renamed_dataset_is_by_its_old_name(location: str, kind: str) -> None:
    new = {"limit": 1, "bytes.a.csv": "1"}
    old = {**new, **pin("1"), "pin.sources[0].location": location}
    (change,) = compare(snapshot({"old": old}), snapshot({"new": new})).changes
    assert (change.status, change.kinds) == ("renamed", (kind,))


def test_renamed_dataset_lists_its_other_changes() -> None:
    same = {"source.path": "a.csv", "fields.target": "a"}
    old, new = {**same, "limit": 1}, {**same, "limit": 2}
    diff = compare(snapshot({"old-name": old}), snapshot({"new-name": new}))
    (change,) = diff.changes
    assert (change.status, change.old_name, change.kinds) == ("renamed", "old-name", ("subset",))
    assert [one.key for one in change.keys] == ["limit"]
    assert headline(diff) == "new-name: renamed; `limit`"


def test_change_of_a_renamed_parent_is_reported_there_alone() -> None:
    same = {"source.path": "a.csv"}
    old: dict[str, Values] = {"a": {**same, "limit": 1}, "b": {**same, "limit": (1, "a")}}
    new: dict[str, Values] = {"z": {**same, "where": 1}, "b": {**same, "where": (1, "z")}}
    b, z = compare(snapshot(old), snapshot(new)).changes
    assert ([one.key for one in b.keys], [one.key for one in b.inherited]) == (
        [],
        ["where", "limit"],
    )
    assert [(one.key, one.inherited_by) for one in z.keys] == [("where", ("b",)), ("limit", ("b",))]


# --- pins ---


def pin(revision: str, ordered: str = "o", unordered: str = "u", **more: Any) -> Values:
    return {
        "pin.spec": f"spec of {revision}",
        "pin.sources[0].revision": revision,
        "pin.samples": more.get("samples", 4),
        "pin.ordered": ordered,
        "pin.unordered": unordered,
    }


COMMIT = {"pin.spec": "spec of 1", "pin.sources[0].revision": "1"}
PINS = {
    "another source": (pin("1"), pin("2", "p", "v"), ("source bytes",)),
    "another order": (pin("1"), pin("1", "p"), ("order only",)),
    "other samples for no reason": (pin("1"), pin("1", "p", "v"), ("source bytes",)),
    "samples that follow": (
        {**pin("1"), "limit": 1},
        {**pin("1", "p", "v"), "limit": 2},
        ("subset",),
    ),
    "digests for the same commit": (COMMIT, pin("1"), ("lock only",)),
    "digests and another commit": (COMMIT, pin("2"), ("source bytes",)),
    "digests and a new limit": (COMMIT, {**pin("1"), "limit": 1}, ("subset", "lock only")),
    "no digests any more": (pin("1"), COMMIT, ("source bytes",)),
    "a first pin": ({}, pin("1"), ("source bytes",)),
    "no pin any more": (pin("1"), {}, ("source bytes",)),
}


@pytest.mark.parametrize("case", PINS)
def test_pin_determines_the_class_of_change(case: str) -> None:
    old, new, kinds = PINS[case]
    assert only_change(old, new).kinds == kinds


def test_digests_that_follow_from_other_changes_are_not_reported() -> None:
    old, new = {**pin("1"), "limit": 1}, {**pin("1", "p", "v", samples=3), "limit": 2}
    assert [one.key for one in only_change(old, new).keys] == ["limit", "pin.samples"]


def test_first_pin_is_one_key() -> None:
    (key,) = only_change({}, pin("1")).keys
    assert key.new is not None
    assert (key.key, key.old, key.new.value) == ("pin", None, {"sources[0].revision": "1"})


REPEATED = {"pin.sources[0].size": 1, "pin.spec": "1", "pin.sources[0].sha256": "1"}


@pytest.mark.parametrize(
    ("edits", "keys"),
    [
        ({"pin.spec": "2"}, ["pin.spec"]),  # edited by hand, to make the pin hold for nothing
        ({"pin.spec": "2", "description": "x"}, ["pin.spec", "description"]),
        ({"pin.spec": "2", "limit": 3}, ["limit"]),
        ({"pin.sources[0].size": 2}, ["pin.sources[0].size"]),
        ({"pin.sources[0].size": 2, "pin.sources[0].sha256": "2"}, ["pin.sources[0].sha256"]),
    ],
)
def test_key_of_a_pin_is_left_out_only_if_another_says_the_same(
    edits: Values, keys: list[str]
) -> None:
    assert [one.key for one in only_change(REPEATED, {**REPEATED, **edits}).keys] == keys


# --- what can't be compared ---


def test_broken_datasets_are_neither_removed_nor_added() -> None:
    problem = Problem(message="bad", file="m.yaml", line=1)
    old, new = (
        snapshot({"a": {}, "b": {"limit": 1}}),
        snapshot({"b": {"limit": 2}}, problems=(problem,), broken=frozenset("a")),
    )
    diff = compare(old, new)
    assert [change.name for change in diff.changes] == ["b"]
    assert (diff.not_compared, diff.head_problems) == (("a",), (problem,))
    assert headline(diff) == "b: `limit` · 1 problem · 1 dataset not compared"


def test_unreadable_index_leaves_datasets_uncompared() -> None:
    problem = Problem(message="bad", file="datasets.yaml", line=1)
    diff = compare(snapshot({"a": {}}), snapshot({}, problems=(problem,), unreadable=True))
    assert diff.changes == ()
    assert not diff.is_clean


def test_most_severe_changes_come_first() -> None:
    keys = ["description", "seed", "limit", "fields.metadata.a", "fields.id", "fields.target"]
    keys += ["fields.input", "source.path"]
    old = {**{f"d{n}": {key: 1} for n, key in enumerate(keys)}, "gone": {"where": 1}}
    new = {**{f"d{n}": {key: 2} for n, key in enumerate(keys)}, "new": {"where": 2}}
    order = [change.name for change in compare(snapshot(old), snapshot(new)).changes]
    assert order == ["gone", "d7", "d6", "d5", "d4", "d3", "d2", "d1", "new", "d0"]


MOVED = {"source.path": "a.csv", "bytes.a.csv": "1"}, {"source.path": "b.csv", "bytes.b.csv": "1"}


def test_file_that_only_moved_is_one_change() -> None:
    change = only_change(*MOVED)
    assert change.kinds == ("moved file",)
    (moved,) = (one for one in change.keys if one.key == "moved.b.csv")
    assert moved.old is not None
    assert moved.new is not None
    assert (moved.old.value, moved.new.value, moved.new.place) == ("a.csv", "b.csv", "same bytes")


def test_move_beside_new_data_is_new_data() -> None:
    old, new = ({**values, "bytes.c.csv": n} for n, values in enumerate(MOVED))
    assert only_change(old, new).kinds == ("source bytes", "moved file")


def test_samples_that_differ_after_a_move_are_not_explained_by_it() -> None:
    old, new = ({**values, "pin.unordered": n, "pin.ordered": n} for n, values in enumerate(MOVED))
    assert "source bytes" in only_change(old, new).kinds


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (["a.csv", "https://h/x"], ["b.csv", "https://h/x"], "moved file"),
        (["a.csv", "https://h/x"], ["b.csv", "https://h/y"], "source bytes"),
        (["a.csv", "c.csv"], ["c.csv", "b.csv"], "source bytes"),
        ("a.csv", ["b.csv", "https://h/y"], "source bytes"),
        ("*.csv", "b.csv", "source bytes"),
    ],
)
def test_move_hides_no_other_change_of_the_path(old: Any, new: Any, kind: str) -> None:
    before, after = (
        {**one, "source.path": path} for one, path in zip(MOVED, (old, new), strict=True)
    )
    assert only_change(before, after).kinds[0] == kind


STATED = {"spdx": "MIT", "read-at": "https://x.org"}
SILENT = {"none-stated": "2026-11-23", "looked-at": "https://x.org"}


@pytest.mark.parametrize(
    ("key", "old", "new", "said"),
    [
        ("license", "mit", "CC-BY-NC-4.0", "license changed from mit to CC-BY-NC-4.0 (d) · "),
        ("license", STATED, SILENT, "license changed from MIT to NONE (d) · "),
        ("license", "mit", None, "license changed from mit to (none) (d) · "),
        ("access", "open", {"gated": "https://x.org"}, "access changed from open to gated (d) · "),
        ("license", "mit", STATED, ""),
        ("license", None, "MIT", ""),
    ],
)
def test_other_terms_are_said_first(key: str, old: Any, new: Any, said: str) -> None:
    other: Values = {"a": {"fields.input": 1}, "d": {"fields.input": 1, key: old}}
    after: Values = {"a": {"fields.input": 2}, "d": {"fields.input": 2, key: new}}
    found = compare(snapshot(other), snapshot(after))
    assert headline(found).startswith(said or "a: mapping of `input` · d: ")
    assert [one.name for one in found.changes] == (["d", "a"] if said else ["a", "d"])
    last = next(one for one in found.changes if one.name == "d").keys
    assert [one.key for one in last] == ([key, "fields.input"] if said else ["fields.input", key])


def test_headline_has_a_few_changes_of_terms() -> None:
    names = [f"d{number}" for number in range(5)]
    old = snapshot({name: {"license": f"a-{name}"} for name in names})
    new = snapshot({name: {"license": "MIT"} for name in names})
    start = " · ".join(
        f"license changed from a-d{number} to MIT (d{number})" for number in range(3)
    )
    assert headline(compare(old, new)).startswith(f"{start} · terms changed of 2 more datasets · ")


def test_removed_dataset_is_shown_with_what_it_was_and_who_used_it() -> None:
    old: dict[str, Values] = {
        "gone": {"description": "Sums.", "license": "mit", "limit": 3},
        "child": {"limit": 1, "description": "Sums."},
        "taker": {"fewshot.dataset": "gone"},
        "other": {"limit": 1},
    }
    index = {"groups.v1.2.datasets": ["gone", "other"], "groups.few.datasets": ["other"]}
    before = snapshot(old)
    values = {key: replace(one, dataset="gone") for key, one in before.datasets["gone"].items()}
    child = {**before.datasets["child"], "description": values["description"]}
    groups = {key: Origin(key=key, value=value, layer="own") for key, value in index.items()}
    before = replace(
        before, datasets={**before.datasets, "gone": values, "child": child}, index=groups
    )
    (change,) = [one for one in compare(before, snapshot({})).changes if one.name == "gone"]
    assert {key: one.value for key, one in change.facts.items()} == {
        "description": "Sums.",
        "license": "mit",
    }
    assert change.used_by == (
        "child (extended it)",
        "taker (took its examples from it)",
        "group v1.2",
    )

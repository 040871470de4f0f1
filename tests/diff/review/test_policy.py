"""Which changes `--fail-on` finds, by the classes of their keys and by their samples."""

from __future__ import annotations

from typing import Any

import pytest

from registry.diff.models import (
    CatalogDiff,
    DatasetChange,
    InheritedChange,
    KeyChange,
    NewReach,
    SampleChange,
)
from registry.diff.review.policy import POLICY_CLASSES, parse_classes, violations
from registry.diff.severity import ChangeClass

ALL = frozenset(POLICY_CLASSES)


def key(name: str) -> KeyChange:
    return KeyChange(key=name, kind="", old=None, new=None)


def changed(key_name: str, kind: ChangeClass, **more: Any) -> DatasetChange:
    given = {"status": "changed", "kinds": (kind,), "keys": (key(key_name),), **more}
    return DatasetChange(name="d", **given)


def words(*changes: DatasetChange, **more: Any) -> set[str]:
    return set(violations(CatalogDiff(base="", head="", changes=changes, **more), ALL))


def test_classes_are_named_by_their_first_word() -> None:
    assert set(ChangeClass) == {
        kind for word in POLICY_CLASSES for kind in ChangeClass if kind.split()[0] == word
    }
    assert parse_classes("targets, reach") == {"targets", "reach"}


@pytest.mark.parametrize(
    ("text", "word"), [("inputs,license", "license"), ("", ""), ("inputs,", "")]
)
def test_unknown_class_is_an_error_with_all_classes(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"no class '{word}' .classes: source, code, inputs,"):
        parse_classes(text)


def test_only_the_given_classes_count() -> None:
    diff = CatalogDiff(base="", head="", changes=(changed("limit", ChangeClass.SUBSET),))
    assert violations(diff, frozenset({"subset", "order"})) == {"subset": ["d"]}
    assert violations(diff, frozenset({"inputs"})) == {}


def test_renamed_dataset_is_removed_for_those_who_use_its_old_name() -> None:
    renamed = DatasetChange(name="d", status="renamed", old_name="e")
    assert words(renamed) == {"renamed", "removed"}


def test_index_reach_and_datasets_of_one_side_have_words_of_their_own() -> None:
    removed, added = (DatasetChange(name=one, status=one) for one in ("removed", "added"))
    renamed = changed("limit", ChangeClass.SUBSET, status="renamed")
    reach = (NewReach("host", "h.example", ("d",)),)
    found = words(removed, added, renamed, shared=(key("trust"),), reach=reach)
    assert found == {"removed", "added", "renamed", "subset", "index", "reach"}


@pytest.mark.parametrize("name", ["bytes.a.csv", "pin.sources[0].sha256", "source.path"])
def test_new_bytes_may_be_anything_until_their_samples_are_compared(name: str) -> None:
    unknown = {"source", "inputs", "targets", "ids", "metadata"}
    assert words(changed(name, ChangeClass.SOURCE)) == unknown
    note = SampleChange(note="not compared: head is not cached")
    assert words(changed(name, ChangeClass.SOURCE, samples=note)) == unknown
    same = SampleChange(old=2, new=2)
    assert words(changed(name, ChangeClass.SOURCE, samples=same)) == {"source"}
    targets = SampleChange(old=2, new=2, changed=1, fields={"target": 1})
    assert words(changed(name, ChangeClass.SOURCE, samples=targets)) == {"source", "targets"}


def test_inherited_change_and_new_code_may_be_anything_too() -> None:
    inherited = changed("limit", ChangeClass.SOURCE, inherited=(InheritedChange("pin", "e"),))
    assert "targets" in words(inherited)
    assert "targets" in words(changed("mapper", ChangeClass.INPUTS))
    assert "targets" in words(changed("explode.column", ChangeClass.SUBSET))
    assert "metadata" in words(changed("fewshot.of.fields.input", ChangeClass.INPUTS))
    assert "ids" in words(changed("on_duplicate", ChangeClass.SUBSET))
    assert "targets" not in words(changed("fields.input", ChangeClass.INPUTS))


def test_samples_show_the_other_classes() -> None:
    samples = SampleChange(old=3, new=4, added=1, changed=1, moved=1, fields={"id": 1})
    found = words(changed("seed", ChangeClass.ORDER, samples=samples))
    assert found == {"subset", "ids", "order"}


def test_removed_and_added_samples_may_be_edited_ones() -> None:
    samples = SampleChange(old=3, new=3, added=1, removed=1)
    assert "targets" in words(changed("where", ChangeClass.SUBSET, samples=samples))

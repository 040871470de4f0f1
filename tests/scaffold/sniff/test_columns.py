"""The names of columns are compared in lower case, and none is for two fields by accident."""

from __future__ import annotations

from registry.scaffold.sniff import columns


def test_names_are_in_lower_case() -> None:
    assert {name.casefold() for name in columns.KNOWN} == columns.KNOWN


def test_only_listed_names_are_for_several_fields() -> None:
    groups = (columns.INPUTS, columns.TARGETS, columns.CHOICES, columns.IDS)
    names = [name for group in groups for name in group]
    # As choices if there is another target, see `infer_choices`.
    assert {name for name in names if names.count(name) > 1} == {"answers"}
    assert columns.KNOWN.issuperset(names)

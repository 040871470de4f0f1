"""Families of datasets."""

from __future__ import annotations

from registry.plugins.site.views.lineage import Family, children_of, family_of


def names(family: Family | None) -> object:
    """Return a family as nested lists of names, with `*` before the dataset of the page."""
    if family is None:
        return None
    more = [f"+{family.more}"] if family.more else []
    return [("*" if family.is_here else "") + family.name, *map(names, family.children), *more]


CHILDREN = children_of({"b": "a", "c": "a", "d": "b", "e": "d"})


def test_children_are_sorted_by_their_parent() -> None:
    assert children_of({"z": "a", "b": "a"}) == {"a": ["b", "z"]}


def test_family_has_ancestors_and_all_below() -> None:
    assert names(family_of("b", ["a"], CHILDREN, pages="abcdex")) == [
        "a",
        ["*b", ["d", ["e"]]],
        "+1",
    ]
    assert names(family_of("a", [], CHILDREN, pages="abcdex")) == ["*a", ["b", ["d", ["e"]]], ["c"]]
    assert family_of("x", [], CHILDREN, pages="x") is None


def test_datasets_without_a_page_are_not_linked() -> None:
    family = family_of("b", ["a"], {}, pages="b")
    assert family is not None
    assert (family.name, family.has_page, family.more) == ("a", False, 0)
    assert family.children[0].has_page


def test_large_family_is_cut() -> None:
    children = children_of({f"c{number:05}": "a" for number in range(10_000)})
    family = family_of("a", [], children, pages={"a", *children["a"]})
    assert family is not None
    assert len(family.children) == 99
    assert family.more == 9_901


def test_cycle_ends() -> None:
    children = children_of({"a": "b", "b": "a"})
    assert names(family_of("a", ["b"], children, pages="ab")) == ["b", ["*a"]]

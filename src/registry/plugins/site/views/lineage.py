"""Which datasets extend which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Family", "children_of", "family_of"]

_MOST = 100
_MOST_DEEP = 8


@dataclass(frozen=True, kw_only=True)
class Family:
    """A dataset in the tree of those it extends and of those that extend it."""

    name: str
    is_here: bool
    """Whether it is the dataset of the page."""
    has_page: bool = True
    """Whether it can be linked: a site may have a part of a catalog."""
    children: tuple[Family, ...] = ()
    more: int = 0
    """How many children are left out."""


def children_of(parents: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the datasets that directly extend each, sorted, from the parent of each."""
    children: dict[str, list[str]] = {}
    for name in sorted(parents):
        children.setdefault(parents[name], []).append(name)
    return children


def family_of(
    name: str,
    ancestors: Sequence[str],
    children: Mapping[str, Sequence[str]],
    *,
    pages: Collection[str],
) -> Family | None:
    """Return the family of a dataset, from its first ancestor down; None if it is alone.

    Args:
        name: The dataset.
        ancestors: What it extends, the nearest first.
        children: The datasets that directly extend each, all of which have a page.
        pages: The datasets that have a page.
    """
    if not ancestors and not children.get(name):
        return None
    # A part of a large family: siblings are on the page of their parent.
    names = {*ancestors, name}
    family = _family(name, name, children, _MOST_DEEP, seen=names)
    for ancestor in ancestors:
        more = len(children.get(ancestor, ())) - (family.name in pages)
        family = Family(
            name=ancestor,
            is_here=False,
            has_page=ancestor in pages,
            children=(family,),
            more=max(more, 0),
        )
    return family


def _family(
    name: str, here: str, children: Mapping[str, Sequence[str]], deep: int, *, seen: set[str]
) -> Family:
    below = [one for one in children.get(name, ()) if one not in seen]
    shown = below[: max(0, _MOST - len(seen))] if deep else []
    seen.update(shown)
    return Family(
        name=name,
        is_here=name == here,
        children=tuple(_family(one, here, children, deep - 1, seen=seen) for one in shown),
        more=len(below) - len(shown),
    )

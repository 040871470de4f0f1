"""Merge the pins of two branches, with or without the lockfile that both started from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from registry.lockfile.models import CommitPin, Lock, Pin

__all__ = ["Choice", "Sides", "choose", "merge_locks"]

Side = Literal["ours", "theirs"]
_SIDES: tuple[Side, ...] = get_args(Side)
Commits = Mapping[str, CommitPin]
"""By the name of the dataset."""


class Sides(Struct, frozen=True, kw_only=True):
    """The pins of one dataset on both branches; None where it has none."""

    ours: Pin | None
    theirs: Pin | None
    base: Pin | None = None
    has_base: bool = False
    """Whether `base` is known: most conflict markers don't have it."""

    def pin(self, side: Side) -> Pin | None:
        """Return the pin of a side."""
        return self.ours if side == "ours" else self.theirs

    @property
    def changed(self) -> Side | None:
        """The side that changed the pin, or has only a later version; None if both changed it."""
        if self.ours == self.theirs or (self.has_base and self.theirs == self.base):
            return "ours"
        return "theirs" if self.has_base and self.ours == self.base else self.later

    @property
    def later(self) -> Side | None:
        """The side with the later version, if both differ in nothing else."""
        ours, theirs = self.ours, self.theirs
        if ours is None or theirs is None or replace(ours, version=theirs.version) != theirs:
            return None
        # A pin of an older release has none, which counts as the first.
        versions = [(pin.data_version, pin.version or "") for pin in (ours, theirs)]
        return "ours" if versions[0] > versions[1] else "theirs"

    @property
    def have_other_sources(self) -> bool:
        """Whether the sides pin other bytes, not only other samples of the same bytes."""
        return self.ours is None or self.theirs is None or self.ours.sources != self.theirs.sources


class Choice(Struct, frozen=True, kw_only=True):
    """The pin that a conflict is resolved to."""

    pin: Pin | None
    note: str = ""
    """What was chosen, and why; empty if there was no conflict."""
    is_open: bool = False
    """Whether the sides pin other bytes for the same manifest, so that it must be pinned anew."""


def choose(sides: Sides, agrees: Callable[[Pin], bool]) -> Choice:
    """Resolve a conflict; `agrees` returns whether a pin is for the merged manifest."""
    if sides.ours == sides.theirs:
        return Choice(pin=sides.ours)
    if (later := sides.later) is not None:
        pin = sides.pin(later)
        return Choice(pin=pin, note=f"took the later version, {pin and pin.version}")
    fitting = [side for side in _SIDES if (pin := sides.pin(side)) is not None and agrees(pin)]
    if len(fitting) == 1:
        note = f"took the pin of {fitting[0]}, which fits the manifest"
        return Choice(pin=sides.pin(fitting[0]), note=note)
    if (side := sides.changed) is not None:
        note = f"took the pin of {side}, the side that changed it"
        return Choice(pin=sides.pin(side), note=note)
    if fitting:
        note = "both sides pinned other bytes or samples, so it was pinned anew"
        return Choice(pin=sides.ours, note=note, is_open=True)
    return Choice(pin=sides.ours or sides.theirs, note="neither pin fits the manifest")


def merge_locks(base: Lock, ours: Lock, theirs: Lock) -> tuple[Lock, dict[str, Sides]]:
    """Return the pins that at most one side changed, and the sides of the others."""
    pins: dict[str, Pin] = {}
    conflicts: dict[str, Sides] = {}
    for name in sorted({*ours.pins, *theirs.pins}):
        sides = Sides(
            ours=ours.pins.get(name),
            theirs=theirs.pins.get(name),
            base=base.pins.get(name),
            has_base=True,
        )
        if (side := sides.changed) is None:
            conflicts[name] = sides
        elif (pin := sides.pin(side)) is not None:
            pins[name] = pin
    others = {*pins, *conflicts}
    commits = _merged_commits(base.commits, ours.commits, theirs.commits)
    return Lock(pins, {name: one for name, one in commits.items() if name not in others}), conflicts


def _merged_commits(base: Commits, ours: Commits, theirs: Commits) -> Commits:
    """Return the commits of the side that changed them; ours if both did.

    `registry lock` derives them from the manifest again, so that nothing can be lost.
    """
    found = {
        name: (theirs if ours.get(name) == base.get(name) else ours).get(name)
        for name in {*ours, *theirs}
    }
    return {name: one for name, one in found.items() if one is not None}

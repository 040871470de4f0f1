"""How the pins of two branches are merged."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.lockfile.merge import Choice, Sides, choose, merge_locks
from registry.lockfile.models import CommitPin, Lock, Pin
from tests.lockfile.pins import pin_of


def pin(number: int, *, source: int | None = None) -> Pin:
    digest = f"sha256:{number:064x}"
    sha256 = f"{number if source is None else source:064x}"
    sources = (Material(location="a.csv", size=1, sha256=sha256),)
    return pin_of(number, spec=digest, sources=sources, ordered=digest, unordered=digest)


A, B, C = pin(1), pin(2), pin(3)
ANEW = "both sides pinned other bytes or samples, so it was pinned anew"


@pytest.mark.parametrize(
    ("ours", "theirs", "base", "fitting", "expected"),
    [
        (A, A, None, (), Choice(pin=A)),
        (A, B, None, (B,), Choice(pin=B, note="took the pin of theirs, which fits the manifest")),
        (A, None, None, (A,), Choice(pin=A, note="took the pin of ours, which fits the manifest")),
        (A, B, A, (A, B), Choice(pin=B, note="took the pin of theirs, the side that changed it")),
        (B, A, A, (), Choice(pin=B, note="took the pin of ours, the side that changed it")),
        (A, B, None, (), Choice(pin=A, note="neither pin fits the manifest")),
        (None, B, None, (), Choice(pin=B, note="neither pin fits the manifest")),
        (A, B, C, (A, B), Choice(pin=A, note=ANEW, is_open=True)),
    ],
)
def test_conflict_is_resolved(
    ours: Pin | None,
    theirs: Pin | None,
    base: Pin | None,
    fitting: tuple[Pin, ...],
    expected: Choice,
) -> None:
    sides = Sides(ours=ours, theirs=theirs, base=base, has_base=base is not None)
    assert choose(sides, lambda one: one in fitting) == expected


def test_sides_with_equal_sources_need_no_other_bytes() -> None:
    assert not Sides(ours=pin(1, source=7), theirs=pin(2, source=7)).have_other_sources
    assert Sides(ours=A, theirs=B).have_other_sources
    assert Sides(ours=A, theirs=None).have_other_sources


def test_locks_are_merged_by_dataset() -> None:
    base = Lock({"same": A, "ours": A, "theirs": A, "both": A, "dropped": A, "gone": A})
    ours = Lock({"same": A, "ours": B, "theirs": A, "both": B, "dropped": A, "new-a": A})
    theirs = Lock({"same": A, "ours": A, "theirs": C, "both": C, "new-b": B})
    merged, conflicts = merge_locks(base, ours, theirs)
    assert merged == Lock({"same": A, "ours": B, "theirs": C, "new-a": A, "new-b": B})
    assert conflicts == {"both": Sides(ours=B, theirs=C, base=A, has_base=True)}


def test_change_of_a_pin_that_the_other_side_dropped_is_a_conflict() -> None:
    _, conflicts = merge_locks(Lock({"a": A}), Lock({"a": B}), Lock())
    assert conflicts == {"a": Sides(ours=B, theirs=None, base=A, has_base=True)}


def test_pins_that_differ_only_in_their_version_merge_to_the_later_one() -> None:
    first, second, third = (replace(A, version=one) for one in ("1-A", "1-B", "2-A"))
    merged, conflicts = merge_locks(Lock({"qa": first}), Lock({"qa": third}), Lock({"qa": second}))
    assert (merged.pins, conflicts) == ({"qa": third}, {})
    sides = Sides(ours=second, theirs=third)
    assert choose(sides, lambda _: True) == Choice(pin=third, note="took the later version, 2-A")
    assert Sides(ours=replace(A, version=None), theirs=first).later == "theirs"


def test_commits_merge_to_those_of_the_side_that_changed_them() -> None:
    a, b, c = (CommitPin(spec=one.spec, sources=one.sources, format=1) for one in (A, B, C))
    base = Lock({}, {"same": a, "ours": a, "theirs": a, "both": a, "gone": a, "pinned": a})
    ours = Lock({"pinned": A}, {"same": a, "ours": b, "theirs": a, "both": b, "new-a": a})
    theirs = Lock({}, {"same": a, "ours": a, "theirs": c, "both": c, "gone": a, "pinned": a})
    merged, conflicts = merge_locks(base, ours, theirs)
    expected = {"same": a, "ours": b, "theirs": c, "both": b, "new-a": a}
    assert (merged, conflicts) == (Lock({"pinned": A}, expected), {})


def test_versions_of_other_data_conflict() -> None:
    versions = ((A, "1-A"), (B, "2-A"), (C, "2-A"))
    locks = [Lock({"qa": replace(one, version=version)}) for one, version in versions]
    merged, conflicts = merge_locks(*locks)
    assert merged.pins == {}
    assert list(conflicts) == ["qa"]

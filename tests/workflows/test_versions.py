"""The version of a dataset follows from what differs between two of its pins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.diff.samples import Samples
from registry.diff.severity import ChangeClass
from registry.lockfile.models import PIN_FORMAT, Pin, Version
from registry.samples.digest import digest_samples
from registry.samples.sample import Sample
from registry.workflows.pin_check import PinCheck
from registry.workflows.versions import check_version, classes_between, next_version, version_after

ONE = Sample(input="One?", target="1", id="a", metadata={"topic": "x"})
TWO = Sample(input="Two?", target="2", id="b")


@dataclass(frozen=True)
class State:
    """A dataset at one time: its pin, and the samples that the pin is for."""

    pin: Pin
    samples: Samples


def state(
    samples: Sequence[Sample] = (ONE, TWO), *, version: str | None = "1-A", auto_id: bool = False
) -> State:
    digest = digest_samples(samples)
    pin = Pin(
        spec=f"sha256:{0:064x}",
        sources=(Material(location="qa.csv", size=1, sha256=f"{1:064x}"),),
        samples=digest.samples,
        columns=(),
        ordered=digest.ordered,
        unordered=digest.unordered,
        format=PIN_FORMAT,
        version=version,
    )
    return State(pin, Samples(samples, auto_id))


def finder(*states: State) -> Callable[[Pin], Samples | None]:
    return lambda pin: next((one.samples for one in states if one.pin is pin), None)


def words(classes: frozenset[ChangeClass] | None) -> set[str] | None:
    return None if classes is None else set(map(str, classes))


def changed(sample: Sample, **keys: object) -> Sample:
    return sample.model_copy(update=keys)


NUMBERED = (changed(ONE, id=1), changed(TWO, id=2))


@pytest.mark.parametrize(
    ("old", "new", "classes", "version"),
    [
        (state(), state(), set(), "1-A"),
        (state(), state([changed(ONE, input="One!"), TWO]), {"inputs"}, "2-A"),
        (state(), state([changed(ONE, choices=["1", "2"]), TWO]), {"inputs"}, "2-A"),
        (state(), state([changed(ONE, setup="true"), TWO]), {"inputs"}, "2-A"),
        (state(), state([changed(ONE, target="one"), TWO]), {"targets"}, "2-A"),
        (state(), state([changed(ONE, id="c"), TWO]), {"ids"}, "2-A"),
        (state(), state([ONE]), {"subset"}, "2-A"),
        (state(), state([TWO, ONE]), {"order only"}, "1-B"),
        (state(), state([changed(ONE, metadata={"topic": "y"}), TWO]), {"metadata"}, "1-B"),
        # Row numbers name other samples after a move; ids in their place name none of before.
        (state(NUMBERED, auto_id=True), state([ONE, TWO]), {"metadata"}, "1-B"),
        (
            state(NUMBERED, auto_id=True),
            state([changed(TWO, id=1), changed(ONE, id=2)], auto_id=True),
            {"order only", "ids"},
            "2-A",
        ),
        (state([changed(ONE, id=None)]), state([ONE]), {"metadata"}, "1-B"),
    ],
)
def test_version_follows_from_the_samples(
    old: State, new: State, classes: set[str], version: str
) -> None:
    find = finder(old, new)
    found = classes_between(old.pin, new.pin, find)
    assert words(found) == classes
    assert str(next_version(Version.parse("1-A"), found)) == version


@pytest.mark.parametrize(
    ("keys", "classes", "version"),
    [
        ({"sources": (Material(location="new.csv", size=1, sha256=f"{1:064x}"),)}, set(), "3-C"),
        (
            {"sources": (Material(location="qa.csv", size=1, sha256=f"{2:064x}"),)},
            {"source bytes"},
            "3-D",
        ),
        ({"code": {"ours": f"sha256:{3:064x}"}}, {"code"}, "3-D"),
        ({"files": (Material(location="a.png", size=1, sha256=f"{4:064x}"),)}, {"inputs"}, "4-A"),
        (
            {"sandbox": (Material(location="c.yaml", size=1, sha256=f"{5:064x}"),)},
            {"inputs"},
            "4-A",
        ),
        ({"images": ("python:3.13",)}, {"inputs"}, "4-A"),
    ],
)
def test_version_follows_from_what_equal_samples_depend_on(
    keys: dict[str, object], classes: set[str], version: str
) -> None:
    old = state(version="3-C").pin
    found = classes_between(old, replace(old, **keys), finder())
    assert words(found) == classes
    assert str(next_version(old.data_version, found)) == version


def test_samples_that_are_not_here_are_taken_for_not_comparable() -> None:
    old, new = state(version="1-C"), state([changed(ONE, metadata={}), TWO])
    assert classes_between(old.pin, new.pin, finder(new)) is None
    assert version_after(new.pin, [old.pin], finder(new)) == (Version.parse("2-A"), False)


def test_digests_say_what_no_samples_are_needed_for() -> None:
    old = state().pin
    assert words(classes_between(old, state([TWO, ONE]).pin, finder())) == {"order only"}
    assert words(classes_between(old, state([ONE]).pin, finder())) == {"subset"}


def test_version_after_a_merge_is_later_than_that_of_other_data() -> None:
    ours = state([changed(ONE, target="one"), TWO], version="2-A")
    theirs = state([changed(ONE, target="uno"), TWO], version="2-A")
    find = finder(ours, theirs)
    assert version_after(ours.pin, [ours.pin, theirs.pin], find) == (Version.parse("3-A"), True)
    later = replace(theirs.pin, version="4-B")
    assert version_after(later, [ours.pin, later], finder(ours, State(later, theirs.samples))) == (
        Version.parse("4-B"),
        True,
    )


def test_first_version_is_that_of_a_pin_without_one() -> None:
    old = state(version=None).pin
    assert version_after(old, [old], finder()) == (Version.parse("1-A"), True)
    assert version_after(old, [], finder()) == (Version.parse("1-A"), True)


OTHER = [changed(ONE, target="one"), TWO]


@pytest.mark.parametrize(
    ("base", "now", "message"),
    [
        (state(), state(), ""),
        (state(version=None), state(), ""),
        (state(version=None), state(version=None), ""),
        (state(version=None), state(OTHER, version=None), ""),
        (state(), state(OTHER, version="2-A"), ""),
        (state(), state(OTHER, version="3-B"), ""),  # locked more than once in a branch
        (
            state(),
            state(OTHER, version="1-B"),
            (
                "version is 1-B, but targets changed since 1-A in the base"
                " (`registry lock qa --version 2-A` sets it)"
            ),
        ),
        (
            state(),
            state(version="1-B"),
            (
                "version is 1-B, but its data is that of 1-A in the base"
                " (`registry lock qa --version 1-A` sets it)"
            ),
        ),
        (
            state(version="2-A"),
            state(version=None),
            "has no version, and has 2-A in the base (`registry lock qa --version 2-A` sets it)",
        ),
    ],
)
def test_version_that_lies_is_a_difference(base: State, now: State, message: str) -> None:
    check = PinCheck("qa", is_checked=True)
    check_version(check, now.pin, base.pin, finder(base, now))
    assert [str(one) for one in check.differences] == ([f"qa: {message}"] if message else [])
    assert check.unchecked == []


@pytest.mark.parametrize(("version", "number"), [("1-A", 1), ("1-B", 0), ("2-A", 0)])
def test_version_of_samples_that_are_not_here_must_only_have_risen(
    version: str, number: int
) -> None:
    base, now = state(), state(OTHER, version=version)
    check = PinCheck("qa", is_checked=True)
    check_version(check, now.pin, base.pin, finder(now))
    assert len(check.differences) == number
    assert [one.field for one in check.unchecked] == ["version"]

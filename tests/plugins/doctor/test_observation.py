"""Observations say what is there, and what to do next."""

from __future__ import annotations

from registry.plugins.doctor.observation import Observation, fail, fine, warn


def test_only_what_is_not_well_has_a_next_step() -> None:
    assert fine("a", "b") == Observation(name="a", status="ok", text="b", next="")
    assert warn("a", "b", "c") == Observation(name="a", status="warn", text="b", next="c")
    assert fail("a", "b", "c").status == "fail"

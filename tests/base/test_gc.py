"""The collector is paused for records, and restored afterwards."""

from __future__ import annotations

import gc

import pytest

from registry.base.gc import gc_paused


def test_collector_is_paused_and_enabled_again_after_an_error() -> None:
    seen: list[bool] = []

    def fail_within() -> None:
        with gc_paused():
            seen.append(gc.isenabled())
            raise ValueError("within")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="within"):
        fail_within()
    assert (seen, gc.isenabled()) == ([False], True)


def test_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()

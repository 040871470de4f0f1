"""The collector is paused for records, and is as it was behind them."""

from __future__ import annotations

import gc

import pytest

from registry.base.gc import gc_paused


def test_it_is_paused_within_and_goes_on_behind_even_an_error() -> None:
    seen: list[bool] = []

    def fail_within() -> None:
        with gc_paused():
            seen.append(gc.isenabled())
            raise ValueError("within")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="within"):
        fail_within()
    assert (seen, gc.isenabled()) == ([False], True)


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()

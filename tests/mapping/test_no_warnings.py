"""Warnings of data are ignored, and no others."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from registry.mapping.no_warnings import no_warnings


def test_only_what_runs_inside_does_not_warn() -> None:
    with no_warnings():
        warnings.warn("inside", stacklevel=1)
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)


def test_threads_leave_the_filters_as_they_were() -> None:
    before = list(warnings.filters)
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with no_warnings():
            inside.set()
            leave.wait()

    def enter() -> None:
        with no_warnings():
            assert leave.is_set()  # else it would restore the filters of the other thread

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(stay)
        inside.wait()
        second = pool.submit(enter)
        leave.set()
        first.result()
        second.result()
    assert list(warnings.filters) == before

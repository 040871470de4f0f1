"""A forked process never waits for a lock that a thread of its parent held."""

from __future__ import annotations

import ast
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import registry
from registry.base.processes.forks import ForkSafeLock, cached_property

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

_SECONDS = 20


def ends_in_child(work: Callable[[], object]) -> bool:
    """Return whether work ends well in a forked process, in time."""
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.alarm(_SECONDS)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


class Paused:
    """An object whose attribute takes until it is let go, in the thread that waits for it."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.owner = 0

    @cached_property
    def value(self) -> int:
        """The value."""
        if threading.get_ident() == self.owner:
            self.begun.set()
            self.go.wait(_SECONDS)
        return 7


def test_attribute_is_computed_once() -> None:
    class Counting:
        def __init__(self) -> None:
            self.count = 0

        @cached_property
        def numbers(self) -> list[int]:
            """Numbers."""
            self.count += 1
            return []

    one, other = Counting(), Counting()
    assert one.numbers is one.numbers
    assert one.numbers is not other.numbers
    assert (one.count, other.count) == (1, 1)
    assert isinstance(Counting.numbers, cached_property)
    assert Counting.numbers.__doc__ == "Numbers."


def test_attribute_is_the_first_that_a_thread_computed() -> None:
    paused = Paused()
    found: list[int] = []

    def read() -> None:
        paused.owner = threading.get_ident()
        found.append(paused.value)

    thread = threading.Thread(target=read)
    thread.start()
    assert paused.begun.wait(_SECONDS)
    paused.__dict__["value"] = 8  # another thread was faster
    paused.go.set()
    thread.join()
    assert found == [8]


def test_attribute_that_another_thread_computes_does_not_stop_a_child() -> None:
    paused, other = Paused(), Paused()

    def read() -> None:
        paused.owner = threading.get_ident()
        assert paused.value == 7

    thread = threading.Thread(target=read)
    thread.start()
    assert paused.begun.wait(_SECONDS)
    assert ends_in_child(lambda: other.value)
    paused.go.set()
    thread.join()


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_lock_that_another_thread_holds_is_free_in_a_child(kind: Any) -> None:
    lock = ForkSafeLock(kind)
    begun, go = threading.Event(), threading.Event()

    def hold() -> None:
        with lock():
            begun.set()
            go.wait(_SECONDS)

    def take() -> None:
        with lock():
            pass

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(_SECONDS)
    assert not lock().acquire(blocking=False)  # type: ignore[attr-defined]
    assert ends_in_child(take)
    go.set()
    thread.join()


def test_block_in_which_a_process_forks_ends_in_both() -> None:
    lock = ForkSafeLock()
    ended: list[bool] = []

    def leave_and_take() -> None:
        block.__exit__(None, None, None)
        with lock():
            pass

    block = lock()
    with block:
        ended.append(ends_in_child(leave_and_take))
    with lock():
        assert ended == [True]


def test_no_module_has_a_lock_or_an_attribute_that_a_fork_may_leave_locked() -> None:
    # Locks of objects that one operation uses are not meant; they are made in functions.
    bad = []
    for path in Path(registry.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 if node.module == "functools" for alias in node.names}  # fmt: skip
        attributes = {ast.unparse(one) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
        locks = [
            node for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("threading.")
        ]  # fmt: skip
        if "cached_property" in named or "functools.cached_property" in attributes or locks:
            bad.append(path.name)
    assert bad == []

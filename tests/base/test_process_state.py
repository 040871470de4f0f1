"""No fork waits for a lock of its parent; builds take the memory of the system, and give it back."""

from __future__ import annotations

import ast
import gc
import mmap
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import registry
from registry.base.process_state import ForkSafeLock, cached_property, gc_paused, system_memory

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
        text = path.read_text(encoding="utf-8")
        if "cached_property" not in text and "threading." not in text:  # to parse all takes seconds
            continue
        tree = ast.parse(text)
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


@pytest.fixture
def usual() -> Iterator[pa.MemoryPool]:
    """The allocator of pyarrow's wheels, and afterwards the one of this process again."""
    before, usual = pa.default_memory_pool(), pa.mimalloc_memory_pool()
    pa.set_memory_pool(usual)
    yield usual
    pa.set_memory_pool(before)


def test_memory_is_that_of_the_system_until_the_last_block_ends(
    usual: pa.MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    with ThreadPoolExecutor(1) as other:
        with system_memory():
            entered = system_memory()
            other.submit(entered.__enter__).result()
        assert pa.default_memory_pool().backend_name == "system"
        column = pa.array(["x" * 1000] * 1000)
        other.submit(entered.__exit__, None, None, None).result()
    assert pa.default_memory_pool().backend_name == usual.backend_name
    assert column.to_pylist() == ["x" * 1000] * 1000


FAULTS = """
import contextlib, resource, sys
import numpy as np
from registry.base.process_state import system_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(1 << 20, np.uint8) for _ in range(10)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with system_memory() if sys.argv[1] == "kept" else contextlib.nullcontext():
    faults()
    print(min(faults() for _ in range(5)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc adapts like this")
@pytest.mark.parametrize(("how", "is_kept"), [("kept", True), ("", False)])
def test_freed_memory_is_kept_for_the_next_block(how: str, is_kept: bool) -> None:
    names = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")
    usual = {key: value for key, value in os.environ.items() if not key.startswith(names)}
    command = [sys.executable, "-c", FAULTS, how]
    done = subprocess.run(command, env=usual, capture_output=True, text=True, check=True)
    pages = (10 << 20) // mmap.PAGESIZE
    assert (int(done.stdout) < pages / 2) == is_kept


def test_an_allocator_that_was_chosen_stays(
    usual: pa.MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")
    with system_memory():
        assert pa.default_memory_pool().backend_name == "mimalloc"


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

"""Tasks that run elsewhere, or here meanwhile, give their results in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import pytest

from registry.base.processes.in_order import in_order


def receive(later: Any) -> Any:
    return later.result(timeout=0.01)


def ended(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    future.set_result(value)
    return future


def doubled(task: int) -> str:
    return f"here {task}"


@pytest.mark.parametrize(
    ("send", "here", "expected"),
    [
        (lambda task: ended(-task), None, [0, -1, -2, -3]),
        (lambda task: None, None, [None] * 4),
        (lambda task: ended(None), None, [None] * 4),
        (lambda task: None, doubled, [f"here {n}" for n in range(4)]),
        (lambda task: ended(None), doubled, [f"here {n}" for n in range(4)]),
        # A call that has not begun is done here.
        (lambda task: Future(), doubled, [f"here {n}" for n in range(4)]),
        (lambda task: ended(-task) if task % 2 else None, doubled, ["here 0", -1, "here 2", -3]),
    ],
)
@pytest.mark.parametrize("ahead", [1, 3])
def test_each_task_has_one_result(
    send: Callable[[int], Any], here: Any, expected: list[Any], ahead: int
) -> None:
    found = in_order(iter(range(4)), send, ahead=lambda: ahead, receive=receive, here=here)
    assert list(found) == list(enumerate(expected))


def test_what_others_have_begun_is_awaited_after_what_can_be_done_here() -> None:
    begun: Future[Any] = Future()
    begun.set_running_or_notify_cancel()
    done: list[int] = []

    def here(task: int) -> str:
        done.append(task)
        if task == 2:
            begun.set_result("there")
        return "here"

    calls = iter([begun, None, None, None])
    found = in_order(
        iter(range(4)), lambda task: next(calls), ahead=lambda: 3, receive=receive, here=here
    )
    assert next(found) == (0, "there")
    assert done == [1, 2]
    assert list(found) == [(1, "here"), (2, "here"), (3, "here")]


def test_an_error_of_the_tasks_waits_for_those_before_it() -> None:
    def tasks() -> Iterator[int]:
        yield from range(2)
        raise ValueError("the third")

    found = in_order(tasks(), lambda task: None, ahead=lambda: 5, receive=receive, here=doubled)
    assert list(itertools.islice(found, 2)) == [(0, "here 0"), (1, "here 1")]
    with pytest.raises(ValueError, match="the third"):
        next(found)


def test_no_task_is_read_before_it_is_needed_and_the_rest_is_dropped() -> None:
    read: list[int] = []
    calls: list[Future[Any]] = []

    def tasks() -> Iterator[int]:
        for number in range(10):
            read.append(number)
            yield number

    def send(task: int) -> Future[Any]:
        calls.append(ended(task) if task == 0 else Future())
        return calls[-1]

    with closing(in_order(tasks(), send, ahead=lambda: 2, receive=receive)) as found:
        assert next(found) == (0, 0)
        assert read == [0, 1]
    assert [one.cancelled() for one in calls] == [False, True]

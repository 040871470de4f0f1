"""Run tasks ahead, elsewhere or here, and give their results in order."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from registry.base.processes.executor import Later

__all__ = ["in_order"]

_Task = TypeVar("_Task")


@dataclass
class _Entry(Generic[_Task]):
    """A task that was read, and what came of it."""

    task: _Task
    later: Later | None
    """Its call elsewhere; None if there is none, or if that gave nothing."""
    found: Any = None
    is_done: bool = False


def in_order(
    tasks: Iterator[_Task],
    send: Callable[[_Task], Later | None],
    *,
    ahead: Callable[[], int],
    receive: Callable[[Later], Any],
    here: Callable[[_Task], Any] | None = None,
) -> Generator[tuple[_Task, Any]]:
    """Yield each task with its result, in their order.

    Args:
        tasks: They are read no further ahead than needed; an error of theirs waits for its turn.
        send: Calls a function elsewhere; None leaves the task to `here`.
        ahead: Returns how many tasks may be read and not yielded.
        receive: Returns the result of a call, None if it has none; a TimeoutError lets it wait
            on, after tasks that can be done here.
        here: Does a task in this process, while it would wait for others. Without it, a task
            that has no result from elsewhere is yielded with None.
    """
    waiting: deque[_Entry[_Task]] = deque()
    error: Exception | None = None
    is_over = False
    try:
        while True:
            while not (is_over or error) and len(waiting) < ahead():
                try:
                    task = next(tasks)
                except StopIteration:
                    is_over = True
                except Exception as caught:  # noqa: BLE001 (raised again when it is its turn)
                    error = caught
                else:
                    waiting.append(_Entry(task, send(task)))
            if not waiting:
                if error is not None:
                    raise error
                return
            first = waiting[0]
            while not first.is_done:
                _advance(first, waiting, receive, here)
            waiting.popleft()
            yield first.task, first.found
    finally:
        for entry in waiting:
            if entry.later is not None:
                entry.later.cancel()


def _advance(
    first: _Entry[_Task],
    waiting: deque[_Entry[_Task]],
    receive: Callable[[Later], Any],
    here: Callable[[_Task], Any] | None,
) -> None:
    """Do one task here, or wait for the first one."""
    if here is not None and not (first.later is not None and first.later.done()):
        free = next((one for one in waiting if not one.is_done and _is_free(one)), None)
        if free is not None:
            free.later, free.found, free.is_done = None, here(free.task), True
            return
    if first.later is not None:
        with contextlib.suppress(TimeoutError):
            first.found = receive(first.later)
            first.later = None
    first.is_done = first.later is None and (here is None or first.found is not None)


def _is_free(entry: _Entry[Any]) -> bool:
    """Return whether nobody else has begun a task; if so, nobody will."""
    return entry.later is None or bool(entry.later.cancel())

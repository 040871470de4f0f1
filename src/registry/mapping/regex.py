"""Regular expressions of manifests: Python's own, but no text can make them run without end.

`re` backtracks, and while it does nothing else of its process runs, so nothing in it could end it.
Where a pattern could take long with a text, a second process applies it, and is killed in time.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import select
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import IO, Any, NamedTuple, cast

from registry.base.process_state import ForkSafeLock
from registry.boundary.boundary import MAX_TEXT
from registry.errors import MappingError
from registry.mapping import regex_worker
from registry.mapping.regex_worker import APPLY, TooLargeError, captured

__all__ = ["ENDLESS", "MAX_PATTERN", "Pattern", "compile_pattern", "no_warnings"]


MAX_PATTERN = 2000
"""Characters of a pattern."""
SECONDS = 5.0
"""Time that a pattern may take with one text."""

_PARSER: Any = import_module("re._parser")  # `re` has no public way to look into a pattern
ENDLESS = int(_PARSER.MAXREPEAT)
"""The upper bound of a repeat that has none."""
_FEW_STEPS = 100_000_000
"""Steps of `re` that take a few seconds at most, and nearly always much less."""
_FEW_REPEATS = 4
_MOST_DEGREE = 20
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")


_FILTERS = ForkSafeLock()


class Pattern:
    """A compiled pattern."""

    def __init__(self, text: str) -> None:
        """Compile a pattern.

        Raises:
            ValueError: it is not a regular expression, or it is too long.
        """
        if len(text) > MAX_PATTERN:
            raise ValueError(f"the pattern has more than {MAX_PATTERN:,} characters")
        try:
            with no_warnings():  # of what a later Python may read differently, such as `[[a]`
                self.compiled = re.compile(text)
                self.tree: Any = _PARSER.parse(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"not a regular expression: {error or 'nested too deeply'}") from error
        self.text = text
        self.longest_direct = _longest_direct(self.tree)
        """Length of the texts that `compiled` may be applied to in this process; -1 for none."""
        self._literal = _literal_start(self.tree)
        """What a match starts with, or the rest of it after a scan from the beginning."""
        self._steps_of_start = _steps_of_start(self.tree)
        """Degree and factor of the steps for each place where the literal is."""

    def found(self, value: str) -> bool:
        """Return whether a string has a match."""
        return bool(self._apply("found", value))

    def first(self, value: str) -> str | None:
        """Return the first group of the first match, or all of it; None if there is no match."""
        if len(value) <= self.longest_direct:  # nearly always, so without the calls of `_apply`
            match = self.compiled.search(value)
            return None if match is None else captured(match)
        return cast("str | None", self._apply("first", value))

    def every(self, value: str) -> list[str]:
        """Return what `first` returns of each match."""
        return cast("list[str]", self._apply("every", value))

    def sub(self, value: str, to: str) -> str:
        """Return a string with its matches replaced."""
        # Without a reference, the replacement is inserted once per character at most.
        if len(value) <= min(self.longest_direct, MAX_TEXT // (len(to) + 1) - 1) and "\\" not in to:
            return self.compiled.sub(to, value)
        return cast("str", self._apply("sub", value, to))

    def _has_few_starts(self, value: str) -> bool:
        """Return whether so few places start like a match that few steps are needed."""
        if not self._literal or self._steps_of_start is None:
            return False
        degree, factor = self._steps_of_start
        # `count` leaves out occurrences that overlap: `aa` is in `aaa` twice.
        starts = (value.count(self._literal) + 1) * len(self._literal)
        steps: int = starts * factor * len(value) ** degree + len(value)
        return steps <= _FEW_STEPS

    def _apply(self, name: str, value: str, to: str = "") -> Any:
        try:
            if len(value) <= self.longest_direct or self._has_few_starts(value):
                return APPLY[name](self.compiled, value, to, MAX_TEXT)
            return _PROCESS.apply(name, self.text, value, to)
        except TooLargeError as error:
            message = f"the pattern {self.text!r} gives more than {MAX_TEXT:,} characters"
            raise MappingError(message, value=value) from error
        except TimeoutError as error:
            message = (
                f"the pattern {self.text!r} takes more than {SECONDS:g} s (does it repeat what"
                " is itself repeated? Let each character match in one way only)"
            )
            raise MappingError(message, value=value) from error
        except ChildProcessError as error:
            message = f"the process that applies the pattern {self.text!r} was ended (try again)"
            raise MappingError(message, value=value) from error
        except (re.error, IndexError) as error:
            raise MappingError(f"can't substitute {to!r}: {error}", value=value) from error


@functools.lru_cache(maxsize=1024)
def compile_pattern(text: str) -> Pattern:
    """Return the pattern of a text; the ways to match it are counted once.

    Raises:
        ValueError: as `Pattern`.
    """
    return Pattern(text)


def _literal_start(tree: Any) -> str:
    """Return the characters that a match starts with, not counting a scan from the beginning."""
    if tree.state.flags & re.IGNORECASE:
        return ""
    items = list(tree)
    found = []
    for operator, argument in items[2:] if _is_scan(tree) else items:
        if str(operator) != "LITERAL":
            break
        found.append(chr(argument))
    return "".join(found)


def _is_scan(tree: Any) -> bool:
    """Return whether a pattern starts like `^.*` or `^.*?`, with a text of any length."""
    if len(tree) < 3 or not _is_anchored(tree) or str(tree[1][0]) not in _REPEATS:
        return False
    least, most, body = tree[1][1]
    return least == 0 and most == ENDLESS and [str(one[0]) for one in body] == ["ANY"]


def _is_anchored(tree: Any) -> bool:
    """Return whether a match can only start at the beginning of a text."""
    first = str(tree[0][1]) if len(tree) else ""
    is_multiline = bool(tree.state.flags & re.MULTILINE)
    return first == "AT_BEGINNING_STRING" or (first == "AT_BEGINNING" and not is_multiline)


def _steps_of_start(tree: Any) -> tuple[int, int] | None:
    cost = _cost(tree)
    if cost.degree is None:
        return None
    # A scan may end anywhere, but goes on only where the literal is.
    degree = cost.degree - 1 if _is_scan(tree) else cost.degree
    return degree + cost.inside_degree, cost.factor * cost.inside_factor


def _longest_direct(tree: Any) -> int:
    """Return the length of texts that a pattern needs few steps for; -1 if none has."""
    cost = _cost(tree)
    if cost.degree is None:
        return -1
    starts = 0 if _is_anchored(tree) else 1
    degree = cost.degree + cost.inside_degree + starts
    factor = cost.factor * cost.inside_factor
    return int((_FEW_STEPS / factor) ** (1 / max(degree, 1)))


class _Cost(NamedTuple):
    """How many ways there are to match a text of n characters: at most factor * n**degree."""

    degree: int | None = 0
    """None if there may be exponentially many."""
    factor: int = 1
    inside_degree: int = 0
    """The same of what is done for each way but adds none: looking ahead, or never giving back."""
    inside_factor: int = 1
    looks: bool = False
    """Whether a part looks at characters that it does not consume."""

    def then(self, other: _Cost) -> _Cost:
        """Return the cost of a sequence."""
        if self.degree is None or other.degree is None:
            return _SLOW
        return _Cost(
            self.degree + other.degree,
            min(self.factor * other.factor, _FEW_STEPS),
            max(self.inside_degree, other.inside_degree),
            min(self.inside_factor * other.inside_factor, _FEW_STEPS),
            self.looks or other.looks,
        )


_SLOW = _Cost(None)


def _cost(tree: Any) -> _Cost:
    total = _Cost()
    for operator, argument in tree:
        total = total.then(_cost_of_step(str(operator), argument))
    return total


def _cost_of_step(operator: str, argument: Any) -> _Cost:
    if operator == "POSSESSIVE_REPEAT":
        return _cost_of_possessive(int(argument[1]), _cost(argument[2]))
    if operator in _REPEATS:
        return _cost_of_repeat(int(argument[1]), _cost(argument[2]))
    if operator == "BRANCH":
        return _either(map(_cost, argument[1]))
    if operator == "GROUPREF_EXISTS":
        return _either([_Cost(), *(_cost(part) for part in argument[1:] if part is not None)])
    if operator == "GROUPREF":
        return _Cost(1, looks=True)  # compares as many characters as the group has
    parts = argument if isinstance(argument, tuple) else (argument,)
    inner = [_cost(part) for part in parts if isinstance(part, _PARSER.SubPattern)]
    if operator == "ATOMIC_GROUP":
        return _cost_of_possessive(1, inner[0])
    if operator.startswith("ASSERT") and inner[0].degree is not None:
        degree = inner[0].degree + inner[0].inside_degree
        return _Cost(0, 1, degree, inner[0].factor * inner[0].inside_factor, looks=True)
    return inner[0] if inner else _Cost()


def _cost_of_repeat(most: int, body: _Cost) -> _Cost:
    if body.degree == 0 and body.factor == 1:  # each repetition has one way
        degree, factor = (1, 1) if most == ENDLESS else (0, max(most, 1))
        return _Cost(degree, factor, body.inside_degree, body.inside_factor, body.looks)
    if body.degree is None or most > _FEW_REPEATS:
        return _SLOW
    total = _Cost(0, most + 1)
    for _ in range(most):
        total = total.then(body)
    return total


def _cost_of_possessive(most: int, body: _Cost) -> _Cost:
    """Return the cost of a repeat that never gives back: it adds no ways, but its own work."""
    if body.degree is None:
        return _SLOW
    degree, factor = (1, 1) if most == ENDLESS else (0, max(most, 1))
    own = min(body.factor + body.inside_factor, _FEW_STEPS)
    if body.degree == 0 and not body.looks:
        # Each repetition takes as long as what it consumes, and only the last one is in vain.
        return _Cost(0, 1, max(degree, body.inside_degree), min(own * factor, _FEW_STEPS))
    inside = min(body.degree + body.inside_degree + degree, _MOST_DEGREE)
    factor = min(body.factor * body.inside_factor * factor, _FEW_STEPS)
    return _Cost(0, 1, inside, factor, body.looks)


def _either(costs: Iterable[_Cost]) -> _Cost:
    found = list(costs)
    if any(one.degree is None for one in found):
        return _SLOW
    return _Cost(
        max(one.degree or 0 for one in found),
        sum(one.factor for one in found),
        max(one.inside_degree for one in found),
        max(one.inside_factor for one in found),
        any(one.looks for one in found),
    )


class _Process:
    """The process that applies patterns, started when it is needed first."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._running: subprocess.Popen[bytes] | None = None
        self._parent = 0

    def apply(self, name: str, pattern: str, text: str, to: str) -> Any:
        """Return the result of a function of `APPLY`.

        Raises:
            TimeoutError: it takes more than `SECONDS`.
            ChildProcessError: something else ended the process.
            TooLargeError, re.error: as in this process.
        """
        with self._lock():
            process = self._started()
            done = False
            try:
                regex_worker.write_frame(_pipe(process.stdin), (name, pattern, text, to, MAX_TEXT))
                poll = select.poll()
                poll.register(_pipe(process.stdout), select.POLLIN)
                if not poll.poll(SECONDS * 1000):
                    raise TimeoutError
                answer = regex_worker.read_frame(_pipe(process.stdout))
                if answer is None:
                    raise ChildProcessError
                done = True
            except BrokenPipeError as error:
                raise ChildProcessError from error
            finally:
                if not done:  # also when the user interrupts it
                    self.stop()
        kind, result = answer
        if kind == "too large":
            raise TooLargeError
        if kind == "invalid":
            raise re.error(result)
        return result

    def _started(self) -> subprocess.Popen[bytes]:
        if self._parent == os.getpid() and self._running and self._running.poll() is not None:
            self.stop()  # it was killed, as by a kernel that is short of memory
        # A forked process must not talk to the process of its parent.
        if self._running is None or self._parent != os.getpid():
            self._parent = os.getpid()
            self._running = subprocess.Popen(  # nosec B603 # noqa: S603 (a program of ours)
                [sys.executable, "-I", "-S", "-W", "ignore", regex_worker.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # An interrupt of the terminal or a notebook is for this process, which ends it.
                process_group=0,
                env={},
            )
        return self._running

    def stop(self) -> None:
        """Kill the process."""
        process, self._running = self._running, None
        if process is not None and self._parent == os.getpid():
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):  # a request that it did not read
                    _pipe(pipe).close()


def _pipe(file: IO[bytes] | None) -> IO[bytes]:
    assert file is not None  # noqa: S101 (both are pipes)
    return file


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Ignore the warnings of what runs inside; other threads wait to do the same.

    `catch_warnings` replaces the filters of the whole process. Without the lock, a thread that
    enters while another one is inside would restore "ignore everything", for good.
    """
    with _FILTERS(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_PROCESS = _Process()
atexit.register(_PROCESS.stop)

"""Apply regular expressions, here or in a process that can be killed.

As a script it answers requests on stdin. It imports only the standard library, as it runs without
the folders of this process on `sys.path`.
"""

from __future__ import annotations

import marshal
import re
import signal
import sys
from collections.abc import Callable
from typing import IO, Any

__all__ = ["APPLY", "TooLargeError", "captured", "read_frame", "write_frame"]

_LENGTH_BYTES = 8
_MOST_SECONDS = 60
"""The parent ends it much sooner, unless it was killed itself while it waited."""


class TooLargeError(ValueError):
    """A result that has more characters than it may have."""


def _found(pattern: re.Pattern[str], text: str, to: str, most: int) -> bool:
    return pattern.search(text) is not None


def _first(pattern: re.Pattern[str], text: str, to: str, most: int) -> str | None:
    match = pattern.search(text)
    return None if match is None else captured(match)


def _every(pattern: re.Pattern[str], text: str, to: str, most: int) -> list[str]:
    found, size = [], 0
    for match in pattern.finditer(text):
        found.append(captured(match))
        size += len(found[-1]) + 1
        if size > most:
            raise TooLargeError
    return found


def _sub(pattern: re.Pattern[str], text: str, to: str, most: int) -> str:
    # Each position matches once at most, and a group has no more than all of the text.
    if (len(text) + 1) * (len(to) + to.count("\\") * len(text) + 1) <= most:
        return pattern.sub(to, text)
    parts, size, end = [], len(text), 0
    for match in pattern.finditer(text):
        # `expand` parses its argument each time.
        parts += [text[end : match.start()], match.expand(to) if "\\" in to else to]
        size, end = size + len(parts[-1]), match.end()
        if size > most:
            raise TooLargeError
    return "".join([*parts, text[end:]])


APPLY: dict[str, Callable[[re.Pattern[str], str, str, int], Any]] = {
    "found": _found,
    "first": _first,
    "every": _every,
    "sub": _sub,
}
"""What can be done with a pattern, a text, a replacement and the largest size of the result."""


def captured(match: re.Match[str]) -> str:
    """Return the first group that matched, else the whole match."""
    if not match.re.groups:
        return match.group()
    groups = [group for group in match.groups() if group is not None]
    return groups[0] if groups else match.group()


def read_frame(file: IO[bytes]) -> Any:
    """Return the next value of a pipe; None at its end."""
    size = int.from_bytes(file.read(_LENGTH_BYTES), "big")
    data = file.read(size)
    if not data or len(data) < size:  # the writer was killed
        return None
    return marshal.loads(data)  # nosec B302 # noqa: S302 (of our process)


def write_frame(file: IO[bytes], value: Any) -> None:
    """Write a value to a pipe."""
    data = marshal.dumps(value)
    file.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    file.flush()


def _answer(name: str, pattern: str, text: str, to: str, most: int) -> tuple[str, Any]:
    try:
        return "result", APPLY[name](re.compile(pattern), text, to, most)
    except TooLargeError:
        return "too large", most
    # What `re` raises for a replacement that names an unknown group.
    except (re.error, IndexError) as error:
        return "invalid", str(error)


def _main() -> None:
    while (request := read_frame(sys.stdin.buffer)) is not None:
        signal.alarm(_MOST_SECONDS)  # the signal ends the process, without any Python code
        write_frame(sys.stdout.buffer, _answer(*request))
        signal.alarm(0)


if __name__ == "__main__":
    _main()

"""The process that applies patterns: requests and answers, without anything but Python."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from registry.mapping import regex_worker
from registry.mapping.regex_worker import APPLY, TooLargeError, read_frame, write_frame


def answers(*requests: tuple[str, str, str, str, int]) -> list[Any]:
    pipe = io.BytesIO()
    for request in requests:
        write_frame(pipe, request)
    command = [sys.executable, "-I", "-S", regex_worker.__file__]
    done = subprocess.run(command, input=pipe.getvalue(), capture_output=True, check=True)
    out = io.BytesIO(done.stdout)
    return [read_frame(out) for _ in requests] + [read_frame(out)]


def test_requests_are_answered_in_order() -> None:
    assert answers(
        ("found", "b", "abc", "", 99),
        ("first", "(b)|c", "ac", "", 99),
        ("first", "x", "ac", "", 99),
        ("every", "(a)|c", "a\ud800c", "", 99),
        ("sub", "a", "aé", r"<\g<0>>", 99),
        ("sub", "a", "a", r"\3", 99),
        ("every", "a", "a" * 99, "", 9),
    ) == [
        ("result", True),
        ("result", "c"),
        ("result", None),
        ("result", ["a", "c"]),
        ("result", "<a>é"),
        ("invalid", "invalid group reference 3 at position 1"),
        ("too large", 9),
        None,
    ]


def test_an_answer_that_is_cut_is_none() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, ("result", "text"))
    assert read_frame(io.BytesIO(pipe.getvalue()[:-1])) is None


def test_it_ends_by_itself_when_nobody_is_left_to_kill_it() -> None:
    pipe = io.BytesIO()
    write_frame(pipe, ("found", "(a+)+$", "a" * 60 + "b", "", 99))
    code = "from registry.mapping import regex_worker as w; w._MOST_SECONDS = 1; w._main()"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pipe.getvalue(), check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (-signal.SIGALRM, b"")


@pytest.mark.parametrize("to", ["", "x", r"[\1]", r"\g<0>\\", "\\n"])
@pytest.mark.parametrize("pattern", ["(a)", "(a*)", "", "(b)|a", "$"])
def test_a_replacement_is_that_of_re_however_it_is_counted(pattern: str, to: str) -> None:
    compiled, text = re.compile(pattern), "aab a"
    if r"\1" in to and not compiled.groups:
        return
    expected = compiled.sub(to, text)
    assert APPLY["sub"](compiled, text, to, 10**6) == expected
    assert APPLY["sub"](compiled, text, to, len(text) + len(to) * 9 + 9) == expected
    with pytest.raises(TooLargeError):
        APPLY["sub"](compiled, text, "x" * 30, 20)

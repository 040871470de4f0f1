"""Patterns mean what they mean to `re`, and none runs without end."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.mapping import regex, regex_worker
from registry.mapping.regex import MAX_PATTERN, Pattern, no_warnings
from registry.mapping.regex_worker import APPLY

ROOT = Path(__file__).parents[2]
SLOW = r"^(a+)+$"
EVIL = "a" * 40 + "b"


def patterns_of(value: Any) -> Iterator[str]:
    """Yield the patterns in a manifest."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("regex", "pattern") and isinstance(item, str):
                yield item
            yield from patterns_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from patterns_of(item)


SHIPPED = sorted(
    {
        pattern
        for file in [*ROOT.glob("registry/**/*.yaml"), *ROOT.glob("examples/**/*.yaml")]
        for text in [file.read_text(encoding="utf-8")]
        if "regex" in text or "pattern" in text
        for pattern in patterns_of(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    }
)
PARTS = ["a", "b", ".", r"\d", "[ab]", "[^a]", r"\s", "^", "$", "(a)", "(a|b)", "(?=a)", r"\b"]
PATTERNS = st.lists(
    st.tuples(st.sampled_from(PARTS), st.sampled_from(["", "*", "+", "?", "*?", "{2}", "{1,3}"])),
    max_size=4,
).map(lambda parts: "".join(part + repeat for part, repeat in parts))
TEXTS = st.text("ab1 \n{}\\é", max_size=20)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let patterns take a second."""
    monkeypatch.setattr(regex, "SECONDS", 1.0)


def compiled(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None


def agrees(text: str, value: str) -> None:
    pattern, expected = Pattern(text), re.compile(text)
    match = expected.search(value)
    captured = [
        next((g for g in m.groups() if g is not None), m[0]) for m in expected.finditer(value)
    ]
    for direct in (-1, 1 << 30):  # in the other process, and in this one
        pattern.longest_direct = direct
        assert pattern.found(value) is (match is not None)
        assert pattern.every(value) == captured
        assert pattern.first(value) == (captured[0] if captured else None)
        assert pattern.sub(value, r"<\g<0>>") == expected.sub(r"<\g<0>>", value)


@pytest.mark.parametrize("text", SHIPPED)
@settings(max_examples=5, deadline=None)
@given(value=TEXTS)
def test_shipped_patterns_mean_the_same(text: str, value: str) -> None:
    agrees(text, value)


@settings(max_examples=60, deadline=None)
@given(text=PATTERNS.filter(lambda text: compiled(text) is not None), value=TEXTS)
def test_patterns_mean_the_same(text: str, value: str) -> None:
    agrees(text, value)


@pytest.mark.parametrize(
    "text",
    [
        SLOW,
        "(a|a)*$",
        "(a|aa)+$",
        "(.*a){20}$",
        "(?:(?:(?:){1000}){1000}){1000}b",
        r"(?=(a+)+$)",
        r"(a*)*\1$",
        r"(?>(a|a)+c)",
        r"(?:(a|a)+c|b)d",
    ],
)
def test_a_pattern_that_takes_long_is_an_error(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "SECONDS", 0.25)
    value = "a" * 5000 + "b"
    with pytest.raises(MappingError) as caught:
        Pattern(text).found(value)
    assert f"the pattern {text!r} takes more than 0.25 s (does it repeat what" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("a+b", "(a*)b", "a{1000}b", ".*.*.*b", "a{3,}?b", "^.*a.*a.*b"),
        *("a*+b", "(?:a*c?)*+b", "(?:(?:a|aa)c?){2}+b"),
    ],
)
def test_few_steps_are_few(text: str) -> None:
    """No text of the length that is searched in this process takes long, and some are."""
    pattern = Pattern(text)
    assert pattern.longest_direct >= 100
    start = time.process_time()
    re.search(text, "a" * min(pattern.longest_direct, 1 << 20))
    assert time.process_time() - start < 5


@pytest.mark.usefixtures("short")
def test_the_next_text_is_searched_after_one_took_long() -> None:
    pattern = Pattern(SLOW)
    with pytest.raises(MappingError):
        pattern.found(EVIL)
    assert pattern.found("aaa") is True
    assert pattern.found("aab") is False


def test_a_forked_process_has_its_own(tmp_path: Path) -> None:
    pattern = Pattern(SLOW)
    assert pattern.found("aaa")
    child = os.fork()
    if child == 0:
        (tmp_path / "found").write_text(str([pattern.found("aa"), pattern.found("ab")]))
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "found").read_text() == "[True, False]"
    assert [pattern.found("b"), pattern.found("a")] == [False, True]


def kill_process() -> None:
    running = regex._PROCESS._running
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)


def test_a_process_that_was_killed_is_started_again() -> None:
    pattern = Pattern(SLOW)
    assert pattern.found("aaa")
    kill_process()
    assert pattern.found("aaa")


def test_a_process_that_is_killed_at_work_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_and_kill(file: Any, value: Any) -> None:
        write_frame(file, value)
        kill_process()

    write_frame = regex_worker.write_frame
    monkeypatch.setattr(regex_worker, "write_frame", write_and_kill)
    with pytest.raises(MappingError, match=r"process that applies the pattern .* was ended"):
        Pattern(SLOW).found(EVIL)
    monkeypatch.undo()
    assert Pattern(SLOW).found("aaa")


def test_an_interrupt_of_this_process_does_not_reach_the_other_one() -> None:
    assert Pattern(SLOW).found("aaa")
    running = regex._PROCESS._running
    assert running is not None
    assert os.getpgid(running.pid) == running.pid


def test_a_pattern_does_not_warn() -> None:
    # Python warns of `[[`; warnings are errors in tests.
    pattern = Pattern("[[a]+b")
    for direct in (-1, 1 << 30):
        pattern.longest_direct = direct
        assert pattern.first("x[ab") == "[ab"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(", "not a regular expression: missing )"),
        ("a{99999999999}", "not a regular expression: the repetition number is too large"),
        ("(" * 900 + ")" * 900, "not a regular expression: "),
        ("a" * (MAX_PATTERN + 1), "the pattern has more than 2,000 characters"),
    ],
)
def test_patterns_that_can_t_be_compiled_are_errors(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        Pattern(text)


def test_repeats_in_repeats_compile_in_no_time() -> None:
    start = time.process_time()
    Pattern("((a{1000}){1000}){1000}")
    assert time.process_time() - start < 1


@pytest.mark.parametrize("direct", [-1, 1 << 30])
def test_what_a_pattern_gives_is_limited(direct: int) -> None:
    pattern = Pattern("x")
    pattern.longest_direct = direct
    with pytest.raises(
        MappingError, match="the pattern 'x' gives more than 268,435,456 characters"
    ):
        pattern.sub("x" * 1000, "y" * 1_000_000)
    with pytest.raises(MappingError, match=r"can't substitute .*invalid group reference 2"):
        pattern.sub("x", r"\2")


def test_the_process_answers_for_all_functions() -> None:
    assert set(APPLY) == {"found", "first", "every", "sub"}


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

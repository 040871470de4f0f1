"""The network policy decides by the error, the deadline and the bytes that arrived."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from registry.errors import AccessError, SourceError
from registry.progress import Deadline, Progress
from registry.sources.retry import (
    Meter,
    NetworkPolicy,
    causes,
    connection_failure,
    describe_failure,
    is_transient,
    network_policy,
    retry_after,
    status_of,
    with_retries,
)

POLICY = NetworkPolicy(read_seconds=10, lowest_rate=100, attempts=3, longest_pause=0.2)


class AnswerError(Exception):
    """Stands for an error of aiohttp with a status and headers."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__("x")
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class BotoError(Exception):
    """Stands for an error of botocore."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__("x")
        named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": named}}


class ClientPayloadError(Exception):
    """Has the name of aiohttp's error for a body that ends early."""


class ClientConnectorError(OSError):
    """Has the name of aiohttp's error for a connection that is refused."""


def failing(times: int, error: Callable[[], Exception]) -> Callable[[], str]:
    """Return a function that fails so many times, then returns."""
    left = iter(range(times))

    def attempt() -> str:
        if next(left, None) is not None:
            raise error()
        return "done"

    return attempt


def transient(seconds: float | None = 0.01) -> SourceError:
    error = SourceError("https://host/a: the server answered 503")
    error.transient, error.retry_after = True, seconds
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        *((AnswerError(status), True) for status in (408, 425, 429, 500, 502, 503, 504)),
        *((AnswerError(status), False) for status in (400, 401, 403, 404, 501)),
        (BotoError(503), True),
        (BotoError(404), False),
        *((error(), True) for error in (TimeoutError, ConnectionResetError, BrokenPipeError)),
        (ClientPayloadError(), True),
        *((error(), False) for error in (ClientConnectorError, ConnectionRefusedError, ValueError)),
    ],
)
def test_only_failures_that_may_pass_are_transient(error: Exception, expected: bool) -> None:
    outer = OSError("x")
    outer.__cause__ = error
    assert is_transient(error) is is_transient(outer) is expected
    assert describe_failure(SourceError("x"), outer).transient is expected


def test_the_status_is_taken_from_the_error_or_its_causes() -> None:
    outer = OSError("x")
    outer.__cause__ = BotoError(500)
    assert status_of(outer) == 500
    assert list(causes(outer)) == [outer, outer.__cause__]
    circle = ValueError()
    circle.__cause__ = circle
    assert list(causes(circle)) == [circle]
    assert status_of(AnswerError(200)) is None
    assert status_of(OSError("x")) is None


@pytest.mark.parametrize("kind", [AnswerError, BotoError])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *(("7", 7), ("86400", 86400), ("9" * 400, 10**12 - 1)),
        *((formatdate(1030, usegmt=True), 30), (formatdate(900, usegmt=True), 0)),
        *(("soon", None), ("-5", None), ("", None)),
    ],
)
def test_retry_after_is_a_number_or_a_date(kind: Any, given: str, expected: float | None) -> None:
    assert retry_after(kind(503, Retry_After=given), now=lambda: 1000) == expected
    assert retry_after(OSError()) is None


def test_a_failure_that_passes_is_repeated() -> None:
    seen: list[Progress] = []
    attempt = failing(2, lambda: transient(0.1))
    assert with_retries(attempt, Deadline(60), report=seen.append, policy=POLICY) == "done"
    note = "attempt {} of 3, a pause of 0 s: https://host/a: the server answered 503"
    assert seen == [Progress("wait", 0, note=note.format(number)) for number in (2, 3)]


def test_the_last_error_says_how_often_and_how_long_it_was_tried() -> None:
    with pytest.raises(SourceError) as caught:
        with_retries(failing(9, transient), Deadline(60), policy=POLICY)
    assert caught.value.attempts == 3
    assert str(caught.value) == (
        "https://host/a: the server answered 503, 3 attempts in 0 s (try again later)"
    )


@pytest.mark.parametrize("error", [AccessError("no"), SourceError("no"), ValueError("no")])
def test_other_errors_are_not_repeated(error: Exception) -> None:
    with pytest.raises(type(error), match=r"^no$"):
        with_retries(failing(1, lambda: error), Deadline(60), policy=POLICY)


def test_what_was_given_up_inside_is_not_tried_again() -> None:
    made: list[int] = []

    def inner() -> None:
        made.append(1)
        raise transient()

    def outer() -> None:
        with_retries(inner, Deadline(60), policy=POLICY)

    with pytest.raises(SourceError, match="503, 3 attempts in 0 s"):
        with_retries(outer, Deadline(60), policy=POLICY)
    assert len(made) == 3


def test_an_absurd_pause_is_capped() -> None:
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r"; the server asks to wait 86,400 s \(try again later"):
        with_retries(failing(9, lambda: transient(86400)), Deadline(60), policy=POLICY)
    assert 0.4 <= time.monotonic() - begun < 30


def test_the_deadline_ends_pauses_and_attempts() -> None:
    begun = time.monotonic()
    with pytest.raises(SourceError, match="2 attempts"):
        with_retries(failing(9, lambda: transient(60)), Deadline(0.5))
    assert time.monotonic() - begun < 30


def test_attempts_count_anew_after_progress() -> None:
    deadline, made = Deadline(60), list[int]()

    def attempt() -> None:
        made.append(1)
        if len(made) < 8:
            deadline.progress()
        raise transient(0.01)

    # The seventh is the last that made progress: two more are made.
    with pytest.raises(SourceError, match=", 9 attempts in 0 s"):
        with_retries(attempt, deadline, policy=POLICY)


def test_a_transfer_below_the_lowest_rate_has_failed() -> None:
    now, deadline = [0.0], Deadline(60)
    meter = Meter("https://host/a", deadline, POLICY, clock=lambda: now[0])
    for position in range(1, 10):
        now[0] += 1
        meter.add(1, position)
    now[0] += 1
    with pytest.raises(SourceError, match="host/a: only 10 bytes arrived in 10 s") as caught:
        meter.add(1, 10)
    assert caught.value.transient
    assert deadline.progressed == 0


def test_only_new_bytes_at_the_lowest_rate_are_progress() -> None:
    now, deadline = [0.0], Deadline(60)
    meter = Meter("https://host/a", deadline, POLICY, clock=lambda: now[0])
    meter.add(1000, 1000)
    assert deadline.progressed == 1
    meter.restart()
    meter.add(1000, 1000)  # the same bytes in another attempt
    assert deadline.progressed == 1
    meter.add(1000, 1001)  # and one that is new
    assert deadline.progressed == 1
    meter.add(1000, 2001)
    assert deadline.progressed == 2


def test_time_outs_are_settings_and_never_beyond_the_deadline() -> None:
    assert network_policy({}) == NetworkPolicy()
    policy = network_policy({"REGISTRY_READ_TIMEOUT": "2"})
    assert (policy.read_seconds, policy.connect_seconds) == (2, 2)
    policy = network_policy({"REGISTRY_READ_TIMEOUT": "20", "REGISTRY_DEADLINE": "5"})
    assert (policy.read_seconds, policy.connect_seconds) == (5, 5)
    assert network_policy({"REGISTRY_DEADLINE": "0"}) == NetworkPolicy()


@pytest.mark.parametrize(
    ("protocol", "variable"),
    [("https", "SSL_CERT_FILE"), ("s3", "AWS_CA_BUNDLE"), ("s3a", "AWS_CA_BUNDLE")],
)
def test_the_advice_for_a_certificate_is_what_the_client_reads(
    protocol: str, variable: str
) -> None:
    error = OSError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
    assert f"{variable} names a file" in str(connection_failure(error, "h", protocol=protocol))

"""One policy for all requests: how long to wait for an answer, what to repeat, when to give up.

    answer = with_retries(lambda: request(…), context.deadline, report=context.report)

An attempt raises a SourceError; `describe_failure` has noted on it whether another attempt may
succeed. A transfer of bytes counts them with a `Meter`, which ends an attempt that is too slow.
`connection_failure` says what to check where a server was not reached.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from registry.errors import SourceError, count_text
from registry.progress import Deadline, Progress, Report, silent
from registry.settings import deadline_seconds, read_timeout

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = [
    "PROXY_LOGIN",
    "SIGN_IN",
    "Meter",
    "NetworkPolicy",
    "Unreached",
    "causes",
    "connection_failure",
    "describe_failure",
    "hub_host",
    "is_transient",
    "network_policy",
    "passing_error",
    "retry_after",
    "short_error",
    "status_of",
    "with_retries",
]

Result = TypeVar("Result")

SIGN_IN = (
    "a proxy, or a network with a sign-in page, may have answered in its place: open the URL in a"
    " browser"
)
# Not the option: some commands lack it, and Python has an argument.
_OFFLINE = "REGISTRY_OFFLINE=1 uses what is cached"
# By name, as the modules of the clients are slow to import.
_PROXY_ERRORS = frozenset(
    {"ClientProxyConnectionError", "ClientHttpProxyError", "ProxyConnectionError", "ProxyError"}
)
_UNREACHED = frozenset(
    {"ClientConnectorDNSError", "ClientConnectorError", "ConnectError", "EndpointConnectionError"}
)
# Clients put the error of the system into their own as text.
_NO_SUCH_NAME = re.compile(r"Name or service not known|nodename nor servname|name resolution")
_REFUSED = re.compile(r"Connection refused|Connect call failed")

# Request timeout, too early, too many requests. Of the 5xx, two say that it will always be so.
_TRANSIENT_STATUSES = frozenset({408, 425, 429})
_FINAL_STATUSES = frozenset({501, 505})
# Errors of clients for an answer that did not come, or ended early; by name, because their modules
# are slow to import. A refused connection and an unknown host are not among them: those say that
# nobody is there, and offline that should be known at once.
_TRANSIENT_TYPES = (TimeoutError, ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
_TRANSIENT_ERRORS = frozenset(
    {
        # aiohttp
        "ClientPayloadError",
        "ServerDisconnectedError",
        # botocore
        "ConnectTimeoutError",
        "ConnectionClosedError",
        "IncompleteReadError",
        "ReadTimeoutError",
        "ResponseStreamingError",
        # httpx2
        "ConnectTimeout",
        "PoolTimeout",
        "ReadError",
        "ReadTimeout",
        "RemoteProtocolError",
        "WriteError",
        "WriteTimeout",
        # http.client, urllib3
        "IncompleteRead",
        "ProtocolError",
    }
)


class Unreached(NamedTuple):
    """What kept a request from its server."""

    what: str
    check: str
    """What to do."""
    is_setting: bool = False
    """Whether a setting of this machine is wrong: waiting for the network is of no use."""

    def __str__(self) -> str:
        return f"{self.what} ({self.check})"


PROXY_LOGIN = Unreached(
    "the proxy asks for a login, 407",
    "put it into HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT",
    is_setting=True,
)


class NetworkPolicy(Struct, frozen=True, kw_only=True):
    """How long one request may take, and how often it is made."""

    connect_seconds: float = 30.0
    """Until a connection is made."""
    read_seconds: float = 60.0
    """Without a byte. Over as long a time, the lowest rate is averaged."""
    lowest_rate: int = 1024
    """Bytes per second; an attempt that is slower has failed."""
    attempts: int = 6
    """How often a request is made without progress in between."""
    longest_pause: float = 300.0
    """Seconds, whatever a server asks for."""


def network_policy(environ: Mapping[str, str] = os.environ) -> NetworkPolicy:
    """Return the policy, with the limits of REGISTRY_READ_TIMEOUT and REGISTRY_DEADLINE."""
    seconds = float(read_timeout(environ))
    # No attempt may outlive the deadline for all of them; 0 means that there is only one.
    seconds = min(seconds, deadline_seconds(environ) or seconds)
    default = NetworkPolicy()
    connect = min(default.connect_seconds, seconds)
    return NetworkPolicy(connect_seconds=connect, read_seconds=seconds)


def with_retries(
    attempt: Callable[[], Result],
    deadline: Deadline,
    *,
    report: Report = silent,
    policy: NetworkPolicy | None = None,
) -> Result:
    """Return the result of `attempt`; repeat it after an error that may pass.

    Args:
        attempt: Makes the request.
        deadline: When to give up; it is later after progress, and attempts count anew.
        report: Called during a pause.
        policy: How often to try.

    Raises:
        SourceError: the last error; `attempts` and `elapsed` say how long it was tried.
    """
    import tenacity  # only requests need it

    count = _Count(policy or network_policy(), deadline, report)
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_may_pass),
        stop=count.stop,
        wait=count.wait,
        before_sleep=count.pause,
        sleep=lambda _: None,  # `pause` has slept, and knows why
        reraise=True,
    )
    begun = time.monotonic()
    try:
        return retrying(attempt)
    except SourceError as error:
        if error.transient and not error.attempts:
            error.give_up(retrying.statistics["attempt_number"], time.monotonic() - begun)
        raise


def _may_pass(error: BaseException) -> bool:
    # What was given up inside of `attempt` is not tried again as often.
    return isinstance(error, SourceError) and error.transient and not error.attempts


class _Count:
    """Counts the attempts since there was progress; `stop`, `wait` and a pause of tenacity."""

    def __init__(self, policy: NetworkPolicy, deadline: Deadline, report: Report) -> None:
        import tenacity

        self._policy = policy
        self._deadline = deadline
        self._report = report
        self._seen = deadline.progressed
        # Random, so that the workers of a cluster do not all come back at once.
        self._jitter = tenacity.wait_random_exponential(multiplier=1, max=60)

    def wait(self, state: RetryCallState) -> float:
        """Return the seconds before the next attempt; tenacity calls this before `stop`."""
        if self._deadline.progressed != self._seen:
            self._seen, state.attempt_number = self._deadline.progressed, 1
        error = state.outcome.exception() if state.outcome else None
        requested = error.retry_after if isinstance(error, SourceError) else None
        pause = requested * random.uniform(1, 1.1) if requested else float(self._jitter(state))
        return min(pause, self._policy.longest_pause, self._deadline.remaining)

    def stop(self, state: RetryCallState) -> bool:
        """Return whether there is no further attempt."""
        last = state.attempt_number >= self._policy.attempts
        return last or self._deadline.remaining <= 0

    def pause(self, state: RetryCallState) -> None:
        """Sleep, and report each second why; that also lets an interrupt end the pause."""
        error = state.outcome.exception() if state.outcome else None
        begun, seconds = time.monotonic(), state.upcoming_sleep
        number = f"{state.attempt_number + 1} of {self._policy.attempts}"
        note = f"attempt {number}, a pause of {seconds:.0f} s: {error}"
        while (waited := time.monotonic() - begun) < seconds:
            self._report(Progress("wait", int(waited), note=note))
            time.sleep(min(1.0, seconds - waited))


class Meter:
    """Counts the bytes of one transfer, over all of its attempts.

    Only bytes beyond those of earlier attempts, and at the lowest rate at least, are progress.
    """

    def __init__(
        self,
        where: str,
        deadline: Deadline,
        policy: NetworkPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where = where
        self._deadline = deadline
        self._policy = policy
        self._clock = clock
        self._furthest = 0
        self.restart()

    def restart(self) -> None:
        """Begin an attempt."""
        self._since, self._bytes, self._new = self._clock(), 0, 0

    def add(self, count: int, position: int) -> None:
        """Note `count` bytes that end at a position of the file.

        Raises:
            SourceError: too few have arrived for too long.
        """
        self._bytes += count
        self._new += max(0, position - max(self._furthest, position - count))
        self._furthest = max(self._furthest, position)
        seconds, policy = self._clock() - self._since, self._policy
        enough = policy.lowest_rate * policy.read_seconds
        if self._bytes >= enough:
            if self._new >= enough:
                self._deadline.progress()
            self.restart()
        elif seconds >= policy.read_seconds:
            arrived = count_text(self._bytes, "byte")
            raise passing_error(f"{self._where}: only {arrived} arrived in {seconds:.0f} s")


def passing_error(message: str) -> SourceError:
    """Return an error after which the same request may succeed."""
    error = SourceError(message)
    error.transient = True
    return error


def short_error(name: str, found: int, expected: int | None) -> SourceError:
    """Return the error for a body that ended early; `found` and `expected` are bytes."""
    return passing_error(f"{name}: the transfer gave {found:,} of {expected:,} bytes")


def describe_failure(ours: SourceError, error: BaseException) -> SourceError:
    """Note on our error whether the failure may pass, and what the server says about it."""
    ours.transient = is_transient(error)
    ours.retry_after = retry_after(error) if ours.transient else None
    return ours


def is_transient(error: BaseException) -> bool:
    """Return whether the same request may succeed later."""
    status = status_of(error)
    if status is not None:
        lasting = status < 500 or status in _FINAL_STATUSES
        return status in _TRANSIENT_STATUSES or not lasting
    return any(
        type(link).__name__ in _TRANSIENT_ERRORS or isinstance(link, _TRANSIENT_TYPES)
        for link in causes(error)
    )


def retry_after(error: BaseException, *, now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that a server asks to wait: Retry-After, as a number or a date."""
    given = next(filter(None, map(_retry_header, causes(error))), "").strip()
    if given.isascii() and given.isdecimal():
        # What has more digits is no time at all, and float would be infinite.
        return float(given[:12])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - now())
    except (ValueError, OverflowError):
        return None


def _retry_header(error: BaseException) -> str:
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore
        return str(
            response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
        )
    headers = getattr(error, "headers", None) or getattr(response, "headers", None)
    return str(headers.get("Retry-After") or "") if isinstance(headers, Mapping) else ""


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its chain of causes."""
    seen = set()
    while error is not None and id(error) not in seen:  # a library can make a circle
        yield error
        seen.add(id(error))
        error = error.__cause__ or error.__context__


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status of an error of aiohttp, botocore or the Hub, or of its causes."""
    for link in causes(error):
        response = getattr(link, "response", None)
        if isinstance(response, dict):  # botocore
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        else:
            status = getattr(link, "status", None) or getattr(response, "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status
    return None


def connection_failure(error: BaseException, host: str, *, protocol: str) -> Unreached | None:
    """Return what kept a request from its server and what to check; None for another error.

    Args:
        error: The error of a client.
        host: Where the request was to go, for the message.
        protocol: Of the location: http, https, s3, s3a or hf.
    """
    chain = list(causes(error))
    names = {type(link).__name__ for link in chain}
    text = " ".join(map(str, chain))
    is_proxy_error = not names.isdisjoint(_PROXY_ERRORS)
    if status_of(error) == 407 or (is_proxy_error and "407" in text):
        return PROXY_LOGIN
    if "CERTIFICATE_VERIFY_FAILED" in text:
        variable = "AWS_CA_BUNDLE" if protocol in ("s3", "s3a") else "SSL_CERT_FILE"
        hint = f"if a proxy inspects TLS, {variable} names a file with its authority's certificate"
        return Unreached(f"the certificate of {host} is not trusted", hint, is_setting=True)
    if not is_proxy_error:  # it may be about a host that a redirect leads to
        named = [getattr(one, "host", None) for one in chain if type(one).__name__ in _UNREACHED]
        host = next((one for one in named if isinstance(one, str) and one not in host), host)
    proxy, unused = _proxies(host, protocol)
    is_unreached = not names.isdisjoint(_UNREACHED)
    if is_proxy_error or (is_unreached and proxy):
        hint = f"check HTTPS_PROXY; NO_PROXY lists hosts that need none; {_OFFLINE}"
        what = f"the proxy{proxy and ' ' + proxy} can't be reached, or refuses {host}"
        return Unreached(what, hint, is_setting=is_proxy_error)
    if _NO_SUCH_NAME.search(text) or "gaierror" in names:
        what, check = f"no address is known for {host}", "the network and the name"
    elif is_unreached and _REFUSED.search(text):
        what, check = f"{host} refuses the connection", "the port, and that a server runs there"
    elif is_unreached:
        what, check = f"{host} can't be reached", "the network"
    else:
        return None
    return Unreached(what, "; ".join(filter(None, [f"check {check}", unused, _OFFLINE])))


def hub_host(environ: Mapping[str, str] = os.environ) -> str:
    """Return the host of the Hub."""
    return _host_of(environ.get("HF_ENDPOINT") or "https://huggingface.co")


def _proxies(host: str, protocol: str) -> tuple[str, str]:
    """Return the proxy on the way to a host, and a remark if the client does not use it."""
    from urllib.request import getproxies_environment, proxy_bypass

    found = getproxies_environment()
    proxy = found.get("https") or found.get("all") or found.get("http") or ""
    if not proxy or proxy_bypass(host):
        return "", ""
    # aiohttp, the client of plain URLs, reads no variable unless a manifest says so.
    if protocol not in ("http", "https"):
        return _host_of(proxy), ""
    how = "`fs_options: {client_kwargs: {trust_env: true}}`"
    return "", f"HTTPS_PROXY is used for URLs only with {how}"


def _host_of(url: str) -> str:
    """Return the host and port in a URL, without a user and a password."""
    return urlsplit(url if "//" in url else f"//{url}").netloc.rpartition("@")[2]

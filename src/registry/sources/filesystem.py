"""Access local and remote files through fsspec; errors are translated, without secrets."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import urlsplit

from registry.base.fs import is_disk_fault
from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.boundary.checks import check_location
from registry.boundary.secrets import read_secrets, redact
from registry.errors import (
    AccessError,
    MissingDependencyError,
    OfflineError,
    ReachError,
    RegistryError,
    SourceError,
    close_matches,
)
from registry.installation import install_advice
from registry.progress import Deadline, Report, silent
from registry.settings import deadline_seconds
from registry.sources.retry import (
    SIGN_IN,
    causes,
    connection_failure,
    describe_failure,
    hub_host,
    is_transient,
    network_policy,
    status_of,
    with_retries,
)

if TYPE_CHECKING:
    import fsspec

__all__ = [
    "FilesystemPool",
    "causes",
    "changed_error",
    "filesystem",
    "limited_requests",
    "missing_argument",
    "missing_error",
    "offline_error",
    "option_errors",
    "public_cause",
    "similar_file",
    "source_errors",
    "status_of",
]

# Errors of remote file systems besides OSError: protocol → module and class names. The modules
# are imported only when an error has to be translated, because they are slow to import.
_S3_ERRORS = (
    "aiohttp:ClientError",  # while a body is read
    "botocore.exceptions:BotoCoreError",
    "botocore.exceptions:ClientError",
    "botocore.parsers:ResponseParserError",
)
_ERRORS: dict[str, tuple[str, ...]] = {
    "http": ("aiohttp:ClientError",),
    "https": ("aiohttp:ClientError",),
    "s3": _S3_ERRORS,
    "s3a": _S3_ERRORS,
    # The first is the base of what the Hub's client raises.
    "hf": ("httpx2:HTTPError", "registry.sources.hub.client:PassingError"),
}
# Codes of S3 that say why access is refused, and what to do.
_S3_CODES = {
    "ExpiredToken": "the token has expired (get new credentials)",
    "InvalidToken": "the session token is invalid (get new credentials)",
    "InvalidAccessKeyId": "no such access key (check the credentials)",
    "SignatureDoesNotMatch": "the secret key does not belong to the access key (check both)",
    "RequestTimeTooSkewed": "this machine's clock is wrong (set it)",
}
_CREDENTIAL_ERRORS = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError"}
)
Result = TypeVar("Result")

_FRESH = frozenset({"http", "https", "s3", "s3a"})


class FilesystemPool:
    """The file systems of one source: one per protocol, created on first use."""

    def __init__(
        self,
        options: Mapping[str, Any],
        boundary: Boundary,
        deadline: Deadline | None = None,
        report: Report = silent,
    ) -> None:
        self.options = options
        self.boundary = boundary
        self.deadline = deadline or Deadline(deadline_seconds())
        """How long requests may be repeated."""
        self._report = report
        self._by_protocol: dict[str, Any] = {}

    def of(self, location: Location) -> Any:
        """Return the file system of a location, which makes each request once.

        Raises:
            ReachError: the boundary excludes the location or an option.
        """
        protocol = location.protocol
        if protocol in self._by_protocol:
            check_location(location, self.options, self.boundary)
        else:
            self._by_protocol[protocol] = filesystem(location, self.options, self.boundary)
        return self._by_protocol[protocol]

    @contextlib.contextmanager
    def requests(self, location: Location) -> Iterator[None]:
        """Translate the errors of requests for a location, and limit those of the Hub's client."""
        with source_errors(location), limited_requests(location, self.deadline):
            yield

    def ask(self, location: Location, question: Callable[[Any, Location], Result]) -> Result:
        """Return what `question` finds out with a file system, repeated if need be."""

        def attempt() -> Result:
            with option_errors(location), limited_requests(location, self.deadline):
                return question(self.of(location), location)

        answer = with_retries(attempt, self.deadline, report=self._report)
        self.deadline.progress()
        return answer


def filesystem(
    location: Location, options: Mapping[str, Any], boundary: Boundary, *, attempts: int = 1
) -> fsspec.AbstractFileSystem:
    """Return the file system of a remote location, made with the options and `{env: NAME}` in them.

    The client of S3 makes a request up to `attempts` times by itself.

    Raises:
        ReachError: the boundary excludes the location or an option.
        AccessError: a variable is not set.
    """
    check_location(location, options, boundary)
    import fsspec

    protocol = location.protocol
    given = read_secrets(options, location=location)
    with option_errors(location):
        if protocol in ("http", "https"):
            given = _http_options(given, boundary)
        if protocol in ("s3", "s3a"):
            given = _s3_options(given, attempts)
        # fsspec would answer from an old listing.
        fresh: dict[str, Any] = {"use_listings_cache": False} if protocol in _FRESH else {}
        found = fsspec.filesystem(protocol, skip_instance_cache=True, **{**fresh, **given})
        # s3fs repeats what its client has repeated.
        if protocol in ("s3", "s3a"):
            found.retries = 1
        return found


def _http_options(options: Mapping[str, Any], boundary: Boundary) -> dict[str, Any]:
    import aiohttp

    from registry.boundary.http_client import client_opener  # aiohttp is slow to import

    # Limits silence, not the transfer: aiohttp's default is five minutes for all of it.
    policy = network_policy()
    timeout = aiohttp.ClientTimeout(
        total=None, sock_connect=policy.connect_seconds, sock_read=policy.read_seconds
    )
    client = {"timeout": timeout, **(options.get("client_kwargs") or {})}
    opener = {"get_client": client_opener(options, boundary)}
    return {**opener, **options, "client_kwargs": client}


def _s3_options(options: Mapping[str, Any], attempts: int) -> dict[str, Any]:
    from registry.boundary.s3_client import LimitedSession  # the client is slow to import

    policy = network_policy()
    config = {
        "http_session_cls": LimitedSession,
        "connect_timeout": policy.connect_seconds,
        "read_timeout": policy.read_seconds,
        "retries": {"mode": "standard", "total_max_attempts": attempts},
        **(options.get("config_kwargs") or {}),
    }
    return {**options, "config_kwargs": config}


@contextlib.contextmanager
def option_errors(location: Location) -> Iterator[None]:
    """Translate the errors of a file system for invalid options or URLs to a SourceError.

    Use it only around the first call of a client, which checks the options: a later TypeError is
    a bug.
    """
    try:
        with source_errors(location):
            yield
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, RegistryError):
            raise
        if isinstance(error, json.JSONDecodeError):  # of an API; options and URLs are no JSON
            what = "the server's answer is not JSON, as one of the Hub is (check HF_ENDPOINT)"
            raise SourceError(f"{location.public}: {what}") from error
        message = f"invalid location or fs_options: {_redacted(error, location)}"
        _raise_as(SourceError(f"{location.public}: {message}"), error, location)


@contextlib.contextmanager
def source_errors(location: Location) -> Iterator[None]:
    """Translate the errors of a file system to a SourceError that names the location."""
    try:
        yield
    except ReachError as error:
        if str(error).startswith(location.public):
            raise
        raise ReachError(f"{location.public}: {error}") from None
    except RegistryError:
        raise
    except ImportError as error:
        protocol = location.protocol
        how = install_advice(error) or error
        message = f"{location.public}: reading {protocol}:// needs another package: {how}"
        raise MissingDependencyError(message) from error
    except _error_types(location.protocol) as error:
        # s3fs raises EIO for unknown responses, which is also the errno of a broken disk.
        if is_disk_fault(error) and status_of(error) is None:
            raise
        ours = _refused_by_hub(error, location) or _translated(error, location)
        ours = describe_failure(ours, error)
        _raise_as(ours, error, location)
    except ValueError as error:
        if not str(error).startswith("Protocol not known"):
            raise
        raise SourceError(f"{location.public}: {error}") from error


def _error_types(protocol: str) -> tuple[type[Exception], ...]:
    names = [name.split(":") for name in _ERRORS.get(protocol, ())]
    return (OSError, *(getattr(importlib.import_module(module), name) for module, name in names))


def _raise_as(ours: SourceError, error: BaseException, location: Location) -> NoReturn:
    # Of a missing file of this machine, the message says all.
    says_all = isinstance(error, FileNotFoundError) and location.is_local
    raise ours from (None if says_all or location.has_secret else public_cause(error))


def public_cause(error: BaseException) -> BaseException | None:
    """Return an error to raise another one from; None if the traceback would show a secret."""
    # Errors of clients contain URLs, and may contain what a client was given.
    texts = "".join("".join(format_exception_only(link)) for link in causes(error))
    return error if redact(texts) == texts else None


def _refused_by_hub(error: BaseException, location: Location) -> SourceError | None:
    if location.protocol != "hf":
        return None
    from registry.sources.hub.client import refusal_of  # imports the client, which is slow

    return refusal_of(error, location.public)


def _translated(error: BaseException, location: Location) -> SourceError:
    shown = location.public
    # File systems take a refusal for a missing file.
    refusal = next((link for link in causes(error) if isinstance(link, ReachError)), None)
    if refusal is not None:
        return ReachError(f"{shown}: {refusal}")
    if type(error).__name__ == "TooManyRedirects":
        return SourceError(f"{shown}: the server redirects without end ({SIGN_IN})")
    protocol = location.protocol
    if protocol in _ERRORS and (
        failure := connection_failure(error, _host(location), protocol=protocol)
    ):
        return SourceError(f"{shown}: {failure}")
    kinds = {kind.__name__ for link in causes(error) for kind in type(link).__mro__}
    # aiohttp's error for an answer that it can't parse has the status 400, as if that was sent.
    if kinds >= {"ClientResponseError", "BadHttpMessage"}:
        hint = "check the URL and its port, and any proxy on the way"
        return SourceError(f"{shown}: the server's answer is not valid HTTP ({hint})")
    status = status_of(error)
    if not kinds.isdisjoint(_CREDENTIAL_ERRORS):
        return AccessError(f"{shown}: no credentials (set them in fs_options or the environment)")
    code = _s3_code(error)
    if code in _S3_CODES:
        return AccessError(f"{shown}: access refused: {_S3_CODES[code]}")
    if isinstance(error, PermissionError) and location.is_local:
        hint = "check the permissions of the file and of its folders"
        return AccessError(f"{shown}: can't be read: {error.strerror} ({hint})")
    if status in (401, 403) or isinstance(error, PermissionError):
        reason = f"the server answered {status}" if status else _redacted(error, location)
        return AccessError(f"{shown}: access refused: {reason} (check the credentials)")
    if status not in (None, 404):
        # Of those that may pass, the end of the message says so after the last attempt.
        hint = "" if is_transient(error) else " (check the URL)"
        return SourceError(f"{shown}: the server answered {status}{hint}")
    if isinstance(error, FileNotFoundError) or status == 404:
        no_bucket = code == "NoSuchBucket"
        return missing_error(
            location, "no such bucket (check its name)" if no_bucket else "no such file"
        )
    key = shown.partition("://")[2].partition("/")[2]
    # A bucket alone is a folder, too.
    if isinstance(error, IsADirectoryError) or (not key and "ParamValidationError" in kinds):
        return SourceError(f"{shown}: is a folder, not a file (a glob such as '*.csv' reads many)")
    if is_transient(error):
        late = any("Time" in type(link).__name__ for link in causes(error))
        what = "the server did not answer in time" if late else "the connection was lost"
        return SourceError(f"{shown}: {what}")
    return SourceError(f"{shown}: {_redacted(error, location)}")


def _host(location: Location) -> str:
    """Return where the requests for a location go, for messages."""
    protocol = location.protocol
    if protocol == "hf":
        return hub_host()
    if protocol in ("s3", "s3a"):
        return "the S3 endpoint"
    return urlsplit(location).netloc.rpartition("@")[2]


@contextlib.contextmanager
def limited_requests(location: Location, deadline: Deadline) -> Iterator[None]:
    """Limit the requests of the Hub's client; other file systems have options for that."""
    if location.protocol != "hf":
        yield
        return
    from registry.sources.hub.client import limited_client  # imports the client, which is slow

    # Bytes that are requested again are no progress: the transfer counts those that are new.
    with limited_client(location.public, Deadline(deadline.seconds)):
        yield


def missing_error(location: Location, message: str) -> SourceError:
    """Return the error for a location that no file matches."""
    error = SourceError(f"{location.public}: {message}")
    if location.is_path:
        error.missing_path = location.local_path()
    return error


def missing_argument(error: SourceError) -> SourceError:
    """Return the error for a local file that a call names and that is missing, with what to do.

    The call is where the reader looks, and no frame below it says more.
    """
    if not error.missing_path:
        return error
    near = similar_file(error.missing_path)
    here = f"a relative path starts at the working folder, {os.getcwd()}"
    return SourceError(f"{error} ({f'did you mean {near}?' if near else here})")


def similar_file(path: str) -> str:
    """Return the file of the same folder with the most similar name; empty if there is none."""
    folder = os.path.dirname(path)
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    return next(
        (os.path.join(folder, one) for one in close_matches(os.path.basename(path), names)), ""
    )


def offline_error(location: Location, *, damaged: bool = False) -> OfflineError:
    """Return the error for a source that can't be read without a request."""
    where = "damaged in the cache" if damaged else "not in the cache"
    return OfflineError(
        f"{location.public}: {where}, and requests are disabled (offline; run"
        " `registry sync` once while online)"
    )


def changed_error(location: Location) -> SourceError:
    """Return the error for a file that changed after it was pinned."""
    return SourceError(f"{location.public}: changed while it was read (try again)")


def _s3_code(error: BaseException) -> str:
    """Return the code of an error of S3, such as ExpiredToken; "" if it has none."""
    for link in causes(error):
        response = getattr(link, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
    return ""


def _redacted(error: BaseException, location: Location) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    query = urlsplit(location).query if not location.is_local else ""
    text = text.replace(location, location.public)
    return redact(text.replace(query, "…") if query else text)

"""Errors of file systems are translated: what, where and what to do, without secrets."""

from __future__ import annotations

import errno
import importlib
import traceback

import aiohttp
import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.boundary.secrets import read_secrets
from registry.errors import AccessError, MissingDependencyError, OfflineError, SourceError
from registry.sources.filesystem import (
    FilesystemPool,
    changed_error,
    offline_error,
    option_errors,
    source_errors,
)

BOTO = importlib.import_module("botocore.exceptions")  # it has no types
URL = "https://host/a.csv"
SECRET = "https://user:pass@host/a.csv?sig=hidden"


def client_error(status: int, code: str = "x") -> Exception:
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    error: Exception = BOTO.ClientError(answer, "GetObject")
    return error


class StatusError(aiohttp.ClientError):
    """Stands for the answer of a server."""

    def __init__(self, status: int) -> None:
        super().__init__("x")
        self.status = status


@pytest.mark.parametrize(
    ("location", "error", "expected", "message"),
    [
        ("/a.csv", FileNotFoundError("x"), SourceError, "/a.csv: no such file"),
        ("/a", IsADirectoryError("x"), SourceError, "/a: is a folder, not a file (a glob such as '*.csv' reads many)"),
        ("/a.csv", PermissionError(13, "Permission denied"), AccessError, "/a.csv: can't be read: Permission denied (check the permissions of the file and of its folders)"),
        ("/a.csv", OSError("x"), SourceError, "/a.csv: OSError: x"),
        (URL, TimeoutError(), SourceError, f"{URL}: the server did not answer in time"),
        (URL, ConnectionResetError("x"), SourceError, f"{URL}: the connection was lost"),
        (URL, StatusError(401), AccessError, f"{URL}: access refused: the server answered 401 (check the credentials)"),
        (URL, StatusError(404), SourceError, f"{URL}: no such file"),
        (URL, StatusError(503), SourceError, f"{URL}: the server answered 503"),
        (URL, aiohttp.TooManyRedirects(None, ()), SourceError, f"{URL}: the server redirects without end (a proxy, or a network with a sign-in page, may have answered in its place: open the URL in a browser)"),  # type: ignore[arg-type]
        ("s3://b/a", client_error(403), AccessError, "s3://b/a: access refused: the server answered 403 (check the credentials)"),
        ("s3://b/a", client_error(400, "ExpiredToken"), AccessError, "s3://b/a: access refused: the token has expired (get new credentials)"),
        ("s3://b", BOTO.ParamValidationError(report="Key"), SourceError, "s3://b: is a folder, not a file (a glob such as '*.csv' reads many)"),
        ("s3://b/a", client_error(404, "NoSuchBucket"), SourceError, "s3://b/a: no such bucket (check its name)"),
        ("s3://b/a", client_error(503, "SlowDown"), SourceError, "s3://b/a: the server answered 503"),
        ("s3://b/a", aiohttp.ClientPayloadError("x"), SourceError, "s3://b/a: the connection was lost"),
        ("s3://b/a", BOTO.NoCredentialsError(), AccessError, "s3://b/a: no credentials (set them in fs_options or the environment)"),
        ("gs://b/a", ImportError("gcsfs"), MissingDependencyError, "gs://b/a: reading gs:// needs another package: gcsfs"),
        ("x://b/a", ValueError("Protocol not known: x"), SourceError, "x://b/a: Protocol not known: x"),
    ],
)  # fmt: skip
def test_an_error_says_what_and_where(
    location: str, error: Exception, expected: type[SourceError], message: str
) -> None:
    with pytest.raises(expected) as caught, source_errors(Location(location)):
        raise error
    assert (type(caught.value), str(caught.value)) == (expected, message)
    # Of a missing file of this machine, the message says all.
    assert caught.value.__cause__ is (None if message == "/a.csv: no such file" else error)


def test_no_secret_is_in_a_message_or_a_traceback() -> None:
    with pytest.raises(SourceError) as caught, source_errors(Location(SECRET)):
        raise OSError(f"can't read {SECRET}, sig=hidden")
    printed = "".join(traceback.format_exception(caught.value, chain=True))
    shown = printed.partition("registry.errors")[2]
    assert "https://host/a.csv?…" in shown
    assert "hidden" not in str(caught.value)
    assert "pass" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_value_of_a_variable_is_in_a_message_or_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QA", "hunter2-hunter2")
    read_secrets({"key": {"env": "QA"}}, location=Location(URL))
    error = OSError("refused")
    error.__cause__ = ValueError("sent hunter2-hunter2")
    with pytest.raises(SourceError) as caught, source_errors(Location(URL)):
        raise error
    printed = "".join(traceback.format_exception(caught.value, chain=True))
    assert "hunter2" not in printed.partition("registry.errors")[2]
    assert caught.value.__cause__ is None
    with pytest.raises(SourceError, match="OSError: sent …"), source_errors(Location(URL)):
        raise OSError("sent hunter2-hunter2")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "x"), ValueError("x"), KeyError("x")])
def test_errors_that_are_not_of_the_source_are_not_translated(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, source_errors(Location(URL)):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("error", [TypeError("x"), AttributeError("x"), ValueError("x")])
def test_invalid_options_are_a_source_error(error: Exception) -> None:
    message = r"a\.csv: invalid location or fs_options: \w+: x"
    with pytest.raises(SourceError, match=message), option_errors(Location(URL)):
        raise error
    ours = AccessError("ours")
    with pytest.raises(AccessError) as caught, option_errors(Location(URL)):
        raise ours
    assert caught.value is ours


def test_errors_of_locations_have_no_secrets() -> None:
    offline, changed = offline_error(Location(SECRET)), changed_error(Location(SECRET))
    assert isinstance(offline, OfflineError)
    assert str(offline).startswith(
        "https://host/a.csv?…: not in the cache, and requests are disabled"
    )
    assert str(changed) == "https://host/a.csv?…: changed while it was read (try again)"


def test_a_file_system_is_created_once_with_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = FilesystemPool({"key": {"env": "QA_KEY"}, "secret": "s"}, UNBOUNDED)
    with pytest.raises(AccessError, match="the environment variable QA_KEY is not set"):
        pool.of(Location("s3://b/x"))
    monkeypatch.setenv("QA_KEY", "k")
    assert pool.of(Location("s3://b/x")) is pool.of(Location("s3://other/y"))
    assert pool.of(Location("s3://b/x")).key == "k"

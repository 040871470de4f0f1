"""Requests to the Hugging Face Hub, with its errors translated to ours."""

from __future__ import annotations

import contextlib
import json
import posixpath
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from registry.base.fs import is_disk_fault
from registry.base.locations import Location
from registry.boundary.secrets import redact
from registry.errors import (
    AccessError,
    RegistryError,
    SourceError,
    close_matches,
    list_names,
)
from registry.manifest.source import is_commit
from registry.manifest.source_models import data_file_list
from registry.progress import silent
from registry.sources.filesystem import offline_error, public_cause
from registry.sources.retry import (
    SIGN_IN,
    causes,
    connection_failure,
    describe_failure,
    hub_host,
    is_transient,
    status_of,
    with_retries,
)

if TYPE_CHECKING:
    from registry.manifest.source_models import HfSource
    from registry.progress import Deadline, Report

__all__ = [
    "ask_hub",
    "hub_errors",
    "is_unknown_revision",
    "no_such",
    "request_commit",
    "wrong_answer",
]

_MOST_NAMES = 10
Result = TypeVar("Result")


def ask_hub(
    request: Callable[[], Result], where: str, deadline: Deadline, *, report: Report
) -> Result:
    """Return the result of calls to the Hub's client; repeat them if they fail for now.

    `report` is called during the pauses in between.

    Raises:
        SourceError: they fail for good, or too often.
    """
    from registry.sources.hub.client import limited_client  # imports the client, which is slow

    def attempt() -> Result:
        with hub_errors(where), limited_client(where, deadline):
            return request()

    return with_retries(attempt, deadline, report=report)


def request_commit(
    source: HfSource, revision: str | None, deadline: Deadline, *, report: Report = silent
) -> str:
    """Request the commit of a revision from the Hub.

    Raises:
        SourceError: no such repository, revision or data file, or `datasets` can't read it.
    """
    from huggingface_hub import HfApi

    def request() -> tuple[str | None, list[str]]:
        info = HfApi().dataset_info(source.path, revision=revision)
        return info.sha, [file.rfilename for file in info.siblings or ()]

    try:
        sha, files = ask_hub(request, source.path, deadline, report=report)
    except SourceError as error:
        if not is_unknown_revision(error):
            raise
        raise _no_revision(source.path, str(revision), deadline, report) from error
    if sha is None or (is_commit(revision) and sha != revision):
        raise SourceError(f"{source.path}: requested {revision}, the Hub returned {sha}")
    _check_files(source, files)
    return sha


def is_unknown_revision(error: BaseException) -> bool:
    """Return whether the Hub has the repository, but not the revision."""
    return any(type(link).__name__ == "RevisionNotFoundError" for link in causes(error))


def no_such(kind: str, name: str, known: Sequence[str], *, plural: str) -> str:
    """Return a message for a name that does not exist, with those that do, similar ones first."""
    similar = close_matches(name, known)
    ordered = [*similar, *(one for one in known if one not in similar)]
    guess = f"did you mean '{similar[0]}'? " if similar else ""
    there = f"{plural}: {list_names(ordered, _MOST_NAMES)}" if known else f"it has no {plural}"
    return f"no {kind} '{name}' ({guess}{there})"


def _no_revision(repository: str, revision: str, deadline: Deadline, report: Report) -> SourceError:
    from huggingface_hub import HfApi

    def request() -> list[str]:
        refs = HfApi().list_repo_refs(repository, repo_type="dataset")
        return [ref.name for ref in (*refs.branches, *refs.tags)]

    try:
        known = ask_hub(request, repository, deadline, report=report)
    except SourceError:  # the list only helps, and what is wrong is known
        return wrong_answer(f"{repository}: no revision '{revision}'")
    message = no_such("revision", revision, known, plural="branches and tags")
    return wrong_answer(f"{repository}: {message}")


def _check_files(source: HfSource, files: Sequence[str]) -> None:
    """Raise an error if the repository needs a script, or lacks a file that the source names."""
    script = f"{source.path.rpartition('/')[2]}.py"
    if script in files:
        raise SourceError(
            f"{source.path}: this dataset needs its own Python script, {script}, which is never run"
            " (give a `revision` with Parquet files, such as refs/convert/parquet, or read its data"
            " files with `type: json`, `csv` or `parquet`)"
        )
    folder = posixpath.normpath(source.data_dir or ".")
    for name in data_file_list(source.data_files):
        path = posixpath.normpath(posixpath.join(folder, name))
        if not set(name) & set("*?[]:") and path not in files:
            known = [file for file in files if not posixpath.basename(file).startswith(".")]
            raise wrong_answer(f"{source.path}: {no_such('file', path, known, plural='files')}")


def wrong_answer(message: str) -> SourceError:
    """Return the error for a source that answers, but does not have what is asked for."""
    error = SourceError(message)
    error.is_answer = True
    return error


@contextlib.contextmanager
def hub_errors(where: str) -> Iterator[None]:
    """Translate errors of `datasets` and of the Hub's client to a SourceError."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    from registry.sources.hub.client import PassingError

    known = (HfHubHTTPError, httpx2.HTTPError, PassingError, OSError, ValueError, RuntimeError)
    try:
        yield
    except Exception as error:
        if not isinstance(error, known) and not _is_of_datasets(error):
            raise
        # What our own code raised inside `datasets`, such as the check of a downloaded file.
        ours = next((link for link in causes(error) if isinstance(link, RegistryError)), None)
        if ours is error:
            raise
        if ours is not None:
            raise ours from None
        full = next(filter(is_disk_fault, causes(error)), None)
        if full is not None and status_of(error) is None:
            raise full from None
        raise describe_failure(_translated(error, where), error) from public_cause(error)


def _is_of_datasets(error: BaseException) -> bool:
    """Return whether `datasets` raised it; where it is not imported, it raises nothing."""
    exceptions = sys.modules.get("datasets.exceptions")
    return exceptions is not None and isinstance(error, exceptions.DatasetsError)


def _translated(error: Exception, where: str) -> SourceError:
    from huggingface_hub.errors import OfflineModeIsEnabled

    from registry.sources.hub.client import refusal_of

    status = status_of(error)
    if any(isinstance(link, OfflineModeIsEnabled) for link in causes(error)):
        return offline_error(Location(where))
    if failure := connection_failure(error, hub_host(), protocol="hf"):
        return SourceError(f"{where}: {failure}")
    if any(isinstance(link, json.JSONDecodeError) for link in causes(error)):
        return SourceError(f"{where}: the answer of {hub_host()} is not the Hub's ({SIGN_IN})")
    if refused := refusal_of(error, where):
        return refused
    if status in (401, 403):
        return AccessError(f"{where}: the Hub refuses access: {status} (check HF_TOKEN)")
    if status not in (None, 404):
        # Of those that may pass, the end of the message says so after the last attempt.
        hint = "" if is_transient(error) else " (check the path and HF_ENDPOINT)"
        return SourceError(f"{where}: the Hub answered {status}{hint}")
    if _is_of_datasets(error) and not isinstance(error, OSError):
        return SourceError(f"{where}: {redact(str(error.__cause__ or error))}")
    if isinstance(error, (ValueError, RuntimeError)):
        return SourceError(f"{where}: {redact(str(error))}")
    return SourceError(f"{where}: {redact(f'{type(error).__name__}: {error}')}")

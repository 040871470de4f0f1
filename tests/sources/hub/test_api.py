"""Requests to the Hub, and the messages of its errors."""

from __future__ import annotations

import pytest
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError
from huggingface_hub.errors import OfflineModeIsEnabled

from registry.errors import AccessError, OfflineError, SourceError
from registry.manifest.source_models import HfSource
from registry.sources.hub.api import hub_errors, request_commit
from registry.sources.pins import PinnedFile, SourcePin
from tests.servers.hub import HubEmulator

SOURCE = HfSource(path="org/api", split="test")
LINES = {"test.jsonl": b'{"q": 1}\n'}


def test_a_revision_is_resolved_to_a_commit(hub: HubEmulator) -> None:
    commit = hub.commit("org/api", LINES)
    assert request_commit(SOURCE, None) == commit
    assert request_commit(SOURCE, "main") == commit
    assert request_commit(SOURCE, commit) == commit


def test_a_missing_revision_is_an_error(hub: HubEmulator) -> None:
    hub.commit("org/api", LINES)
    source = HfSource(path="org/api", split="test", revision="v9")
    with pytest.raises(SourceError, match=r"^org/api: no revision 'v9'$"):
        request_commit(source, "v9")


def test_a_missing_repository_may_be_private(hub: HubEmulator) -> None:
    with pytest.raises(AccessError, match="no such dataset, or a private one"):
        request_commit(HfSource(path="org/nowhere", split="test"), None)


# `datasets` reads no file of such a repository, also if it is named.
@pytest.mark.parametrize("data_files", [None, "x.json"])
def test_a_script_is_never_run(hub: HubEmulator, data_files: str | None) -> None:
    hub.commit("org/script", {"script.py": b"raise SystemExit\n"})
    source = HfSource(path="org/script", split="test", data_files=data_files)
    with pytest.raises(
        SourceError, match=r"needs its own Python script, script\.py, which is never"
    ):
        request_commit(source, None)


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [(403, AccessError, r"refuses access: 403 \(check HF_TOKEN\)"), (500, SourceError, r"answered 500 \(try again later\)")],
)  # fmt: skip
def test_a_status_says_what_to_do(
    hub: HubEmulator, status: int, error: type[SourceError], message: str
) -> None:
    hub.commit("org/api", LINES)
    hub.fail_with(status)
    with pytest.raises(error, match=message):
        request_commit(SOURCE, None)


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (OfflineModeIsEnabled("x"), OfflineError, "org/api: not in the cache"),
        (ConnectionError("x"), SourceError, "org/api: ConnectionError: x"),
        (ValueError("no split"), SourceError, "org/api: no split"),
        (DatasetGenerationError("bad"), SourceError, "org/api: bad"),
        (DatasetNotFoundError("gone"), SourceError, "org/api: DatasetNotFoundError: gone"),
    ],
)
def test_errors_of_datasets_are_translated(
    raised: Exception, expected: type[SourceError], message: str
) -> None:
    with pytest.raises(expected, match=message) as caught, hub_errors(SOURCE):
        raise raised
    assert caught.value.__cause__ is raised


def test_an_error_names_the_files_without_secrets() -> None:
    pinned = SourcePin({}, (PinnedFile("https://u:p@host/a.json?sig=1", "", 1),))
    message = r"^org/api of https://host/a\.json\?…: x$"
    with pytest.raises(SourceError, match=message), hub_errors(SOURCE, pinned):
        raise ValueError("x")

"""Requests to the Hub, and the messages of its errors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from datasets.exceptions import DatasetGenerationError, DatasetNotFoundError
from huggingface_hub.errors import OfflineModeIsEnabled

from registry.base.locations import Location
from registry.errors import AccessError, OfflineError, SourceError
from registry.manifest.source_models import HfSource
from registry.progress import Deadline
from registry.sources.files import pin_files
from registry.sources.hub.api import hub_errors, request_commit
from registry.sources.pins import SourceContext
from registry.sources.retry import hub_host
from tests.servers.hub import HubEmulator

SOURCE = HfSource(path="org/api", split="test")
LINES = {"test.jsonl": b'{"q": 1}\n'}


def test_a_revision_is_resolved_to_a_commit(hub: HubEmulator) -> None:
    commit = hub.commit("org/api", LINES)
    assert request_commit(SOURCE, None, Deadline(0)) == commit
    assert request_commit(SOURCE, "main", Deadline(0)) == commit
    assert request_commit(SOURCE, commit, Deadline(0)) == commit


def test_a_missing_revision_is_an_error(hub: HubEmulator) -> None:
    hub.commit("org/api", LINES)
    source = HfSource(path="org/api", split="test", revision="v9")
    hub.tag("org/api", "v8", hub.commit("org/api", LINES, branch="next"))
    expected = (
        r"^org/api: no revision 'v9' \(did you mean 'v8'\? branches and tags: v8, main, next\)$"
    )
    with pytest.raises(SourceError, match=expected):
        request_commit(source, "v9", Deadline(0))


def test_a_missing_repository_may_be_private(hub: HubEmulator) -> None:
    with pytest.raises(AccessError, match="no such dataset, or a private one"):
        request_commit(HfSource(path="org/nowhere", split="test"), None, Deadline(0))


@pytest.mark.parametrize("file", ["test.jsonl", "*.jsonl"])
def test_a_file_of_a_repository_is_refused_as_the_repository_is(
    hub: HubEmulator, context: SourceContext, file: str
) -> None:
    hub.commit("org/gated", LINES)
    hub.gate("org/gated")
    refusals = {
        "org/gated": (AccessError, f"gated .* terms at {hub_host()}/datasets/org/gated with"),
        "org/nowhere": (AccessError, "no such dataset, or a private one"),
        "org/api@gone": (SourceError, "no such revision"),
    }
    hub.commit("org/api", LINES)
    for repository, (error, message) in refusals.items():
        location = f"hf://datasets/{repository}/{file}"
        with pytest.raises(error, match=f"^{re.escape(location)}: .*{message}"):
            pin_files([Location(location)], {}, context)


# `datasets` reads no file of such a repository, also if it is named.
@pytest.mark.parametrize("keys", [{}, {"data_files": "x.json"}, {"trust": True}])
def test_a_script_is_never_run(hub: HubEmulator, keys: dict[str, Any]) -> None:
    hub.commit("org/script", {"script.py": b"raise SystemExit\n"})
    source = HfSource(path="org/script", split="test", **keys)
    with pytest.raises(
        SourceError, match=r"needs its own Python script, script\.py, which is never"
    ):
        request_commit(source, None, Deadline(0))


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [(403, AccessError, r"refuses access: 403 \(check HF_TOKEN\)"), (500, SourceError, r"answered 500, 1 attempt in 0 s \(try again later\)")],
)  # fmt: skip
def test_a_status_says_what_to_do(
    hub: HubEmulator, status: int, error: type[SourceError], message: str
) -> None:
    hub.commit("org/api", LINES)
    hub.fail_with(status)
    with pytest.raises(error, match=message):
        request_commit(SOURCE, None, Deadline(0))


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
    with pytest.raises(expected, match=message) as caught, hub_errors(SOURCE.path):
        raise raised
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"data_files": "tets.jsonl"}, r"no file 'tets\.jsonl' \(did you mean 'test\.jsonl'\?"),
        ({"data_files": {"test": ["test.jsonl", "b"]}}, r"no file 'b' \(files: test\.jsonl\)"),
        ({"data_files": "test.jsonl", "data_dir": "x"}, r"no file 'x/test\.jsonl'"),
    ],
)
def test_a_missing_file_is_an_error_with_those_that_there_are(
    hub: HubEmulator, keys: dict[str, Any], message: str
) -> None:
    hub.commit("org/api", LINES)
    with pytest.raises(SourceError, match=message):
        request_commit(HfSource(path="org/api", split="test", **keys), None, Deadline(0))
    present = HfSource(path="org/api", split="test", data_files="*.jsonl")
    assert request_commit(present, None, Deadline(0))


def test_an_error_of_our_own_code_inside_of_datasets_is_raised_as_it_is() -> None:
    ours = SourceError("a.parquet: damaged")
    outer = DatasetGenerationError("An error occurred")
    outer.__cause__ = ours
    with pytest.raises(SourceError) as caught, hub_errors("org/api"):
        raise outer
    assert caught.value is ours

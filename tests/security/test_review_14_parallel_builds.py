"""Row 14: a change of many datasets is built in parallel, and only where nothing is cached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.security.pull_request import PullRequest

COUNT = 24
NAMES = [f"d{number:02}" for number in range(COUNT)]
RECORDS = "i,q,a\n1,One?,x1\n2,Two?,x2\n3,Three?,x3\n"


def manifests(operation: str, more: str = "") -> dict[str, str | None]:
    return {
        f"m/{name}.yaml": (
            f"datasets:\n  {name}:\n    source: {{type: csv, path: data/{name}.csv}}\n"
            f"    fields: {{input: q, target: {{from: a, do: [{operation}]}}, id: i}}\n{more}"
        )
        for name in NAMES
    }


@pytest.fixture
def request_(tmp_path: Path) -> PullRequest:
    data = {f"data/{name}.csv": RECORDS.replace("x", name) for name in NAMES}
    base = {name: text or "" for name, text in manifests("upper").items()}
    index = {"datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n"}
    return PullRequest.make(tmp_path, {**index, **data, **base}, manifests("lower"))


def compared(request: PullRequest, *arguments: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return what was built, and the changes."""
    done = request.run("diff", *arguments, "--build", "--format", "json")
    assert done.code == 1, done.err
    return done.err.splitlines(), done.json["changes"]


def test_samples_are_the_same_with_any_number_of_jobs(
    request_: PullRequest, tmp_path: Path
) -> None:
    found = {}
    for jobs in ("1", "8"):
        request_.environment["REGISTRY_CACHE_DIR"] = str(tmp_path / f"cache-{jobs}")
        built, found[jobs] = compared(request_, "main", "--jobs", jobs)
        assert len(built) == len(set(built)) == 2 * COUNT
    assert found["1"] == found["8"]
    assert [change["name"] for change in found["8"]] == NAMES
    for change in found["8"]:
        chunks = change["samples"]["examples"][0]["fields"][0]["chunks"]
        assert chunks == [["-", f"{change['name'].upper()}1"], ["+", f"{change['name']}1"]]


def test_what_is_cached_is_not_built_again(request_: PullRequest) -> None:
    assert len(compared(request_, "main")[0]) == 2 * COUNT
    # The files of the base are in another temporary folder now.
    assert compared(request_, "main")[0] == []
    request_.push(manifests("lower", more="    limit: 2\n"))
    assert compared(request_, "main")[0] == [], "a view needs no samples of its own"


def test_samples_that_sync_has_built_are_not_built_again(request_: PullRequest) -> None:
    assert request_.run("sync").code == 0
    built, _ = compared(request_, "main")
    assert len(built) == COUNT
    assert not any("work tree" in line for line in built)


def test_one_dataset_that_fails_stops_no_other(request_: PullRequest) -> None:
    request_.push({"data/d03.csv": 'i,q,a\n1,"'})
    _, changes = compared(request_, "main")
    notes = {change["name"]: change["samples"]["note"] for change in changes}
    assert notes.pop("d03").startswith("not compared: ")
    assert set(notes.values()) == {"base and head are built for this"}

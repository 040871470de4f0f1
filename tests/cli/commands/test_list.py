"""`list`: what it prints, and how it treats broken manifests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.invocation import BAD_KEY, SYNTAX, Run, write
from tests.conftest import REPOSITORY

DEMO = ("demo-chat", "demo-mcq", "demo-mcq-small")


def test_table_has_names_tags_and_descriptions(run: Run, own: Path) -> None:
    result = run("list")
    assert (result.code, result.err) == (0, "")
    assert result.lines == [
        "dataset  tags         description",
        "qa       small, text  Questions.",
        "qa-one   small        Questions.",
    ]


def test_tags_and_root_select_datasets(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert [line.split()[0] for line in run("list", "--root", str(own)).lines[1:]] == [
        "qa",
        "qa-one",
    ]
    result = run("list", "--tag", "small", "--tag", "text", "--root", str(own / "datasets.yaml"))
    assert [line.split()[0] for line in result.lines[1:]] == ["qa"]


def test_json_has_the_descriptive_keys_and_no_path(run: Run, own: Path) -> None:
    assert run("list", "--json").json == [
        {
            "name": name,
            "description": "Questions.",
            "homepage": None,
            "license": None,
            "tags": tags,
        }
        for name, tags in (("qa", ["small", "text"]), ("qa-one", ["small"]))
    ]


@pytest.mark.parametrize("text", [BAD_KEY, SYNTAX], ids=["a bad key", "no YAML"])
def test_invalid_manifest_is_reported_and_the_rest_is_listed(
    run: Run, own: Path, text: str
) -> None:
    write(own, "broken", text)
    result = run("list")
    assert result.code == 1
    assert [line.split()[0] for line in result.lines[1:]] == ["qa", "qa-one"]
    assert result.err.startswith("error: m/broken.yaml:2:")


def test_built_in_datasets_are_listed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    result = run("list", "--tag", "demo")
    assert [line.split()[0] for line in result.lines[1:]] == list(DEMO)

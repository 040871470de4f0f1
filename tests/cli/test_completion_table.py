"""The table of completions is that of the commands, and knows what their parameters take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.cli import command
from registry.cli.completion import _TABLE
from registry.cli.completion_table import completion_table

TABLE = json.loads(completion_table(command))


def test_table_is_up_to_date_with_make_docs() -> None:
    assert _TABLE.read_text(encoding="utf-8") == completion_table(command)


@pytest.mark.parametrize(
    ("verb", "option", "takes"),
    [
        ("list", "--tag", "tag"),
        ("list", "--json", None),
        ("preview", "--from", "file"),
        ("preview", "--seed", "text"),
        ("lock", "--upgrade", "dataset"),
        ("add", "--hf", "text"),
        ("sync", "--root", "file"),
        ("unbundle", "--root", "dir"),
    ],
)
def test_options_take_what_they_are_for(verb: str, option: str, takes: Any) -> None:
    assert TABLE["commands"][verb]["options"][option]["takes"] == takes


def test_arguments_are_datasets_files_or_values() -> None:
    def arguments(*verbs: str) -> list[tuple[Any, bool]]:
        found = TABLE
        for verb in verbs:
            found = found["commands"][verb]
        return [(one["takes"], one["many"]) for one in found["arguments"]]

    assert arguments("show") == [("dataset", False)]
    assert arguments("sync") == [("dataset", True)]
    assert arguments("cache", "clear") == [("dataset", True)]
    assert arguments("add") == [("text", False)]
    assert arguments("validate") == [("file", True)]
    assert arguments("schema") == [(["manifest", "index", "lock"], False)]


def test_every_verb_and_option_has_a_meaning() -> None:
    def check(data: Any) -> None:
        for inner in data.get("commands", {}).values():
            assert inner["help"]
            check(inner)
        assert all(one["help"] for one in data["options"].values())

    check(TABLE)

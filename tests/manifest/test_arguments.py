"""Invalid Python arguments for manifest keys are rejected with the schema's messages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from registry import map_fields
from registry.loaders import csv_dataset, hf_dataset, json_dataset
from registry.manifest.arguments import check_fields, source_from_arguments
from registry.manifest.source_models import CsvSource, HfSource


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"delimiter": ";;"}, "delimiter: must have at most 1 character, is ';;'"),
        ({"dialect": "tab"}, "dialect: 'tab' is not one of unix, excel, excel-tab (did you mean 'excel-tab'?)"),
        ({"fieldnames": [], "encoding": 5}, "encoding: must be a string, is 5; fieldnames: must not be empty"),
        ({"path": [""]}, "path.0: must not be empty"),
        ({"path": []}, "path: must not be empty"),
        ({"path": None}, "the key 'path' is missing (One path, a list, or a glob; local or a URL.)"),
        ({"skip_rows": -1}, "skip_rows: must be 0 or more, is -1"),
        ({"fs_options": ["anon"]}, "fs_options: must be a mapping, is ['anon']"),
        ({"fs_options": {"client": object()}, "delimiter": ""}, "delimiter: must not be empty"),
    ],
)  # fmt: skip
def test_every_invalid_key_of_a_source_is_reported(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        source_from_arguments(CsvSource, {"path": ["x.csv"], **keys})
    assert str(caught.value) == message


def test_none_selects_the_default() -> None:
    keys = {"path": "a/b", "split": "test", "name": None, "trust": None}
    assert source_from_arguments(HfSource, keys) == HfSource(path="a/b", split="test")


def test_file_system_options_may_be_arbitrary_objects() -> None:
    client = object()
    source = source_from_arguments(CsvSource, {"path": ["x"], "fs_options": {"client": client}})
    assert source.fs_options["client"] is client


def test_loader_raises_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^delimiter: must have at most 1 character"):
        csv_dataset("x.csv", delimiter="ab")
    with pytest.raises(ValueError, match=r"^path\.0: must be a string, is 5$"):
        json_dataset(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^the key 'split' is missing \(Split of"):
        hf_dataset("a/b", None)  # type: ignore[arg-type]


def test_value_rejected_by_the_model_but_not_the_schema_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.manifest.arguments.schema_errors", lambda *_: [])
    with pytest.raises(msgspec.ValidationError):
        source_from_arguments(CsvSource, {"path": 5})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": 5}, "field target: must be a string or a list or a mapping, is 5"),
        ({"target": {"from": "a", "do": [{"index": 1.0}]}}, "field target.do.0.index: must be an integer or a string or a mapping, is 1.0"),
        ({"choices": ("a", "b")}, "field choices: must be a string or a list or a mapping, is ('a', 'b')"),
        ({"id": {"hash": "q", "length": 65}}, "field id.length: must be 64 or less, is 65"),
        ({"target": {"const": {1: 2}}}, None),
        ({"target": {"const": float("nan")}}, None),
        ({"target": {"const": "\ud800"}}, None),
        ({"target": "a"}, None),
    ],
)  # fmt: skip
def test_fields_are_checked_as_in_a_manifest(fields: dict[str, Any], message: str | None) -> None:
    if message is None:
        check_fields(fields)
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        check_fields(fields)
    assert str(caught.value) == message


def test_map_fields_checks_its_argument() -> None:
    with pytest.raises(ValueError, match=r"^field metadata\.n\.length: must be 1 or more, is 0$"):
        map_fields({"metadata": {"n": {"hash": ["q"], "length": 0}}})


def test_deep_nesting_is_rejected_instead_of_overflowing_the_stack() -> None:
    deep: Any = "a"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match=r"^fields: nested too deeply to be checked$"):
        check_fields({"target": deep})

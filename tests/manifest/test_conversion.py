"""Keys that no spec can be made of: all that is wrong with them is found, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.loaders import csv_dataset
from registry.manifest.conversion import misfits
from registry.manifest.models import DatasetSpec, Join, View, to_spec
from registry.manifest.source_models import CsvSource, HfSource, to_source

SOURCE = {"type": "csv", "path": ["x"]}
SPEC = {"name": "d", "folder": Path(), "source": SOURCE}

INTEGER = "Input should be a valid integer"
TEXT = "Input should be a valid string"
EMPTY = "String should have at least 1 character"


def said(keys: Any, model: Any) -> list[str]:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(keys, model, dec_hook=to_source)
    return [f"{one.kind}: {one}" for one in misfits(keys, model)]


@pytest.mark.parametrize(
    ("keys", "model", "expected"),
    [
        ({"limit": 3.0, "seed": True}, View, [f"wrong: seed: {INTEGER}", f"wrong: limit: {INTEGER}"]),
        ({"limit": -1}, View, ["wrong: limit: Input should be greater than or equal to 0"]),
        ({"shuffle": 1}, View, ["wrong: shuffle: Input should be a valid boolean"]),
        ({"shufle": True}, View, ["unknown: shufle: Extra inputs are not permitted"]),
        ({"path": ["", 3]}, CsvSource, [f"wrong: path.0: {EMPTY}", f"wrong: path.1: {TEXT}"]),
        ({"path": []}, CsvSource, ["wrong: path: Value should have at least 1 item after validation, not 0"]),
        ({"path": "x"}, CsvSource, ["wrong: path: Input should be a valid list"]),
        ({"path": ["x"], "delimiter": ";;"}, CsvSource, ["wrong: delimiter: String should have at most 1 character"]),
        ({"path": ["x"], "dialect": "tab"}, CsvSource, ["wrong: dialect: Input should be 'excel', 'excel-tab' or 'unix'"]),
        ({"path": ["x"], "columns": {1: 2}}, CsvSource, [f"wrong: columns.1: {TEXT}"]),
        ({"type": "json", "path": ["x"]}, CsvSource, ["unknown: type: Extra inputs are not permitted"]),
        ({"path": "a", "split": "s", "data_files": {"s": [1]}}, HfSource, [f"wrong: data_files: {TEXT}"]),
        ({"on": "a"}, Join, ["missing: source: Field required", "missing: into: Field required"]),
        ({**SPEC, "source": {"path": "x"}}, DatasetSpec, ["wrong: source: Unable to extract tag using discriminator 'type'"]),
        ({**SPEC, "source": 1, "view": 2}, DatasetSpec, ["wrong: source: Input should be a valid dictionary", "wrong: view: Input should be a valid dictionary"]),
        ({**SPEC, "concat": [SOURCE, {"type": "cvs"}]}, DatasetSpec, ["wrong: concat.1: Input tag 'cvs' found using 'type' does not match any of the expected tags: 'csv', 'json', 'parquet', 'hf'"]),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_is_said(keys: Any, model: Any, expected: list[str]) -> None:
    assert said(keys, model) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([1.0, "", "a", "csv", "null"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from([*SPEC, "type", "path", "key", "on", "into"]), inner)
    ),
    max_leaves=4,
)
KEYS = [*DatasetSpec.__struct_fields__, "other"]


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
    st.dictionaries(st.sampled_from(CsvSource.__struct_fields__), VALUES, max_size=3),
    st.dictionaries(st.sampled_from(View.__struct_fields__), VALUES, max_size=3),
)
def test_there_is_a_misfit_where_no_spec_can_be_made_and_only_there(
    keys: dict[str, Any], source: dict[str, Any], view: dict[str, Any]
) -> None:
    keys = {**SPEC, "source": {**SOURCE, **source}, "view": view, **keys, "folder": Path()}
    try:
        to_spec(keys)
    except msgspec.ValidationError:
        assert list(misfits(keys, DatasetSpec))
    else:
        assert list(misfits(keys, DatasetSpec)) == []


def test_what_a_loader_is_given_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^delimiter: String should have at most 1 character; ") as caught:  # fmt: skip
        csv_dataset(str(tmp_path / "x.csv"), delimiter="ab", fieldnames=[])
    assert "fieldnames: Value should have at least 1 item" in str(caught.value)

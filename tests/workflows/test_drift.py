"""What differs between a source and what the manifest, the lockfile and `expect` say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.errors import (
    AccessError,
    DecodeError,
    ExpectationError,
    ManifestError,
    MissingDependencyError,
    Problem,
    RegistryError,
    SourceError,
)
from registry.manifest.models import DatasetSpec, to_spec
from registry.sources.facts import Missing
from registry.workflows.drift import changed_columns, drift_of, missing_part, wrong_count


def spec_of(**keys: Any) -> DatasetSpec:
    source = {"type": "hf", "path": "org/name", "split": "test"}
    return to_spec({"name": "d", "folder": Path("/"), "source": source, **keys})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ExpectationError("d: a target is blank"), "expect"),
        (ManifestError([Problem(message="no column x", file="m.yaml")]), "columns"),
        (DecodeError("not JSON", file="x"), "mapping"),
        (MissingDependencyError("x is not installed"), "package"),
        (AccessError("x: access refused"), "access"),
        (SourceError("x: no such file"), "source"),
    ],
)
def test_error_of_a_source_is_a_kind_of_drift(error: RegistryError, kind: str) -> None:
    assert drift_of(error, "d").kind == kind


def test_hint_of_an_error_is_not_followed_by_a_general_one() -> None:
    assert drift_of(SourceError("x: no such file (check it)"), "d").hint == ""
    assert drift_of(SourceError("x: no such file"), "d").hint == "correct `source` in the manifest"


@pytest.mark.parametrize(
    ("keys", "rows", "message"),
    [
        ({"expect": {"samples": 2}}, 3, "the source has 3 records, expect.samples says 2"),
        ({"expect": {"samples": 2}}, 2, None),
        ({"expect": {"samples": 2}}, None, None),
        ({"expect": {"samples": 2}, "on_duplicate": "drop"}, 3, None),
        ({"expect": {"samples": 2}, "where": {"from": "q", "equals": "a"}}, 3, None),
    ],
)
def test_number_of_records_that_can_not_give_the_samples(
    keys: dict[str, Any], rows: int | None, message: str | None
) -> None:
    found = [drift.message for drift in wrong_count(spec_of(**keys), rows, None)]
    assert found == ([] if message is None else [message])


def test_columns_that_are_gone_are_named_with_the_new_ones() -> None:
    (drift,) = changed_columns(["q", "a"], ["q", "gold"])
    assert drift.message == "columns are gone since it was locked: a; new: gold"
    assert list(changed_columns(["q"], ["q", "more"])) == []


def test_missing_split_is_named_with_those_there_are() -> None:
    missing = Missing(kind="split", name="tests", known=("test", "dev"))
    drift = missing_part(missing, spec_of().source)
    assert (drift.kind, drift.hint) == ("split", "did you mean 'test'?")
    assert drift.message.endswith("no split 'tests'; splits: test, dev")

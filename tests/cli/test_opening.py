"""A dataset is opened, or built, as the options say."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli.opening import open_dataset
from registry.errors import DatasetNotFoundError, LockStaleError, RegistryError
from tests.cli.invocation import write

OPTIONS = {"offline": None, "locked": None, "frozen": None, "as_json": True}


def test_dataset_is_built_and_comes_with_its_spec(own: Path) -> None:
    opened = open_dataset("qa", None, **OPTIONS)  # type: ignore[arg-type]
    assert (opened.spec.name, len(opened.result.dataset)) == ("qa", 3)
    assert opened.result.entry.meta["samples"] == 3


def test_errors_name_the_manifest(own: Path) -> None:
    text = "datasets: {bad: {source: {type: csv, path: qa.csv}, fields: {input: nothing}}}\n"
    write(own, "bad", text)
    with pytest.raises(RegistryError, match=r"m/bad\.yaml"):
        open_dataset("bad", None, **OPTIONS)  # type: ignore[arg-type]


def test_unknown_names_and_missing_pins_are_errors(own: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="qa"):
        open_dataset("qb", None, **OPTIONS)  # type: ignore[arg-type]
    with pytest.raises(LockStaleError):
        open_dataset("qa", None, **{**OPTIONS, "locked": True})  # type: ignore[arg-type]

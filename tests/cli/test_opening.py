"""A dataset is opened, or built, as the options say."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli.opening import open_dataset
from registry.cli.options import open_catalog
from registry.errors import DatasetNotFoundError, LockStaleError, RegistryError
from tests.cli.invocation import write


def test_dataset_is_built_and_comes_with_its_spec(own: Path) -> None:
    opened = open_dataset("qa", open_catalog(None), as_json=True)
    assert (opened.spec.name, len(opened.result.dataset)) == ("qa", 3)
    assert opened.result.entry.meta["samples"] == 3


def test_errors_name_the_manifest(own: Path) -> None:
    text = "datasets: {bad: {source: {type: csv, path: qa.csv}, fields: {input: nothing}}}\n"
    write(own, "bad", text)
    with pytest.raises(RegistryError, match=r"m/bad\.yaml"):
        open_dataset("bad", open_catalog(None), as_json=True)


def test_unknown_names_and_missing_pins_are_errors(own: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="qa"):
        open_dataset("qb", open_catalog(None), as_json=True)
    with pytest.raises(LockStaleError):
        open_dataset("qa", open_catalog(None, locked=True), as_json=True)

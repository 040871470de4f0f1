"""What a diff says of the other indexes of a repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from registry.diff.checkout import checkout_of, folder_checkout
from registry.diff.snapshots.contents import read_contents
from registry.diff.snapshots.nested_indexes import nested_indexes
from tests.git_repository import GitRepository

DATASET = "datasets: {d: {source: {type: json, path: d.jsonl}}}\n"
BASE = {
    "catalog/datasets.yaml": f"version: 1\n{DATASET}",
    "catalog/d.jsonl": '{"input": "x"}\n',
    "catalog/old/datasets.yaml": "version: 1\n",
}


def found(folder: Path, files: Mapping[str, str], *, revision: bool) -> list[str]:
    repository = GitRepository.make(folder / "repository", BASE)
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write(files)
    index = repository.folder / "catalog/datasets.yaml"
    base = read_contents(checkout_of("main", index, folder / "base"))
    if revision:
        repository.commit()
        head = checkout_of("topic", index, folder / "head")
    else:
        head = folder_checkout(index, "work tree")
    return sorted(one.name for one in nested_indexes(base, read_contents(head, index)))


CASES = {
    "below": ({"catalog/x/datasets.yaml": "version: 1\n"}, "x/datasets.yaml: added"),
    "beside": ({"y/datasets.yaml": "version: 1\n"}, "../y/datasets.yaml: added"),
    "in another case": ({"y/Datasets.YAML": "version: 1\n"}, "../y/Datasets.YAML: added"),
    "hidden": ({"catalog/.x/datasets.yaml": "version: 1\n"}, ".x/datasets.yaml: added"),
    "changed": (
        {"catalog/old/datasets.yaml": "version: 1\ntrust: ['a:b']\n"},
        "old/datasets.yaml: changed; permits trust: a:b",
    ),
    "invalid": (
        {"catalog/x/datasets.yaml": "version: ]\n"},
        "x/datasets.yaml: added; can't be read",
    ),
    "of its manifests": (
        {"y/datasets.yaml": "version: 1\ninclude: [m.yaml]\n", "y/m.yaml": DATASET},
        "../y/datasets.yaml: added; defines d, as the catalog does",
    ),
}


@pytest.mark.parametrize("revision", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_index_that_differs_is_described(tmp_path: Path, case: str, *, revision: bool) -> None:
    files, expected = CASES[case]
    assert found(tmp_path, files, revision=revision) == [expected]


def test_unchanged_ones_and_that_of_the_catalog_are_not(tmp_path: Path) -> None:
    changed = BASE["catalog/datasets.yaml"] + "trust: ['a:b']\n"
    assert found(tmp_path, {"catalog/datasets.yaml": changed}, revision=False) == []

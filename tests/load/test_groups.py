"""`get_group`: the datasets of the members, held to what the manifest declares."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from registry import (
    DatasetNotFoundError,
    ExpectationError,
    LockStaleError,
    ManifestError,
    get_dataset,
    get_group,
    list_groups,
)
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.load.call import OpenCatalog
from registry.load.groups import checked_group, group_digest
from registry.settings import Settings

CATALOG = """\
version: 1
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a, metadata: [topic, a]}
  first: {extends: qa, limit: 1}
groups:
  board: {datasets: [first, topics], weights: {topics: 3}}
  topics: {from: qa, by: topic, values: [x, y]}
  free: {from: qa, by: topic}
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "qa.csv").write_text("q,a,topic\nOne?,1,x\nTwo?,2,y\nThree?,3,x\n")
    (tmp_path / "datasets.yaml").write_text(CATALOG)
    return tmp_path


def test_members_are_datasets_over_one_file_of_samples(root: Path) -> None:
    assert list_groups(root=root) == ["board", "free", "topics"]
    group = get_group("board", root=root)
    inputs = {name: [one.input for one in dataset] for name, dataset in group.items()}
    assert inputs == {"first": ["One?"], "topics/x": ["One?", "Three?"], "topics/y": ["Two?"]}
    assert group.weights == pytest.approx({"first": 0.25, "topics/x": 0.375, "topics/y": 0.375})
    assert [one.name for one in group.values()] == ["first", "board/topics/x", "board/topics/y"]
    assert len(list((root / "cache").glob("*/samples/*"))) == 1, "all share one file"


def test_a_member_by_its_name_is_the_same_and_survives_pickling(root: Path) -> None:
    by_name = get_dataset("topics/x", root=root)
    member = get_group("topics", root=root)["x"]
    assert by_name.name == member.name == "topics/x"
    assert by_name.provenance == member.provenance
    copy = pickle.loads(pickle.dumps(by_name))
    assert ([one.input for one in copy], copy.name) == (["One?", "Three?"], "topics/x")
    assert len(get_dataset("topics", root=root)) == 3


def test_values_of_the_data_are_taken_where_none_are_declared(root: Path) -> None:
    free, declared = get_group("free", root=root), get_group("topics", root=root)
    assert list(free) == ["x", "y"]
    assert free.digest == declared.digest
    assert get_group("free", root=root, limit=1).digest == free.digest, "of all their samples"


@pytest.mark.parametrize("member", ["topics/x", "free/x"])
def test_a_group_may_have_one_value_of_another_group(root: Path, member: str) -> None:
    groups = f"  few: {{datasets: [{member}]}}\n  all: {{datasets: [few, free]}}\n"
    (root / "datasets.yaml").write_text(f"{CATALOG}{groups}")
    (few,) = get_group("few", root=root).values()
    assert [one.input for one in few] == ["One?", "Three?"]
    weights = {f"few/{member}": 1 / 2, "free/x": 1 / 4, "free/y": 1 / 4}
    assert get_group("all", root=root).weights == pytest.approx(weights)
    (root / "qa.csv").write_text("q,a,topic\nTwo?,2,y\n")
    message = "few: the data lacks x as `topic` (edit its `datasets`)"
    with pytest.raises(ExpectationError, match=re.escape(message)):
        get_group("few", root=root)


def test_the_digest_is_that_of_the_pins(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings.from_environment(root=root)
    group = Catalog.open(root).group("board")
    assert group_digest(group, OpenCatalog.of(settings).pins) is None
    assert main(["lock", "board", "--root", str(root)]) == 0
    digest = get_group("board", root=root).digest
    assert group_digest(group, OpenCatalog.of(settings).pins) == digest
    assert get_dataset("topics/x", root=root, locked=True).provenance.state == "verified"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("[x]", "topics: the data has y, which it does not declare as `topic` (edit its `values`)"),
        ("[x, y, z]", "topics: the data lacks z as `topic` (edit its `values`)"),
    ],
)
def test_other_values_than_the_declared_ones_are_an_error(
    root: Path, values: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "datasets.yaml").write_text(CATALOG.replace("[x, y]", values))
    with pytest.raises(ExpectationError) as caught:
        get_group("topics", root=root)
    assert str(caught.value) == message
    assert main(["sync", "topics", "--root", str(root)]) == 1
    assert message in capsys.readouterr().err


def test_a_call_selects_among_the_samples_of_a_member(root: Path) -> None:
    member = get_dataset("topics/x", root=root, only={"a": ["2", "3"]})
    assert [one.input for one in member] == ["Three?"]
    copy = pickle.loads(pickle.dumps(member))
    assert ([one.input for one in copy], copy.name) == (["Three?"], "topics/x")
    group = get_group("free", root=root, only={"a": ["1", "2"]})
    assert [[one.input for one in dataset] for dataset in group.values()] == [["One?"], ["Two?"]]
    message = "argument `only`: 'topics/x' has the samples of one `topic` (leave `topic` out, or"
    for opened in (get_dataset, lambda name, **given: get_group("topics", **given)["x"]):
        with pytest.raises(ManifestError, match=re.escape(message)):
            opened("topics/x", root=root, only={"topic": "y"})


def test_a_group_is_checked_as_it_was_synced(root: Path) -> None:
    settings = Settings.from_environment(root=root, locked=True)
    with pytest.raises(LockStaleError, match=r"datasets\.lock does not pin it"):
        checked_group(Catalog.open(root).group("topics"), settings)


def test_an_unknown_argument_is_an_error_before_any_member_is_opened(root: Path) -> None:
    with pytest.raises(TypeError, match=r"no argument 'limt' \(did you mean 'limit'\?\)$"):
        get_group("board", root=root, limt=1)  # type: ignore[call-arg]


def test_a_member_needs_a_name(root: Path) -> None:
    text = CATALOG.replace("[topic, a]", "{topic: {from: a, do: [int]}}")
    (root / "datasets.yaml").write_text(text)
    message = "free: a sample has 1 as `topic`, which is not a string: declare `values`"
    with pytest.raises(ExpectationError, match=re.escape(message)):
        get_group("free", root=root)


def test_an_unknown_group_is_an_error_with_similar_names(root: Path) -> None:
    message = r"no group 'topcs' in .*; similar names: topics"
    with pytest.raises(DatasetNotFoundError, match=message):
        get_group("topcs", root=root)


def test_a_limit_of_the_dataset_counts_for_each_member(root: Path) -> None:
    text = CATALOG + "  few: {from: first, by: topic, values: [x, y]}\n"
    (root / "datasets.yaml").write_text(text)
    get_dataset("first", root=root)
    found = get_group("few", root=root).items()
    inputs = {name: [one.input for one in dataset] for name, dataset in found}
    assert inputs == {"x": ["One?"], "y": ["Two?"]}

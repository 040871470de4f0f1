"""What a name means: a dataset, a group, or a member of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.errors import DatasetNotFoundError, GroupError, ManifestError

CATALOG = """\
version: 1
datasets:
  qa: {source: {type: csv, path: a.csv}, fields: {metadata: [topic]}}
  old: {renamed_to: qa}
  parts:
    splits: {test: {path: a.csv}, dev: {path: b.csv}}
    default_split: test
    source: {type: csv}
    fields: {metadata: [topic]}
groups:
  board: {datasets: [qa, topics]}
  topics: {from: qa, by: topic, values: [x, y]}
  free: {from: qa, by: topic}
  broken: {datasets: [nothing]}
  former: {datasets: [old]}
  of-parts: {from: parts, by: topic}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "datasets.yaml").write_text(CATALOG)
    return Catalog.open(tmp_path)


def test_a_member_is_its_dataset_with_a_selection(catalog: Catalog) -> None:
    assert catalog["topics/x"].view.only == {"topic": "x"}
    assert catalog["topics/x"].name == catalog.named("topics/x") == "qa"
    assert catalog["topics"].view.only is None, "all values together are the whole dataset"
    for value in ("any value", "*"):
        assert catalog[f"free/{value}"].view.only == {"topic": value}
    assert catalog.is_member("topics/x")
    assert not catalog.is_member("board/qa")
    assert [catalog.is_group(one) for one in ("board", "board/topics", "board/qa", "qa")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "dataset", "only"),
    [
        ("of-parts:dev", "parts:dev", None),
        ("of-parts/x:dev", "parts:dev", {"topic": "x"}),
        ("of-parts/x:test", "parts", {"topic": "x"}),
        ("of-parts/x:y", "parts", {"topic": "x:y"}),
    ],
)
def test_a_member_may_have_a_split(
    catalog: Catalog, name: str, dataset: str, only: dict[str, str] | None
) -> None:
    assert (catalog[name].name, catalog[name].view.only) == (dataset, only)


def test_groups_are_not_among_the_datasets(catalog: Catalog) -> None:
    assert list(catalog) == ["parts", "parts:dev", "qa"]
    assert "board" not in catalog


def test_a_group_where_one_dataset_is_needed_is_an_error_that_names_a_member(
    catalog: Catalog,
) -> None:
    with pytest.raises(GroupError, match=r"'board' is a group of 3 members: .*'board/qa', or open"):
        catalog.resolve("board")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bord", "no dataset 'bord' in .*; similar names: board"),
        ("topics/z", "no member 'z' in the group topics"),
        ("board/topic/x", "no member 'topic/x' in the group board; similar names: topics/x"),
        ("qa/x", "no dataset 'qa/x'"),
        ("free:x", "qa has no split 'x'"),
    ],
)
def test_an_unknown_name_is_an_error_with_similar_ones(
    catalog: Catalog, name: str, message: str
) -> None:
    with pytest.raises(DatasetNotFoundError, match=message):
        catalog.resolve(name)
    for group in ("qa", "topics/board", "board/free"):
        with pytest.raises(DatasetNotFoundError, match=f"no group '{group}'"):
            catalog.group(group)


def test_a_broken_group_leaves_the_datasets_usable(catalog: Catalog) -> None:
    with pytest.raises(ManifestError, match="no dataset 'nothing'"):
        catalog.group("broken")
    assert catalog["qa"].name == "qa"


def test_a_group_is_usable_if_its_members_are_called_otherwise_but_not_if_its_table_is_wrong(
    catalog: Catalog, tmp_path: Path
) -> None:
    assert catalog.group("former").datasets == ["qa"]
    for old, new, message in (
        ("groups:", "groups: !tag", r"\$\.groups: the tag !tag is not allowed"),
        ("[old]", "[old], wieght: 1", r"\$\.groups\.former\.wieght: unknown key"),
    ):
        (tmp_path / "datasets.yaml").write_text(CATALOG.replace(old, new))
        opened = Catalog.open(tmp_path, lenient=True)
        with pytest.raises(ManifestError, match=message):
            opened.group("former")
    assert opened.group("topics").datasets == ["qa"]


def test_the_compiled_catalog_gives_the_same_groups(catalog: Catalog, tmp_path: Path) -> None:
    again = Catalog.open(tmp_path)
    fresh = Catalog.open(tmp_path, keep=False)
    assert list(again.groups) == list(fresh.groups) == list(catalog.groups)
    assert again.group("board") == fresh.group("board") == catalog.group("board")


def test_including_another_manifest_keeps_groups_and_adds_its_own(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text(CATALOG)
    (tmp_path / "more.yaml").write_text("groups:\n  more: {datasets: [qa, board]}\n")
    catalog = Catalog.open(tmp_path).including([tmp_path / "more.yaml"])
    assert {"more", "board"} < set(catalog.groups)


def test_a_name_in_a_file_that_is_no_yaml_is_answered_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml, n.yaml]\n")
    (tmp_path / "n.yaml").write_text(CATALOG.partition("\n")[2])
    (tmp_path / "m.yaml").write_text("datasets:\n  qb:\n    description: x\n      key: y\n")
    broken = Catalog.open(tmp_path)
    for name in ("qb", "qb:test"):
        with pytest.raises(ManifestError, match=r"m\.yaml:4:10 \$\.datasets\.qb: not YAML"):
            broken.resolve(name)
    with pytest.raises(DatasetNotFoundError, match=r"names: qa .*m\.yaml has problems, which"):
        broken.resolve("qaa")

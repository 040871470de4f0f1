"""Groups as written: their members, weights and digests, and everything that may be wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.catalog.groups import Member
from registry.errors import ManifestError

DATASETS = """\
version: 1
include: [groups.yaml]
datasets:
  a: {source: {type: csv, path: a.csv}, fields: {metadata: [topic]}}
  b: {extends: a}
  c: {extends: a, deprecated: {use: b}}
  old: {renamed_to: b}
  gone: {removed: {reason: Its server is gone, use: a}}
  s: {source: {type: csv}, splits: {x: {path: x.csv}, y: {path: y.csv}}, default_split: x}
"""


def opened(folder: Path, groups: str) -> Catalog:
    (folder / "datasets.yaml").write_text(DATASETS, encoding="utf-8")
    (folder / "groups.yaml").write_text(f"groups:\n{groups}", encoding="utf-8")
    return Catalog.open(folder)


def problems_of(folder: Path, groups: str) -> list[str]:
    catalog = opened(folder, groups)
    found = [*catalog.problems, *catalog.group_problems()]
    return [f"{one.path}: {one.text} [{one.rule}]" for one in dict.fromkeys(found)]


def test_weights_are_shares_of_the_whole_also_in_groups_of_groups(tmp_path: Path) -> None:
    catalog = opened(
        tmp_path,
        "  outer: {datasets: [a, inner, topics], weights: {inner: 2}, description: D., tags: [t]}\n"
        "  inner: {datasets: [b, s:y], weights: {b: 3}}\n"
        "  topics: {from: a, by: topic, values: {first: X, second: [Y]}}\n".replace("[Y]", "Y"),
    )
    group = catalog.group("outer")
    assert (group.description, group.tags, group.groups) == ("D.", ("t",), ("inner", "topics"))
    assert {one.name: one.weight for one in group.members} == pytest.approx(
        {"a": 1 / 4, "inner/b": 3 / 8, "inner/s:y": 1 / 8}
        | {"topics/first": 1 / 8, "topics/second": 1 / 8}
    )
    assert group.datasets == ["a", "b", "s:y"]
    assert catalog.member("outer/topics/first") == Member(
        name="topics/first", dataset="a", only={"topic": "X"}, weight=1 / 8
    )
    assert catalog.named("outer/inner/s:y") == "s:y"
    assert catalog.group("outer/inner") == catalog.group("inner")


def test_a_digest_is_of_the_members_and_not_of_their_order(tmp_path: Path) -> None:
    catalog = opened(
        tmp_path,
        "  one: {datasets: [a, topics]}\n  two: {datasets: [topics, a]}\n"
        "  topics: {from: b, by: topic, values: [x, y]}\n"
        "  reverse: {from: b, by: topic, values: [y, x]}\n  less: {datasets: [a]}\n"
        "  open: {from: b, by: topic}\n",
    )
    pins = {"a": "sha256:aa", "b": "sha256:bb"}
    digests = {name: catalog.group(name).digest(pins) for name in catalog.groups}
    assert digests["one"] == digests["two"]
    assert digests["topics"] == digests["reverse"]
    assert len(set(digests.values())) == 4
    assert digests["open"] is None, "which members it has is not known without the samples"
    assert catalog.group("one").digest({"a": "sha256:aa"}) is None
    assert catalog.group("one").digest({**pins, "b": "sha256:cc"}) != digests["one"]


WRONG = """\
{g: {datasets: []}}
  g.datasets: must not be empty (name its members, or remove the group) [wrong-value]
{g: {datasets: [a, h]}, h: {datasets: [g]}}
  h.datasets[0]: a group can't contain itself: g → h → g (remove one of them) [group-cycle]
  g.datasets[1]: a group can't contain itself: h → g → h (remove one of them) [group-cycle]
{group: {datasets: [a]}, g: {datasets: [gruop]}}
  g.datasets[0]: no dataset 'gruop' (did you mean 'group'?) [unknown-member]
{g: {datasets: [g/a]}}
  g.datasets[0]: a group can't contain itself: g → g (remove one of them) [group-cycle]
{g: {datasets: [h/b]}, h: {datasets: [a]}}
  g.datasets[0]: no member 'b' in the group h (members: a) [unknown-member]
{gon: {datasets: [a, gone]}}
  gon.datasets[1]: 'gone' was removed: Its server is gone (use 'a') (name a dataset of the catalog,
  or another group) [unknown-member]
{g: {datasets: [s:z]}}
  g.datasets[0]: no dataset 's:z' (did you mean 's:y'?) [unknown-member]
{g: {datasets: [a, a]}}
  g.datasets[1]: 'a' is listed twice (remove one of them) [wrong-value]
{g: {datasets: [b, old]}}
  g.datasets[1]: 'old' is called 'b' now (use that name) [deprecated-member]
  g.datasets[1]: 'b' is a member already (name it once) [repeated-member]
{g: {datasets: [h, a]}, h: {datasets: [a]}}
  g.datasets[1]: 'a' is a member already, as 'h/a' (name it once) [repeated-member]
{a: {datasets: [b]}}
  a: the name 'a' is that of a dataset, too (choose another name) [duplicate-name]
{g: {datasets: [a], weights: {b: 2}}}
  g.weights.b: 'b' is no member of the group (members: a) [unknown-member]
{g: {datasets: [a], weights: {a: 0}}}
  g.weights.a: must be more than 0, is 0 [wrong-value]
{g: {datasets: [a], weights: {a: many}}}
  g.weights.a: must be a number, is 'many' [wrong-type]
{g: {from: a, by: [topic], values: [x]}}
  g.by: must be a string, is ['topic'] [wrong-type]
{g: {datasets: [old]}}
  g.datasets[0]: 'old' is called 'b' now (use that name) [deprecated-member]
{g: {datasets: [c]}}
  g.datasets[0]: 'c' is deprecated (use 'b') [deprecated-member]
{g: {from: aa, by: topic}}
  g.from: no dataset 'aa' (did you mean 'a'?) [unknown-member]
{g: {from: g, by: topic}}
  g.from: no dataset 'g' (name a dataset of the catalog) [unknown-member]
{g: {from: a}}
  g: the key 'by' is missing (The metadata key whose values are the members.) [missing-key]
{g: {from: a, by: topic, values: {x: 1, y: 1}}}
  g.values.y: 'y' is a member already, as 'x' (name it once) [repeated-member]
{g: {from: a, by: topic, values: [1, x, '1']}}
  g.values[2]: two values have the name '1' (write `values` as a mapping, which names each)
  [repeated-member]
{g: {from: a, by: topic, values: [x, [y]]}}
  g.values[1]: must be a string or an integer or a number or true or false, is ['y'] [wrong-type]
{Big: {datasets: [a]}}
  Big: 'Big' is not a valid group name (use lower-case letters, digits, '.', '-' and '_')
  [bad-name]
{g: {}}
  g: the key 'datasets' is missing (The members: datasets, splits of them, and other groups; or
  `from` and `by`.) [missing-key]
"""
"""Groups, and below them the place, message and rule of each of their problems."""


@pytest.mark.parametrize("case", re.split(r"\n(?={)", WRONG.strip()))
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, case: str) -> None:
    groups, problems = case.split("\n", 1)
    expected = [f"$.groups.{' '.join(one.split())}" for one in re.split(r"(?<=\])\n", problems)]
    assert problems_of(tmp_path, f"  {groups}\n") == expected


def test_a_problem_of_a_group_that_is_twice_in_another_is_one(tmp_path: Path) -> None:
    inner = "  h: {datasets: [k]}\n  i: {datasets: [k]}\n  k: {datasets: [nope]}\n"
    with pytest.raises(ManifestError) as caught:
        opened(tmp_path, f"  g: {{datasets: [h, i]}}\n{inner}").group("g")
    assert len(caught.value.problems) == 1


def test_valid_groups_have_no_problem(tmp_path: Path) -> None:
    groups = (
        "  g: {datasets: [a, b, s:y, h]}\n  h: {from: b, by: topic, values: [x, 1, true, 1.0]}\n"
    )
    assert problems_of(tmp_path, groups) == []
    names = [one.name for one in opened(tmp_path, groups).group("h").members]
    assert names == ["x", "1", "true", "1.0"]

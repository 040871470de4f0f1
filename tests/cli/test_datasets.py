"""Groups as commands show them, and the states of datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.cli.datasets import valid_specs
from tests.cli.invocation import Run, write
from tests.git_repository import GitRepository

QA = """\
datasets:
  qa:
    description: Questions.
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a, metadata: {number: a}}
  qa-one: {extends: qa, limit: 1}
"""
GROUPS = """\
groups:
  board: {description: All of it., tags: [small], datasets: [qa-one, numbers], weights: {numbers: 3}}
  numbers: {from: qa, by: number, values: {one: "1", two: "2", three: "3"}}
  free: {from: qa, by: number}
"""


@pytest.fixture
def groups(own: Path) -> Path:
    write(own, "qa", QA)
    write(own, "groups", GROUPS)
    return own


def test_list_has_a_row_for_each_group(run: Run, groups: Path) -> None:
    listed = run("list")
    names = [line.split()[0] for line in listed.lines[1:]]
    assert names == ["qa", "qa-one", "board", "free", "numbers"]
    assert "All of it. (4 members: qa-one, numbers/one, numbers/two and 1 more)" in listed.out
    assert "(a member of each number of qa)" in listed.out
    assert listed.err.strip().endswith("2 datasets: 0 cached, 2 floating, 3 groups")
    for words in (["board"], ["BO*D"], ["--tag", "small"]):
        assert [line.split()[0] for line in run("list", *words).lines[1:]] == ["board"]
    rows = run("list", "--json").json
    assert [one["name"] for one in rows] == names
    assert [one["name"] for one in rows if "members" in one] == names[2:]
    assert Catalog.open(groups).group("numbers").text == "3 members: one, two, three"


def test_show_has_the_members_with_their_weights_and_states(run: Run, groups: Path) -> None:
    assert run("show", "board").lines[-1] == (
        "# no digest, as not all of it is pinned (registry lock board)"
    )
    assert run("show", "free").lines[-1] == "# no digest, as its `values` are not declared"
    assert run("lock", "board").code == 0
    shown = run("show", "board")
    assert shown.lines[:2] == [
        "board: 4 members: qa-one, numbers/one, numbers/two and 1 more  # m/groups.yaml:2",
        "All of it.",
    ]
    assert [line.split() for line in shown.lines[3:5]] == [
        ["qa-one", "qa-one", "1", "yes", "verified", "0.25"],
        ["numbers/one", "qa", "(number", "1)", "-", "yes", "verified", "0.25"],
    ]
    assert shown.lines[-1].startswith("# digest of all members, as pinned: sha256:")
    data = run("show", "board", "--json").json
    assert data["digest"] in shown.out
    assert data["members"][1] == {
        "name": "numbers/one",
        "dataset": "qa",
        "only": {"number": "1"},
        "weight": 0.25,
    }
    member = run("show", "numbers/two")
    assert "    only:\n      number: '2'\n" in member.out
    assert "# verified: version 1-A" in member.out


@pytest.mark.parametrize("option", ["--call", "--origin", "--fewshot=1", "--provenance"])
def test_what_show_tells_of_one_dataset_is_refused_of_a_group(
    run: Run, groups: Path, option: str
) -> None:
    shown = run("show", "board", option)
    assert (shown.code, shown.out) == (1, "")
    assert "'board' is a group of 4 members: name one" in shown.err


def test_commands_take_a_group_for_its_datasets(run: Run, groups: Path) -> None:
    assert run("sync", "board").code == 0
    assert run("lock", "board").lines[-1] == "datasets.lock: 2 of 2 datasets pinned"
    assert run("lock", "--check", "numbers").out == (
        "datasets.lock: fresh (1 pin checked completely)\n"
    )
    assert [line.split()[0] for line in run("verify", "board").lines[1:3]] == ["qa", "qa-one"]


def test_a_member_is_previewed_and_exported_by_its_name(run: Run, groups: Path) -> None:
    assert run("describe", "numbers/two", "--plain").lines[0] == "numbers/two: 1 sample"
    done = run("export", "numbers", "qa-one", "--format", "jsonl", "--out", "out/")
    assert done.code == 0
    assert run("export", "free", "--format", "csv", "--out", "out/").out.count("free/") == 3
    assert sorted(path.name for path in (groups / "out").glob("*.jsonl")) == [
        "numbers+one.jsonl",
        "numbers+three.jsonl",
        "numbers+two.jsonl",
        "qa-one.jsonl",
    ]
    assert run("preview", "board").err.startswith("error: 'board' is a group of 4 members")


def test_a_member_without_samples_is_an_error_where_they_are_known(run: Run, groups: Path) -> None:
    GitRepository.of(groups).commit()
    assert run("show", "free/4").code == 0, "nothing is cached yet"
    others = ("bundle -o b", "site --out s", "verify", "licenses", "mirror --out m", "cache clear")
    for command in ("lock", "sync", "show", "log", "lock --check", "lock --upgrade", *others):
        done = run(*command.split(), "free/4")
        assert (done.code, "no sample has '4' as `number`" in done.err) == (1, True), command
        assert not (groups / "datasets.lock").exists()
    assert run("log", "free/3").code == run("sync", "free/3").code == 0


def test_diff_says_which_group_has_changed(run: Run, groups: Path) -> None:
    index, own = groups / "datasets.yaml", "groups: {own: {datasets: [qa]}}\n"
    text = index.read_text(encoding="utf-8")
    index.write_text(text + own, encoding="utf-8")
    GitRepository.of(groups).commit()
    index.write_text(text + own.replace("qa", "qa-one"), encoding="utf-8")
    write(groups, "groups", GROUPS.replace("weights: {numbers: 3}", "weights: {numbers: 5}"))
    done = run("diff", "HEAD")
    assert (done.code, "m/groups.yaml:2" in done.out) == (1, True)
    shared = [one["key"] for one in run("diff", "HEAD", "--json").json["shared"]]
    assert shared == ["groups.board.weights", "groups.own.datasets"]


def test_validate_reports_a_member_that_is_missing_at_its_place(run: Run, groups: Path) -> None:
    write(groups, "groups", GROUPS.replace("[qa-one, numbers]", "[qa-oen, numbers]"))
    assert run("validate").lines[0] == (
        "m/groups.yaml:2:62 $.groups.board.datasets[0]: no dataset 'qa-oen' (did you mean"
        " 'qa-one'?) [unknown-member]"
    )
    assert "qa-oen" in run("sync", "board").err
    everything = run("sync")
    assert (everything.code, everything.err.count("qa-oen")) == (1, 1)
    assert run("sync", "qa").code == 0, "nobody asked for the group"


def test_pages_name_the_groups_and_the_old_names_of_a_dataset(run: Run, groups: Path) -> None:
    write(groups, "old", "datasets:\n  former: {renamed_to: qa}\n")
    assert run("site", "--out", "pages").code == 0
    home = (groups / "pages" / "index.html").read_text(encoding="utf-8")
    assert "<strong>board</strong>: All of it. (4 members: qa-one, numbers/one" in home
    page = (groups / "pages" / "datasets" / "qa.html").read_text(encoding="utf-8")
    assert "board, free, numbers" in page
    assert "former" in page
    assert not (groups / "pages" / "datasets" / "former.html").exists()


def test_a_bundle_has_what_the_members_of_a_group_need(run: Run, groups: Path) -> None:
    assert run("lock", "board").code == 0
    assert run("bundle", "board", "--out", "board.bundle").code == 0
    (groups / "there").mkdir()
    done = run("unbundle", "board.bundle", "--root", "there")
    assert done.code == 0, done.err
    assert "numbers/one" in run("show", "board", "--root", "there").out


def test_a_file_of_groups_alone_is_checked_and_fixed_as_any_other(run: Run, groups: Path) -> None:
    assert run("validate", "m/groups.yaml").code == 0, "it is no second definition of the groups"
    assert "m/groups.yaml: added the schema line" in run("validate", "--fix", "--select", "all").out
    write(groups, "groups", f"# registry: ignore unknown-member -- not yet\n{GROUPS}")
    assert "m/groups.yaml" in run("validate").out, "the comment ignores nothing"


def test_members_are_compared_as_datasets_are(run: Run, groups: Path) -> None:
    done = run("compare", "numbers/one", "qa-one")
    assert done.lines[0] == "comparable: the same 1 sample"
    assert run("compare", "numbers/one", "numbers/two").code == 1
    assert "no such file or folder" in run("compare", "logs/one", "qa").err


def test_all_problems_are_printed_once(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(own, "bad", "datasets:\n  bad: {bogus: 1, limit: few}\n  worse: {extends: bad}\n")
    specs, has_invalid = valid_specs(Catalog.open(own), ["qa", "bad", "worse"])
    assert ([one.name for one in specs], has_invalid) == (["qa"], True)
    paths = [line.split()[2] for line in capsys.readouterr().err.splitlines()]
    assert paths == ["$.datasets.bad:", "$.datasets.bad.bogus:", "$.datasets.bad.limit:"]

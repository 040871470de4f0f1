"""Bad input around a dataset, on the command line: each message names what is wrong and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.cli.invocation import Run
from tests.conftest import CatalogRoot
from tests.servers.hub import HubEmulator, parquet_repo

__all__ = ["run"]

QUIZ = """\
datasets:
  quiz:
    description: Questions.
    license: mit
    source: {type: csv}
    splits: {test: {path: test.csv}, dev: {path: dev.csv}}
    default_split: test
    fields: {input: question, target: answer, id: id, metadata: [subject]}
    fewshot: {split: dev, n: 2}
"""
TEST = "id,subject,question,answer\nt1,art,Who painted Guernica?,Picasso\nt2,music,Keys?,88\n"
DEV = "id,subject,question,answer\nd1,art,Mona Lisa?,Leonardo\nd2,music,Strings?,4\nd3,art,Colours?,red\n"
ERRATA = "corrections: [{id: t2, field: target, was: '88', now: '97', reason: A Bösendorfer.}]\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: ['m/*.yaml']\n")
    (tmp_path / "m" / "quiz.yaml").write_text(QUIZ)
    (tmp_path / "test.csv").write_text(TEST)
    (tmp_path / "dev.csv").write_text(DEV)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def add(root: Path, text: str) -> None:
    (root / "m" / "more.yaml").write_text(text)


@pytest.mark.parametrize("key", ["splits", "fewshot"])
def test_split_that_the_hub_does_not_have(
    hub: HubEmulator, catalog_root: CatalogRoot, run: Run, key: str
) -> None:
    rows = {"test": [{"q": "a?", "a": "b"}], "dev": [{"q": "c?", "a": "d"}]}
    hub.commit("org/quiz", parquet_repo({"default": rows}))
    fewshot = "fewshot: {split: dve, n: 1}"
    splits = "splits: {test: {}, worked: {split: dve}}, default_split: test"
    dataset = (
        "source: {type: hf, path: org/quiz, split: test}, fields: {input: q, target: a}, "
        f"{splits if key == 'splits' else fewshot}"
    )
    root = str(catalog_root({"quiz": f"datasets: {{quiz: {{{dataset}}}}}"}))
    assert run("sync", "quiz", "--root", root).code == 0
    asked = ["quiz:worked"] if key == "splits" else ["quiz", "--fewshot", "1"]
    result = run("preview", *asked, "--root", root)
    assert result.code == 1
    assert "org/quiz: no split 'dve' (did you mean 'dev'? splits: dev, test)" in result.err


EMPTY = "must not be empty (name its members, or remove the group)"
CIRCLE = "a group can't contain itself"


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ("{datasets: []}", f"2:7 $.groups.g.datasets: {EMPTY}"),
        (
            "{datasets: [h]}\n  h: {datasets: [quiz, g]}",
            f"3:24 $.groups.h.datasets[1]: {CIRCLE}: g → h → g (remove one of",
        ),
    ],
)
def test_empty_and_circular_groups(root: Path, run: Run, group: str, problem: str) -> None:
    add(root, f"groups:\n  g: {group}\n")
    for command in ("show", "sync", "lock", "preview"):
        result = run(command, "g")
        assert result.code == 1
        assert result.err.startswith(f"error: m/more.yaml:{problem}"), command
    validated = run("validate")
    assert (validated.code, f"m/more.yaml:{problem}" in validated.out) == (1, True)
    assert run("sync", "quiz").code == 0, "nobody asked for the group"


def test_misspelt_groups_and_members(root: Path, run: Run) -> None:
    add(root, "groups:\n  subjects: {from: quiz, by: subject, values: [art, music]}\n")
    assert "similar names: subjects" in run("preview", "subjcts/art").err
    wrong = run("preview", "subjects/muisc").err
    assert "no member 'muisc' in the group subjects; similar names: music" in wrong
    # The problems of another file are not why.
    (root / "m" / "bad.yaml").write_text("datasets:\n  bad: {limit: x}\n")
    assert "similar names: subjects" in run("preview", "subjcts/art").err


def test_more_examples_than_the_companion_has(root: Path, run: Run) -> None:
    result = run("preview", "quiz", "--fewshot", "4")
    assert result.code == 1
    assert "4 examples wanted, and quiz:dev has 3 samples (a smaller `n`)" in result.err
    add(root, "datasets:\n  shots: {extends: quiz, fewshot: {n: 9, apply: true}}\n")
    result = run("sync", "shots")
    assert result.code == 1
    assert "9 examples wanted, and shots:dev has 3 samples (a smaller `n`)" in result.err
    assert "at m/more.yaml:2:36" in result.err
    add(root, "datasets:\n  shots: {extends: quiz, fewshot: {by: subject, apply: true}}\n")
    result = run("sync", "shots")
    assert result.code == 1
    text = "2 examples of each `subject` wanted, and shots:dev has fewer of 1 value: music: 1"
    assert text in result.err


def test_the_same_id_twice(root: Path, run: Run) -> None:
    fewshot = "{ids: [d1, d1], n: null, apply: true}"
    add(root, f"datasets:\n  shots: {{extends: quiz, fewshot: {fewshot}}}\n")
    validated = run("validate")
    line = "m/more.yaml:2:46 $.datasets.shots.fewshot.ids[1]: 'd1' is listed twice (remove one of"
    assert validated.out.count("twice") == 1
    assert validated.out.startswith(line)
    (root / "m" / "more.yaml").unlink()
    (root / "test.csv").write_text(f"{TEST}t1,art,Who?,Miró\n")
    result = run("sync", "quiz")
    assert result.code == 1
    assert "record 3, field id: record 1 has the same id but another input and" in result.err


@pytest.fixture
def corrected(root: Path) -> Path:
    (root / "errata").mkdir()
    (root / "errata" / "quiz.yaml").write_text(ERRATA)
    (root / "m" / "quiz.yaml").write_text(f"{QUIZ}    corrections: errata/quiz.yaml\n")
    return root


def test_a_correction_whose_source_changed(corrected: Path, run: Run) -> None:
    assert run("lock", "quiz").code == 0
    (corrected / "test.csv").write_text(TEST.replace("88", "85"))
    # A pinned dataset says so first.
    assert "datasets.lock pins sha256:" in run("sync", "quiz").err
    fault = 'target of id \'t2\' (record 2) is "85", `was` is "88", `now` is "97" (look at'
    for command in (("lock", "--upgrade", "quiz"), ("sync", "quiz")):
        result = run(*command)
        assert result.code == 1
        assert f"errata/quiz.yaml:1:39 $.corrections[0].was: {fault}" in result.err
        (corrected / "datasets.lock").unlink(missing_ok=True)
    (corrected / "test.csv").write_text(TEST.replace("88", "97"))
    assert "the source has the correct value now: remove the row" in run("sync", "quiz").err

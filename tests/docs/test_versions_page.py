"""The page on versions: its example runs, and its table says what the classifier does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.catalog.catalog import Catalog
from registry.diff.samples import Samples
from registry.diff.severity import by_severity
from registry.lockfile.models import FIRST, PIN_FORMAT, Pin
from registry.samples.digest import digest_samples
from registry.samples.sample import Sample
from registry.workflows.versions import classes_between, next_version
from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, Block, Reader, blocks

PAGE = (DOCS / "reference" / "versions.md").read_text(encoding="utf-8")


# --- the example ---


def test_example_runs_as_shown(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow(Block("", "datasets.yaml", "version: 1\ninclude: [registry/*.yaml]\n"))
    reader.follow(Block("sh", "", "git init --quiet --initial-branch main"))
    titles = {"yaml": "registry/qa.yaml", "csv": "qa.csv", "console": ""}
    shown = [one for one in blocks(PAGE) if one.language in titles]
    for one in sorted(shown, key=lambda block: [*titles].index(block.language)):
        reader.follow(Block(one.language, titles[one.language], one.text))
    assert [one.language for one in shown].count("console") == 3


# --- the table ---

ONE = Sample(input="One?", choices=["1", "one"], target="A", id="a")
TWO = Sample(input="Two?", choices=["2", "two"], target="A", id="b")
BEFORE = (ONE, TWO)
NO_IDS = tuple(sample.model_copy(update={"id": None}) for sample in BEFORE)


def changed(**keys: object) -> tuple[Sample, ...]:
    return (ONE.model_copy(update=keys), TWO)


def pin_of(samples: Sequence[Sample], *, source: int = 1) -> Pin:
    digest = digest_samples(samples)
    return Pin(
        spec=f"sha256:{0:064x}",
        sources=(Material(location="hf://datasets/a/b", revision=f"{source:040x}"),),
        samples=digest.samples,
        columns=(),
        ordered=digest.ordered,
        unordered=digest.unordered,
        format=PIN_FORMAT,
    )


SAME = (BEFORE, BEFORE)
SHUFFLED = (BEFORE, changed(choices=["one", "1"], target="B"))
FIRST_IDS = (NO_IDS, BEFORE)
MORE = (BEFORE, (*BEFORE, TWO.model_copy(update={"id": "c"})))
ENTRIES = {
    # entry: the samples before and after, in small; whether the source changed; whether the old
    # samples are at hand
    "AHB 2.0.0": ((BEFORE, changed(input="Uno?")), True, False),
    "various": (FIRST_IDS, False, True),
    "all": (SAME, False, True),
    "GAIA": (SAME, False, True),
    "InterCode CTF": (SAME, False, True),
    "AHB v5-B": ((BEFORE, changed(input="Uno?")), False, True),
    "TAC v2-B": ((BEFORE, changed(input="Uno?")), False, True),
    "TAC v3-B": (SAME, True, True),
    "HLE v3-B": ((BEFORE, changed(input="Uno?")), False, True),
    "KernelBench v4-B": (SAME, False, True),
    "ANIMA v5-C": (SAME, True, True),
    "GDM Capture the Flag v6-A": ((BEFORE, changed(input="Uno?")), False, True),
    "O-NET v3-A": ((BEFORE, changed(input="Uno?")), True, False),
    "GPQA v3-C": (SHUFFLED, False, True),
    "Mind2Web-SC v3-B": (MORE, False, True),
    "HLE": ((BEFORE, (ONE,)), False, True),
    "WorldSense v4-A": (MORE, False, True),
    "StereoSet v4-A": (MORE, False, True),
    "SciKnowEval v4-B": (MORE, False, True),
    "MMLU v4-A": (MORE, False, True),
    "`filter_duplicate_ids`": (SAME, False, True),
    "BBH": (SAME, False, True),
    "TAC v8-C": ((BEFORE, changed(metadata={"place": "Oahu"})), False, True),
    "TruthfulQA v3-B": (SHUFFLED, False, True),
    "LAB-Bench v3-B": (SHUFFLED, False, True),
    "AIR Bench v4-B": (FIRST_IDS, False, True),
    "LingOly v2-B": (FIRST_IDS, False, True),
    "SimpleQA v5-D": (FIRST_IDS, False, True),
    "DROP, RACE-H, SQuAD, VQA-RAD": (SAME, False, True),
}
TABLE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| release |")[2].partition("\n\n")[0].splitlines()[2:]
]


def test_table_has_each_entry_once() -> None:
    assert [row[1] for row in TABLE] == list(ENTRIES)


@pytest.mark.parametrize("row", TABLE, ids=[row[1] for row in TABLE])
def test_class_and_version_of_an_entry_are_those_of_the_classifier(row: list[str]) -> None:
    (before, after), has_new_source, is_known = ENTRIES[row[1]]
    old, new = pin_of(before), pin_of(after, source=2 if has_new_source else 1)
    found = {old.ordered: before} if is_known else {}
    found[new.ordered] = after

    def find(pin: Pin) -> Samples | None:
        return Samples(found[pin.ordered]) if pin.ordered in found else None

    classes = classes_between(old, replace(new), find)
    assert row[5] == ("not known" if classes is None else ", ".join(by_severity(classes)))
    version = next_version(FIRST, classes)
    rises = "N" if version > FIRST.next_letter else "X" if version > FIRST else "nothing"
    assert row[6] == rises
    assert row[7] == ("yes" if (row[3 + 1] == "rose") == (rises == "N") else "**no**")


def test_share_is_that_of_the_table() -> None:
    agree, total = sum(row[7] == "yes" for row in TABLE), len(TABLE)
    assert f"N agrees in {agree} of {total} entries ({100 * agree / total:.1f} %)" in PAGE
    with_defaults = f"({agree + 3} of {total + 4}, {100 * (agree + 3) / (total + 4):.1f} %)"
    assert with_defaults in PAGE


def test_each_difference_is_explained() -> None:
    explained = re.findall(r"^- \*\*(.+?)\*\* \((.+?)\)", PAGE, re.MULTILINE)
    assert explained == [(row[1], row[0]) for row in TABLE if row[7] != "yes"]


def test_datasets_of_the_table_exist() -> None:
    catalog = Catalog.open(REPOSITORY)
    names = {name for row in TABLE for name in re.findall(r"`(.+?)`", row[2])}
    assert names
    assert not [name for name in sorted(names) if name not in catalog]

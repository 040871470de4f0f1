"""The splits of a dataset at every door that takes a name."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from pathlib import Path

import fsspec
import pytest

from registry import get_dataset, list_datasets
from registry.catalog.catalog import Catalog
from registry.errors import DatasetNotFoundError
from tests.cli.conftest import own, run
from tests.cli.invocation import Run

__all__ = ["own", "run"]

MANIFEST = """
datasets:
  grades:
    description: Questions of three grades.
    license: mit
    source: {type: json}
    splits:
      test: {path: test.jsonl, expect: {samples: 3}}
      dev: {path: dev.jsonl}
    default_split: test
    fields: {input: q, target: a}
  grades-two: {extends: grades, description: Two of them., limit: 2}
"""

CAPTURES = """
datasets:
  qa:
    description: Questions in two languages.
    license: mit
    source: {type: csv, path: "raw/{lang}/{split}.csv"}
    splits: {test: {}, train: {}}
    default_split: test
    fields: {input: q, target: a, metadata: [lang]}
"""


@pytest.fixture
def splits(own: Path) -> Path:
    for split, number in (("test", 3), ("dev", 4)):
        lines = (json.dumps({"q": f"{split} {one}?", "a": str(one)}) for one in range(number))
        (own / f"{split}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (own / "m" / "qa.yaml").write_text(MANIFEST, encoding="utf-8")
    return own


def test_split_is_a_dataset_in_python(splits: Path) -> None:
    assert list_datasets() == ["grades", "grades-two"]
    assert get_dataset("grades")[0].input == "test 0?"
    assert get_dataset("grades", split="test").name == get_dataset("grades:test").name == "grades"
    dev = get_dataset("grades", split="dev")
    assert [one.input for one in dev] == [f"dev {number}?" for number in range(4)]
    assert (dev.name, dev.provenance.name, dev.provenance.split) == ("grades:dev",) * 2 + ("dev",)
    assert len(get_dataset("grades-two:dev", limit=1)) == 1
    assert len(get_dataset("grades-two", split="dev")) == 2


def test_splits_share_no_pin(splits: Path, run: Run) -> None:
    assert run("lock").code == 0
    assert run("lock", "--check").code == 0
    assert len(get_dataset("grades", split="dev", locked=True)) == 4
    (splits / "dev.jsonl").write_text('{"q": "New?", "a": "1"}\n', encoding="utf-8")
    assert len(get_dataset("grades", locked=True)) == 3
    checked = run("lock", "--check")
    assert checked.code == 1
    assert "grades:dev" in checked.out + checked.err
    assert "grades: " not in checked.out + checked.err


def test_a_split_is_locked_but_not_listed(splits: Path, run: Run) -> None:
    assert "grades:dev" in run("lock", "--split", "dev", "grades").out
    assert run("lock", "grades").code == 0
    (row, *_) = run("list", "--json").json
    assert (row["name"], row["splits"]) == ("grades", ["test", "dev"])
    assert "grades:dev" not in run("list").out


def test_split_has_a_page_of_its_own(splits: Path, run: Run) -> None:
    lines = (json.dumps({"q": f"dev {one}?", "a": "1"}) for one in range(25))
    (splits / "dev.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("sync").code == 0
    assert run("site", "--out", "pages", "--samples", "25").code == 0
    page = (splits / "pages" / "datasets" / "grades+dev.html").read_text(encoding="utf-8")
    assert "dev 7?" in page
    assert 'href="../samples/grades+dev@21.html"' in page
    home = (splits / "pages" / "index.html").read_text(encoding="utf-8")
    assert 'datasets/grades+dev.html"' in home


def test_url_takes_a_split(splits: Path) -> None:
    with fsspec.open("registry://split=dev/grades.jsonl", "rt") as file:
        assert len(file.readlines()) == 4


def test_names_of_files_are_splits_and_columns(own: Path, run: Run) -> None:
    for number, (language, split) in enumerate(product(("de", "en"), ("test", "train"))):
        file = own / "raw" / language / f"{split}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"q,a\n{language} {split}?,{number}\n", encoding="utf-8")
    (own / "m" / "qa.yaml").write_text(CAPTURES, encoding="utf-8")
    assert "no problems" in run("validate").out
    assert run("lock").code == 0
    found = [(one.input, one.metadata) for one in get_dataset("qa", split="train", locked=True)]
    assert found == [(f"{one} train?", {"lang": one}) for one in ("de", "en")]
    # The same bytes in a folder of another name are other samples.
    before = get_dataset("qa").provenance.fingerprint
    (own / "raw" / "de").rename(own / "raw" / "fr")
    assert run("lock", "--check").code == 1
    assert run("lock", "--upgrade", "qa").code == 0
    assert [one.metadata for one in get_dataset("qa")] == [{"lang": "en"}, {"lang": "fr"}]
    assert get_dataset("qa").provenance.fingerprint != before


def test_unknown_split_has_a_hint(splits: Path, run: Run) -> None:
    expected = "grades has no split 'dve' (did you mean 'dev'? splits: test, dev)"
    for open_it in (
        partial(get_dataset, "grades", split="dve"),
        partial(get_dataset, "grades:dve"),
    ):
        with pytest.raises(DatasetNotFoundError) as raised:
            open_it()
        assert str(raised.value) == expected
    failed = run("lock", "grades", "--split", "dve")
    assert (failed.code, failed.err) == (1, f"error: {expected}\n")
    failed = run("sync", "--split", "dev")
    assert (failed.code, "--split is for datasets that are named" in failed.err) == (2, True)


def test_dataset_without_splits_has_none(own: Path, run: Run) -> None:
    failed = run("show", "qa", "--split", "dev")
    assert "qa has no split 'dev' (it declares no `splits`)" in failed.err
    assert Catalog.open().splits_of("qa") == ()

"""Names of files give splits, columns and numbered parts."""

from __future__ import annotations

import pytest

from registry.scaffold.file_layout import infer_layout


@pytest.mark.parametrize(
    ("names", "path", "splits", "captures"),
    [
        ("a.csv", "a.csv", "", ""),
        ("test.csv train.csv", "{split}.csv", "test train", ""),
        ("q_dev.jsonl q_train.jsonl", "q_{split}.jsonl", "dev train", ""),
        # As github.com/google-deepmind/xquad names its files.
        ("xquad.de.json xquad.en.json", "xquad.{lang}.json", "", "lang"),
        ("de/Test.csv de/Train.csv fr/Test.csv", "{lang}/{split}.csv", "Test Train", "lang"),
        ("mgsm_de_test.tsv mgsm_en_test.tsv", "mgsm_{lang}_test.tsv", "", "lang"),
        ("zh-cn/val.csv pt-br/val.csv", "{lang}/val.csv", "", "lang"),
        ("algebra/test.json geometry/test.json", "{part}/test.json", "", "part"),
        ("test-00000-of-2.parquet test-00001-of-2.parquet", "test-*-of-2.parquet", "", ""),
        ("a/b.csv c.csv", None, "", ""),
        ("a_x.csv b-y.csv", "{part}.csv", "", "part"),
        ("a/b/c/d.csv e/f/g/h.csv", None, "", ""),
    ],
)
def test_names_have_one_path(names: str, path: str | None, splits: str, captures: str) -> None:
    found = infer_layout(names.split())
    if path is None:
        assert found is None
        return
    assert found is not None
    assert (found.path, found.splits) == (path, tuple(splits.split()))
    assert list(found.captures) == captures.split()


def test_path_of_the_default_split_has_its_name() -> None:
    found = infer_layout(["de/test.csv", "de/dev.csv", "en/test.csv"])
    assert found is not None
    assert found.default_path == "{lang}/test.csv"

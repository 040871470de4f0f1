"""What the recorder of evidence compares, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from registry import Sample
from tests.evidence.bundle import bundle
from tests.evidence.replay import converted, decode
from tests.evidence.rows import find_file, read_rows
from tests.git_repository import GitRepository
from tests.parity.cases import Case, Why, differences

RECORDS = [{"q": "one", "a": "1"}, {"q": "two", "a": "2"}, {"q": "two", "a": "2"}]


def sample(record: dict[str, Any], **other: Any) -> Sample:
    return Sample(**{"input": record["q"], "target": record["a"], "metadata": {}, **other})


def case(**keys: Any) -> Case:
    return Case("made-up", lambda: sample, **keys)


def ours(records: Iterable[dict[str, Any]] = RECORDS, **other: Any) -> list[Sample]:
    return [sample(record, **other) for record in records]


def test_equal_samples_differ_in_no_field() -> None:
    assert differences(case(), ours(), case().samples(RECORDS)) == set()


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (ours(RECORDS[:2]), "theirs has a sample 3"),
        (ours([*RECORDS, RECORDS[0]]), "only ours has a sample 4"),
        (ours(reversed(RECORDS)), "sample 1, input: ours 'two', theirs 'one'"),
        (ours(target="1"), "sample 2, target: ours '1', theirs '2'"),
        (ours(metadata={"k": None}), "sample 1, metadata.k: ours None, theirs None"),
        (ours(choices=[]), "sample 1, choices: ours .*, theirs None"),
    ],
)
def test_any_other_difference_is_refused(samples: list[Sample], message: str) -> None:
    with pytest.raises(AssertionError, match=f"made-up(, |: ){message}"):
        differences(case(), samples, case().samples(RECORDS))


def test_a_documented_difference_is_found_and_must_hold() -> None:
    longer = Why("longer", lambda own, their: own.startswith(their))
    one = case(differs={"target": longer})

    assert differences(one, ours(RECORDS[:1], target="10"), one.samples(RECORDS[:1])) == {"target"}
    with pytest.raises(AssertionError, match="ours '2', theirs '1', not longer"):
        differences(one, ours(RECORDS[:1], target="2"), one.samples(RECORDS[:1]))


def test_a_record_may_give_several_samples_or_none() -> None:
    def read(record: dict[str, Any]) -> list[Sample] | None:
        return None if record["a"] == "1" else [sample(record)] * 2

    assert [one.input for one in Case("made-up", lambda: read).samples(RECORDS[:2])] == ["two"] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"q": "a\\u2028b"}\n\n{"q": 1}\n'),
        ("a.json", '[{"q": "a\\u2028b"}, {"q": 1}]'),
        ("a.json", '{"canary": "x", "examples": [{"q": "a\\u2028b"}, {"q": 1}]}'),
    ],
)
def test_records_are_decoded_whatever_stands_around_them(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert decode(tmp_path / name) == [{"q": "a\u2028b"}, {"q": 1}]


def test_a_file_without_conversion_is_used_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    assert converted([file], "", tmp_path) == file


def test_a_bundle_has_the_files_of_a_folder_in_order(tmp_path: Path) -> None:
    names = ("data/b.json", "data/a/c.json", "other.json")
    texts = {name: f'{{"name": "{name}"}}\n' for name in names}
    work = GitRepository.make(tmp_path / "work", texts).folder
    bundle(work / ".git", "HEAD", "data/", tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["path"] for line in lines] == ["data/a/c.json", "data/b.json"]
    assert lines[1]["text"] == '{"name": "data/b.json"}\n'


def test_a_file_is_found_by_its_dataset_or_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = read_rows()["gsm8k"].files[0]
    monkeypatch.setattr("tests.evidence.rows.FOLDERS", (tmp_path,))
    (tmp_path / "other.jsonl").write_text("{}")
    assert find_file("gsm8k", file) is None

    # A damaged file is found, so that its digest is compared.
    (tmp_path / "gsm8k.jsonl").write_text("{}")
    assert find_file("gsm8k", file) == tmp_path / "gsm8k.jsonl"

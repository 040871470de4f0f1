"""The build step: corrected samples, and every row that does not fit them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import registry
from registry import ManifestError, get_dataset
from tests.corrections.conftest import RECORDS, Write


def row(sample: str, text: str) -> str:
    return f"  - {{{sample}, {text}, reason: r}}\n"


def rows(*items: tuple[str, str]) -> str:
    return "corrections:\n" + "".join(row(*item) for item in items)


def values(root: Path, **options: Any) -> list[tuple[Any, ...]]:
    return [
        (one.id, one.input, one.target, one.choices, one.metadata)
        for one in get_dataset("q", root=root, **options)
    ]


ORIGINAL = [
    (one["qid"], one["q"], one["a"], one["c"], {"topic": one["topic"], "n": one["n"]})
    for one in RECORDS
]


def test_each_field_is_corrected_and_the_original_stays(write: Write) -> None:
    root = write(
        rows(
            ("id: 1", "field: input, was: 'One?', now: Uno?"),
            ("id: 1", "field: target, was: A, now: [A, B]"),
            ("id: 1", "field: choices, was: [x, y], now: [x, y, z]"),
            ("id: 2", "field: metadata.topic, was: t, now: u"),
            ("id: 3", "drop: true, field: target, was: B"),
        )
    )
    assert values(root) == [
        (1, "Uno?", ["A", "B"], ["x", "y", "z"], {"topic": "t", "n": 1}),
        (2, "Two?", "B", ["x", "y"], {"topic": "u", "n": 2}),
    ]
    assert values(root, corrections=False) == ORIGINAL
    assert values(root, corrections=True) == values(root)


def test_metadata_may_become_of_another_type_and_inner_keys_are_reached(write: Write) -> None:
    records = [{**one, "n": {"a": {"b": one["n"]}}} for one in RECORDS]
    text = rows(("id: 2", "field: metadata.n.a.b, was: 2, now: two"))
    root = write(text, records=records)
    assert [one.metadata["n"] for one in get_dataset("q", root=root) if one.metadata] == [
        {"a": {"b": 1}},
        {"a": {"b": "two"}},
        {"a": {"b": 3}},
    ]
    root = write(rows(("id: 2", "field: metadata.n, was: 2, now: two")))
    found = [one.metadata["n"] for one in get_dataset("q", root=root) if one.metadata]
    assert found == [1, "two", 3]


def test_a_conversation_is_corrected_as_a_whole(write: Write) -> None:
    def talk(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes?"}]

    records = [{**one, "q": talk(str(one["q"]))} for one in RECORDS]
    was = "[{role: user, content: 'Two?'}, {role: assistant, content: 'Yes?'}]"
    root = write(
        rows(("id: 2", f"field: input, was: {was}, now: [{{role: user, content: '2?'}}]")),
        records=records,
    )
    found = [one.input for one in get_dataset("q", root=root)]
    assert [[m.text for m in one] for one in found if isinstance(one, list)] == [
        ["One?", "Yes?"],
        ["2?"],
        ["Three?", "Yes?"],
    ]


@pytest.mark.parametrize(("id", "keys"), [("", ""), ("id: qid, ", "auto_id: true")])
def test_samples_without_ids_of_their_own_are_named_by_their_record(
    write: Write, id: str, keys: str
) -> None:
    root = write(rows(("record: 3", "field: target, was: B, now: A")), keys, id=id)
    assert [one.target for one in get_dataset("q", root=root)] == ["A", "B", "A"]


def test_rows_apply_before_a_selection_and_after_duplicates(write: Write) -> None:
    keys = "on_duplicate: suffix\nsample: {n: 2, seed: 1}"
    records = [{**one, "qid": "a"} for one in RECORDS]
    text = rows(("id: a-2", "field: target, was: B, now: A"), ("id: a-3", "drop: true"))
    root = write(text, keys, records=records)
    assert [(one.id, one.target) for one in get_dataset("q", root=root)] == [
        ("a", "A"),
        ("a-2", "A"),
    ]


def test_a_limit_reads_all_records_so_that_each_row_is_checked(write: Write) -> None:
    root = write(rows(("id: 3", "field: target, was: B, now: A")), "limit: 1")
    assert len(get_dataset("q", root=root)) == 1
    root = write(rows(("id: 4", "field: target, was: B, now: A")), "limit: 1")
    with pytest.raises(ManifestError, match="no row names a sample"):
        get_dataset("q", root=root)


FAULTS = """\
- {id: 1, field: target, was: B, now: C, reason: r}
- {id: 2, drop: true, reason: r}
  :2:26 $.corrections[0].was: is "A", `was` is "B", `now` is "C" (look at the source
- {id: 1, field: target, was: B, now: A, reason: r}
  [0].was: (the source has the correct value now: remove the row)
- {id: 1, drop: true, field: target, was: B, reason: r}
  [0].was: target of id 1 (record 1) is "A", `was` is "B", it is left out
- {id: 1, field: metadata.n, was: '1', now: 2, reason: r}
  [0].was: is 1, `was` is "1", `now` is 2 (the same text, but another type
- {id: 1, field: metadata.n, was: true, now: 2, reason: r}
  [0].was: is 1, `was` is true
- {id: 1, field: metadata.topc, was: t, now: u, reason: r}
  [0].field: there is no metadata.topc of id 1 (record 1) (did you mean 'topic'?)
- {id: 1, drop: true, reason: r}
- {id: 9, drop: true, reason: r}
  [1].id: no sample has the id 9 (was it removed from the source? Then remove the row)
- {id: '1', drop: true, reason: r}
- {id: '2', drop: true, reason: r}
  [0].id: no row names a sample: their ids are str ('1', '2'), those of the samples are int (1, 2, 3
- {id: 1, drop: true, reason: r}
- {id: '2', drop: true, reason: r}
  [1].id: no sample has the id '2' (ids of samples are int (1, 2, 3))
- {id: 1, field: input, was: 'One?', now: [{role: nobody, content: x}], reason: r}
  [0].now: role
- {record: 4, drop: true, reason: r}
  [0].record: no sample has the record 4
- {id: 1, drop: true, reason: r}
- {record: 1, drop: true, reason: r}
  [0]: id 1 is the sample of line 3 (keep one of the two rows)
- {id: 1, field: target, was: B, now: C, reason: r}
- {id: 9, drop: true, reason: r}
  [0].was: target of id 1
  [1].id: no sample has the id 9
"""
"""Rows; below them the end of the place, and a part of the text, of each fault."""


@pytest.mark.parametrize("case", re.findall(r"(?m)(?:^-.*\n)+(?:^  .*\n)+", FAULTS))
def test_a_row_that_does_not_fit_is_an_error_at_its_place(write: Write, case: str) -> None:
    given, *faults = case.strip().split("\n  ")
    with pytest.raises(ManifestError) as caught:
        get_dataset("q", root=write(f"corrections:\n{given}\n"))
    for problem, fault in zip(caught.value.problems, faults, strict=True):
        place, _, text = fault.partition(": ")
        assert problem.file.endswith("errata/q.yaml")
        assert problem.place.endswith(place)
        assert text in problem.text


def test_ids_are_refused_where_samples_are_numbered(write: Write) -> None:
    root = write(rows(("id: 1", "drop: true")), "auto_id: true")
    with pytest.raises(ManifestError, match=r"the samples are numbered \(`auto_id`\)"):
        get_dataset("q", root=root)


def test_a_record_of_several_samples_does_not_name_one(write: Write) -> None:
    records = [{"q": "One?", "parts": ["a", "b"], "a": "A", "c": ["x", "y"], "topic": "t", "n": 1}]
    root = write(rows(("record: 1", "drop: true")), "explode: parts", records=records, id="")
    with pytest.raises(ManifestError, match="record 1 gives 2 samples"):
        get_dataset("q", root=root)


def test_a_changed_corrections_file_changes_the_samples(write: Write) -> None:
    root = write(rows(("id: 1", "field: target, was: A, now: B")))
    first = get_dataset("q", root=root)
    write(rows(("id: 1", "field: target, was: A, now: [B, A]")))
    second = get_dataset("q", root=root)
    assert [first[0].target, second[0].target] == ["B", ["B", "A"]]
    with pytest.raises(TypeError, match="`corrections` is False"):
        get_dataset("q", root=root, corrections="errata/q.yaml")  # type: ignore[arg-type]


def test_expectations_are_about_the_corrected_samples(write: Write) -> None:
    root = write(rows(("id: 1", "drop: true")), "expect: {samples: 2}")
    assert len(get_dataset("q", root=root)) == 2
    assert len(get_dataset("q", root=root, corrections=False)) == 3


def test_the_result_names_its_corrections(write: Write) -> None:
    text = rows(("id: 1", "drop: true"), ("id: 2", "field: target, was: B, now: A"))
    root = write(text)
    applied = get_dataset("q", root=root).provenance.corrections
    assert applied is not None
    assert (applied.file, applied.changed, applied.dropped) == ("errata/q.yaml", 1, 1)
    assert re.fullmatch("[0-9a-f]{64}", applied.sha256)
    data = get_dataset("q", root=root).provenance.as_data()
    assert data["corrections"]["file"] == "errata/q.yaml"
    assert registry.get_dataset("q", root=root, corrections=False).provenance.corrections is None


def test_corrections_in_a_large_file_change_nothing_else(write: Write) -> None:
    count = 10_000  # more than a batch
    records = [{**RECORDS[n % 3], "qid": f"q{n}", "n": n} for n in range(count)]
    wrong = range(0, count, 7)
    given = [(f"id: q{n}", f"field: metadata.n, was: {n}, now: {-1 - n}") for n in wrong]
    root = write(rows(*given), records=records)
    found = [one.metadata["n"] for one in get_dataset("q", root=root) if one.metadata]
    assert found == [-1 - n if n % 7 == 0 else n for n in range(count)]

"""Corrections files: what they say, every mistake at its place, and rows that are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry import Sample
from registry.corrections.file import (
    ABSENT,
    Correction,
    SampleName,
    file_text,
    infer_rows,
    parse_corrections,
    read_problems,
    report_text,
    row_text,
    value_of,
)
from registry.errors import ManifestError
from registry.yamldoc.reader import MAX_BYTES
from tests.yamldoc.test_writer import HOSTILE, VALUES

GOOD = """\
license: cc-by-4.0
defaults: {source: "https://example.org/errata", by: Ann}
corrections:
  - {id: q-1, field: target, was: A, now: [B, C], verdict: wrong_groundtruth, reason: See there.}
  - {record: 7, drop: true, reason: No picture., by: Bob}
  - {id: 3, field: metadata.a.b, was: 1, now: null, reason: Unknown., source: a book}
"""


def test_problems_of_a_file_are_those_of_reading_it_too(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(GOOD)
    assert read_problems(file, shown_as="e.yaml") == ()
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    (large,) = read_problems(file, shown_as="e.yaml")
    (folder,) = read_problems(tmp_path, shown_as="e")
    assert (large.rule, folder.rule, folder.file) == ("yaml-limit", "unreadable-file", "e")


def test_rows_have_the_evidence_of_the_file_where_they_give_none() -> None:
    found = parse_corrections(GOOD.encode(), file="e.yaml")
    about: dict[str, Any] = {"source": "https://example.org/errata", "by": "Ann"}
    assert found.rows == (
        Correction(
            index=0,
            sample=("id", "q-1"),
            field="target",
            was="A",
            now=["B", "C"],
            verdict="wrong_groundtruth",
            reason="See there.",
            **about,
        ),
        Correction(
            index=1,
            sample=("record", 7),
            drop=True,
            reason="No picture.",
            source="https://example.org/errata",
            by="Bob",
        ),
        Correction(
            index=2,
            sample=("id", 3),
            field="metadata.a.b",
            was=1,
            now=None,
            reason="Unknown.",
            source="a book",
            by="Ann",
        ),
    )
    assert [found.line(row) for row in found.rows] == [4, 5, 6]
    assert found.rows[0].evidence == (
        "wrong_groundtruth: See there. (https://example.org/errata, reviewed by Ann)"
    )


MISTAKES = """\
corrections:
  1:1 -: must be a list
corrections: []
  1:1 -: must not be empty
- {field: target, was: A, now: B, reason: r}
  2:3 [0]: the key 'id' is missing (the id of the sample, or `record`
- {id: 1, record: 1, field: target, was: A, now: B, reason: r}
  2:11 [0].record: both `id` and `record`
- {id: true, drop: true, reason: r}
  2:4 [0].id: must be a string or an integer, is True
- {id: 1, field: target, was: A, noww: B, reason: r}
  2:3 [0]: the key 'now' is missing (the correct value)
  2:34 [0].noww: unknown key 'noww' (did you mean 'now'?)
- {id: 1, field: setup, was: A, now: B, reason: r}
  2:11 [0].field: 'setup' has the wrong form (What is wrong: input, target, choices, or metadata.KEY, such as `target`)
- {id: 1, field: target, was: 10, now: '12', reason: r}
  2:26 [0].was: must be a string or a list, is 10
- {id: 1, field: choices, was: [a, b], now: ab, reason: r}
  2:40 [0].now: must be a list, is 'ab'
- {id: 1, field: target, was: A, now: B}
  2:3 [0]: the key 'reason' is missing (a reviewer must know why
- {id: 1, field: target, was: A, now: B, reason: ''}
  2:42 [0].reason: must not be empty
- {id: 1, field: target, was: A, now: A, reason: r}
  2:34 [0].now: `now` is what it was (remove the row)
- {id: 1, field: target, was: A, now: B, reason: r}
- {id: '1', field: target, was: A, now: B, reason: r}
- {id: 1, field: target, was: A, now: C, reason: r}
  4:3 [2]: id 1 is corrected in its target already, in line 2
- {id: 1, drop: true, reason: r}
- {id: 1, drop: true, reason: r}
  3:3 [1]: id 1 is left out already, in line 2
- {id: 1, field: target, was: A, now: B, reason: r}
- {id: 1, drop: true, reason: r}
  2:3 [0]: id 1 is left out, in line 3
- {id: 1, drop: true, field: target, was: A, now: B, reason: r}
  2:46 [0].now: `drop: true` leaves the sample out, so it has no `now`
- {id: 1, drop: true, field: target, reason: r}
  2:23 [0].field: `field` and `was` belong together
"""
"""Rows, or a file; below them the line and column, path in the list, and start of each mistake."""


@pytest.mark.parametrize("case", re.findall(r"(?m)(?:^\S.*\n)+(?:^  .*\n)+", MISTAKES))
def test_every_mistake_is_reported_at_its_place(case: str) -> None:
    rows, *mistakes = re.split(r"\n  (?=\d+:\d+ )", case.strip())
    text = rows if rows.startswith("corrections") else f"corrections:\n{rows}\n"
    with pytest.raises(ManifestError) as caught:
        parse_corrections(text.encode(), file="e.yaml")
    for problem, mistake in zip(caught.value.problems, mistakes, strict=True):
        place, _, start = mistake.partition(": ")
        position, _, path = place.partition(" ")
        assert problem.place == f"e.yaml:{position} $.corrections{path.strip('-')}"
        assert problem.text.startswith(start)


def test_all_mistakes_of_a_file_are_reported_at_once() -> None:
    rows = "\n".join(f"- {{id: {n}, field: target, was: A, now: A, reason: r}}" for n in range(50))
    with pytest.raises(ManifestError) as caught:
        parse_corrections(f"corrections:\n{rows}\n".encode(), file="e.yaml")
    assert [one.line for one in caught.value.problems] == list(range(2, 52))


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"corrections: [", "yaml-syntax"),
        (b"\xff", "unreadable-file"),
        (b"corrections: [{id: !!int '1', drop: true, reason: r}]", "yaml-tag"),
        (b"corrections: [{id: 1, id: 2, drop: true, reason: r}]", "duplicate-key"),
        (b" " * (MAX_BYTES + 1), "yaml-limit"),
    ],
)
def test_a_file_is_read_as_strictly_as_a_manifest(data: bytes, rule: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_corrections(data, file="e.yaml")
    assert rule in {one.rule for one in caught.value.problems}


# --- rows as text: read as the same values ---


@given(st.integers(0, 2**53) | HOSTILE, HOSTILE, VALUES, VALUES)
@example(7, "a\nb", {"x" * 1_100: "\x85"}, "")
def test_a_row_is_read_as_it_was_written(identifier: Any, key: str, was: Any, now: Any) -> None:
    field = f"metadata.{key}"
    text = row_text(("id", identifier), {"reason": "r"}, field=field, was=[was], now=[was, now])
    found = parse_corrections(f"corrections:\n{text}".encode(), file="e.yaml").rows
    assert [(one.sample, one.field, one.was, one.now) for one in found] == [
        (("id", identifier), field, [was], [was, now])
    ]


def test_values_are_those_that_rows_have() -> None:
    sample = Sample(
        input=[{"role": "user", "content": "a"}],  # type: ignore[list-item]
        target=["x", "y"],
        metadata={"a": {"b": 1}, "a.b": 2, "c": {"d": None}},
    )
    assert value_of(sample, "target") == ["x", "y"]
    assert value_of(sample, "input") == [{"role": "user", "content": "a"}]
    assert value_of(sample, "metadata.a.b") == 2  # the exact key first
    assert value_of(sample, "metadata.c.d") is None
    assert value_of(sample, "metadata.c.e") is ABSENT
    assert value_of(sample, "metadata.a.b.c") is ABSENT


def named(*samples: Sample) -> dict[SampleName, Sample]:
    return {("id", one.id): one for one in samples if one.id is not None}


def test_rows_are_inferred_for_what_differs() -> None:
    old = named(
        Sample(input="a", target="x", id=1, metadata={"k": 1, "own": True}),
        Sample(input="b", target="x", id=2),
        Sample(input="c", target="x", id="c"),
    )
    new = named(
        Sample(input="a", target="y", id=1, metadata={"k": "1", "more": 2}),
        Sample(input="b", target="x", id=2),
        Sample(input="d", target="x", id=4),
    )
    found = infer_rows(old, new)
    assert (found.changed, found.dropped, found.added) == (1, 1, ("id 4",))
    text = file_text(
        found.rows, {"reason": "because: #1", "source": "https://x.org"}, "mit", schema="s.json"
    )
    assert text.startswith("# yaml-language-server: $schema=s.json\n")
    parsed = parse_corrections(text.encode(), file="e.yaml")
    assert parsed.document.value["license"] == "mit"
    assert [(one.sample, one.field, one.was, one.now, one.drop) for one in parsed.rows] == [
        (("id", 1), "target", "x", "y", False),
        (("id", 1), "metadata.k", 1, "1", False),
        (("id", "c"), "", None, None, True),
    ]
    assert {one.reason for one in parsed.rows} == {"because: #1"}


def test_a_report_has_to_be_completed() -> None:
    sample = Sample(input="a", target="x", id="q: 1")
    text = report_text(sample, 7)
    assert '- id: "q: 1"\n    field: "target"\n    was: "x"\n    now: "x"  # the correct' in text
    assert report_text(sample, 7, auto_id=True).startswith("  - record: 7\n")
    assert report_text(Sample(input="a"), 7).startswith("  - record: 7\n")

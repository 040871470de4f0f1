"""Rows as text: what is written is read as the same values, and gives the corrected samples."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from registry import Sample
from registry.corrections.file import SampleName, parse_corrections
from registry.corrections.rows import ABSENT, file_text, infer_rows, report_text, row_text, value_of
from tests.yamldoc.test_writer import HOSTILE, VALUES


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

"""Questionable samples: counted by columns as they would be one by one, with the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry.samples.fields import NAMES
from registry.samples.letters import index_of
from registry.samples.messages import ChatMessageUser
from registry.store import quality
from registry.store.columns import batch_of
from registry.store.quality import QualityCounter, unused_columns

Row = dict[str, Any]
FILES = [
    (1, "/data/a.csv"),
    (31, "https://host/x/b.csv?…"),
    (41, "owner/name"),
    (81, "zip://in/c.jsonl::https://host/d.zip"),
]


def batch_from(rows: Sequence[Row], first: int = 1) -> pa.RecordBatch:
    """Return samples; records are numbered by tens."""
    defaults = {**dict.fromkeys(NAMES), "input": "q", "target": ""}
    fields = {name: [row.get(name, default) for row in rows] for name, default in defaults.items()}
    return batch_of(fields, [10 * (first + place) for place in range(len(rows))], {})


def counted(rows: Sequence[Row], size: int = 100) -> dict[str, dict[str, Any]]:
    """Count samples in batches of a size."""
    counter = QualityCounter()
    for start in range(0, len(rows), size):
        counter.add(batch_from(rows[start : start + size], start + 1))
    columns = {name for name in ("id", "choices") if any(row.get(name) is not None for row in rows)}
    return counter.result(FILES, columns)


def kinds(*rows: Row) -> set[str]:
    return set(counted(rows))


AB = ["x", "y"]
SOUND: Row = {"input": "q", "target": "A", "choices": AB, "id": 1}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        *[({"input": text}, "blank_inputs") for text in (" ", "\n\t", "\u3000\u2003", "\x1c")],
        *[({"target": text}, "blank_targets") for text in ("", " ", "\u3000", "\x85")],
        *[({"target": items}, "blank_targets") for items in ([], [""], ["A", " "])],
        *[
            ({"target": target}, "targets_outside_choices")
            for target in ("C", "AB", "@", "[", "É", "\0", "X", ["A", "C"], ["z"], " A")
        ],
        ({"id": None}, "missing_ids"),
        ({"choices": None}, "missing_choices"),
        ({"choices": []}, "missing_choices"),
        *[({"choices": items}, "repeated_choices") for items in (["x", "x"], ["x", "y", "", "x"])],
        ({"choices": ["x"]}, "few_choices"),
        ({"choices": ["1000", "1020", "1000"]}, "repeated_choices"),
    ],
)
def test_a_questionable_sample_is_counted_once(change: Row, kind: str) -> None:
    found = counted([SOUND, {**SOUND, **change}, SOUND])
    assert {name: one["count"] for name, one in found.items()} == {kind: 1}
    (first,) = found[kind]["first"]
    assert first["record"] == 20


@pytest.mark.parametrize(
    "change",
    [
        *[{"input": text} for text in ("é", "\u3000x", "\n x", "\x7f", "\u200b", "\ufeff")],
        {"input": [ChatMessageUser(content="")]},
        *[{"target": target} for target in ("B", "b", "x", "y", ["A", "B"], ["x", "B"])],
        {"target": "\x7f", "choices": ["\x7f", "x"]},
        *[{"choices": ["o"] + [str(n) for n in range(26)], "target": one} for one in ("1", "Z")],
        *[{"choices": items} for items in (["x", "X"], ["1000", "1020", "1002"], ["", "x"])],
        *[{"choices": items} for items in (["ab" * 9, "ba" * 9], ["x", " x"])],
        {"id": ""},
        {"id": 0},
    ],
)
def test_a_sound_sample_is_not_counted(change: Row) -> None:
    assert counted([SOUND, {**SOUND, **change}, SOUND]) == {}


def test_what_all_samples_lack_is_said_by_the_columns_of_the_file() -> None:
    assert kinds({"target": "x"}, {"target": "y"}) == set()
    assert kinds({"target": "x", "id": "1"}, {"target": "y"}) == {"missing_ids"}
    assert kinds({"target": "x"}, {"target": "x", "choices": ["x", "y"]}) == {"missing_choices"}


def test_the_first_three_are_shown_with_their_file_id_and_value() -> None:
    rows = [{**SOUND, "id": number, "target": "E"} for number in range(5)]
    found = counted(rows, size=2)["targets_outside_choices"]
    assert found["count"] == 5
    assert found["first"] == [
        {"record": 10, "id": 0, "value": "E", "file": "a.csv"},
        {"record": 20, "id": 1, "value": "E", "file": "a.csv"},
        {"record": 30, "id": 2, "value": "E", "file": "a.csv"},
    ]


@pytest.mark.parametrize(
    ("place", "file"), [(0, "a.csv"), (3, "b.csv?…"), (4, "owner/name"), (8, "c.jsonl")]
)
def test_a_sample_is_in_the_file_of_its_record(place: int, file: str) -> None:
    rows = [SOUND] * 9
    rows[place] = {**SOUND, "target": "E"}
    (first,) = counted(rows)["targets_outside_choices"]["first"]
    assert first["file"] == file


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"target": "T" * 99}, "T" * 79 + "…"),
        ({"target": ["z"] * 9}, ["z", "z", "z", "…"]),
        ({"choices": ["p", "q", "q", "p"]}, "q"),
        ({"choices": ["only"], "target": "only"}, ["only"]),
        ({"input": "\n"}, "\n"),
        ({"id": None}, None),
    ],
)
def test_long_values_are_shortened(change: Row, value: Any) -> None:
    (found,) = counted([SOUND, {**SOUND, **change}]).values()
    assert found["first"][0]["value"] == value


def test_letters_are_checked_without_converting_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "choice_of", lambda *_: pytest.fail("a row was converted"))
    rows = [{**SOUND, "target": "AB"[number % 2], "id": number} for number in range(9)]
    rows[4] = {**SOUND, "target": "free", "choices": None}
    assert kinds(*rows) == {"missing_choices"}


def test_unused_columns_are_listed_by_name() -> None:
    assert unused_columns([]) == {}
    assert unused_columns({"setup", "files"}) == {
        "unused_columns": {"count": 2, "first": [{"value": "files"}, {"value": "setup"}]}
    }


# --- columns give what single samples give ---


def expected_kinds(row: Row) -> set[str]:
    """Return the kinds of one sample, by Python's own means."""
    target, choices = row["target"], row["choices"]
    targets = target if isinstance(target, list) else [target]
    found = set()
    if not row["input"].strip():
        found.add("blank_inputs")
    if not targets or not all(one.strip() for one in targets):
        found.add("blank_targets")
    elif choices and not all(is_among(one, choices) for one in targets):
        found.add("targets_outside_choices")
    if not choices:
        found.add("missing_choices")
    elif len(choices) < 2:
        found.add("few_choices")
    if choices and len(set(choices)) < len(choices):
        found.add("repeated_choices")
    if row["id"] is None:
        found.add("missing_ids")
    return found


def is_among(target: str, choices: list[str]) -> bool:
    try:
        return target in choices or index_of(target) < len(choices)
    except ValueError:
        return False


texts = st.sampled_from(
    [*("A", "B", "C", "x", "xy", "yx", "xyx", "é", "1"), *("", " ", "\u3000", "\x1f\n", "\u3000x")]
)
rows = st.fixed_dictionaries(
    {
        "input": texts.map(lambda text: text or " "),
        "target": texts | st.lists(texts, max_size=3),
        "choices": st.none() | st.lists(texts, max_size=4),
        "id": st.none() | st.integers(0, 9) | texts,
    }
)


@settings(max_examples=300, deadline=None)
@given(st.lists(rows, max_size=9), st.integers(1, 4))
@example([{"input": "q", "target": ["A"], "choices": None, "id": None}] * 3, 2)
def test_columns_give_the_counts_of_single_samples(samples: list[Row], size: int) -> None:
    found = {name: one["count"] for name, one in counted(samples, size).items()}
    expected: dict[str, int] = {}
    for row in samples:
        for kind in expected_kinds(row):
            expected[kind] = expected.get(kind, 0) + 1
    for kind, column in (("missing_ids", "id"), ("missing_choices", "choices")):
        if all(row[column] is None for row in samples):
            expected.pop(kind, None)
    assert found == expected


def test_a_slice_of_a_batch_is_counted_alone() -> None:
    batch = batch_from([{"target": "E", "choices": ["x", "x"]}, SOUND, {**SOUND, "target": ["C"]}])
    counter = QualityCounter()
    counter.add(batch.slice(1))
    found = counter.result(FILES, ())
    assert {name: one["count"] for name, one in found.items()} == {"targets_outside_choices": 1}
    assert found["targets_outside_choices"]["first"][0]["value"] == ["C"]

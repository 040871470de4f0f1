"""Counts of questionable samples: what is an error, what a warning, and what is meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from registry.errors import ExpectationError
from registry.manifest.models import Accepted, DatasetSpec, Expect, to_spec
from registry.pipeline.expectations import check_samples, quality_warnings

Found = dict[str, Any]


def spec(**keys: Any) -> DatasetSpec:
    source = {"type": "csv", "path": ["/q.csv"]}
    fields = {"input": "q", "target": "a"}
    return to_spec({"name": "d", "folder": Path(), "source": source, "fields": fields, **keys})


def one(record: int = 5, file: str = "q.csv", id: Any = None, value: Any = None) -> Found:
    return {"record": record, "file": file, "id": id, "value": value}


def meta(limit: Any = None, samples: Any = 600, columns: Any = "", **counts: Any) -> Found:
    """Return the content of `meta.json`; a count is a number, or a number and the first samples."""
    quality = {}
    for kind, count in counts.items():
        number, *first = (count, one()) if isinstance(count, int) else count
        quality[kind] = {"count": number, "first": first}
    filled = (columns or "input target id choices").split()
    return {"samples": samples, "columns": filled, "quality": quality, "limit": limit}


def texts(found: DatasetSpec, stored: Found) -> list[str]:
    return [warning.message for warning in quality_warnings(found, stored)]


def error(found: DatasetSpec, stored: Found) -> str:
    """Return the message of the error; empty if there is none."""
    try:
        check_samples(found, stored)
    except ExpectationError as raised:
        return str(raised)
    return ""


EVERYTHING = {"expect": dict.fromkeys(Expect.__struct_fields__[1:], True)}
NUMBERED = {"expect": {"unique_ids": True}, "view": {"auto_id": True}}
WANTED: dict[str, tuple[Found, Found, bool, int]] = {
    "sound": (EVERYTHING, meta(), False, 0),
    "no samples": (EVERYTHING, meta(samples=0, columns="input"), False, 0),
    "numbers as ids": (EVERYTHING, meta(columns="input id_number choices"), False, 0),
    "numbered samples": (NUMBERED, meta(columns="input"), False, 0),
    "numbered samples, some with ids": (NUMBERED, meta(missing_ids=3), False, 0),
    **{
        f"{count} blank targets, of {fields}": (
            {"fields": {"input": "q", **fields}},
            meta(blank_targets=count),
            False,
            0,
        )
        for fields in ({}, {"target": None}, {"target": {"const": ""}})
        for count in (3, 600)
    },
    "blank targets that only the default reads": (
        {"fields": {"input": "q"}, "accept": ["blank_targets"]},
        meta(blank_targets=600),
        False,
        1,  # accepted in vain
    ),
    "blank targets of the same name": (
        {"fields": {"input": "q", "target": "target"}},
        meta(blank_targets=600),
        True,
        1,
    ),
    "a constant outside the choices": (
        {"fields": {"input": "q", "target": {"const": "E"}}},
        meta(targets_outside_choices=600),
        False,
        1,
    ),
    "a mapper without targets": ({"mapper": "p:f"}, meta(blank_targets=600), False, 0),
    "a mapper with few targets": ({"mapper": "p:f"}, meta(blank_targets=5), False, 1),
}
"""Keys of a manifest, what its samples have, whether that fails, and the number of warnings."""


@pytest.mark.parametrize("name", WANTED)
def test_what_the_manifest_wants_is_an_error_or_a_warning(name: str) -> None:
    keys, stored, fails, warnings = WANTED[name]
    found = spec(**keys)
    assert (error(found, stored) != "", len(texts(found, stored))) == (fails, warnings)


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        ("blank_inputs", "blank input"),
        ("blank_targets", "blank target"),
        ("targets_outside_choices", "target outside the choices"),
        ("missing_ids", "no id"),
        ("few_choices", "fewer than two choices"),
        ("repeated_choices", "the same choice twice"),
    ],
)
def test_each_kind_is_a_warning_until_it_is_accepted(kind: str, phrase: str) -> None:
    stored = meta(**{kind: 12})
    (warning,) = quality_warnings(spec(), stored)
    message = f"{phrase} in 12 of 600 samples: q.csv record 5, …"
    assert (warning.kind, warning.count, warning.message) == (kind, 12, message)
    assert warning.to_dict() == {"kind": kind, "message": message, "count": 12, "first": (one(),)}
    assert texts(spec(accept=[kind]), stored) == []


def test_every_kind_that_can_be_accepted_can_be_a_warning() -> None:
    stored = meta(**dict.fromkeys(get_args(Accepted), (1, one(value="x"))))
    assert {warning.kind for warning in quality_warnings(spec(), stored)} == {*get_args(Accepted)}


@pytest.mark.parametrize(
    ("first", "places"),
    [
        ([one(5)], "q.csv record 5"),
        ([one(5, id=0)], "q.csv record 5 (id 0)"),
        ([one(5, id="x", value="E")], "q.csv record 5 (id 'x', 'E')"),
        ([one(5, value=["E", " "])], "q.csv record 5 (['E', ' '])"),
        ([one(5, id="x", value="")], "q.csv record 5 (id 'x')"),
        ([one(5, id="x"), one(9, id="y"), one(12)], "q.csv record 5 (id 'x'), 9, 12"),
        ([one(5), one(9, "r.csv", "y")], "q.csv record 5, r.csv record 9 (id 'y')"),
        ([one(5, id="\x1b[31m")], "q.csv record 5 (id '\\x1b[31m')"),
    ],
)
def test_the_first_samples_are_named_on_one_line(first: list[Found], places: str) -> None:
    (text,) = texts(spec(), meta(few_choices=(len(first), *first)))
    assert text == f"fewer than two choices in {len(first)} of 600 samples: {places}"


def test_a_long_id_or_value_leaves_the_line_short() -> None:
    first = one(5, id="i" * 80, value="v" * 80)
    (text,) = texts(spec(), meta(few_choices=(1, first)))
    assert len(text) < 160


# --- expect ---


@pytest.mark.parametrize(
    ("expected", "kinds"),
    [
        ("unique_ids", ["missing_ids"]),
        ("target_in_choices", ["missing_choices", "blank_targets", "targets_outside_choices"]),
        ("nonempty_targets", ["blank_targets"]),
        ("nonempty_inputs", ["blank_inputs"]),
        ("several_choices", ["missing_choices", "few_choices"]),
        ("distinct_choices", ["repeated_choices"]),
    ],
)
def test_an_expectation_makes_its_kinds_an_error(expected: str, kinds: list[str]) -> None:
    for kind in kinds:
        message = error(spec(expect={expected: True}), meta(**{kind: 2}))
        assert message.startswith(f"d: expect.{expected} fails: ")
        assert message.endswith(" in 2 of 600 samples: q.csv record 5, …")
        accepted = [kind] if kind in get_args(Accepted) else []
        assert error(spec(expect={expected: True}, accept=accepted), meta(**{kind: 2})) == message
    others = {kind: 2 for kind in get_args(Accepted) if kind not in kinds}
    assert error(spec(expect={expected: True}), meta(**others)) == ""


def test_every_expectation_of_values_has_a_test_above() -> None:
    assert Expect.__struct_fields__[1:] == (
        *("unique_ids", "target_in_choices", "nonempty_targets"),
        *("nonempty_inputs", "several_choices", "distinct_choices"),
    )


def test_all_failed_expectations_are_reported_together() -> None:
    found = spec(expect={"unique_ids": True, "nonempty_targets": True})
    stored = meta(missing_ids=(1, one(7)), blank_targets=(1, one(8)))
    assert error(found, stored) == (
        "d: expect.unique_ids fails: no id in 1 of 600 samples: q.csv record 7;"
        " expect.nonempty_targets fails: blank target in 1 of 600 samples: q.csv record 8"
    )


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("unique_ids", "no id in all 600 samples"),
        ("target_in_choices", "no choices in all 600 samples"),
        ("several_choices", "no choices in all 600 samples"),
    ],
)
def test_a_column_without_any_value_fails_for_all_samples(expected: str, message: str) -> None:
    found = error(spec(expect={expected: True}), meta(columns="input target"))
    assert found == f"d: expect.{expected} fails: {message}"
    assert texts(spec(), meta(columns="input target")) == []


# --- targets ---


def test_all_blank_targets_are_an_error_that_names_the_way_out() -> None:
    stored = meta(blank_targets=(600, one(1, id="x"), one(2), one(3)))
    assert error(spec(), stored) == (
        "d: blank target in all 600 samples: q.csv record 1 (id 'x'), 2, 3, …"
        " (is `fields.target` right? `accept: [blank_targets]` says that it is meant)"
    )
    assert error(spec(accept=["blank_targets"]), stored) == ""
    assert texts(spec(accept=["blank_targets"]), stored) == []


def test_the_first_samples_alone_only_cause_a_warning() -> None:
    stored = meta(samples=3, limit=3, blank_targets=3)
    assert error(spec(), stored) == ""
    assert texts(spec(), stored) == ["blank target in all 3 samples: q.csv record 5, …"]


# --- accept ---


def test_what_accept_names_in_vain_is_reported() -> None:
    found = spec(accept=["blank_targets", "few_choices"])
    (warning,) = quality_warnings(found, meta(blank_targets=3))
    assert warning.kind == "unused_accept"
    assert warning.message == "`accept` names few_choices, which no sample needs (remove it)"
    # Later samples may need it.
    assert texts(found, meta(limit=3)) == []


def test_unused_columns_are_named() -> None:
    stored = meta(unused_columns=(2, {"value": "files"}, {"value": "setup"}))
    assert texts(spec(), stored) == ["columns that no field reads: files, setup"]
    assert texts(spec(accept=["unused_columns"]), stored) == []

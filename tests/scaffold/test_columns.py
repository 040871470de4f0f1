"""The columns of records, what is inferred of them, and the names by which they are known."""

from __future__ import annotations

import math
from typing import Any

import pytest

from registry.errors import DecodeError, RegistryError
from registry.samples.frames.layout import COLUMNS
from registry.scaffold.columns import (
    CHOICES,
    FRAME_COLUMNS,
    FRAME_FIELDS,
    IDS,
    INPUTS,
    KNOWN,
    TARGETS,
    Columns,
    Guess,
    Question,
    infer_frame,
    is_blank,
    refuse,
)
from registry.scaffold.fields import infer_fields
from tests.scaffold.pipes import pipe

MESSAGE = {"role": "user", "content": "Hi", "id": "x", "rest": None}
SWITCHES = FRAME_FIELDS["input"], FRAME_FIELDS["target"]


def test_columns_are_those_of_all_records() -> None:
    assert Columns([{"b": 1}, {"a": 2, "b": 3}]).names == ["b", "a"]


def test_column_is_found_by_the_first_name_that_it_has_values_for() -> None:
    columns = Columns([{"Answer": None, "LABEL": 1, "label": 2}])
    assert columns.find(("answer", "label")) == "LABEL"
    columns.use("LABEL")
    assert columns.find(("answer", "label")) == "label"


def test_column_of_the_user_is_used_for_nothing_else() -> None:
    columns = Columns([{"a": 1, "b": 2}], {"target": "a"})
    assert columns.find(("b",), "target") == "a"
    assert columns.free() == ["b"]


def test_unknown_column_is_an_error_with_similar_names() -> None:
    with pytest.raises(RegistryError, match=r"no column 'anser' for target .*'answer'"):
        Columns([{"answer": 1}], {"target": "anser"})
    with pytest.raises(RegistryError, match="columns: answer, b"):
        Columns([{"answer": 1, "b": 2}], {"target": "zzz"})


def test_column_of_the_user_may_be_a_path() -> None:
    columns = Columns([{"data": {"q": "?"}, "a.b": 1}, {"data": "x"}], {"input": "data.q"})
    assert columns.values("data.q") == ["?", None]
    assert columns.values("a.b") == [1, None]  # the exact name first
    assert columns.free() == ["a.b"]
    nested = Columns([{"a.b": {"c": 1}, "d": 2}], {"input": "a.b.c"})
    assert (nested.values("a.b.c"), nested.free()) == ([1], ["d"])
    with pytest.raises(RegistryError, match=r"no column 'data\.z' for input"):
        Columns([{"data": {"q": "?"}}], {"input": "data.z"})


def test_blank_values() -> None:
    assert all(map(is_blank, [None, "", " \n", [], {}, math.nan]))
    assert not any(map(is_blank, [0, False, "x", [None], {"a": None}]))


def row(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "target": "t", **values}


def cells(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS, ""), "target": "t", **values}


def inferred(*records: dict[str, Any]) -> dict[str, Any]:
    found = infer_frame(Columns(records))
    assert found is not None
    return {key: one.expression for key, one in found.items()}


def test_the_columns_are_those_of_every_frame() -> None:
    assert set(COLUMNS) == FRAME_COLUMNS


@pytest.mark.parametrize(
    ("records", "fields"),
    [
        ([row(input="q")], {"input": "input", "target": "target", "id": None}),
        (
            [row(messages=[MESSAGE], id="1", metadata="{}", choices=["a"], description="d")],
            {**{key: key for key in FRAME_FIELDS}, "input": "messages"},
        ),
        (
            [row(input="q"), row(messages=[MESSAGE], target=None, targets=["a"])],
            {"input": SWITCHES[0], "target": SWITCHES[1], "id": None},
        ),
        (
            [cells(input="q", metadata="{}"), cells(input="p", choices="[]", metadata="{}")],
            {
                "input": "input",
                "choices": {
                    "if": {"value": "choices", "equals": ""},
                    "then": None,
                    "else": pipe("choices", "parse"),
                },
                "target": "target",
                "id": None,
                "metadata": "metadata",
            },
        ),
        ([cells(input="q")], {"input": "input", "target": "target", "id": None, "metadata": None}),
    ],
)
def test_fields(records: list[dict[str, Any]], fields: dict[str, Any]) -> None:
    assert inferred(*records) == fields


def test_what_is_not_read_is_said() -> None:
    parts = {**MESSAGE, "rest": '{"content":[]}'}
    found = infer_fields("x", [row(messages=[parts], sandbox='{"type":"docker","config":null}')])
    assert "without `rest`" in found.fields["input"].reason
    assert found.unused == ("sandbox",)
    text = '[{"role":"user","content":"","id":"x","rest":"{}"}]'
    assert "without `rest`" in infer_fields("x", [cells(messages=text)]).fields["input"].reason
    some = infer_fields("x", [cells(input="a", metadata="{}"), cells(input="b")])
    assert some.fields["metadata"].reason == "some cells are empty"
    assert some.unused == ("metadata",)


def test_other_columns_and_the_choice_of_a_user_are_left_to_the_rest() -> None:
    assert infer_frame(Columns([{"input": "q", "target": "t"}])) is None
    assert infer_frame(Columns([{**row(input="q"), "more": 1}])) is None
    assert infer_frame(Columns([row(input="q")], {"target": "input"})) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("utf-16", "utf-16"),
        (";", "';'"),
        ("\t", r"'\t'"),
        (3, "3"),
        (["a"], "['a']"),
        (["column_1"] * 200, f"{repr(['column_1'] * 4)[:39]}…{repr(['column_1'] * 4)[-39:]}"),
        ("*", "*"),
    ],
)
def test_guess_is_one_line(value: object, shown: str) -> None:
    assert str(Guess("key", value, "sniffed")) == f"key {shown} (sniffed)"


def test_guess_of_a_bool_is_yaml() -> None:
    assert str(Guess("lines", True, "sniffed")) == "lines: true (sniffed)"


def test_question_without_anyone_to_ask_names_every_option() -> None:
    question = Question(
        "q.csv", "delimiter", {"--delimiter ';'": "2 columns", "--delimiter ','": "3"}
    )
    with pytest.raises(DecodeError) as caught:
        refuse(question)
    assert str(caught.value) == (
        "q.csv: the delimiter is not clear, so say it: --delimiter ';' gives 2 columns;"
        " --delimiter ',' gives 3"
    )


def test_names_are_in_lower_case() -> None:
    assert {name.casefold() for name in KNOWN} == KNOWN


def test_only_listed_names_are_for_several_fields() -> None:
    groups = (INPUTS, TARGETS, CHOICES, IDS)
    names = [name for group in groups for name in group]
    # As choices if there is another target, see `infer_choices`.
    assert {name for name in names if names.count(name) > 1} == {"answers"}
    assert KNOWN.issuperset(names)

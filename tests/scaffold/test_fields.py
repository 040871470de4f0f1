"""What `registry add` infers from records."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import DecodeError, RegistryError
from registry.scaffold.fields import infer_fields
from registry.scaffold.new_manifest import About, manifest_text
from registry.yamldoc.reader import parse_yaml
from tests.scaffold.pipes import pipe


def fields(*records: dict[str, Any]) -> dict[str, Any]:
    return {name: one.expression for name, one in infer_fields("d", records).fields.items()}


HASHED = {"prefix": "d", "length": 8}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (
            [{"id": 1, "question": "?", "A": "x", "B": "y", "answer": "B"}],
            {"input": "question", "choices": ["A", "B"], "target": "answer", "id": "id"},
        ),
        (
            [{"question": "?", "choices": ["x", "y"], "answer": 1, "subject": "s"}],
            {
                "input": "question",
                "choices": "choices",
                "target": pipe("answer", "letter"),
                "id": {"hash": ["question", "choices"], **HASHED},
                "metadata": ["subject"],
            },
        ),
        (
            [{"question": "?", "choices": {"text": ["x"], "label": ["1"]}, "answerKey": "1"}],
            {
                "input": "question",
                "choices": "choices.text",
                "target": pipe("answerKey", {"letter_in": "choices.label"}),
                "id": {"hash": ["question", "choices.text"], **HASHED},
            },
        ),
        (
            [{"question": "?", "options": ["x", "y"], "pick": 0, "tools": [{}]}],
            {
                "input": "question",
                "choices": "options",
                "target": pipe("pick", "letter"),
                "id": {"hash": ["question", "options"], **HASHED},
            },
        ),
        (
            [{"id": 1, "strange": "a long text", "x": 1}, {"id": 1, "strange": "b", "x": 2}],
            {
                "input": "strange",
                "target": "x",
                "id": {"hash": ["strange"], **HASHED},
                "metadata": ["id"],
            },
        ),
    ],
)
def test_expressions_fit_the_records(
    records: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert fields(*records) == expected


INPUTS: dict[str, tuple[dict[str, list[Any]], Any]] = {  # columns, input
    "of most records": ({"note": ["a long note", "", ""], "utt": ["hello", "hi all", "hi"]}, "utt"),
    "not a link": ({"url": ["https://a.org/a/long/path"], "utt": ["hello"]}, "utt"),
    "part of a name": ({"Texto_Pregunta": ["a"], "Texto_Razon": ["longer"]}, "Texto_Pregunta"),
    "not its key": ({"question_id": ["q-1"], "body": ["a text"]}, "body"),
    "not its label": ({"question_type": ["a", "a"], "body": ["one", "two"]}, "body"),
    "a claim": ({"claim": ["a"], "justification": ["a longer text"]}, "claim"),
    "two sentences": (
        {"sentence1": ["a"], "sentence2": ["b"]},
        {"template": "{sentence1}\n\n{sentence2}"},
    ),
    "a premise and its hypothesis": (
        {"hypothesis": ["a"], "premise": ["b"]},
        {"template": "{premise}\n\n{hypothesis}"},
    ),
    "a body and its question": (
        {"Body": ["a"], "Question": ["?"]},
        {"template": "{Body}\n\n{Question}"},
    ),
    "a passage that is an object": (
        {"question": ["?"], "context": [{"texts": ["x"]}]},
        "question",
    ),
}


@pytest.mark.parametrize(("values", "expected"), INPUTS.values(), ids=INPUTS)
def test_input_is_what_looks_like_a_question(values: dict[str, list[Any]], expected: Any) -> None:
    rows = zip(*values.values(), strict=True)
    assert fields(*(dict(zip(values, row, strict=True)) for row in rows))["input"] == expected


def test_numbers_of_rows_are_ids_and_no_target() -> None:
    found = fields(*({"row": str(number), "utt": f"hello {number % 3}"} for number in range(7, 12)))
    assert (found["id"], found.get("target")) == ("row", None)


def test_columns_that_no_field_reads_are_named() -> None:
    record = {"question": "?", "answer": "a", "topic": "s", "text": ["x"]}
    found = infer_fields("d", [{**record, "rationale": "x" * 61, "empty": None}])
    assert found.fields["metadata"].expression == ["topic"]
    assert found.unused == ("text", "rationale")


def test_source_without_records_is_an_error() -> None:
    with pytest.raises(ValueError, match="no records"):
        infer_fields("d", [])


REASONS = [  # records, field, reason
    ([{"question": "?"}], "input", "known column name"),
    ([{"x": "?", "y": "long"}], "input", "the longest texts: please check"),
    ([{"question": "?", "option_a": "x", "option_b": "y"}], "choices", "one column per choice"),
    (
        [{"question": "?", "choices": ["x", "y"], "answer": n} for n in (1, 2)],
        "target",
        "indexes from 1 to 2, so the first choice is 1",
    ),
    (
        [{"question": "?", "choices": ["x", "y"], "answer": n} for n in (0, 1)],
        "target",
        "indexes from 0 to 1, so the first choice is 0",
    ),
    ([{"question": "?", "choices": ["x", "y"], "answer": "B"}], "target", "letters of choices"),
    ([{"question": "?", "id": n} for n in range(3)], "id", "unique in all 3 records"),
    ([{"question": "?"}], "id", "no column looks like unique ids, so they are derived"),
]


@pytest.mark.parametrize(("records", "field", "reason"), REASONS)
def test_each_inference_has_its_reason(
    records: list[dict[str, Any]], field: str, reason: str
) -> None:
    assert infer_fields("d", records).fields[field].reason == reason


def test_column_is_used_for_one_field_only() -> None:
    found = fields({"Q": "?", "A": "yes", "label": 0})
    assert (found["input"], found["target"]) == ("Q", "A")
    found = fields({"question": "?", "answers": ["x", "y"], "label": 0})
    assert (found["choices"], found["target"]) == ("answers", pipe("label", "letter"))


def test_long_values_are_not_metadata() -> None:
    assert "metadata" not in fields({"question": "?", "text": "x" * 61, "none": None})
    assert fields({"question": "?", "metadata": "x" * 61})["metadata"] is None


@pytest.mark.parametrize(
    ("inputs", "count"),
    [
        (["a", "b", ""], 1),
        (["a", None, "b"], 1),
        ([1.5, math.nan, 2.5], 1),
        (["a", ""], 0),
        (["a"], 0),
    ],
)
def test_records_without_input_are_counted(inputs: list[Any], count: int) -> None:
    # Half of them and more say that another column is the input.
    records = [{"question": value} for value in inputs]
    assert infer_fields("d", records).without_input == count


def test_passage_stands_above_the_question() -> None:
    records = [{"question": "?", "passage": "p"}, {"question": "!", "passage": "q"}]
    assert fields(*records)["input"] == {"template": "{passage}\n\n{question}"}
    records[1]["passage"] = ""
    assert fields(*records)["input"] == {"template": "{?passage}{passage}\n\n{/}{question}"}


def test_instruction_stands_above_its_input() -> None:
    records = [{"instruction": "do", "input": "x", "output": "y"} for _ in range(2)]
    assert fields(*records)["input"] == {"template": "{instruction}\n\n{input}"}
    records[1]["input"] = ""  # as that of most records of Alpaca
    inferred = infer_fields("d", records)
    template = {"template": "{instruction}{?input}\n\n{input}{/}"}
    assert inferred.fields["input"].expression == template
    assert (inferred.fields["target"].expression, inferred.without_input) == ("output", 0)
    own = infer_fields("d", records, given={"input": "instruction"})
    assert own.fields["input"].expression == "instruction"


def test_paths_of_the_user_are_taken() -> None:
    own = {"input": "in.q", "target": "in.a", "choices": "in.opts", "id": "meta.id"}
    records = [
        {"meta": {"id": "k1"}, "in": {"q": "?", "opts": ["x", "y"], "a": "x"}},
        {"meta": {"id": "k2"}, "in": {"q": "!", "opts": ["v", "w"], "a": "w"}},
    ]
    inferred = infer_fields("d", records, given=own)
    found = {name: one.expression for name, one in inferred.fields.items()}
    assert (found["input"], found["choices"], found["id"]) == ("in.q", "in.opts", "meta.id")
    assert found["target"] == pipe("in.a", {"letter_in": "in.opts"})
    assert inferred.unused == ()


def test_columns_of_the_user_are_taken() -> None:
    own = {"input": "b", "target": "a"}
    found = infer_fields("d", [{"a": "1", "b": "2", "question": "?"}], given=own).fields
    assert (found["input"].expression, found["target"].expression) == ("b", "a")


def test_several_columns_of_the_user_are_choices() -> None:
    record = {"question": "?", "right": "x", "x": "y", "answer": "x"}
    found = infer_fields("d", [record], given={"choices": "right, x"}).fields
    assert found["choices"].expression == ["right", "x"]
    assert found["target"].expression == pipe("answer", {"letter_in": ["right", "x"]})
    with pytest.raises(RegistryError, match="no column 'y' for choices"):
        infer_fields("d", [record], given={"choices": "right,y"})


def test_ids_of_the_user_must_be_unique() -> None:
    with pytest.raises(RegistryError, match="'a' are not unique"):
        infer_fields("d", [{"question": "?", "a": 1}] * 2, given={"id": "a"})


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.text(max_size=5)
)
MESSAGE = st.fixed_dictionaries(
    {}, optional={key: SCALARS | st.just("user") | st.lists(SCALARS) for key in ("role", "content")}
)
OPTION = st.dictionaries(st.sampled_from(["text", "label", "is_correct"]), SCALARS)
STRINGS = st.sampled_from(
    ["A", "b", "(A) x", "[1]", '["a"]', "{'a': 1}", '{"A": "x"}', "[", "#### 4"]
)
VALUES = st.one_of(
    SCALARS,
    STRINGS,
    st.lists(SCALARS | STRINGS, max_size=3),
    st.lists(MESSAGE, max_size=3),
    st.lists(OPTION, max_size=3),
    st.dictionaries(st.sampled_from(["A", "B", "text", "label", "choices", "labels"]), SCALARS),
    st.fixed_dictionaries({"text": st.lists(STRINGS), "label": st.lists(SCALARS, max_size=2)}),
)
NAMES = ("messages", "question", "passage", "choices", "options", "answers", "answer", "label")
OTHERS = (
    *("A", "B", "answer_1", "answer_2", "Correct Answer", "Incorrect Answer 1", "id", "metadata"),
)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from((*NAMES, *OTHERS, "", "a b")), VALUES, min_size=1),
        min_size=1,
        max_size=3,
    ).filter(lambda records: any(any(record) for record in records))  # a column with a name
)
def test_any_records_give_a_manifest_that_can_be_read(records: list[dict[str, Any]]) -> None:
    mapping = infer_fields("d", records)
    about = About("One: # two", "https://example.org/x", "cc-by-4.0", ("a b", "null"), ("no",))
    text = manifest_text("d", {"type": "x"}, mapping, about=about, samples=1, schema="s")
    data = parse_yaml(text, file="m.yaml").value["datasets"]["d"]
    assert data["fields"]["input"] == mapping.fields["input"].expression
    known: dict[str, Any] = {"description": "One: # two", "homepage": "https://example.org/x"}
    known |= {"license": "cc-by-4.0", "tags": ["a b", "null"], "languages": ["no"]}
    assert known.items() <= data.items()


@pytest.mark.parametrize(("records", "length"), [(1, 8), (2_000, 8), (2_100, 10), (40_000, 12)])
def test_derived_ids_of_many_records_are_longer(records: int, length: int) -> None:
    rows = [{"question": f"What is {number}?", "answer": "?"} for number in range(records)]
    identifier = infer_fields("d", rows).fields["id"].expression
    assert identifier == {"hash": ["question"], "prefix": "d", "length": length}


def test_known_names_may_have_spaces_around_them() -> None:
    found = fields({"question ": "Who?", " answer": "me"}, {"question ": "Why?", " answer": "so"})
    assert (found["input"], found["target"]) == ("question ", " answer")


@pytest.mark.parametrize("record", [{}, {"": "x"}])
def test_records_without_columns_are_an_error(record: dict[str, str]) -> None:
    with pytest.raises(DecodeError, match="the records have no columns with a name"):
        infer_fields("d", [record])


def test_column_without_a_name_is_left_out() -> None:
    rows = (("0", "Who?", "me"), ("1", "Why?", "so"))
    found = fields(*({"": n, "question": q, "answer": a} for n, q, a in rows))
    assert found["input"] == "question"
    assert "" not in found.get("metadata", [])


def test_texts_are_better_inputs_than_numbers_which_become_texts() -> None:
    assert fields({"a": 123456789.5, "b": "x"}, {"a": 2, "b": "y"})["input"] == "b"
    assert fields({"a": 123456789.5, "b": 1}, {"a": 2, "b": 3})["input"] == pipe("a", "str")
    numbers: list[dict[str, Any]] = [{"question": 1}, {"question": None}, {"question": 2.5}]
    assert fields(*numbers)["input"] == pipe("question", "str")
    assert infer_fields("d", numbers).without_input == 1


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("Nr.", [1, 2, 3, 4, 5], True),
        ("ref", ["AB-1", "AB-2", "X3", "4", "q5"], True),
        ("ref", ["A1", "A2", "A3", "A4", "A4"], False),
        ("answers_x", ["a0", "a1", "a2", "a3", "a4"], False),
        ("picture", ["i/0.png", "i/1.png", "i/2.png", "i/3.png", "i/4.png"], False),
        ("task", ["HumanEval/0", "HumanEval/1", "HumanEval/2", "dev-3", "a#4"], True),
        ("year", [1990, 1992, 1993, 1994, 1995], False),
        ("place", ["Oslo", "Rome", "Bern", "Wien", "Kyiv"], False),
        ("note", ["see 1", "see 2", "see 3", "see 4", "see 5"], False),
        ("few", [1, 2, 3], False),
    ],
)
def test_any_column_may_have_the_ids(name: str, values: list[Any], is_id: bool) -> None:
    records = [{"question": f"{value}?", "answer": "x", name: value} for value in values]
    assert (fields(*records)["id"] == name) == is_id


def test_tools_of_a_conversation_are_metadata() -> None:
    asked = [{"role": "user", "content": "?"}]
    found = fields({"messages": asked, "tools": [{"name": "f", "parameters": {}}], "answer": "x"})
    assert found["metadata"] == ["tools"]

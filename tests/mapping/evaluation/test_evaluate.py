"""Expressions of the field language, evaluated for one record."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from registry import map_fields
from registry.manifest.expressions import OperationCall, Pipe, RowNumber
from registry.mapping.evaluation.evaluate import compile_expression
from registry.mapping.row import Row
from tests.mapping.one_record import error_of, sample_of, value_of


def test_lists_are_flattened_one_level() -> None:
    record = {"a": 1, "l": [2, [3]], "e": []}
    assert value_of(["a", "l", "e", {"const": [4]}, ["a", ["l"]]], record) == [
        1, 2, [3], 4, 1, 2, [3],
    ]  # fmt: skip


def test_missing_column_in_a_list_is_an_error() -> None:
    error = error_of({"choices": ["A", "B"]}, {"A": "a", "b": "b"})
    assert str(error) == ("sales: record 17, field choices: no column 'B' (did you mean 'b'?)")


def test_constants_are_copied_for_each_sample() -> None:
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"c": {"const": {"a": [1, None]}}}})
    first, second = mapper({}), mapper({})
    assert first.metadata == {"c": {"a": [1, None]}}
    assert first.metadata is not None
    first.metadata["c"]["a"].append(2)
    assert second.metadata == {"c": {"a": [1, None]}}


def test_object_evaluates_each_of_its_values() -> None:
    expression = {"object": {"a": "x", "b": {"const": 1}, "c": "nowhere"}}
    assert value_of(expression, {"x": [1]}) == {"a": [1], "b": 1, "c": None}


def md5(*texts: str) -> str:
    return hashlib.md5("\0".join(texts).encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ({"hash": "q"}, md5("What?")),
        ({"hash": ["q", "c"]}, md5("What?", "['a', 'b']")),
        ({"hash": ["q", "n", "i"]}, md5("What?", "None", "7")),
        ({"hash": ["q"], "length": 8}, md5("What?")[:8]),
        ({"hash": ["q"], "prefix": "mmlu", "length": 8}, f"mmlu_{md5('What?')[:8]}"),
        ({"hash": ["q"], "prefix": {"template": "x{i}"}}, f"x7_{md5('What?')}"),
        ({"hash": ["q"], "algorithm": "sha256"}, hashlib.sha256(b"What?").hexdigest()),
        ({"hash": "*"}, md5("What?", "é")),
        ({"hash": [{"from": "q", "do": ["upper"]}]}, md5("WHAT?")),
        ({"hash": ["u"]}, md5("é")),
    ],
)
def test_hash_is_computed_from_strings_joined_with_nul(expression: Any, result: str) -> None:
    record = {"u": "é", "q": "What?", "c": ["a", "b"], "n": None, "i": 7}
    assert sample_of({"id": expression}, record).id == result


def test_hash_of_a_missing_column_is_an_error() -> None:
    error = error_of({"id": {"hash": ["q", "choice"]}}, {"q": 1, "choices": 2})
    assert str(error) == (
        "sales: record 17, field id: no column 'choice' (did you mean 'choices'?)"
    )


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{q} or {n.m}?", "Who or 2?"),
        ("{{q}} {q}", "{q} Who"),
        ("{none|nobody} {empty|nobody} {q|nobody}", "nobody nobody Who"),
        ("{none|}", ""),
        ("a{?hint} {hint}{/}{?none} {none}{/}", "a H"),
        ("{?hint}{?none}x{/}y{/}", "y"),
        ("{f} {t}", "1.5 True"),
        ("no braces", "no braces"),
        ("", ""),
        ("{a b}", "spaced"),
    ],
)
def test_templates_insert_columns(template: str, text: str) -> None:
    record = {
        "q": "Who",
        "n": {"m": 2},
        "none": None,
        "empty": "",
        "hint": "H",
        "f": 1.5,
        "t": True,
        "a b": "spaced",
    }
    assert value_of({"template": template}, record) == text


def test_names_under_with_take_precedence_over_columns() -> None:
    expression = {
        "template": "{q}: {listed}",
        "with": {"q": {"const": "mine"}, "listed": {"from": "l", "do": [{"join": ", "}]}},
    }
    assert value_of(expression, {"q": "theirs", "l": ["a", "b"]}) == "mine: a, b"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{qq}", "no column 'qq' (did you mean 'q'?)"),
        ("{none}", "the column 'none' of the template is null (write {none|} to leave it empty)"),
        (
            "{l}",
            "'l' in the template needs a string (convert a list to a string under `with`), value: [1]",
        ),
    ],
)
def test_template_with_an_invalid_value_is_an_error(template: str, message: str) -> None:
    error = error_of({"input": {"template": template}}, {"q": "a", "none": None, "l": [1]})
    assert str(error) == f"sales: record 17, field input: {message}"


def test_if_evaluates_one_of_two_expressions() -> None:
    expression = {"if": {"value": "kind", "equals": "x"}, "then": "a", "else": {"const": "b"}}
    assert value_of(expression, {"kind": "x", "a": 1}) == 1
    assert value_of(expression, {"kind": "y", "a": 1}) == "b"
    del expression["else"]
    assert value_of(expression, {"kind": "y", "a": 1}) is None


def test_a_row_has_the_number_of_its_record() -> None:
    assert value_of({"row_number": 1}, {}, number=5) == 5
    assert value_of({"row_number": 0}, {}, number=5) == 4
    assert value_of({"row_number": 1, "width": 4}, {}, number=5) == "0005"
    assert map_fields({"input": {"const": "q"}, "id": {"row_number": 1}}).map(Row({}, 9)).id == 9


def test_messages_evaluate_their_parts() -> None:
    turns = [
        {"role": "system", "content": "nowhere"},
        {"role": "user", "content": [{"text": "q"}, {"image": "pic"}, {"audio": "none"}]},
        {"role": "assistant", "content": {"const": "I see."}},
    ]
    sample = sample_of({"input": {"messages": turns}}, {"q": "What?", "pic": "a.png", "none": None})
    assert not isinstance(sample.input, str)
    assert [message.role for message in sample.input] == ["user", "assistant"]
    user = sample.input[0]
    assert not isinstance(user.content, str)
    assert [part.type for part in user.content] == ["text", "image"]
    assert user.text == "What?"


CONTENT = "a message's content must be a string, or a list of parts such as {text: …}"


@pytest.mark.parametrize(
    ("content", "value", "message", "shown"),
    [
        ("x", 5, CONTENT, 5),
        ("x", ["a"], CONTENT, "a"),
        ("x", [{"picture": "a"}], CONTENT, {"picture": "a"}),
        ("x", [{"text": "a", "picture": None}], CONTENT, {"text": "a", "picture": None}),
        ("x", [{"image": "a", "text": "b"}], CONTENT, {"image": "a", "text": "b"}),
        ("x", [{"text": "a"}, {"image": 5}], "a message's image must be a string", 5),
        ([{"image": "x"}], 5, "a message's image must be a string", 5),
        ([{"image": "x"}], ["a.png", 5], "a message's image must be a string", 5),
    ],
)
def test_the_content_of_a_message_is_strings(
    content: Any, value: Any, message: str, shown: Any
) -> None:
    turns = {"messages": [{"role": "user", "content": content}]}
    error = error_of({"input": turns}, {"x": value})
    assert (error.message, error.value) == (message, shown)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ([{"image": "pics"}, {"text": "q"}], [("image", "a"), ("image", "b"), ("text", "?")]),
        ([{"text": "q"}, {"image": "none"}, {"video": "gap"}], [("text", "?"), ("video", "c")]),
        ("mixed", [("text", "See"), ("image", "a"), ("text", "and")]),
        ("struct", [("text", "See"), ("image", "a")]),
    ],
)
def test_a_list_gives_a_part_for_each_item(content: Any, parts: list[tuple[str, str]]) -> None:
    record = {
        "q": "?",
        "pics": ["a", "b"],
        "none": [],
        "gap": [None, "c", ""],
        "mixed": [{"text": "See"}, {"image": "a"}, {"image": None}, {"text": "and"}, None],
        "struct": [{"text": "See", "image": None}, {"text": None, "image": "a"}],
    }
    ((turn),) = value_of({"messages": [{"role": "user", "content": content}]}, record)
    assert [(part["type"], part[part["type"]]) for part in turn["content"]] == parts


def test_a_message_whose_list_of_parts_is_empty_is_left_out() -> None:
    turns = [{"role": "user", "content": "parts"}, {"role": "assistant", "content": "a"}]
    assert value_of({"messages": turns}, {"parts": [], "a": "Hi"}) == [
        {"role": "assistant", "content": "Hi"}
    ]


def test_media_have_the_format_that_inspect_requires() -> None:
    parts = [{"audio": "a"}, {"video": "v"}, {"document": "d"}]
    turns = {"messages": [{"role": "user", "content": parts}]}
    assert value_of(turns, {"a": "x", "v": "y", "d": "z"}) == [
        {
            "role": "user",
            "content": [
                {"type": "audio", "audio": "x", "format": "mp3"},
                {"type": "video", "video": "y", "format": "mp4"},
                {"type": "document", "document": "z"},
            ],
        }
    ]


# --- pipes ---


def test_a_pipe_applies_its_operations_in_order() -> None:
    assert value_of({"from": "x", "do": ["upper", {"split": ","}, "len"]}, {"x": "a,b"}) == 2
    assert value_of({"from": "x"}, {"x": [1]}) == [1]


def test_pipe_requires_its_column_unless_the_first_operation_accepts_missing() -> None:
    assert value_of({"from": "x", "do": [{"default": "d"}, "upper"]}, {}) == "D"
    error = error_of({"target": {"from": "x", "do": ["upper", {"default": "d"}]}}, {"y": 1})
    assert error.message == "no column 'x' (columns: y)"


def test_an_error_names_the_operation_and_its_argument() -> None:
    pipe = {"from": "x", "do": ["strip", {"index": 5}]}
    error = error_of({"target": pipe}, {"x": " ab "})
    assert (error.operation, error.value) == ("index(5)", "ab")


def test_an_unknown_operation_is_refused_when_compiling() -> None:
    pipe = Pipe(RowNumber(), (OperationCall("stripp"),))
    with pytest.raises(ValueError, match=r"^no operation 'stripp' did you mean 'strip'\?$"):
        compile_expression(pipe)

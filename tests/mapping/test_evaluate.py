"""Expressions of the field language for one record; their values are in `test_reference`."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from registry import map_fields
from tests.mapping.one_record import error_of, sample_of, value_of


@pytest.mark.parametrize(
    ("field", "expression"), [("choices", ["A", "B"]), ("id", {"hash": ["A", "B"]})]
)
def test_a_missing_column_in_a_list_is_an_error(field: str, expression: Any) -> None:
    error = error_of({field: expression}, {"A": "a", "b": "b"})
    assert str(error) == f"sales: record 17, field {field}: no column 'B' (did you mean 'b'?)"


def test_constants_are_copied_for_each_sample() -> None:
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"c": {"const": {"a": [1, None]}}}})
    first, second = mapper({}), mapper({})
    assert first.metadata == {"c": {"a": [1, None]}}
    assert first.metadata is not None
    first.metadata["c"]["a"].append(2)
    assert second.metadata == {"c": {"a": [1, None]}}


def md5(*texts: str) -> str:
    return hashlib.md5("\0".join(texts).encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ({"hash": ["q", "c", "n", "i"]}, md5("What?", "['a', 'b']", "None", "7")),
        ({"hash": ["q"], "prefix": {"template": "x{i}"}, "length": 8}, f"x7_{md5('What?')[:8]}"),
        ({"hash": ["q"], "algorithm": "sha256"}, hashlib.sha256(b"What?").hexdigest()),
        ({"hash": "*"}, md5("What?", "é")),
    ],
)
def test_hash_is_computed_from_strings_joined_with_nul(expression: Any, result: str) -> None:
    record = {"u": "é", "q": "What?", "c": ["a", "b"], "n": None, "i": 7}
    assert sample_of({"id": expression}, record).id == result


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


def test_pipe_requires_its_column_unless_the_first_operation_accepts_missing() -> None:
    assert value_of({"from": "x", "do": [{"default": "d"}, "upper"]}, {}) == "D"
    error = error_of({"target": {"from": "x", "do": ["upper", {"default": "d"}]}}, {"y": 1})
    assert error.message == "no column 'x' (columns: y)"

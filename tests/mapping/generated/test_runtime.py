"""Functions that generated code calls."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from registry.mapping.generated import runtime
from registry.mapping.generated.runtime import (
    LETTERS,
    ParsedTexts,
    digest_function,
    fill,
    json_writer,
    make_row,
    map_key,
    parse_json,
    position,
    unique,
    zip_lists,
)
from registry.mapping.generated.source import AsideError
from registry.mapping.row import MISSING, Row
from registry.mapping.sizes import size_of
from registry.samples.letters import letter_of


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_digest_is_that_of_hashlib(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hashlib.new(algorithm, b"abc").hexdigest()
    assert digest_function(algorithm)(b"abc").hexdigest() == expected

    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(runtime, "import_module", absent)
    assert digest_function(algorithm)(b"abc").hexdigest() == expected


def test_letters() -> None:
    assert len(LETTERS) == 1000
    assert LETTERS[999] == letter_of(999)


def test_fill() -> None:
    assert fill(MISSING, "d") == "d"
    assert fill(1.5, "d") == 1.5
    with pytest.raises(AsideError):
        fill(["x"], "d")


def test_map_key() -> None:
    values: list[Any] = [None, True, 1, 1.5, []]
    assert list(map(map_key, values)) == [
        "null",
        "true",
        "1",
        "1.5",
        None,
    ]
    with pytest.raises(AsideError):
        map_key(MISSING)


def test_position_compares_by_the_rules_of_manifests() -> None:
    assert position(1, [True, "1", 1.0, 1]) == 2
    with pytest.raises(AsideError):
        position(1, [True])


def test_unique_is_decided_for_strings_and_integers() -> None:
    assert unique(["b", "a", "b", 1, 1]) == ["b", "a", 1]
    others: list[list[Any]] = [[1, True], [1.0, 1], [["a"], ["a"]]]
    for items in others:
        with pytest.raises(AsideError):
            unique(items)


def test_lists_are_zipped() -> None:
    assert zip_lists({"a": [1, 2], "b": [3, 4]}) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    assert zip_lists([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]
    assert zip_lists({}) == zip_lists([]) == []
    others: list[Any] = ["ab", ["ab", [1, 2]], {"a": "x"}]
    for value in others:
        with pytest.raises(AsideError):
            zip_lists(value)
    with pytest.raises(ValueError, match="shorter"):
        zip_lists([[1, 2], [1]])


def test_row_leaves_out_what_is_missing() -> None:
    assert make_row(("a", "b"), (MISSING, None), 3) == Row({"b": None}, 3)


def test_json_is_that_of_the_standard_library() -> None:
    value: Any = {"a": ["ä", 1, 1.5, None, True, {"b": []}], "price in $": 1}
    write = json_writer(ascii_only=False, indent=None)
    assert write(value) == json.dumps(value, ensure_ascii=False)
    for indent in (1, 2, 8):
        assert json_writer(ascii_only=True, indent=indent)(value) == json.dumps(
            value, indent=indent
        )
    assert parse_json(write(value)) == value


@pytest.mark.parametrize(
    "value", [{"$a": 1}, [{"x": {"$a": 1}}], {1: 2}, (1, 2), [(1,)], b"x", MISSING, {"a": {1}}]
)
def test_what_json_would_change_is_refused(value: Any) -> None:
    with pytest.raises(AsideError):
        json_writer(ascii_only=False, indent=None)(value)


def test_infinite_and_endless_values_are_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (float("inf"), [float("nan")], endless):
        with pytest.raises((ValueError, AsideError)):
            json_writer(ascii_only=False, indent=None)(value)


def test_a_text_is_parsed_once_until_the_values_are_cleared() -> None:
    texts, parsed = ParsedTexts(), []

    def parse(text: str) -> str:
        if not text:
            raise ValueError(text)
        parsed.append(text)
        return text.upper()

    for _ in range(2):
        assert [texts.of(parse)["x"], texts.of(parse)["y"], texts.of(str)["x"]] == ["X", "Y", "x"]
        with pytest.raises(ValueError, match=r"^$"):
            texts.of(parse)[""]
    assert parsed == ["x", "y"]
    texts.clear()
    assert texts.of(parse)["x"] == "X"
    assert parsed == ["x", "y", "x"]


@pytest.mark.parametrize(
    "value", [[], {}, "é", 1, None, ["a", "bc"], {"k": ["a", {"x": 0.5}, True]}]
)
def test_size_of_plain_values_is_that_of_all_values(value: Any) -> None:
    assert runtime._plain_size(value) == size_of(value)


def test_lists_that_share_items_are_left_to_another_way() -> None:
    value: list[Any] = ["x"]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(AsideError):
        runtime._plain_size(value)


@pytest.mark.parametrize("value", [(), b"x", {1: "x"}, ["a", ("b",)], {"k": {"x": b""}}])
def test_values_that_json_lacks_have_no_size(value: Any) -> None:
    with pytest.raises(AsideError):
        runtime._plain_size(value)

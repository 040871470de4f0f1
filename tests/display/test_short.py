"""Long values are shortened where a shell shows them."""

from __future__ import annotations

from registry.display.short import Short


def test_short_values_stay_as_they_are() -> None:
    value = {"a": "text", "b": [1, None, "x"]}
    assert Short.of(value) == value
    assert Short.of(value) is not value


def test_long_text_shows_how_many_characters_follow() -> None:
    assert repr(Short.of("x" * 700)) == f"'{'x' * 500}'+200"
    assert repr(Short.of(["\u202e" * 700])) == "['" + "\\u202e" * 500 + "'+200]"
    assert repr(Short.of({"k" * 700: 1})) == "{'" + "k" * 500 + "'+200: 1}"


def test_long_lists_and_dicts_show_how_many_items_follow() -> None:
    assert repr(Short.of(list(range(1_040)))).endswith("28, 29, … 1,010 more]")
    assert repr(Short.of(dict.fromkeys(range(31), 0))).endswith("29: 0, … 1 more: Ellipsis}")


def test_what_is_nested_deeper_is_short_as_a_whole() -> None:
    value = {"a": [["x" * 100] * 100] * 100}
    assert len(repr(Short.of(value))) < 600
    assert Short.of({"a": [["x"]]}) == {"a": [["x"]]}

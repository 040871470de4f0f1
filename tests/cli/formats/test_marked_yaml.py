"""YAML with comments about the origin of values, and without defaults."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.escape import escape_lines
from registry.cli.formats.marked_yaml import comment_start, marked_yaml, without_defaults, yaml_text
from registry.manifest.provenance import Origin
from registry.yamldoc.reader import DataPath

OWN = Origin(key="k", value=1, layer="own", file="m/a.yaml", line=3, dataset="d")
PARENT = Origin(key="k", value=1, layer="parent", file="m/a.yaml", line=4, dataset="p")
INDEX = Origin(key="k", value=1, layer="default", file="datasets.yaml", line=12)
BUILT_IN = Origin(key="k", value=1, layer="default")
PARTS = ["::", "error", "##[x]", "##vso[", "\n", " ", "\x1b", "\u2028", "\u202e", "'", '"', "\\"]
HOSTILE = st.lists(st.sampled_from([*PARTS, "word " * 30])).map("".join)


def test_values_of_others_have_their_place() -> None:
    data = {"a": 1, "b": {"c": "x", "e": [1]}, "f": "two\nlines"}
    origins: dict[DataPath, Origin] = {
        ("a",): OWN,
        ("b", "c"): PARENT,
        ("b", "e"): INDEX,
        ("f",): PARENT,
    }
    text = marked_yaml(data, "d", origins, width=60)
    assert text == (
        "datasets:\n"
        "  d:\n"
        "    a: 1\n"
        "    b:\n"
        "      c: x  # from m/a.yaml:4\n"
        "      e:  # from datasets.yaml:12\n"
        "      - 1\n"
        "    # from m/a.yaml:4\n"
        "    f: 'two\n"
        "\n"
        "      lines'\n"
    )
    assert marked_yaml({"b": "x"}, "d", {("b",): BUILT_IN}, width=60).endswith("b: x  # default\n")


def test_comment_that_does_not_fit_is_above() -> None:
    text = marked_yaml({"key": "a value"}, "d", {("key",): PARENT}, width=20)
    assert text.splitlines()[2:] == ["    # from m/a.yaml:4", "    key: a value"]


def test_defaults_of_the_program_are_left_out() -> None:
    origins: dict[DataPath, Origin] = {
        ("a",): OWN,
        ("b", "c"): BUILT_IN,
        ("d", "e"): BUILT_IN,
        ("d", "f"): INDEX,
    }
    data = {"a": 1, "b": {"c": 1}, "d": {"e": 1, "f": 2}, "g": {}}
    assert without_defaults(data, origins) == {"a": 1, "d": {"f": 2}, "g": {}}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: 1  # default", "a: 1"),
        ("  # from m.yaml:3", ""),
        ("a: 'x  # from y'", "a: 'x  # from y'"),
        ("a: 1", "a: 1"),
    ],
)
def test_start_of_a_comment(line: str, value: str) -> None:
    assert line[: comment_start(line)] == value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab #:'\"\n\t|>-", max_size=150),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), VALUES), st.integers(10, 90))
def test_comments_change_no_data(data: dict[str, object], width: int) -> None:
    paths: list[DataPath] = []

    def collect(value: object, path: DataPath) -> None:
        if path:
            paths.append(path)
        if isinstance(value, dict):
            for key, item in value.items():
                collect(item, (*path, key))

    collect(data, ())
    origins = {path: (PARENT, INDEX, BUILT_IN)[number % 3] for number, path in enumerate(paths)}
    text = marked_yaml(data, "d", origins, width=width)
    assert yaml.safe_load(text) == {"datasets": {"d": data}}


@pytest.mark.parametrize("length", range(40, 100))
def test_lines_are_folded_whatever_the_length_of_a_path(length: int) -> None:
    words = "A description that is longer than the terminal is wide, with a path beside it."
    text = marked_yaml({"description": words, "path": "/" * length}, "d", {}, width=60)
    described, path = text.split("    path: ")
    assert max(map(len, described.split("\n"))) <= 60
    assert path == "/" * length + "\n"


def test_plain_text_is_written_as_usual() -> None:
    data = {"b": ["x", "é 日本"], "a": {"long": "word " * 30}}
    usual = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    assert yaml_text(data) == usual


@pytest.mark.parametrize("value", ["\x1b[2J", "\u202e", "##[error]x", f"{'x' * 99} ::error::x"])
def test_other_text_is_in_double_quotes_with_escapes(value: str) -> None:
    text = yaml_text({"a": value})
    assert '"' in text
    assert escape_lines(text) == text
    assert yaml.safe_load(text) == {"a": value}


@given(st.dictionaries(HOSTILE, HOSTILE | st.lists(HOSTILE)))
def test_any_text_is_the_same_data(data: object) -> None:
    text = yaml_text(data)
    assert yaml.safe_load(text) == data
    assert escape_lines(text) == text

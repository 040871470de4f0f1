"""Text becomes a document, or problems with positions; hostile input is stopped by limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import ManifestError
from registry.yamldoc.document import DataPath, Document
from registry.yamldoc.parser import INT64, MAX_NODES, compose, plain_scalar
from registry.yamldoc.writer import block_text, flow_text, quoted_text
from tests.yamldoc.test_writer import VALUES

SHIPPED = [
    path
    for path in sorted((Path(__file__).parents[2] / "registry").glob("*.yaml"))
    if "&" not in path.read_text(encoding="utf-8")  # no anchors: PyYAML would expand them
]


def value_of(text: str) -> Any:
    return compose(text, file="m.yaml").value


def problems_of(text: str) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        compose(text, file="m.yaml")
    return [str(problem) for problem in caught.value.problems]


PARSED: list[tuple[str, Any]] = [
    # Only plain scalars can be anything but strings.
    *(("no", "no"), ("010", 10), ("'no'", "no"), ("'10'", "10"), ('"null"', "null")),
    *(('"\\u00e9"', "é"), ("|\n  10\n", "10\n"), (">-\n  a\n  b\n", "a b")),
    # YAML 1.2.2, example 6.28: `! 12` is the text 12.
    ("! 12", "12"),
    *((f"'{text}'", text) for text in (".nan", "-.Inf", "1e400")),
    ("{b: &x [1, 2], c: *x, d: {e: *x}}", {"b": [1, 2], "c": [1, 2], "d": {"e": [1, 2]}}),
    # A merge key adds only missing keys.
    ("{<<: {a: 1, c: 2}, a: 3}", {"a": 3, "c": 2}),
    ("{a: 3, <<: {a: 1, c: 2}}", {"a": 3, "c": 2}),
    ("{<<: [{a: 1}, {a: 2, b: 3}]}", {"a": 1, "b": 3}),
    ("{<<: {a: 1, <<: {b: 2}}}", {"a": 1, "b": 2}),
    ("{'<<': {a: 1}}", {"<<": {"a": 1}}),
    ("{<<: {a: 1}, '<<': 2}", {"<<": 2, "a": 1}),
    ("{b: &b {a: 1, c: 2}, d: {<<: *b, a: 3}}", {"b": {"a": 1, "c": 2}, "d": {"a": 3, "c": 2}}),
]


@pytest.mark.parametrize(("text", "value"), PARSED)
def test_text_is_parsed_to_its_value(text: str, value: Any) -> None:
    found = value_of(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("", None), ("# nothing", None), ("---", None), ("~", None)),
        ("%YAML 1.1\n---\na: no\nb: 010", {"a": "no", "b": 10}),
        ("---\na: 1\n...\n", {"a": 1}),
    ],
)
def test_document_is_parsed_to_its_value(text: str, value: Any) -> None:
    assert value_of(text) == value


FLOAT = "1:4 $.a: {0} is not a finite number (quote it: '{0}')"
LONG = "1:4 $.a: the number needs more than 64 bits (quote it)"
TAG = "$.a: the tag {} is not allowed (write plain values)"
KEY = "a key must be a string, is {} (quote it)"
REPEATED = "the key '{}' is repeated (the first is on line {}; this value is not checked)"
LIST = "1:3 $: a key must be a string, is a list or mapping (quote it)"
PYTHON = "!!python/object/apply:os.system [id]"
REJECTED = {
    '{"é😀": 1, "é😀": 2}': f"1:11 $['é😀']: {REPEATED.format('é😀', 1)}",  # columns count characters
    "1: x": f"1:1 $['1']: {KEY.format(1)}",
    "a:\n  true: x": f"2:3 $.a.True: {KEY.format(True)}",
    **dict.fromkeys(["? [a]\n: x", "? {a: 1}\n: x"], LIST),
    "a: !!str 1": f"1:4 {TAG.format('tag:yaml.org,2002:str')}",
    f"a: {PYTHON}": f"1:4 {TAG.format('tag:yaml.org,2002:python/object/apply:os.system')}",
    "a: !mine {a: 1}": f"1:4 {TAG.format('!mine')}",
    "a: !!binary aGk=": f"1:4 {TAG.format('tag:yaml.org,2002:binary')}",
    **{
        f"a: {text}": FLOAT.format(text)
        for text in (".nan", ".NaN", ".inf", "-.Inf", "+.INF", "1e400", "-1e400")
    },
    **dict.fromkeys(["a: 9223372036854775808", "a: -9223372036854775809"], LONG),
    **dict.fromkeys(["a: 0x8000000000000000", f"a: {'9' * 5000}", f"a: -{'9' * 5000}"], LONG),
    **dict.fromkeys([f"a: 0o{'7' * 5000}", f"a: 0x{'f' * 5000}"], LONG),
    "a: 1\nb: *x": "2:4 $.b: the anchor 'x' is not defined above",
    "a: &x [*x]": "1:8 $.a[0]: the anchor 'x' is not defined above",
    **dict.fromkeys(["d: {<<: 3}", "d: {<<: ~}"], "1:9 $.d: `<<` merges mappings only"),
    "d: {<<: [{a: 1}, 3]}": "1:9 $.d: `<<` merges mappings only",
    "d: {<<: {a: 1}, <<: {a: 2, b: 3}}": (
        "1:17 $.d: the key '<<' is repeated (merge a list: `<<: [*a, *b]`)"
    ),
    "a: 1\n---\nb: 2\n": (
        "2:1 $: a second document (keep one document per file; this one is not checked)"
    ),
    "a: 1\nb: x\x07\n": "2:5 $: not YAML text: control characters are not allowed",
}


@pytest.mark.parametrize(("text", "problem"), REJECTED.items())
def test_text_is_rejected_at_its_place(text: str, problem: str) -> None:
    assert problems_of(text) == [f"m.yaml:{problem}"]


def test_every_problem_of_a_file_is_reported() -> None:
    assert problems_of("a: 1\nb:\n  c: 1\n  c: 2\na: 2\na: 3\n") == [
        f"m.yaml:4:3 $.b.c: {REPEATED.format('c', 3)}",
        f"m.yaml:5:1 $.a: {REPEATED.format('a', 1)}",
        f"m.yaml:6:1 $.a: {REPEATED.format('a', 1)}",
    ]
    places = [one.split(" ")[0] for one in problems_of("a: !x 1\nb: [!y 2, !!int 3]")]
    assert places == ["m.yaml:1:4", "m.yaml:2:5", "m.yaml:2:11"]


def test_aliases_do_not_multiply_text() -> None:
    text = "- &x " + "y" * 200_000 + "\n" + "- *x\n" * 30
    assert problems_of(text)[0].startswith("m.yaml:21:3 $: more than 4,194,304 characters")
    keys = "- &x {? " + "y" * 200_000 + "\n   : 1}\n" + "- *x\n" * 30
    assert "more than 4,194,304 characters" in problems_of(keys)[0]


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a: &x\n  k: 1\nb:\n- *x\n", ("b",), (3, 1)),
        ("a: &x\n  k: 1\nb:\n- *x\n", ("b", 0, "k"), (2, 3)),
        ("a: &x {k: 1}\nb:\n- *x\n- *x\n", ("b", 1), (4, 3)),
        ("a: &x {k: 1}\nb:\n- *x\n- *x\n", ("b", 1, "k"), (1, 8)),
        ("b: &b\n  a: 1\nd:\n  <<: *b\n", ("d", "a"), (2, 3)),
    ],
)
def test_aliased_value_has_the_position_of_its_use_and_its_keys_their_own(
    text: str, path: DataPath, place: tuple[int, int]
) -> None:
    assert compose(text, file="m.yaml").position(path) == place


def test_number_of_aliases_is_limited() -> None:
    few = "x: &x 1\nl:\n" + "- *x\n" * 32
    assert value_of(few)["l"] == [1] * 32
    assert problems_of(f"{few}- *x\n") == ["m.yaml:35:3 $: more than 32 aliases (use `extends`)"]


def test_alias_bomb_is_rejected_quickly() -> None:
    levels = [f"a{level}: &a{level} [*a{level - 1}, *a{level - 1}]" for level in range(1, 17)]
    text = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *levels])
    started = time.process_time()
    (problem,) = problems_of(text)
    assert "more than 200,000 values" in problem
    assert time.process_time() - started < 5


def test_aliases_cannot_exceed_the_nesting_limit() -> None:
    opened, closed = "[" * 60, "]" * 60
    (problem,) = problems_of(f"a: &a {opened}1{closed}\nb: {opened}*a{closed}")
    assert "nested deeper than 64 levels" in problem


@pytest.mark.parametrize("text", ["- " * 70, "[" * 70 + "]" * 70, "[" * 20_000, "{a: " * 70])
def test_nesting_depth_is_limited(text: str) -> None:
    (problem,) = problems_of(text)
    assert "$: nested deeper than 64 levels" in problem


def test_nesting_below_the_limit_is_accepted() -> None:
    value = value_of("[" * 64 + "]" * 64)
    for _ in range(63):
        (value,) = value
    assert value == []


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: b: c", "1:5", "mapping values are not allowed"),
        ("a:\n  b: 1\n c: 2\n", "3:2", "did not find expected key"),
        ("a: 1\nb: @x\n", "2:4", "cannot start any token"),
        ("a: 1\nb:\n\t- c\n", "3:1", "(this is a tab: indent with spaces)"),
        ("a: 1\nb: [1, 2\n", "3:1", "did not find expected ',' or ']'"),
        ('a: 1\nb: "\\q"\n', "2:5", "unknown escape character"),
        ("a: 1\nb: 'x\n", "3:1", "unexpected end of stream"),
    ],
)
def test_syntax_errors_have_line_and_column(text: str, place: str, words: str) -> None:
    (problem,) = problems_of(text)
    assert problem.startswith(f"m.yaml:{place} $: not YAML: ")
    assert words in problem


MARKUP = st.text(st.sampled_from("ab01-:?,[]{}#&*!|>'\"%@`~<.é \n\t\r\0\x07\ufeff"))


def _all_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _all_finite(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_all_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


PIECES = [
    *("a: ", "b: ", "- ", "\n", "\n  ", "\n    ", "&x ", "*x", "<<: ", "!!str ", "! ", "1", ".5", ".inf", "~", "'q'"),
    *("{", "}", "[", "]", ", ", "? ", "x", "---\n", "...\n", "|\n  ", ">-\n  ", "# c\n", '"\\n"', "é", "\0"),
    *("a: &x {b: 1, c: [1, 2]}\n", "<<: *x\n", "<<: [*x, {d: 1}]\n", "{a: 1, a: 2}"),
]  # fmt: skip


@settings(max_examples=2000, deadline=None)
@given(st.text() | MARKUP | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_text_gives_plain_data_with_a_position_of_each_value_or_problems(text: str) -> None:
    if document := _read(text):
        assert _all_finite(document.value)
        # A list of another length, or of paths that differ, can't be paired with the values.
        assert all(line > 0 and column > 0 for line, column in document.positions.values())


def _read(text: str) -> Document | None:
    """Return the document, or None where all problems have a message and a place."""
    try:
        return compose(text, file="m.yaml")
    except ManifestError as error:
        problems = error.problems
    assert all(one.message and one.line > 0 and one.column > 0 for one in problems)
    return None


def test_lone_surrogate_is_a_manifest_error() -> None:
    (problem,) = problems_of("a: '\ud800'")
    assert "not YAML text" in problem


def test_mutating_an_aliased_value_does_not_change_its_anchor() -> None:
    value = value_of("a: &x {k: [1]}\nb: *x\nc: {<<: *x}\n")
    value["b"]["k"].append(2)
    value["c"]["k"].append(3)
    assert value == {"a": {"k": [1]}, "b": {"k": [1, 2]}, "c": {"k": [1, 3]}}


MERGED = """\
base: &base
  a: [1, {b: 2}]
  c: 3
kid:
  <<: [*base, {c: 4, d: &d [5]}]
  e: *d
"""


def test_merged_keys_come_last_with_positions_of_nested_values() -> None:
    document = compose(MERGED, file="m.yaml")
    assert document.value["kid"] == {"e": [5], "a": [1, {"b": 2}], "c": 3, "d": [5]}
    kid = {path[1:]: place for path, place in document.positions.items() if path[0:1] == ("kid",)}
    assert list(kid.items()) == [
        ((), (4, 1)),
        (("e",), (6, 3)),
        (("e", 0), (5, 29)),
        (("a",), (2, 3)),
        (("a", 0), (2, 7)),
        (("a", 1), (2, 10)),
        (("a", 1, "b"), (2, 11)),
        (("c",), (3, 3)),
        (("d",), (5, 22)),
        (("d", 0), (5, 29)),
    ]


def test_number_of_values_is_limited_without_aliases() -> None:
    assert len(value_of(f"[{'a,' * (MAX_NODES - 1)}]")) == MAX_NODES - 1
    assert problems_of(f"[{'a,' * MAX_NODES}]") == [
        f"m.yaml:1:{2 * MAX_NODES} $: more than 200,000 values"
    ]


def test_merged_mappings_count_towards_the_limit() -> None:
    keys = ", ".join(f"k{number}: 1" for number in range(10_000))
    text = f"a: &a {{{keys}}}\nb:\n" + "- {<<: *a}\n" * 25
    assert "more than 200,000 values" in problems_of(text)[0]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_manifests_parse_to_the_values_and_positions_of_pyyaml(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert read(text) == reference(text)


Read = tuple[str, list[tuple[DataPath, tuple[int, int]]]]
"""The repr of a value, which tells True from 1, and the positions of all that is in it."""


def read(text: str) -> Read:
    document = compose(text, file="m.yaml")
    return repr(document.value), list(document.positions.items())


def reference(text: str) -> Read:
    """Return the result of PyYAML's composer, which has no positions of aliases in lists."""
    places: list[tuple[DataPath, tuple[int, int]]] = []

    def visit(node: yaml.Node, at: yaml.Node, path: DataPath) -> Any:
        places.append((path, (at.start_mark.line + 1, at.start_mark.column + 1)))
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.style else plain_scalar(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [visit(item, item, (*path, place)) for place, item in enumerate(node.value)]
        return {key.value: visit(item, key, (*path, key.value)) for key, item in node.value}

    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    assert root is not None
    return repr(visit(root, root, ())), places


@settings(max_examples=300, deadline=None)
@given(VALUES, st.sampled_from([flow_text, quoted_text, block_text]))
def test_positions_match_pyyaml(data: Any, write: Callable[[Any], str]) -> None:
    text = write(data)
    assert read(text) == reference(text)


STRINGS = (
    *("no", "yes", "on", "tRUE", "nULL", "0b1", "1_000", "1:20", "2020-01-01"),
    *("2020-01-01T10:00:00Z", "1e", "=", ".Nan", "0o8", "-0x1", "+", "."),
)
SCALARS: list[tuple[str, Any]] = [
    *((text, text) for text in STRINGS),
    *(("True", True), ("FALSE", False)),
    *((text, None) for text in ("", "~", "null", "NULL")),
    *(("010", 10), ("-0", 0), ("+3", 3), ("0o17", 15), ("0x1F", 31)),
    *(("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63))),
    *(("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("-1e3", -1000.0), ("1e-400", 0.0)),
    *(("1e5", 100000.0), (".inf", math.inf), ("-.INF", -math.inf), ("1e999", math.inf)),
    # Out of range, without being converted, which would take long.
    *(
        (text, INT64)
        for text in ("9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0o" + "7" * 5000)
    ),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_plain_scalar_has_the_type_of_the_core_schema(text: str, value: Any) -> None:
    found = plain_scalar(text)
    assert found == value
    assert type(found) is type(value)

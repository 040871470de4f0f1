"""Strict YAML: what a file says, where it says it, and what it may not do to us."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import ManifestError, Problem
from registry.yamldoc.reader import DataPath, json_path, parse_yaml, read_yaml

if TYPE_CHECKING:
    from pathlib import Path


def value_of(text: str) -> Any:
    return parse_yaml(text, file="m.yaml").value


def problems_of(text: str) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        parse_yaml(text, file="m.yaml")
    return [str(problem) for problem in caught.value.problems]


def places_of(text: str) -> list[tuple[int, int]]:
    with pytest.raises(ManifestError) as caught:
        parse_yaml(text, file="m.yaml")
    return [(problem.line, problem.column) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("010", 10),
        ("-0", 0),
        ("+3", 3),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1:20", "1:20"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("1e-400", 0.0),
        ("1e", "1e"),
        ("=", "="),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("'no'", "no"),
        ("'10'", "10"),
        ('"null"', "null"),
        ('"\\u00e9"', "é"),
        ("|\n  10\n", "10\n"),
        (">-\n  a\n  b\n", "a b"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    found = value_of(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["", "# nothing", "---", "~"])
def test_an_empty_file_is_null(text: str) -> None:
    assert value_of(text) is None


def test_a_version_directive_does_not_bring_yaml_1_1_back() -> None:
    assert value_of("%YAML 1.1\n---\na: no\nb: 010") == {"a": "no", "b": 10}


NESTED = """\
datasets:
  mmlu:
    tags: [knowledge, mcq]
    fields:
      'a b': question
      do:
      - x
      -   y: 1
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (1, 1)),
        (("datasets",), (1, 1)),
        (("datasets", "mmlu"), (2, 3)),
        (("datasets", "mmlu", "tags"), (3, 5)),
        (("datasets", "mmlu", "tags", 0), (3, 12)),
        (("datasets", "mmlu", "tags", 1), (3, 23)),
        (("datasets", "mmlu", "fields", "a b"), (5, 7)),
        (("datasets", "mmlu", "fields", "do", 0), (7, 9)),
        (("datasets", "mmlu", "fields", "do", 1), (8, 11)),
        (("datasets", "mmlu", "fields", "do", 1, "y"), (8, 11)),
        (("datasets", "mmlu", "nothing", "here"), (2, 3)),
    ],
)
def test_values_stand_at_their_keys_and_items_at_themselves(
    path: DataPath, place: tuple[int, int]
) -> None:
    assert parse_yaml(NESTED, file="m.yaml").position(path) == place


@pytest.mark.parametrize("text", [NESTED, "a: &x {k: 1, l: [2]}\nb: *x\nc: {m: 0, <<: *x}\n", "~"])
def test_places_stand_in_the_order_of_the_values(text: str) -> None:
    def paths(value: Any, path: DataPath) -> list[DataPath]:
        items: list[tuple[str | int, Any]] = []
        if isinstance(value, dict):
            items = list(value.items())
        elif isinstance(value, list):
            items = list(enumerate(value))
        return [path, *(one for key, item in items for one in paths(item, (*path, key)))]

    document = parse_yaml(text, file="m.yaml")
    assert list(document.positions) == paths(document.value, ())


def test_aliases_do_not_multiply_text() -> None:
    text = "- &x " + "y" * 200_000 + "\n" + "- *x\n" * 30
    assert problems_of(text)[0].startswith("m.yaml:1:3 $: more than 4,194,304 characters")
    keys = "- &x {? " + "y" * 200_000 + "\n   : 1}\n" + "- *x\n" * 30
    assert "more than 4,194,304 characters" in problems_of(keys)[0]


def test_columns_count_characters() -> None:
    assert places_of('{"é😀": 1, "é😀": 2}') == [(1, 11)]


def test_a_problem_has_place_path_and_hint() -> None:
    document = parse_yaml(NESTED, file="m.yaml")
    path = ("datasets", "mmlu", "fields", "a b")
    problem = document.problem(path, "is odd", "make it even", rule="wrong-value")
    assert str(problem) == "m.yaml:5:7 $.datasets.mmlu.fields['a b']: is odd (make it even)"
    assert problem.to_dict() == {
        "message": "is odd",
        "file": "m.yaml",
        "line": 5,
        "column": 7,
        "path": "$.datasets.mmlu.fields['a b']",
        "hint": "make it even",
        "rule": "wrong-value",
        "severity": "error",
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "$"),
        (("a", "b-c", 0), "$.a.b-c[0]"),
        (("a b",), "$['a b']"),
        (("it's",), '$["it\'s"]'),
        (("1",), "$['1']"),
    ],
)
def test_json_paths_quote_what_is_no_plain_key(path: DataPath, text: str) -> None:
    assert json_path(path) == text


def test_duplicate_keys_are_reported_all_at_once() -> None:
    assert problems_of("a: 1\nb:\n  c: 1\n  c: 2\na: 2\na: 3\n") == [
        "m.yaml:4:3 $: the key 'c' stands here a second time (the first is on line 3)",
        "m.yaml:5:1 $: the key 'a' stands here a second time (the first is on line 1)",
        "m.yaml:6:1 $: the key 'a' stands here a second time (the first is on line 1)",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1: x", "m.yaml:1:1 $: a key must be text, this is 1 (quote it)"),
        ("a:\n  true: x", "m.yaml:2:3 $: a key must be text, this is True (quote it)"),
        ("? [a]\n: x", "m.yaml:1:3 $: a key must be text, this is a list or mapping (quote it)"),
        ("? {a: 1}\n: x", "m.yaml:1:3 $: a key must be text, this is a list or mapping (quote it)"),
    ],
)
def test_keys_must_be_text(text: str, problem: str) -> None:
    assert problems_of(text) == [problem]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("!!str 1", "tag:yaml.org,2002:str"),
        ("!!python/object/apply:os.system [id]", "tag:yaml.org,2002:python/object/apply:os.system"),
        ("!mine {a: 1}", "!mine"),
        ("!!binary aGk=", "tag:yaml.org,2002:binary"),
    ],
)
def test_tags_are_refused(text: str, shown: str) -> None:
    assert problems_of(f"a: {text}") == [
        f"m.yaml:1:4 $: the tag {shown} is not allowed (write plain values)"
    ]


def test_every_tag_of_a_file_is_reported() -> None:
    assert places_of("a: !x 1\nb: [!y 2, !!int 3]") == [(1, 4), (2, 5), (2, 11)]


def test_the_non_specific_tag_makes_text() -> None:
    # YAML 1.2.2, example 6.28: `! 12` is the text 12.
    assert value_of("a: ! 12") == {"a": "12"}


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF", "1e400", "-1e400"])
def test_numbers_must_be_finite(text: str) -> None:
    assert problems_of(f"a: {text}") == [
        f"m.yaml:1:4 $: {text} is no finite number (quote it: '{text}')"
    ]
    assert value_of(f"a: '{text}'") == {"a": text}


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "0x8000000000000000",
        "9" * 5000,
        "-" + "9" * 5000,
        "0o" + "7" * 5000,
        "0x" + "f" * 5000,
    ],
)
def test_whole_numbers_must_fit_in_64_bits(text: str) -> None:
    assert problems_of(f"a: {text}") == [
        "m.yaml:1:4 $: the number needs more than 64 bits (quote it)"
    ]


def test_aliases_are_values() -> None:
    assert value_of("a: &x [1, 2]\nb: *x\nc: {d: *x}") == {
        "a": [1, 2],
        "b": [1, 2],
        "c": {"d": [1, 2]},
    }


def test_an_aliased_value_stands_where_it_is_used() -> None:
    document = parse_yaml("a: &x\n  k: 1\nb:\n- *x\n", file="m.yaml")
    assert document.value == {"a": {"k": 1}, "b": [{"k": 1}]}
    assert document.position(("b",)) == (3, 1)
    assert document.position(("b", 0, "k")) == (2, 3)


def test_an_anchor_must_come_first() -> None:
    assert problems_of("a: 1\nb: *x") == ["m.yaml:2:4 $: the anchor 'x' is not defined above"]
    assert problems_of("a: &x [*x]") == ["m.yaml:1:8 $: the anchor 'x' is not defined above"]


def test_aliases_are_counted() -> None:
    few = "x: &x 1\nl:\n" + "- *x\n" * 32
    assert value_of(few)["l"] == [1] * 32
    assert problems_of(f"{few}- *x\n") == ["m.yaml:35:3 $: more than 32 aliases (use `extends`)"]


def test_an_alias_bomb_ends_at_once() -> None:
    levels = [f"a{level}: &a{level} [*a{level - 1}, *a{level - 1}]" for level in range(1, 17)]
    text = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *levels])
    started = time.perf_counter()
    (problem,) = problems_of(text)
    assert "more than 200,000 values" in problem
    assert time.perf_counter() - started < 5


def test_aliases_do_not_nest_deeper_than_the_bound() -> None:
    opened, closed = "[" * 60, "]" * 60
    levels = [f"a{level}: &a{level} {opened}*a{level - 1}{closed}" for level in range(1, 30)]
    (problem,) = problems_of("\n".join([f"a0: &a0 {opened}1{closed}", *levels]))
    assert "nested deeper than 64 levels" in problem


@pytest.mark.parametrize("text", ["- " * 70, "[" * 70 + "]" * 70, "[" * 20_000, "{a: " * 70])
def test_depth_is_bounded(text: str) -> None:
    (problem,) = problems_of(text)
    assert "$: nested deeper than 64 levels" in problem


def test_depth_below_the_bound_is_read() -> None:
    value = value_of("[" * 64 + "]" * 64)
    for _ in range(63):
        (value,) = value
    assert value == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("b: &b {a: 1, c: 2}\nd: {<<: *b, a: 3}", {"a": 3, "c": 2}),
        ("b: &b {a: 1, c: 2}\nd: {a: 3, <<: *b}", {"a": 3, "c": 2}),
        ("d: {<<: [{a: 1}, {a: 2, b: 3}]}", {"a": 1, "b": 3}),
        ("d: {<<: {a: 1}, <<: {a: 2, b: 3}}", {"a": 1, "b": 3}),
        ("d: {<<: {a: 1, <<: {b: 2}}}", {"a": 1, "b": 2}),
        ("d: {'<<': {a: 1}}", {"<<": {"a": 1}}),
    ],
)
def test_double_angle_merges_what_is_not_there(text: str, value: Any) -> None:
    assert value_of(text)["d"] == value


def test_a_merged_key_stands_where_it_is_written() -> None:
    document = parse_yaml("b: &b\n  a: 1\nd:\n  <<: *b\n", file="m.yaml")
    assert document.position(("d", "a")) == (2, 3)


@pytest.mark.parametrize(
    ("text", "place"), [("d: {<<: 3}", (1, 9)), ("d: {<<: [{a: 1}, 3]}", (1, 9)), ("<<: ~", (1, 5))]
)
def test_double_angle_merges_mappings_only(text: str, place: tuple[int, int]) -> None:
    line, column = place
    assert problems_of(text) == [f"m.yaml:{line}:{column} $: `<<` merges mappings only"]


def test_a_second_document_is_refused() -> None:
    assert problems_of("a: 1\n---\nb: 2\n") == [
        "m.yaml:2:1 $: a second document (keep one document a file)"
    ]
    assert value_of("---\na: 1\n...\n") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: b: c", (1, 5), "mapping values are not allowed"),
        ("a:\n  b: 1\n c: 2\n", (3, 2), "did not find expected key"),
        ("a: 1\nb: @x\n", (2, 4), "cannot start any token"),
        ("a: 1\nb:\n\t- c\n", (3, 1), "cannot start any token"),
        ("a: 1\nb: [1, 2\n", (3, 1), "did not find expected ',' or ']'"),
        ('a: 1\nb: "\\q"\n', (2, 5), "unknown escape character"),
        ("a: 1\nb: 'x\n", (3, 1), "unexpected end of stream"),
    ],
)
def test_syntax_errors_have_line_and_column(text: str, place: tuple[int, int], words: str) -> None:
    (problem,) = problems_of(text)
    assert problem.startswith(f"m.yaml:{place[0]}:{place[1]} $: not YAML: ")
    assert words in problem


def test_control_characters_are_refused_where_they_stand() -> None:
    assert problems_of("a: 1\nb: x\x07\n") == [
        "m.yaml:2:5 $: not YAML text: control characters are not allowed"
    ]


# --- files ---


def file_problems(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    with pytest.raises(ManifestError) as caught:
        read_yaml(path, shown_as="m.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("data", "place", "byte"),
    [
        (b"a: \xff\n", "1:4", "0xff"),
        (b"a: 1\r\nbc: \xe9t\xe9\r\n", "2:5", "0xe9"),
        (b"a: \xed\xa0\x80\n", "1:4", "0xed"),
        (b"\xff\xfea\x00", "1:1", "0xff"),
        pytest.param(b"\xef\xbb\xbfa: \xff\n", "1:4", "0xff", id="behind a byte-order mark"),
        pytest.param(b"\xef\xbb\xbfa: 1\nb: \xff\n", "2:4", "0xff", id="below one"),
        pytest.param("é: ".encode() + b"\xff\n", "1:4", "0xff", id="behind a wide character"),
    ],
)
def test_what_is_not_utf_8_has_line_and_column(
    tmp_path: Path, data: bytes, place: str, byte: str
) -> None:
    assert file_problems(tmp_path / "m.yaml", data) == [
        f"m.yaml:{place} $: byte {byte} is not UTF-8 (save it as UTF-8)"
    ]


def test_a_byte_order_mark_and_crlf_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n")
    document = read_yaml(path)
    assert document.value == {"a": 1, "b": "x\n"}
    assert document.position(("a",)) == (1, 1)
    assert document.file == str(path)


def test_a_file_is_at_most_one_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    whole = b"a: " + b"x" * ((1 << 20) - 3)
    assert file_problems(path, whole + b"x") == [
        "m.yaml:1:1 $: the file is larger than 1 MiB (split it)"
    ]
    path.write_bytes(whole)
    assert len(read_yaml(path).value["a"]) == (1 << 20) - 3


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path / "none.yaml", shown_as="none.yaml")
    assert str(caught.value) == "none.yaml:1:1 $: can't read the file: No such file or directory"
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path, shown_as="folder")
    assert str(caught.value) == "folder:1:1 $: can't read the file: Is a directory"


# --- properties ---


class _TextQuoted(yaml.SafeDumper):
    """Quotes text, so that what YAML 1.1 and 1.2 read differently does not matter."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_TextQuoted.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
MARKUP = st.text(st.sampled_from("ab01-:?,[]{}#&*!|>'\"%@`~<.é \n\t\r\0\x07\ufeff"))


@settings(max_examples=300, deadline=None)
@given(PLAIN)
def test_plain_data_comes_back_from_what_pyyaml_writes(data: Any) -> None:
    text = yaml.dump(data, Dumper=_TextQuoted, sort_keys=False, allow_unicode=True)
    found = value_of(text)
    assert found == data
    assert repr(found) == repr(data)  # True is not 1, 1 is not 1.0, keys keep their order


def _all_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _all_finite(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_all_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@settings(max_examples=500, deadline=None)
@given(st.text() | MARKUP)
def test_any_text_is_plain_data_or_a_manifest_error(text: str) -> None:
    value, problems = _read(text)
    assert all(map(_is_placed, problems))
    assert problems or _all_finite(value)


def _read(text: str) -> tuple[Any, tuple[Problem, ...]]:
    try:
        return value_of(text), ()
    except ManifestError as error:
        return None, error.problems


def _is_placed(problem: Problem) -> bool:
    return bool(problem.message) and problem.line > 0 and problem.column > 0


def test_half_a_surrogate_pair_is_a_manifest_error() -> None:
    (problem,) = problems_of("a: '\ud800'")
    assert "not YAML text" in problem

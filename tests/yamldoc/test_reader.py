"""Files become documents; what can't be read is reported, and does not hide what can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.errors import ManifestError
from registry.yamldoc.document import ParsedText, Position
from registry.yamldoc.parser import compose_partially
from registry.yamldoc.reader import parse_partially, read_yaml


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
def test_invalid_utf8_is_reported_with_line_and_column(
    tmp_path: Path, data: bytes, place: str, byte: str
) -> None:
    assert file_problems(tmp_path / "m.yaml", data) == [
        f"m.yaml:{place} $: byte {byte} is not UTF-8 (save it as UTF-8)"
    ]


def test_byte_order_mark_and_crlf_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n")
    document = read_yaml(path)
    assert document.value == {"a": 1, "b": "x\n"}
    assert document.position(("a",)) == (1, 1)
    assert document.file == str(path)


def test_file_size_is_limited_to_one_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    whole = b"a: " + b"x" * ((1 << 20) - 3)
    assert file_problems(path, whole + b"x") == [
        "m.yaml:1:1 $: the file is larger than 1 MiB (split it)"
    ]
    path.write_bytes(whole)
    assert len(read_yaml(path).value["a"]) == (1 << 20) - 3


def test_unreadable_file_is_reported_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path / "none.yaml", shown_as="none.yaml")
    assert str(caught.value) == "none.yaml:1:1 $: can't read the file: No such file or directory"
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path, shown_as="folder")
    assert str(caught.value) == "folder:1:1 $: can't read the file: Is a directory"


def parse(text: str) -> ParsedText:
    return parse_partially(text.encode(), file="m.yaml")


def value_of(text: str) -> Any:
    document = parse(text).document
    return document and document.value


def problems_of(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


BROKEN = """\
version: 1
include: [m/*.yaml]
datasets:
  # the first
  one:
    limit: 1
  two:
    path: "x
    limit: 2
  three:
    tags: [a, b]
  'four': [1,
  five: {limit: 5}
validate: {}
"""


def test_all_but_the_parts_with_syntax_errors_is_parsed() -> None:
    assert value_of(BROKEN) == {
        "version": 1,
        "include": ["m/*.yaml"],
        "datasets": {"one": {"limit": 1}, "three": {"tags": ["a", "b"]}, "five": {"limit": 5}},
        "validate": {},
    }
    assert parse(BROKEN).incomplete == ((), ("datasets",))


def test_each_broken_part_is_reported_where_it_is() -> None:
    first, second = problems_of(BROKEN)
    assert first.startswith("m.yaml:9:13 $.datasets.two: not YAML: while scanning a quoted scalar")
    assert second.startswith("m.yaml:12:14 $.datasets.four: not YAML: ")


def test_conflict_of_a_merge_is_reported_at_its_markers() -> None:
    sides = "datasets:\n  a: 1\n<<<<<<< HEAD\n  b: 2\n=======\n  c: 3\n>>>>>>> other\n  d: 4\n"
    parsed = parse_partially(sides.encode(), file="m.yaml")
    said = "not YAML: a conflict marker of a merge (keep what is right of its sides)"
    places = ["3:1 $.datasets.a", "5:1 $.datasets.b", "7:1 $.datasets.c"]
    assert [*map(str, parsed.problems)] == [f"m.yaml:{place}: {said}" for place in places]
    assert parsed.document is not None
    assert parsed.document.value == {"datasets": {"d": 4}}


def test_values_have_their_positions_in_the_file() -> None:
    document = parse(BROKEN).document
    assert document is not None
    assert document.position(("include",)) == Position(2, 1)
    assert document.position(("datasets", "three", "tags", 1)) == Position(11, 15)
    assert document.position(("datasets", "five", "limit")) == Position(13, 10)
    assert document.position(("validate",)) == Position(14, 1)


def test_all_other_problems_are_reported_too() -> None:
    text = "datasets:\n  a: {x: !t 1, x: 2}\n  b: [\n  c: {1: .inf}\nd: &x 1\ne: [*y]\n"
    flow = "not YAML: while parsing a flow node, did not find expected node content"
    assert [one.split(" (")[0] for one in problems_of(text)] == [
        "m.yaml:2:10 $.datasets.a.x: the tag !t is not allowed",
        "m.yaml:2:16 $.datasets.a.x: the key 'x' is repeated",
        f"m.yaml:3:7 $.datasets.b: {flow}",
        "m.yaml:4:7 $.datasets.c['1']: a key must be a string, is 1",
        "m.yaml:4:10 $.datasets.c['1']: .inf is not a finite number",
    ]


@pytest.mark.parametrize("text", ["datasets: [", "]", "a: 1\n", "- a\n- [\n", "", "\t- x: ["])
def test_file_without_another_key_is_parsed_once(text: str) -> None:
    assert parse(text) == compose_partially(text, file="m.yaml")


def test_part_with_an_alias_of_another_part_is_left_out() -> None:
    text = "datasets:\n  a: &a {limit: 1}\n  b: *a\n  c: [\n  d: {}\n"
    assert value_of(text) == {"datasets": {"a": {"limit": 1}, "d": {}}}
    assert len(problems_of(text)) == 1


def test_repeated_part_is_reported_and_the_first_one_counts() -> None:
    text = "datasets:\n  a: {limit: 1}\n  a: {limit: 2}\n  b: [\n"
    assert value_of(text) == {"datasets": {"a": {"limit": 1}}}
    assert problems_of(text)[0] == (
        "m.yaml:3:3 $.datasets.a: the key 'a' is repeated (this value is not checked)"
    )


@pytest.mark.parametrize("text", ["%%\na: 1\nb: 2\n", "}\na: 1\nb: 2\n"])
def test_error_outside_of_all_parts_is_reported(text: str) -> None:
    assert value_of(text) == {"a": 1, "b": 2}
    (problem,) = parse(text).problems
    assert (problem.rule, problem.path) == ("yaml-syntax", "$")


def test_datasets_that_are_not_a_mapping_hide_only_themselves() -> None:
    assert value_of("datasets: {a: [}\n  b: 1\nversion: 1\n") == {"version": 1}


def test_text_of_many_keys_is_not_parsed_again() -> None:
    text = "".join(f"k{number}: 1\n" for number in range(2_000)) + "x: [\n"
    assert parse(text).document is None


def test_aliases_of_many_parts_do_not_multiply() -> None:
    bomb = "{a: &a [x, x, x, x, x, x, x, x, x, x], b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]"
    bomb += ", c: &c [*b, *b, *b, *b, *b, *b, *b], d: [*c, *c, *c, *c, *c, *c, *c]}"
    text = "x: [\n" + "".join(f"k{number}: {bomb}\n" for number in range(900))
    document = parse(text).document
    assert document is not None
    assert len(document.positions.numbers) < 1_000_000

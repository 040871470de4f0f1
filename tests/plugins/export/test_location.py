"""What paths of `registry://` name, and what is wrong with some."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import ExportError
from registry.plugins.export.location import has_query, member_path, parse_path


@pytest.mark.parametrize(
    ("path", "name", "view"),
    [
        ("qa.jsonl", "qa", {}),
        ("a.b.jsonl", "a.b", {}),
        ("qa.jsonl?shuffle=true&seed=42", "qa", {"shuffle": True, "seed": 42}),
        ("shuffle=true&seed=42/qa.jsonl", "qa", {"shuffle": True, "seed": 42}),
        ("seed=4/limit=2/qa.jsonl?auto_id=false", "qa", {"seed": 4, "limit": 2, "auto_id": False}),
        ("qa.jsonl?limit=x", "qa", {"limit": "x"}),
        ("qa.csv?fewshot=5&corrections=false", "qa", {"fewshot": 5, "corrections": False}),
        ("board/one.jsonl", "board/one", {}),
        ("limit=2/board/inner/v1.5.jsonl?seed=4", "board/inner/v1.5", {"limit": 2, "seed": 4}),
        ("board/a%3Db%25.jsonl", "board/a=b%", {}),
    ],
)
def test_name_and_view(path: str, name: str, view: dict[str, Any]) -> None:
    found = parse_path(path)
    assert (found.name, found.view, found.root) == (name, view, None)
    assert found.kind is not None


def test_root_may_have_slashes_after_the_name_and_is_quoted_before_it() -> None:
    assert parse_path("qa.jsonl?root=/work/cat alog&limit=1").root == "/work/cat alog"
    prefix = "root=%2Fwork&limit=1/"
    found = parse_path(f"{prefix}qa.jsonl")
    assert (found.root, found.view, found.prefix) == ("/work", {"limit": 1}, prefix)


@pytest.mark.parametrize(
    ("path", "prefix"), [("", ""), ("limit=1", "limit=1/"), ("limit=1/", "limit=1/")]
)
def test_folders_have_no_name(path: str, prefix: str) -> None:
    found = parse_path(path)
    assert (found.name, found.kind, found.root, found.prefix) == ("", None, None, prefix)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("qa.jsonl?limt=1", r"registry://qa.jsonl\?limt=1: no option 'limt' .*mean 'limit'"),
        ("a=1/qa.jsonl", r"no option 'a' \(options: absolute_files, auto_id, corrections,"),
        ("qa.jsonl?fewshot=x", "fewshot is a number of examples, true or false, not 'x'"),
        ("corrections=0/qa.jsonl", "corrections is true or false, not '0'"),
        ("qa.jsonl?absolute_files=1", "absolute_files is true or false, not '1'"),
        ("qa.xls", r"registry://qa.xls: only .jsonl, .parquet, .arrow, .csv are served"),
        ("qa.jsonl?limit=1&limit=2", "the option 'limit' twice"),
        ("root=a/qa.jsonl?root=b", "the option 'root' twice"),
        ("qa.jsonl?root=", "root is not a path"),
        ("qa.jsonl?root=a%00b", "root is not a path"),
    ],
)
def test_what_is_invalid_says_why(path: str, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        parse_path(path)


def test_question_mark_alone_is_a_pattern() -> None:
    assert not has_query("q?.jsonl")
    assert has_query("qa.jsonl?limit=1")


def test_a_number_of_any_length_is_left_to_the_schema() -> None:
    digits = "9" * 5000
    assert parse_path(f"qa.jsonl?limit={digits}").view == {"limit": digits}


def test_a_name_without_a_suffix_is_a_folder() -> None:
    for path in ("board", "board/inner", "limit=1/board"):
        found = parse_path(path)
        assert (found.name, found.kind) == (path.removeprefix("limit=1/"), None)


@pytest.mark.parametrize("name", ["board/a=b", "board/100 %", "board/é?&*[x]#.y"])
def test_any_member_has_a_path(name: str) -> None:
    assert parse_path(f"{member_path(name)}.jsonl").name == name

"""The tree of errors: their messages, attributes and pickling."""

from __future__ import annotations

import builtins
import copy
import pickle
from typing import Any

import pytest

from registry import errors
from registry.errors import (
    CacheError,
    DatasetNotFoundError,
    DecodeError,
    DigestMismatchError,
    GroupError,
    LockError,
    LockStaleError,
    ManifestError,
    MappingError,
    Problem,
    RegistryError,
    SampleNotFoundError,
    SplitNotFoundError,
    close_matches,
    did_you_mean,
    list_names,
    shorten,
)

PROBLEM = Problem(message="is odd", file="m.yaml", line=3, column=5, path="$.x", rule="odd")
MADE = (
    GroupError("board", ["a", "b"]),
    SplitNotFoundError("qa", "dev", ["test"]),
    ManifestError([PROBLEM, PROBLEM]),
    DatasetNotFoundError("mmul", ["mmlu"], catalog="datasets.yaml"),
    SampleNotFoundError(3, ["30"], dataset="qa"),
    LockError("is bad", problems=[PROBLEM]),
    LockStaleError("qa", "is not pinned"),
    DigestMismatchError("x.csv", dataset="qa", pinned="1", found="2"),
    DecodeError("no JSON", file="x.jsonl", line=7),
    MappingError("is odd", value={"a": [1]}).at(dataset="qa", record=2, field="target"),
)
CLASSES = [
    one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, RegistryError)
]
PLAIN = [one("is odd") for one in CLASSES if one not in {type(made) for made in MADE}]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("error", [*MADE, *PLAIN], ids=lambda error: type(error).__name__)
def test_errors_survive_every_protocol_and_copy(error: RegistryError, protocol: int) -> None:
    pickled = pickle.loads(pickle.dumps(error, protocol))
    for found in (pickled, copy.copy(error), copy.deepcopy(error)):
        assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))
        assert found.args == error.args


@pytest.mark.parametrize("value", [(n for n in "ab"), lambda: None, memoryview(b"x")])
def test_an_error_reaches_another_process_whatever_its_value(value: Any) -> None:
    error = MappingError("is odd", value=value).at(dataset="qa", record=2)
    found = pickle.loads(pickle.dumps(error))
    assert found.value == shorten(value)
    assert (found.dataset, found.record) == ("qa", 2)
    assert error.value is value


def test_docstring_shows_the_class_hierarchy() -> None:
    drawn: dict[str, str] = {}
    parents = ["RegistryError"]
    for line in (errors.__doc__ or "").splitlines():
        bars, _, text = line.partition("├ " if "├ " in line else "└ ")
        if text:
            depth = 1 + len(bars) // 2
            name = text.split()[0]
            drawn[name] = parents[depth - 1]
            parents[depth:] = [name]
            also = f"(also a {'/'.join(builtin_bases(name))})"
            assert (also in text) == bool(builtin_bases(name)), line
    assert drawn == {
        one.__name__: one.__bases__[0].__name__ for one in CLASSES if one is not RegistryError
    }


def builtin_bases(name: str) -> list[str]:
    """Return the built-in exceptions that an error class also inherits from."""
    bases: tuple[type, ...] = getattr(errors, name).__bases__
    return [base.__name__ for base in bases if hasattr(builtins, base.__name__)]


MESSAGES: list[tuple[RegistryError, str]] = [
    (ManifestError([PROBLEM, PROBLEM]), "m.yaml:3:5 $.x: is odd\nm.yaml:3:5 $.x: is odd"),
    (
        DatasetNotFoundError("mmul", ["mmlu", "mmlu-pro", "arc"], catalog="datasets.yaml"),
        (
            "no dataset 'mmul' in datasets.yaml; similar names: mmlu, mmlu-pro"
            " (`registry list` shows all)"
        ),
    ),
    (
        DatasetNotFoundError("x", ["mmlu"], catalog="c"),
        "no dataset 'x' in c (`registry list` shows all)",
    ),
    (LockStaleError("qa", "is not pinned"), "qa: is not pinned"),
    (
        DigestMismatchError("x.csv", dataset="qa", pinned="1", found="2"),
        (
            "x.csv: datasets.lock pins 1 for qa, the source has 2"
            " (damaged on the way, or changed: try again, and look at the change before"
            " `registry lock --upgrade qa` pins it)"
        ),
    ),
    (
        DigestMismatchError(
            "x", dataset="qa", pinned="1", found="2", is_stated=True, is_locked=True
        ),
        (
            "x: the manifest states 1 (`sha256`), datasets.lock has 2"
            " (`registry lock --upgrade qa` pins what the manifest states)"
        ),
    ),
    (
        SampleNotFoundError("x", [], dataset="qa"),
        "no sample of qa has the id 'x': its samples have no ids",
    ),
    (
        SampleNotFoundError("", ["a"], dataset="qa"),
        "no sample of qa has the id ''; its first ids: a",
    ),
    (DecodeError("no JSON", file="x.jsonl", line=7), "x.jsonl:7: no JSON"),
    (DecodeError("no CSV", file="x.csv"), "x.csv: no CSV"),
    (MappingError("is odd"), "is odd"),
    (MappingError("is odd", value=None), "is odd, value: None"),
    (
        MappingError("is odd", dataset="d", record=3, field="f", operation="int", value="x"),
        "d: record 3, field f, operation int: is odd, value: 'x'",
    ),
    (MappingError("is odd", field="f"), "field f: is odd"),
    (MappingError("is odd", dataset="d"), "d: is odd"),
    (CacheError("is full"), "is full"),
]


@pytest.mark.parametrize(("error", "message"), MESSAGES)
def test_errors_have_the_expected_messages(error: RegistryError, message: str) -> None:
    assert str(error) == message


def test_errors_expose_message_data_as_attributes() -> None:
    missing = DatasetNotFoundError("mmul", ["mmlu"], catalog="c")
    assert (missing.name, missing.matches) == ("mmul", ["mmlu"])
    assert LockError("x", problems=[PROBLEM]).problems == (PROBLEM,)
    assert LockStaleError("qa", "x").dataset == "qa"
    mismatch = DigestMismatchError("x.csv", dataset="qa", pinned="1", found="2")
    assert [mismatch.location, mismatch.dataset] == ["x.csv", "qa"]
    assert [mismatch.pinned, mismatch.found] == ["1", "2"]
    decode = DecodeError("no JSON", file="x.jsonl", line=7)
    assert (decode.file, decode.line) == ("x.jsonl", 7)


def test_position_set_by_the_innermost_caller_is_preserved() -> None:
    inner = MappingError("is odd", operation="int", value=0)
    placed = inner.at(field="target", operation="map", record=3)
    outer = placed.at(dataset="d", record=4, field="input")
    assert (outer.dataset, outer.record) == ("d", 3)
    assert (outer.field, outer.operation, outer.value) == ("target", "int", 0)
    assert str(inner) == "operation int: is odd, value: 0"
    assert str(MappingError("is odd").at(dataset="d")) == "d: is odd"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, "x"),
        ({"path": ""}, "x"),
        ({"file": "m.yaml"}, "m.yaml $: x"),
        ({"file": "m.yaml", "line": 3, "column": 4, "path": "$.a"}, "m.yaml:3:4 $.a: x"),
        ({"path": "$.a", "hint": "do y"}, "$.a: x (do y)"),
    ],
)
def test_problem_is_printed_as_position_message_and_hint(keys: dict[str, Any], text: str) -> None:
    assert str(Problem(message="x", **keys)) == (text if keys else "$: x")


def test_problem_as_data_has_all_fields() -> None:
    assert PROBLEM.to_dict() == {
        "message": "is odd",
        "file": "m.yaml",
        "line": 3,
        "column": 5,
        "path": "$.x",
        "hint": "",
        "rule": "odd",
        "severity": "error",
    }


KNOWN = ["MMLU", "mmlu-pro", "arc", "mmlu"]


@pytest.mark.parametrize(
    ("word", "matches"),
    [
        ("mmul", ["MMLU", "mmlu-pro"]),
        ("ARC", ["arc"]),
        ("arc", []),  # known, and of no use
        ("zzz", []),
        ("", []),
    ],
)
def test_similar_names_are_found_ignoring_case(word: str, matches: list[str]) -> None:
    assert close_matches(word, KNOWN) == matches
    assert did_you_mean(word, KNOWN) == (f"did you mean '{matches[0]}'?" if matches else "")


def test_number_of_similar_names_is_limited() -> None:
    names = [f"name{number}" for number in range(9)]
    assert len(close_matches("name", names)) == 3


def test_long_values_are_shortened_in_the_middle() -> None:
    assert shorten("x" * 78) == repr("x" * 78)
    short = shorten("a" * 500 + "b" * 500)
    assert (len(short), short[:3], short[-3:], short.count("…")) == (79, "'aa", "bb'", 1)
    assert shorten([1, 2, 3], width=5) == "[1…3]"


def test_value_nested_too_deeply_is_shortened() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert shorten(value) == "a list, nested too deeply to be shown"


@pytest.mark.parametrize(("number", "text"), [(0, "0 cats"), (1, "1 cat"), (1200, "1,200 cats")])
def test_noun_agrees_with_its_count(number: int, text: str) -> None:
    assert errors.count_text(number, "cat") == text


def test_names_beyond_a_number_are_counted() -> None:
    assert list_names(["a", "b"], 2) == "a, b"
    assert list_names([*"abcdef"], 2) == "a, b and 4 more"

"""Builds that can't be right are explained from their records."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from registry.errors import ManifestError
from registry.manifest.models import Join
from registry.pipeline.diagnosis import check_columns, check_not_empty, unseen_columns
from tests.pipeline.conftest import Prepare

ROWS = [{"q": f"q{number}", "n": number, "k": "xyz"[number % 3], "list": []} for number in range(7)]


def explained(prepare: Prepare, check: Any, *files: Any, **keys: Any) -> ManifestError | None:
    one = prepare(*files, fields={"input": "q", **keys.pop("fields", {})}, **keys)
    try:
        check(one.spec, one.pins, one.context)
    except ManifestError as error:
        return error
    return None


def test_every_missing_column_is_a_problem_with_its_path(prepare: Prepare) -> None:
    fields = {"target": "anwser", "metadata": {"k": ["k", "kk"]}}
    error = explained(prepare, check_columns, ROWS[:1], ROWS[1:], fields=fields)
    assert error is not None
    assert str(error).splitlines() == [
        "d $.fields.target: no column 'anwser' (columns: q, n, k, list)",
        "d $.fields.metadata.k[1]: no column 'kk' (did you mean 'k'?)",
    ]
    assert error.paths == (("fields", "target"), ("fields", "metadata", "k", 1))
    assert {problem.rule for problem in error.problems} == {"unknown-column"}


def test_columns_of_every_file_and_constant_columns_exist(prepare: Prepare) -> None:
    files = [ROWS[:2], [{"q": "x", "late": 1}]]
    fields = {"metadata": ["late", "n"]}
    assert explained(prepare, check_columns, *files, fields=fields) is None


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        (
            {"value": "k", "equals": "w"},
            (
                '`where` keeps none of 7 records: {"value": "k", "equals": "w"}'
                " ('k' is 'x' (3), 'y' (2), 'z' (2);"
            ),
        ),
        (
            {"value": "n", "greater": 6},
            "'n' is 0 (1), 1 (1), 2 (1), 3 (1), 4 (1) and 2 more values;",
        ),
        ([{"value": "n", "equals": -1}, {"value": "k", "in": []}], "('k' is 'x' (3), 'y' (2), "),
        (
            {"value": {"from": "zz", "do": [{"default": None}]}, "equals": 1},
            "('zz' is missing (7);",
        ),
        ({"value": {"const": 1}, "equals": 2}, '"equals": 2} (`expect: {samples: 0}` says'),
    ],
)
def test_a_condition_that_keeps_nothing_is_shown_with_the_values_it_saw(
    prepare: Prepare, where: Any, problem: str
) -> None:
    error = explained(prepare, check_not_empty, ROWS, where=where)
    assert error is not None
    assert error.paths == (("where",),)
    assert problem in str(error)
    assert str(error).startswith("d $.where: `where` keeps none of 7 records: ")
    assert str(error).endswith("`expect: {samples: 0}` says that it is meant)")


def test_values_and_conditions_are_shown_in_bounded_length(prepare: Prepare) -> None:
    rows = [{"q": "x" * 500 + str(number)} for number in range(1200)]
    error = explained(prepare, check_not_empty, rows, where={"value": "q", "equals": "y" * 999})
    assert error is not None
    assert len(str(error)) < 700
    assert "and at least 995 more values" in str(error)


def test_lists_that_are_all_empty_are_named(prepare: Prepare) -> None:
    error = explained(prepare, check_not_empty, ROWS, explode={"column": "list"})
    assert str(error) == (
        "d $.explode.column: the list 'list' is empty in all of 7 records"
        " (`expect: {samples: 0}` says that it is meant)"
    )


def test_other_reasons_are_not_blamed_on_the_condition(prepare: Prepare) -> None:
    assert explained(prepare, check_not_empty, ROWS, where={"value": "n", "equals": 6}) is None
    assert explained(prepare, check_not_empty, ROWS) is None
    assert explained(prepare, check_not_empty, [], where={"value": "n", "equals": 6}) is None


def test_columns_made_by_steps_are_not_looked_for_in_the_source(prepare: Prepare) -> None:
    fields = {"input": "q", "metadata": ["item.x", "index", "row.y", "k.z"]}
    spec = prepare(ROWS, fields=fields, explode={"column": "list"}).spec
    names = [use.names[0] for use in unseen_columns(spec).uses]
    assert names == ["q", "row.y", "k.z", "list"]
    joined = replace(spec, join=Join(source=spec.source, on="k", into="row"))
    assert [use.names[0] for use in unseen_columns(joined).uses] == ["q", "k.z", "list", "k"]
    assert unseen_columns(replace(spec, concat=(spec.source, spec.source))).uses == []

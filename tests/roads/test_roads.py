"""The columnar and the row pipeline return the same samples or the same error."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.roads.arrow_files import arrow_cases
from tests.roads.csv_files import csv_cases
from tests.roads.json_files import json_cases
from tests.roads.outcome import Case, Outcome, run_both_pipelines

CASES = 700
"""Number of files to test of each format."""


def by_both(case: Case) -> tuple[Outcome, int]:
    """Return the common outcome of both pipelines, and the columnar row count."""
    found, wanted, rows = run_both_pipelines(case)
    assert found == wanted, f"by columns {found}, by records {wanted}"
    return wanted, rows


@pytest.mark.parametrize(
    ("cases", "least"),
    [(json_cases, CASES // 12), (csv_cases, CASES // 12), (arrow_cases, CASES // 7)],
    ids=["json", "csv", "arrow"],
)
def test_both_pipelines_return_the_same_samples_or_the_same_error(cases: Any, least: int) -> None:
    ends: list[bool] = []

    @settings(
        deadline=None,
        max_examples=CASES,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases())
    def compare(case: Case) -> None:
        outcome, rows = by_both(case)
        ends.append(rows > 0 and outcome.error is None)

    compare()
    # The comparison is only useful if complete files went through the columnar pipeline.
    assert sum(ends) >= least, f"only {sum(ends)} of {len(ends)} files became samples by column"


CSV = {"type": "csv"}
JSON = {"type": "json"}


def csv_case(data: bytes, fields: dict[str, Any], **keys: Any) -> Case:
    return Case(data, "d.csv", {**CSV, **keys.pop("source", {})}, {"fields": fields, **keys})


def json_case(data: bytes, fields: dict[str, Any], **keys: Any) -> Case:
    return Case(data, "d.jsonl", JSON, {"fields": fields, **keys})


def parquet_case(table: pa.Table, fields: dict[str, Any], **keys: Any) -> Case:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return Case(sink.getvalue(), "d.parquet", {"type": "parquet"}, {"fields": fields, **keys})


def hub_case(table: pa.Table, fields: dict[str, Any]) -> Case:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    source = {"type": "hf", "path": "o/d", "split": "test"}
    return Case(bytes(sink.getvalue()), "records.arrow", source, {"fields": fields})


def value_of(sample: Any, field: str) -> Any:
    """Return one field of a frozen sample."""
    return dict(sample[1:])["str", repr(field)]


def error_of(case: Case) -> str:
    """Return the text of the error of both pipelines."""
    outcome, _ = by_both(case)
    assert outcome.error is not None
    return outcome.error[1]


HALF = "\ud800"
FAILS: dict[str, tuple[Case, str]] = {
    "header that is not UTF-8": (csv_case(b"q,\xff\nx,1\n", {"input": "q"}), "byte 0xff is not utf-8"),
    "header without rows": (
        csv_case(b"q\n", {"input": "q", "metadata": None}, sample={"n": 1, "seed": 1, "stratify_by": "x"}),
        "no metadata key 'x'",
    ),
    "digits too many for Python, in a column that is not used": (
        json_case(b'{"q": "x"}\n' * 70 + b'{"q": "y", "other": ' + b"1" * 4301 + b"}\n", {"input": "q"}),
        "d.jsonl:71: not JSON: Exceeds the limit",
    ),
    "nesting in a column that is not used": (
        json_case(b'{"q": "x"}\n' * 70 + b'{"q": "x", "other": ' + b"[" * 5000 + b"]" * 5000 + b"}", {"input": "q"}),
        "d.jsonl:71: the JSON is nested too deeply",
    ),
    "letter of an integer beyond 64 bits": (
        parquet_case(pa.table({"q": ["x"], "n": pa.array([2**63], pa.uint64())}), {"input": "q", "target": {"from": "n", "do": ["letter"]}}),
        "needs an index from 0 to 999, value: 9223372036854775808",
    ),
    "date out of range for Python": (
        parquet_case(pa.table({"q": ["x"], "d": pa.array([3_000_000], pa.date32())}), {"input": "q", "metadata": ["d"]}),
        "d.parquet: row 1, column 'd': a value is out of range for Python",
    ),
    **{
        f"lone surrogate of {target}".encode("ascii", "replace").decode(): (
            csv_case(b"q\nx\n", {"input": "q", "target": target}),
            "record 1, field target: contains half of a surrogate pair",
        )
        for target in ({"const": HALF}, {"template": HALF + "{q}"}, {"from": "q", "do": [{"replace": {"x": HALF}}]})
    },
}  # fmt: skip


@pytest.mark.parametrize(("case", "message"), FAILS.values(), ids=FAILS)
def test_both_pipelines_raise_the_same_error(case: Case, message: str) -> None:
    assert message in error_of(case)


def test_metadata_of_complete_records_is_preserved() -> None:
    outcome, rows = by_both(csv_case(b"q,a\nx,1\n", {"input": "q", "metadata": "*"}))
    assert rows == 1
    made = ("dict", (("str", "'q'"), ("str", "'x'")), (("str", "'a'"), ("str", "'1'")))
    assert [value_of(sample, "metadata") for sample in outcome.samples] == [made]


@pytest.mark.parametrize("name", ["choices", "target"])
def test_empty_list_of_expressions_yields_an_empty_list(name: str) -> None:
    outcome, rows = by_both(csv_case(b"q\nx\n", {"input": "q", name: []}))
    assert (rows, [value_of(sample, name) for sample in outcome.samples]) == (1, [("list",)])


@pytest.mark.parametrize("count", [1, 3, 5000])
@pytest.mark.parametrize("colon", ['"q": "\\u003ax"', '"q": "x", "\\u003ak": 1'])
def test_repeated_key_is_an_error_beside_a_string_that_starts_with_an_escaped_colon(
    colon: str, count: int
) -> None:
    line = f'{{{colon}, "a": "1", "a": "2"}}\n'.encode()
    assert "d.jsonl:1: a: the key is repeated" in error_of(
        json_case(line * count, {"input": "q", "target": "a"})
    )


def test_long_str_of_digits_is_not_a_number() -> None:
    data = json.dumps({"q": "1" * 5000}).encode()
    outcome, rows = by_both(json_case(data, {"input": "q"}))
    assert (len(outcome.samples), rows) == (1, 1)


DEEP = [{"b": {"c": "by b"}, "b.c": "exact"}, {"b": {"c": "by b"}, "b.c": None}]


def test_path_into_objects_prefers_the_exact_key_at_each_step() -> None:
    table = pa.table({"q": ["x", "y"], "a": DEEP})
    outcome, _ = by_both(parquet_case(table, {"input": "q", "metadata": {"v": "a.b.c"}}))
    found = [value_of(sample, "metadata")[1][1] for sample in outcome.samples]
    assert found == [("str", "'exact'"), ("NoneType", "None")]


def test_ambiguous_path_is_read_by_the_row_pipeline() -> None:
    table = pa.table({"q": ["x", "y"], "a": [{"b": {"c": "1"}}, None], "a.b": [{"c": "2"}] * 2})
    outcome, _ = by_both(parquet_case(table, {"input": "q", "metadata": ["a.b.c"]}))
    found = [value_of(sample, "metadata")[1][1] for sample in outcome.samples]
    assert found == [("str", "'1'"), ("str", "'2'")]


@pytest.mark.parametrize("start", [2**62, 2**63 - 1, 2**63, 2**70, -(2**63), -(2**70)])
def test_row_numbers_may_start_anywhere(start: int) -> None:
    fields = {"input": "q", "id": {"row_number": start}, "metadata": {"n": {"row_number": start}}}
    outcome, _ = by_both(csv_case(b"q\nx\ny\n", fields))
    assert (outcome.error is None) == (-(2**63) <= start < 2**63 - 1)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("target", ["x", None], "item 1 is null (add drop_null to leave it out), value: ['x', None]"),
        ("target", {"k": 1}, "is a dict (add dump to write it as text), value: {'k': 1}"),
        ("choices", ["x", None], "item 1 is null (add drop_null to leave it out), value: ['x', None]"),
        ("choices", {"k": 1}, "is a dict (`do: [items]` gives the values), value: {'k': 1}"),
    ],
)  # fmt: skip
def test_value_of_a_column_that_is_no_text_is_an_error_of_its_record(
    field: str, value: Any, message: str
) -> None:
    fine = ["x"] if isinstance(value, list) else None
    records = [{"q": "x", "v": one} for one in (fine, value)]
    fields = {"input": "q", field: "v"}
    lines = "\n".join(map(json.dumps, records)).encode()
    for case in (parquet_case(pa.Table.from_pylist(records), fields), json_case(lines, fields)):
        assert f"record 2, field {field}: {message}" in error_of(case)


def test_null_list_with_masked_items_has_no_choices() -> None:
    mask = pa.array([False, True, False])
    lists = pa.ListArray.from_arrays([0, 2, 4, 6], pa.array(list("abcdef")), mask=mask)
    table = pa.table({"q": ["x", "y", "z"], "c": lists})
    outcome, rows = by_both(hub_case(table, {"input": "q", "choices": "c", "metadata": ["c"]}))
    assert (rows, outcome.choice_starts) == (3, (0, 2, 2, 4))


def test_lone_surrogate_in_a_condition_matches_nothing() -> None:
    where = {"value": "q", "equals": HALF}
    outcome, _ = by_both(csv_case(b"q\nx\n", {"input": "q"}, where=where))
    assert outcome == Outcome()


def test_rows_of_any_type_can_be_filtered_out() -> None:
    table = pa.table({"q": ["x", "y"], "a": pa.array(["1", "2"], pa.string_view())})
    where = {"value": "q", "equals": "y"}
    outcome, _ = by_both(parquet_case(table, {"input": "q", "target": "a"}, where=where))
    assert outcome.records == (2,)


OPTIONAL = {"from": "none", "do": [{"default": None}]}


@pytest.mark.parametrize(
    "where", [{"value": "q", "equals": "no"}, {"value": OPTIONAL, "equals": "x"}]
)
def test_condition_that_matches_nothing_returns_no_samples(where: Any) -> None:
    fields = {"input": "q", "choices": ["q"], "id": "q", "metadata": ["q"]}
    outcome, rows = by_both(csv_case(b"q\nx\ny\n", fields, where=where))
    assert (outcome, rows) == (Outcome(), 2)


MISSPELT = {"input": "q", "target": "no_a", "metadata": {"m": "m.no", "n": ["q", "none"]}}
MISSING = """\
d $.fields.target: no column 'no_a' (columns: q, a, m, m.n)
d $.fields.metadata.m: no column 'm.no' (did you mean 'm.n'?)
d $.fields.metadata.n[1]: no column 'none' (columns: q, a, m, m.n)"""


@pytest.mark.parametrize("limit", [None, 1])
@pytest.mark.parametrize("where", [None, {"value": "q", "equals": "no"}])
def test_columns_that_no_record_has_are_one_error_in_both_pipelines(
    where: Any, limit: int | None
) -> None:
    records = [{"q": "", "a": "1", "m": {"n": 1}}, {"q": "y", "a": "2", "m": None}] * 40
    lines = "\n".join(map(json.dumps, records)).encode()
    for case in (
        json_case(lines, MISSPELT, where=where),
        parquet_case(pa.Table.from_pylist(records), MISSPELT, where=where),
        hub_case(pa.Table.from_pylist(records), MISSPELT),
    ):
        # A record that can't be mapped, such as one with an empty input, is not the first problem.
        outcome, _ = by_both(replace(case, limit=limit))
        assert outcome == Outcome(error=("ManifestError", MISSING))


def test_column_that_only_a_late_record_has_is_null_in_the_others() -> None:
    records = [{"q": "x"}] * 200 + [{"q": "y", "a": {"b": "1"}}]
    lines = "\n".join(map(json.dumps, records)).encode()
    for name in ("a", "a.b"):
        for limit in (None, 1):
            case = json_case(lines, {"input": "q", "metadata": [name]})
            outcome, _ = by_both(replace(case, limit=limit))
            assert outcome.error is None
            assert len(outcome.samples) == (limit or 201)


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.duration("ns")])
def test_nanosecond_time_is_an_error_where_it_is_used(kind: pa.DataType) -> None:
    table = pa.table({"q": ["x", "y"], "t": pa.array([1000, 2001], kind)})
    outcome, _ = by_both(parquet_case(table, {"input": "q", "metadata": ["t"]}))
    place = "d: record 2, field metadata: can't be cached"
    assert outcome.error is not None
    assert f"{place}: a time finer than microseconds can't be stored" in outcome.error[1]
    outcome, _ = by_both(parquet_case(table[:1], {"input": "q", "metadata": ["t"]}))
    kept = pa.scalar(1, pa.duration("us") if kind == pa.duration("ns") else pa.timestamp("us"))
    (_, value), *_ = [value_of(sample, "metadata")[1] for sample in outcome.samples]
    assert value[0] == type(kept.as_py()).__name__
    outcome, _ = by_both(parquet_case(table, {"input": "q"}))
    assert len(outcome.samples) == 2
    turns = {"messages": [{"role": "user", "content": "t"}]}
    outcome, _ = by_both(parquet_case(table[1:], {"input": turns}))
    assert outcome.error is not None


LINES = [
    {"q": "1"},
    {"q": "2", "a": 1},
    {"q": "3", "a": "long"},
    {"q": None, "a": "x"},
    {"q": HALF},
    {"q": "6"},
]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("block", [8, 20, 40, 1000])
@pytest.mark.parametrize("metadata", [["a"], None])
def test_first_failing_record_is_reported_independently_of_chunks(
    rows: int, block: int, metadata: Any
) -> None:
    data = "\n".join(map(json.dumps, LINES)).encode()
    keys = {"fields": {"input": "q", "metadata": metadata}}
    outcome, _ = by_both(Case(data, "d.jsonl", JSON, keys, block=block, rows=rows))
    assert outcome.error is not None
    assert outcome.error[0] == "MappingError"
    assert outcome.error[1].startswith("d: record 4, field input: ")


@pytest.mark.parametrize("place", [0, 3, 100])
@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ('"a": NaN', "a: NaN is not JSON at column 17"),
        ('"a": [1, -Infinity]', "a[1]: -Infinity is not JSON at column 21"),
        ('"a": 1e400', "a: 1e400 is beyond the range of a float at column 17"),
        ('"a": "\\ud800"', "a: half of a surrogate pair at column 17"),
        ('"a": {"b": 1, "b" : 2}', "a.b: the key is repeated at column 26"),
        ('"q": "y"', "q: the key is repeated at column 12"),
        ('"a": ' + "[" * 300 + "]" * 300, "the JSON is nested too deeply"),
    ],
)
def test_inexact_json_is_the_same_error_in_any_column(place: int, pair: str, message: str) -> None:
    lines = ['{"q": "x"}'] * 101
    lines[place] = f'{{"q": "x", {pair}}}'
    for fields in ({"input": "q"}, {"input": "q", "metadata": "*"}):
        outcome, _ = by_both(json_case("\n".join(lines).encode(), fields))
        assert outcome.error is not None
        assert outcome.error[0] == "DecodeError"
        assert outcome.error[1].endswith(f"d.jsonl:{place + 1}: {message}")


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("bad", [{"q": None}, {"q": HALF}, 5])
@given(limit=st.integers(0, 4))
@settings(deadline=None, max_examples=10)
def test_errors_beyond_the_limit_do_not_matter(bad: Any, rows: int, limit: int) -> None:
    lines = [{"q": "1"}, {"q": "2"}, {"q": "3"}, bad]
    data = "\n".join(map(json.dumps, lines)).encode()
    outcome, _ = by_both(
        Case(data, "d.jsonl", JSON, {"fields": {"input": "q"}}, limit=limit, block=10, rows=rows)
    )
    assert (len(outcome.samples), outcome.error is None) == (
        (limit, True) if limit < 4 else (0, False)
    )


@pytest.mark.parametrize(
    ("data", "columns", "target", "expected"),
    [
        (b'{"q": "a"}', {"x": "X", "y": "Y"}, {"template": "{x}"}, "X"),
        (
            b'{"q": "a", "l": ["p", "q", "r"]}',
            {"i": 0, "j": 1, "k": 2},
            [{"from": "l", "do": [{"index": name}]} for name in "ijk"],
            ["p", "q", "r"],
        ),
        (
            b'{"q": "a", "z": ""}\n{"q": "b", "z": ""}',
            {"x": "", "y": "Y"},
            {"from": "z", "do": [{"coalesce": ["x", "y"]}]},
            "Y",
        ),
    ],
)
def test_expressions_of_arguments_do_not_share_their_values(
    data: bytes, columns: dict[str, Any], target: Any, expected: Any
) -> None:
    fields = {"input": {"template": "{q}{y}"} if "y" in columns else "q", "target": target}
    case = json_case(data, fields)
    outcome, _ = by_both(replace(case, source={**case.source, "columns": columns}))
    assert outcome.error is None
    assert value_of(outcome.samples[0], "target") == (
        ("list", *(("str", repr(one)) for one in expected))
        if isinstance(expected, list)
        else ("str", repr(expected))
    )
